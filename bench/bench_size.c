/* What the chunks of a packed bank take, by kind, per sample and per second.
 *
 *   bench_size FILE.fbank */
#include <stdio.h>

#include "base/file.h"
#include "profile/profile.h"

/* What the sampler spent in the arm, handler and helper, of the arm's own CPU. */
static void put_own_cost(const struct fb_profile *p)
{
    double handler_ns, writer_ns, cpu_ns;

    if (fb_profile_counter_delta(p, "sampler.handler_ns", p->first_ns, p->last_ns, &handler_ns) &&
        fb_profile_counter_delta(p, "sampler.writer_ns", p->first_ns, p->last_ns, &writer_ns) &&
        fb_profile_counter_delta(p, "process.cpu_ns", p->first_ns, p->last_ns, &cpu_ns))
        (void)printf("sampler    %.2f %% of the arm's CPU (handler %.1f ms, helper %.1f ms of "
                     "%.1f s)\n",
                     100 * (handler_ns + writer_ns) / cpu_ns, handler_ns / 1e6, writer_ns / 1e6,
                     cpu_ns / 1e9);
}

int main(int argc, char **argv)
{
    struct fb_bank_damage damage;
    struct fb_profile *p;
    struct fb_buf bytes = {0};
    struct fb_err err;
    size_t at = FB_BANK_HEADER_SIZE, by_type[64] = {0};
    double seconds, samples, counters;
    struct fb_chunk_header h;

    if (argc != 2 || fb_file_read(argv[1], &bytes, &err) != FB_OK ||
        fb_bank_decode(bytes.data, bytes.len, argv[1], &p, &damage, &err) != FB_OK)
        return 3;
    while (at + FB_CHUNK_HEADER_SIZE <= bytes.len &&
           fb_chunk_header_load((const uint8_t *)bytes.data + at, &h)) {
        size_t n = FB_CHUNK_HEADER_SIZE + h.stored_length + fb_chunk_padding(h.stored_length);

        by_type[h.type % 64] += n;
        at += n;
    }
    seconds = (double)(p->last_ns - p->first_ns) / 1e9;
    samples = (double)p->samples.count;
    counters = (double)(by_type[FB_CHUNK_COUNTERS] + by_type[FB_CHUNK_COUNTER_DEFS]);
    (void)printf("%.0f samples over %.0f s, %zu stacks, %zu bytes in all\n", samples, seconds,
                 p->stacks_count - 1, bytes.len);
    (void)printf("samples    %.2f bytes a sample (17 in a JFR)\n",
                 (double)by_type[FB_CHUNK_SAMPLES] / samples);
    (void)printf("counters   %.1f bytes a second (%zu counters)\n", counters / seconds,
                 p->counters.count);
    (void)printf("the rest   %.0f bytes once (stacks, names, modules, manifest)\n",
                 (double)bytes.len - (double)by_type[FB_CHUNK_SAMPLES] - counters);
    put_own_cost(p);
    fb_profile_free(p);
    fb_buf_done(&bytes);
    return 0;
}
