/* CPU time of reading and folding a bank, as a ratio against a floor of the same run: unpacking the
 * same chunks with zstd, checking them with zlib's CRC-32, and decoding every varint once.
 *
 *   bench_bank FILE.fbank      prints one line a stage, the least of 5 runs each */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <zlib.h>
#include <zstd.h>

#include "base/file.h"
#include "profile/profile.h"

enum { RUNS = 5 };

static double cpu_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const struct fb_buf *bank;
static volatile uint64_t sink;

static void floor_stage(void)
{
    size_t at = FB_BANK_HEADER_SIZE;
    struct fb_chunk_header h;

    while (at + FB_CHUNK_HEADER_SIZE <= bank->len &&
           fb_chunk_header_load((const uint8_t *)bank->data + at, &h)) {
        const char *stored = bank->data + at + FB_CHUNK_HEADER_SIZE;
        uint8_t *raw = malloc(h.raw_length + 1u);
        struct fb_wire_in in = {.data = raw, .len = h.raw_length};
        uint64_t sum = crc32(0, (const unsigned char *)stored, h.stored_length);

        if (!raw)
            exit(3);
        if (h.flags & FB_CHUNK_PACKED)
            (void)ZSTD_decompress(raw, h.raw_length, stored, h.stored_length);
        else
            memcpy(raw, stored, h.stored_length);
        while (in.pos < in.len && !in.bad)
            sum += fb_wire_get_varint(&in);
        sink += sum;
        free(raw);
        at += FB_CHUNK_HEADER_SIZE + h.stored_length + fb_chunk_padding(h.stored_length);
    }
}

static struct fb_profile *decode(void)
{
    struct fb_bank_damage damage;
    struct fb_profile *p;
    struct fb_err err;

    if (fb_bank_decode(bank->data, bank->len, "bench", &p, &damage, &err) != FB_OK) {
        (void)fprintf(stderr, "bench_bank: %s\n", err.text);
        exit(3);
    }
    return p;
}

static void read_stage(void)
{
    fb_profile_free(decode());
}

static void fold_stage(void)
{
    struct fb_profile *p = decode();
    struct fb_buf out = {0};

    fb_writers[1].write(p, NULL, &out);
    sink += out.len;
    fb_buf_done(&out);
    fb_profile_free(p);
}

static double least(void (*stage)(void))
{
    double best = 1e9;

    for (int i = 0; i < RUNS; i++) {
        double before = cpu_s(), spent;

        stage();
        spent = cpu_s() - before;
        best = spent < best ? spent : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    struct fb_buf bytes = {0};
    struct fb_profile *p;
    struct fb_err err;
    double floor_s, read_s, fold_s;

    if (argc != 2 || fb_file_read(argv[1], &bytes, &err) != FB_OK)
        return 2;
    bank = &bytes;
    p = decode();
    (void)printf("%zu samples, %zu stacks, %.2f bytes a sample in the file\n", p->samples.count,
                 p->stacks_count - 1, (double)bytes.len / (double)p->samples.count);
    fb_profile_free(p);
    floor_s = least(floor_stage);
    read_s = least(read_stage);
    fold_s = least(fold_stage);
    (void)printf("floor (unzstd + crc + varints) %.3f s CPU\n", floor_s);
    (void)printf("read                           %.3f s CPU, %.2f x the floor\n", read_s,
                 read_s / floor_s);
    (void)printf("read and fold                  %.3f s CPU, %.2f x the floor\n", fold_s,
                 fold_s / floor_s);
    fb_buf_done(&bytes);
    return 0;
}
