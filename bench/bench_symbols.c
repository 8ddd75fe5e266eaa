/* bench_symbols [FILE [most]]: CPU time to name 10,000 random code addresses of a large file, with
 * the inlined functions at each where it has DWARF, by us and by llvm-symbolizer and addr2line,
 * where they are installed, in the same run.  Says where ours is over `most` of llvm-symbolizer's.
 *
 * The peers get all addresses at once, names and lines.  The addresses are uniform over the
 * sections of code, so gaps are among them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/vec.h"
#include "symbolize/elf_file.h"
#include "symbolize/symbolize.h"

enum { ADDRESSES = 10000 };

static const char *const libraries[] = {
    "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
    "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
    "/usr/lib/aarch64-linux-gnu/libLLVM-14.so.1",
    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/aarch64-linux-gnu/libc.so.6",
};

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

/* One module with a frame an address. */
static struct fb_profile *make_profile(const char *path, const uint64_t *addresses)
{
    struct fb_profile *p = fb_profile_new();
    struct fb_module m = {.path = fb_strings_put_z(&p->strings, path), .unload_ns = INT64_MAX};
    uint32_t module = fb_profile_module_add(p, &m);

    for (size_t i = 0; i < ADDRESSES; i++) {
        struct fb_frame f = {.kind = FB_FRAME_NATIVE, .module = module, .address = addresses[i]};

        fb_profile_sample_add(p, 1, FB_NO_THREAD,
                              fb_profile_stack_put(p, FB_STACK_ROOT, fb_profile_frame_put(p, &f)),
                              1);
    }
    return p;
}

/* Ours, what every command does with raw addresses: files opened, indexes made, names demangled,
 * inlined functions put into the stacks. */
static double measure_ours(const char *path, const uint64_t *addresses)
{
    struct fb_profile *p = make_profile(path, addresses);
    const struct fb_symbolizer_options options = {0};
    double start = cpu_seconds(RUSAGE_SELF), spent;
    struct fb_symbolizer *s = fb_symbolizer_new(&options);
    struct fb_symbolize_report r;
    struct rusage use;

    fb_symbolize_profile(s, p, &r);
    spent = cpu_seconds(RUSAGE_SELF) - start;
    getrusage(RUSAGE_SELF, &use);
    printf("%-16s %8.1f ms CPU  (%zu named, %zu lines, %zu inlined functions; %.0f MB)\n",
           "flamebank", spent * 1e3, r.named, r.lines, r.inlined, (double)use.ru_maxrss / 1e3);
    fb_symbolize_report_done(&r);
    fb_symbolizer_free(s);
    fb_profile_free(p);
    return spent;
}

/* One run of a peer with the addresses in a file; its CPU time, 0 where it did not run. */
static double measure_peer(const char *tool, const char *arguments, const char *path,
                           const char *input, double ours)
{
    char *command = fb_format("%s %s -e '%s' < '%s' 2> /dev/null", tool, arguments, path, input);
    double start = cpu_seconds(RUSAGE_CHILDREN), spent;
    FILE *out = popen(command, "r");
    char line[16384];
    size_t lines = 0;

    free(command);
    while (out && fgets(line, sizeof line, out))
        lines++;
    if (!out || pclose(out) != 0 || lines < 2 * ADDRESSES) {
        printf("%-16s not run\n", tool);
        return 0;
    }
    spent = cpu_seconds(RUSAGE_CHILDREN) - start;
    printf("%-16s %8.1f ms CPU  ours is %.2f of it\n", tool, spent * 1e3, ours / spent);
    return spent;
}

/* The addresses, one a line, in a temporary file. */
static bool write_addresses(char *path, const uint64_t *addresses)
{
    FILE *list = fdopen(mkstemp(path), "w");

    for (size_t i = 0; list && i < ADDRESSES; i++)
        fprintf(list, "%#lx\n", (unsigned long)addresses[i]);
    return list && fclose(list) == 0;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : NULL;
    char input[] = "/tmp/bench-symbols-XXXXXX";
    uint64_t *addresses = fb_alloc_array(ADDRESSES, sizeof *addresses);
    double ours, peer, most = argc > 2 ? strtod(argv[2], NULL) : 0.2;
    struct fb_elf_file *file;
    struct fb_err err;

    for (size_t i = 0; !path && i < sizeof libraries / sizeof libraries[0]; i++)
        if (access(libraries[i], R_OK) == 0)
            path = libraries[i];
    if (!path || fb_elf_file_open(path, &file, &err) != FB_OK) {
        fprintf(stderr, "bench_symbols: %s\n", path ? err.text : "no large library is installed");
        return 3;
    }
    pick_addresses(file, addresses);
    fb_elf_file_close(file);
    if (!write_addresses(input, addresses))
        return 3;
    printf("%d addresses of '%s'\n", ADDRESSES, path);
    ours = measure_ours(path, addresses);
    peer = measure_peer("llvm-symbolizer", "--demangle", path, input, ours);
    (void)measure_peer("addr2line", "-f -i -C", path, input, ours);
    unlink(input);
    free(addresses);
    if (peer > 0 && ours > most * peer)
        printf("over the target: %.2f of llvm-symbolizer's CPU time\n", most);
    return 0;
}
