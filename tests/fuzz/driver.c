/* driver.c - a fuzz target without libFuzzer: blind mutations of seeds, for a few seconds.
 *
 *   fuzz_TARGET SECONDS [SEED FILE OR FOLDER]...
 *
 * Built where the compiler has no libFuzzer; ./dev check and ./dev fuzz use that instead, which is
 * guided by coverage.  What breaks is left in fuzz-TARGET.input in the working folder.  The random
 * numbers are those of FB_FUZZ_SEED, or of the clock; they are printed. */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"

enum { INPUT_MAX = 64 << 10, SEEDS_MAX = 256, MUTATIONS_MAX = 8, HANG_SECONDS = 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static struct fb_buf seeds[SEEDS_MAX];
static size_t seeds_count;
static uint8_t input[INPUT_MAX];
static size_t input_len;
static char kept_path[256];
static uint64_t state;

static uint64_t number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static size_t below(size_t n)
{
    return n > 0 ? (size_t)(number() % n) : 0;
}

/* ---- what broke ---- */

static void keep(void)
{
    FILE *f = fopen(kept_path, "wb");

    if (f == NULL)
        return;
    (void)fwrite(input, 1, input_len, f);
    (void)fclose(f);
    (void)fprintf(stderr, "fuzz: the input is in %s\n", kept_path);
}

static void on_signal(int sig)
{
    keep(); /* the process is lost: what is not safe here does not matter */
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
}

static void on_hang(int sig)
{
    (void)sig;
    (void)fprintf(stderr, "fuzz: one input takes over %d s\n", HANG_SECONDS);
    keep();
    _exit(1);
}

/* ---- seeds ---- */

static void seed_add(const char *path)
{
    struct fb_buf *seed = &seeds[seeds_count];
    struct fb_err err;
    DIR *folder = opendir(path);

    if (folder != NULL) {
        for (struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
            char *inner = fb_format("%s/%s", path, e->d_name);

            if (e->d_name[0] != '.' && seeds_count < SEEDS_MAX)
                seed_add(inner);
            free(inner);
        }
        (void)closedir(folder);
        return;
    }
    *seed = (struct fb_buf){.max = 4 << 20};
    if (seeds_count < SEEDS_MAX && fb_file_read(path, seed, &err) == FB_OK && seed->len > 0)
        seeds_count++;
    else
        fb_buf_done(seed);
}

/* ---- mutations ---- */

static void start_from_seed(void)
{
    const struct fb_buf *seed;
    size_t from = 0;

    input_len = 0;
    if (seeds_count == 0 || below(50) == 0)
        return;
    seed = &seeds[below(seeds_count)];
    if (seed->len > INPUT_MAX)
        from = below(4) == 0 ? below(seed->len - INPUT_MAX) : 0;
    input_len = seed->len - from < INPUT_MAX ? seed->len - from : INPUT_MAX;
    memcpy(input, seed->data + from, input_len);
}

static void insert(const uint8_t *bytes, size_t n)
{
    size_t at = below(input_len + 1);

    if (n > INPUT_MAX - input_len)
        n = INPUT_MAX - input_len;
    memmove(input + at + n, input + at, input_len - at);
    memcpy(input + at, bytes, n);
    input_len += n;
}

static void cut(void)
{
    size_t at = below(input_len), n = 1 + below(below(4) == 0 ? input_len - at : 16);

    if (n > input_len - at)
        n = input_len - at;
    memmove(input + at, input + at + n, input_len - at - n);
    input_len -= n;
}

static void put_number(void)
{
    static const uint64_t odd[] = {0,     1,        127,        128,        255,        65535,
                                   65536, 1u << 31, UINT32_MAX, 1ull << 53, 1ull << 63, UINT64_MAX};
    uint64_t v = odd[below(sizeof odd / sizeof odd[0])] + below(3) - 1;
    size_t n = (size_t)1 << below(4), at = below(input_len);

    memcpy(input + at, &v, n < input_len - at ? n : input_len - at);
}

static void copy_within(void)
{
    uint8_t part[256];
    size_t at = below(input_len), n = 1 + below(sizeof part - 1);

    n = n < input_len - at ? n : input_len - at;
    memcpy(part, input + at, n);
    insert(part, n);
}

static void splice(void)
{
    const struct fb_buf *seed = seeds_count > 0 ? &seeds[below(seeds_count)] : NULL;
    size_t at;

    if (seed == NULL)
        return;
    at = below(seed->len);
    insert((const uint8_t *)seed->data + at,
           1 + below(seed->len - at < 512 ? seed->len - at : 512));
}

static void mutate(void)
{
    uint8_t byte = (uint8_t)number();

    if (input_len == 0) {
        insert(&byte, 1);
        return;
    }
    switch (below(8)) {
    case 0:
        input[below(input_len)] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        input[below(input_len)] = byte;
        break;
    case 2:
        insert(&byte, 1);
        break;
    case 3:
        cut();
        break;
    case 4:
        put_number();
        break;
    case 5:
        copy_within();
        break;
    case 6:
        splice();
        break;
    default:
        input_len = below(input_len + 1); /* torn */
    }
}

static void one(void)
{
    uint8_t *copy;
    size_t n = 1 + below(MUTATIONS_MAX);

    start_from_seed();
    for (size_t i = 0; i < n; i++)
        mutate();
    copy = fb_alloc(input_len); /* of exactly that size, so that a byte too far is seen */
    memcpy(copy, input, input_len);
    (void)alarm(HANG_SECONDS);
    (void)LLVMFuzzerTestOneInput(copy, input_len);
    (void)alarm(0);
    free(copy);
}

int main(int argc, char **argv)
{
    const char *seed = getenv("FB_FUZZ_SEED"), *slash = strrchr(argv[0], '/');
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0;
    time_t start = time(NULL);
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    unsigned long runs = 0;

    if (!(seconds > 0)) {
        (void)fprintf(stderr, "usage: %s SECONDS [SEED]...\n", argv[0]);
        return 2;
    }
    (void)snprintf(kept_path, sizeof kept_path, "%s.input", slash != NULL ? slash + 1 : argv[0]);
    for (int i = 2; i < argc; i++)
        seed_add(argv[i]);
    state = seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)start * 2654435761u;
    state |= 1;
    printf("%zu seeds, FB_FUZZ_SEED=%llu\n", seeds_count, (unsigned long long)state);
    (void)fflush(stdout);
    if (__sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(keep);
    else
        for (const int *s = (const int[]){SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, 0}; *s != 0;
             s++)
            (void)signal(*s, on_signal);
    (void)signal(SIGABRT, on_signal);
    (void)signal(SIGALRM, on_hang);
    for (; clock() < end; runs++)
        one();
    printf("%lu inputs\n", runs);
    for (size_t i = 0; i < seeds_count; i++)
        fb_buf_done(&seeds[i]);
    return 0;
}
