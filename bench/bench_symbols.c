/* bench_symbols [LIBRARY]: CPU time to name 10,000 random code addresses of a large library, by
 * flamebank's index and by addr2line (and eu-addr2line where it is installed) in the same run.
 *
 * The peers get all addresses at once, names and lines.  "named" is how many each could name;
 * the addresses are uniform over the sections of code, so gaps are among them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/vec.h"
#include "symbolize/elf_file.h"
#include "symbolize/module.h"

enum { ADDRESSES = 10000 };

static const char *const libraries[] = {
    "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
    "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
    "/usr/lib/aarch64-linux-gnu/libLLVM-14.so.1",
    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/aarch64-linux-gnu/libc.so.6",
};

static const struct fb_elf_places nowhere;

static double cpu_seconds(int who)
{
    struct rusage use;

    getrusage(who, &use);
    return (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec / 1e6 +
           (double)use.ru_stime.tv_sec + (double)use.ru_stime.tv_usec / 1e6;
}

/* Uniform over the bytes of code; a fixed seed. */
static void pick_addresses(const struct fb_elf_file *file, uint64_t *addresses)
{
    uint64_t total = 0;
    unsigned seed = 1;

    for (size_t i = 0; i < file->code_count; i++)
        total += file->code[i].end - file->code[i].start;
    for (size_t n = 0; n < ADDRESSES; n++) {
        uint64_t at = ((uint64_t)rand_r(&seed) << 31 | (uint64_t)rand_r(&seed)) % total;
        size_t i = 0;

        while (at >= file->code[i].end - file->code[i].start) {
            at -= file->code[i].end - file->code[i].start;
            i++;
        }
        addresses[n] = file->code[i].start + at;
    }
}

/* Ours: opening with the index, then the names, demangled, and the lines, as in a profile. */
static double measure_ours(const char *path, const uint64_t *addresses)
{
    double start = cpu_seconds(RUSAGE_SELF), opened, found, shown, end;
    struct fb_symbols *symbols;
    struct fb_err err;
    size_t named = 0, bytes = 0, lines = 0;

    if (fb_symbols_open(&nowhere, path, "", &symbols, &err) != FB_OK) {
        fprintf(stderr, "bench_symbols: %s\n", err.text);
        exit(3);
    }
    opened = cpu_seconds(RUSAGE_SELF);
    for (size_t i = 0; i < ADDRESSES; i++)
        named += fb_symbols_find(symbols, addresses[i]) != NULL;
    found = cpu_seconds(RUSAGE_SELF);
    for (size_t i = 0; i < ADDRESSES; i++) {
        const struct fb_symbol *symbol = fb_symbols_find(symbols, addresses[i]);
        struct fb_buf name = {0};

        if (symbol)
            fb_symbol_name(symbol, &name);
        bytes += name.len;
        fb_buf_done(&name);
    }
    shown = cpu_seconds(RUSAGE_SELF);
    for (size_t i = 0; i < ADDRESSES; i++) {
        const char *source;
        uint32_t line;

        lines += fb_symbols_line(symbols, addresses[i], &source, &line);
    }
    end = cpu_seconds(RUSAGE_SELF);
    printf("%-14s %8.1f ms CPU  %5zu named, %5zu lines  (index %.1f ms; each: look-up %.2f us, "
           "name %.2f us, line %.2f us; %zu bytes)\n",
           "flamebank", (end - start) * 1e3, named, lines, (opened - start) * 1e3,
           (found - opened) * 1e6 / ADDRESSES, (shown - found) * 1e6 / ADDRESSES,
           (end - shown) * 1e6 / ADDRESSES, bytes);
    fb_symbols_free(symbols);
    return end - start;
}

/* One run of a peer with the addresses in a file; lines come in pairs: function, place. */
static void measure_peer(const char *tool, const char *path, const char *input, double ours)
{
    char *command = fb_format("%s -f -C -e '%s' < '%s' 2>&1", tool, path, input), line[16384];
    double start = cpu_seconds(RUSAGE_CHILDREN), spent;
    FILE *out = popen(command, "r");
    size_t lines = 0, named = 0, placed = 0;

    free(command);
    for (; out && fgets(line, sizeof line, out); lines++) {
        bool known = strncmp(line, "??", 2) != 0 && !strstr(line, ":?");

        named += lines % 2 == 0 && known;
        placed += lines % 2 == 1 && known;
    }
    if (!out || pclose(out) != 0 || lines < ADDRESSES) {
        printf("%-14s not run\n", tool);
        return;
    }
    spent = cpu_seconds(RUSAGE_CHILDREN) - start;
    printf("%-14s %8.1f ms CPU  %5zu named, %5zu lines  %.0f times ours\n", tool, spent * 1e3,
           named, placed, spent / ours);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : NULL;
    char input[] = "/tmp/bench-symbols-XXXXXX";
    uint64_t *addresses = fb_alloc_array(ADDRESSES, sizeof *addresses);
    struct fb_elf_file *file;
    struct fb_err err;
    double ours;
    FILE *list;

    for (size_t i = 0; !path && i < sizeof libraries / sizeof libraries[0]; i++)
        if (access(libraries[i], R_OK) == 0)
            path = libraries[i];
    if (!path || fb_elf_file_open(path, &file, &err) != FB_OK) {
        fprintf(stderr, "bench_symbols: %s\n", path ? err.text : "no large library is installed");
        return 3;
    }
    pick_addresses(file, addresses);
    fb_elf_file_close(file);
    list = fdopen(mkstemp(input), "w");
    for (size_t i = 0; list && i < ADDRESSES; i++)
        fprintf(list, "%#lx\n", (unsigned long)addresses[i]);
    if (!list || fclose(list) != 0)
        return 3;
    printf("%d addresses of '%s'\n", ADDRESSES, path);
    ours = measure_ours(path, addresses);
    measure_peer("addr2line", path, input, ours);
    measure_peer("eu-addr2line", path, input, ours);
    unlink(input);
    free(addresses);
    return 0;
}
