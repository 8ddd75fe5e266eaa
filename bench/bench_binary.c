/* CPU time of reading pprof and JFR into a profile, MB/s of unpacked bytes, beside a floor of the
 * same run: a hash over all bytes.
 *
 *   bench_binary    a line a file, the least of 5 runs each
 *
 * pprof: 6,000 functions, stacks of 30 to 80 frames, once with each stack 30 times under other
 * labels, as servers are profiled, and once with no stack twice.  JFR: chunks of 2,000 stacks of 50
 * frames, with 100 samples a stack, and with 4. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/compress.h"
#include "base/hash.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "tests/unit/profile/build_jfr.h"

enum { RUNS = 5, FUNCTIONS = 6000, JFR_METHODS = 2000, JFR_STACKS = 2000, JFR_DEPTH = 50 };

static double cpu_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void make_pprof(size_t stacks, unsigned repeats, struct fb_buf *out)
{
    struct fb_profile *p = fb_profile_new();
    fb_frame_id *frames = fb_alloc_array(FUNCTIONS, sizeof *frames);
    uint64_t state = 88172645463325252u;
    const struct fb_writer *writer;
    struct fb_buf packed = {0};
    struct fb_err err;

    for (unsigned i = 0; i < FUNCTIONS; i++) {
        char name[64];
        struct fb_frame f = {.address = 0x400000 + i * 64, .line = i % 500};

        (void)snprintf(name, sizeof name, "io/netty/channel/AbstractContext.invoke%u", i);
        f.name = fb_strings_put_z(&p->strings, name);
        frames[i] = fb_profile_frame_put(p, &f);
    }
    for (unsigned t = 0; t < repeats; t++)
        (void)fb_profile_thread_add(p, 100 + t, 0);
    for (size_t i = 0; i < stacks; i++) {
        fb_stack_id stack = FB_STACK_ROOT;

        for (uint64_t depth = 30 + random_next(&state) % 50; depth > 0; depth--)
            stack = fb_profile_stack_put(p, stack, frames[random_next(&state) % FUNCTIONS]);
        for (unsigned t = 0; t < repeats; t++)
            fb_profile_sample_add(p, 0, repeats > 1 ? 1 + t : FB_NO_THREAD, stack, 1);
    }
    p->interval_ns = 10000000;
    if (fb_writer_find("pprof", "", &writer, &err) != FB_OK)
        exit(1);
    writer->write(p, NULL, &packed);
    if (fb_unpack(packed.data, packed.len, out, &err) != FB_OK)
        exit(1);
    fb_buf_done(&packed);
    free(frames);
    fb_profile_free(p);
}

/* ---- JFR ---- */

static void put_methods(struct fb_buf *m)
{
    jfr_varint(m, JFR_SYMBOL);
    jfr_varint(m, JFR_METHODS + 1);
    jfr_varint(m, JFR_METHODS + 1);
    jfr_text(m, 3, "com/example/server/Handler");
    for (unsigned i = 1; i <= JFR_METHODS; i++) {
        char name[32];

        (void)snprintf(name, sizeof name, "handleRequest%u", i);
        jfr_varint(m, i);
        jfr_text(m, 3, name);
    }
    jfr_varint(m, JFR_CLASS);
    fb_buf_add(m, "\1\1", 2);
    jfr_varint(m, JFR_METHODS + 1);
    jfr_varint(m, JFR_METHOD);
    jfr_varint(m, JFR_METHODS);
    for (unsigned i = 1; i <= JFR_METHODS; i++) {
        jfr_varint(m, i);
        jfr_varint(m, 1);
        jfr_varint(m, i);
        jfr_varint(m, 0);
    }
}

static void put_stacks(struct fb_buf *m, uint64_t *state)
{
    jfr_varint(m, JFR_STACK);
    jfr_varint(m, JFR_STACKS);
    for (unsigned i = 1; i <= JFR_STACKS; i++) {
        jfr_varint(m, i);
        fb_buf_putc(m, 0);
        jfr_varint(m, JFR_DEPTH);
        for (unsigned k = 0; k < JFR_DEPTH; k++) {
            uint64_t method = random_next(state) % JFR_METHODS;

            jfr_varint(m, 1 + method);
            jfr_varint(m, 10 + method % 300);
            jfr_varint(m, 1 + method % 2);
        }
    }
}

static void make_jfr(unsigned chunks, unsigned samples, struct fb_buf *out)
{
    static const char *const types[] = {"JIT compiled", "Inlined"};
    uint64_t state = 88172645463325252u;

    for (unsigned c = 0; c < chunks; c++) {
        struct fb_buf body = {0}, m = {0};

        jfr_metadata(&body);
        for (unsigned i = 0; i < samples * JFR_STACKS; i++)
            jfr_sample(&body, 1000 + i * 10, 1 + (unsigned)(random_next(&state) % JFR_STACKS));
        fb_buf_add(&m, "\1\0\0\0", 4);
        jfr_varint(&m, 5);
        put_methods(&m);
        jfr_pool_texts(&m, JFR_FRAME_TYPE, 3, types, 2);
        put_stacks(&m, &state);
        jfr_event(&body, 1, &m);
        jfr_header(out, 68 + body.len, 0);
        fb_buf_add(out, body.data, body.len);
        fb_buf_done(&body);
        fb_buf_done(&m);
    }
}

static void row(const char *what, const char *format, const struct fb_buf *file, const char *target)
{
    double read = 1e9, floor = 1e9, mb = (double)file->len / 1e6;
    uint64_t sum = 0;
    size_t samples = 0;

    for (int i = 0; i < RUNS; i++) {
        struct fb_read_report report;
        struct fb_profile *p;
        struct fb_err err;
        double start = cpu_s(), end;

        if (fb_profile_decode(file->data, file->len, what, format, &p, &report, &err) != FB_OK) {
            (void)fprintf(stderr, "%s\n", err.text);
            exit(1);
        }
        end = cpu_s();
        read = end - start < read ? end - start : read;
        samples = p->samples.count;
        fb_profile_free(p);
        start = cpu_s();
        sum += fb_hash_bytes(file->data, file->len);
        end = cpu_s();
        floor = end - start < floor ? end - start : floor;
    }
    (void)printf(
        "%-28s %6.1f MB  %7zu samples  read %5.0f MB/s  (%.1f x the floor of %.0f MB/s)%s%s\n",
        what, mb, samples, mb / read, read / floor, mb / floor, target, sum == 1 ? " " : "");
}

int main(void)
{
    struct fb_buf file = {0};

    make_pprof(20000, 30, &file);
    row("pprof, stacks recur", "pprof", &file, " (target: 200)");
    file.len = 0;
    make_pprof(200000, 1, &file);
    row("pprof, no stack twice", "pprof", &file, " (target: 200)");
    file.len = 0;
    make_jfr(10, 100, &file);
    row("JFR, 100 samples a stack", "jfr", &file, " (target: 100)");
    file.len = 0;
    make_jfr(40, 4, &file);
    row("JFR, 4 samples a stack", "jfr", &file, " (target: 100)");
    fb_buf_done(&file);
    return 0;
}
