/* bench_names: canonical names a second on one core, and demangled ones.
 *
 *   bench_names KIND FILE...     KIND: native, java ...; FILE: names, one a line ('-' none)
 *
 * Of each file: names a second, beside the floor of the same run (the names copied and hashed).
 * Mangled names are demangled first, and that is a figure of its own.  Then what hostile names cost
 * a byte, of 8 and of 16 KiB: were a rule's cost the square of the length, the second would be
 * twice the first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "symbolize/symbolize.h"

enum { ROUNDS = 5, NAMES_MIN = 200000 };

static volatile uint64_t kept;

static double cpu_s(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec / 1e6;
}

struct names {
    char **items;
    size_t *lens;
    size_t count, room, lens_room, bytes;
};

static void add(struct names *n, const char *text)
{
    fb_vec_reserve(&n->items, &n->room, n->count + 1, sizeof *n->items);
    fb_vec_reserve(&n->lens, &n->lens_room, n->count + 1, sizeof *n->lens);
    n->lens[n->count] = strlen(text);
    n->bytes += n->lens[n->count];
    n->items[n->count++] = fb_strdup(text);
}

static void done(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->items[i]);
    free(n->items);
    free(n->lens);
}

/* One round over all names; seconds of CPU. */
static double round_of(const struct names *n, size_t times, enum fb_frame_kind kind, bool floor)
{
    struct fb_buf out = {0};
    double start = cpu_s();

    for (size_t t = 0; t < times; t++) {
        for (size_t i = 0; i < n->count; i++) {
            out.len = 0;
            if (floor)
                fb_buf_add(&out, n->items[i], n->lens[i]);
            else
                fb_name_canonical(n->items[i], n->lens[i], kind, &out);
            kept += floor ? fb_hash_bytes(out.data, out.len) : out.len;
        }
    }
    fb_buf_done(&out);
    return cpu_s() - start;
}

static double best_of(const struct names *n, size_t times, enum fb_frame_kind kind, bool floor)
{
    double best = 0;

    for (int i = 0; i < ROUNDS; i++) {
        double s = round_of(n, times, kind, floor);

        if (i == 0 || s < best)
            best = s;
    }
    return best;
}

/* Demangles in place; names a second, 0 where none is mangled. */
static double demangle_all(struct names *n)
{
    struct fb_buf out = {0};
    size_t mangled = 0;
    double start = cpu_s();

    for (size_t i = 0; i < n->count; i++) {
        out.len = 0;
        if (!fb_name_demangle(n->items[i], &out))
            continue;
        mangled++;
        n->bytes += out.len - n->lens[i];
        n->lens[i] = out.len;
        free(n->items[i]);
        n->items[i] = fb_strdup(out.data);
    }
    fb_buf_done(&out);
    return mangled > 0 ? (double)mangled / (cpu_s() - start) : 0;
}

static void bench_file(const char *path, enum fb_frame_kind kind)
{
    struct names n = {0};
    struct fb_buf text = {0};
    struct fb_err err;
    double demangled, ours, floor;
    size_t times;
    char *rest, *line;

    if (fb_file_read(path, &text, &err) != FB_OK) {
        printf("%s\n", err.text);
        return;
    }
    for (rest = text.data; (line = strsep(&rest, "\n")) != NULL;)
        if (*line)
            add(&n, line);
    demangled = demangle_all(&n);
    if (n.count == 0)
        return;
    times = 1 + NAMES_MIN / n.count;
    ours = best_of(&n, times, kind, false);
    floor = best_of(&n, times, kind, true);
    printf("%-28s %8zu names of %3.0f bytes: %5.2f M/s, %4.1f x copying and hashing them",
           strrchr(path, '/') ? strrchr(path, '/') + 1 : path, n.count,
           (double)n.bytes / (double)n.count, (double)(n.count * times) / ours / 1e6, ours / floor);
    if (demangled > 0)
        printf("; demangled at %.2f M/s", demangled / 1e6);
    printf("\n");
    done(&n);
    fb_buf_done(&text);
}

static void bench_hostile(enum fb_frame_kind kind)
{
    static const char *const units[] = {"(",          "<",           "{lambda(", "$$anonfun$a$1",
                                        ".cold",      "$fn__1",      ".func1",   "[abi:a]",
                                        "std::__1::", "--1/",        "$u2192",   "0x123456",
                                        "js.",        "(anonymous ", "<a>b__0"};
    double worst = 0, sums[2] = {0, 0};
    const char *which = "";

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double ns[2];

        for (size_t k = 0; k < 2; k++) {
            size_t len = (8u << 10) << k, unit = strlen(units[i]);
            struct names n = {0};
            char *text = fb_alloc(len + 1);

            for (size_t at = 0; at < len; at++)
                text[at] = at == 0 ? 'a' : units[i][at % unit];
            text[len] = 0;
            add(&n, text);
            ns[k] = best_of(&n, 50, kind, false) / 50 / (double)len * 1e9;
            sums[k] += ns[k];
            free(text);
            done(&n);
        }
        if (ns[1] > worst) {
            worst = ns[1];
            which = units[i];
        }
    }
    printf("hostile names of 16 KiB: %.2f x those of 8 KiB a byte; at most %.0f ns a byte ('%s')\n",
           sums[1] / sums[0], worst, which);
}

int main(int argc, char **argv)
{
    enum fb_frame_kind kind;

    if (argc < 3 || !fb_frame_kind_parse(argv[1], &kind)) {
        (void)fprintf(stderr, "usage: bench_names KIND FILE...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "-") != 0)
            bench_file(argv[i], kind);
    bench_hostile(kind);
    return 0;
}
