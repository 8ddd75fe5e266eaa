/* Speed and memory of reading text, beside counting the lines of the same bytes.
 *
 *   bench_text folded|perf|capture BYTES > FILE    writes text: stacks of a Java server over a
 * kernel bench_text FILE [JOBS]                         reads it: CPU time, the least of 5, and
 * memory
 *
 * folded: nearly every stack once, 60 frames deep.  perf: perf script, one address a function.
 * capture: perf script as it is really: a function has many addresses, symbols of many lengths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "profile/profile.h"

enum { RUNS = 5, FUNCTIONS = 6000, DEPTH_MOST = 130, POOL = 20000 };

static const char *const packages[] = {
    "java/util/concurrent", "java/util/stream",      "sun/nio/ch",          "io/netty/channel",
    "io/grpc/internal",     "clojure/lang",          "org/jetty/server",    "com/fasterxml/jackson",
    "org/acme/orders",      "org/acme/orders/store", "reactor/core/publish"};
static const char *const words[] = {"Abstract", "Default", "Channel", "Handler",
                                    "Pipeline", "Codec",   "Buffer",  "Context",
                                    "Message",  "Stream",  "Executor"};
static const char *const kernel[] = {"entry_SYSCALL_64_after_hwframe",
                                     "do_syscall_64",
                                     "ksys_write",
                                     "vfs_write",
                                     "sock_write_iter",
                                     "tcp_sendmsg",
                                     "tcp_push",
                                     "tcp_write_xmit",
                                     "__ip_queue_xmit",
                                     "ip_finish_output2",
                                     "__dev_queue_xmit",
                                     "net_rx_action",
                                     "tcp_v4_rcv"};

static uint64_t state = 88172645463325252u;

static uint32_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static uint32_t mix(uint32_t v)
{
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    return v ^ v >> 16;
}

/* A path down a tree in which few children are taken often. */
static size_t make_stack(uint32_t *stack)
{
    size_t depth = 30 + next() % 70, n = 0;
    uint32_t node = 1 + next() % 4;

    while (n < depth) {
        uint32_t skew = next() % 1000 * (next() % 1000) / 1000;

        stack[n++] = node % FUNCTIONS;
        node = mix(node * 31 + skew / 250 + (next() % 60 == 0 ? next() : 0));
    }
    for (uint32_t k = next() % 3 ? 0 : 3 + next() % 10, i = 0; i < k; i++)
        stack[n++] = FUNCTIONS + i;
    return n;
}

static size_t put_name(char *out, uint32_t f, bool is_perf)
{
    uint32_t h = mix(f + 77);
    const char *package = packages[h % 11], *a = words[(h >> 8) % 11], *b = words[(h >> 12) % 11];

    if (f >= FUNCTIONS)
        return (size_t)sprintf(out, is_perf ? "%s" : "%s_[k]", kernel[f - FUNCTIONS]);
    return (size_t)sprintf(out, is_perf ? "L%s/%s%s;::method%u" : "%s/%s%s.method%u_[j]", package,
                           a, b, f % 97);
}

static size_t put_perf(char *out, const uint32_t *stack, size_t n, uint64_t row, bool is_capture)
{
    size_t len = (size_t)sprintf(
        out, "java %u/%u [%03u] %llu.%06llu:   10101010 cpu-clock: \n", 25607, 25608 + next() % 40,
        next() % 16, (unsigned long long)(row / 5000), (unsigned long long)(row % 5000 * 200));

    for (size_t i = n; i-- > 0;) {
        uint32_t offset = is_capture ? next() % 4096 : mix(stack[i]) % 4096;

        len += (size_t)sprintf(out + len, "\t%16llx ",
                               0x7f7200000000ull + mix(stack[i]) % 0x3ffffff + offset);
        len += put_name(out + len, stack[i], true);
        len += (size_t)sprintf(out + len, "+0x%x (%s)\n", offset,
                               stack[i] < FUNCTIONS ? "/tmp/perf-25607.map" : "[kernel.kallsyms]");
    }
    out[len++] = '\n';
    return len;
}

static size_t put_folded(char *out, const uint32_t *stack, size_t n)
{
    size_t len = (size_t)sprintf(out, "java");

    for (size_t i = 0; i < n; i++) {
        out[len++] = ';';
        len += put_name(out + len, stack[i], false);
    }
    return len + (size_t)sprintf(out + len, " %u\n", 1 + next() % 50 * (next() % 50) / 50);
}

static int generate(const char *kind, uint64_t bytes)
{
    static uint32_t pool[POOL][DEPTH_MOST];
    static size_t depth[POOL];
    static char out[DEPTH_MOST * 160];
    bool is_folded = strcmp(kind, "folded") == 0;

    for (size_t i = 0; i < POOL && !is_folded; i++)
        depth[i] = make_stack(pool[i]);
    for (uint64_t row = 0, done = 0; done < bytes; row++) {
        size_t len, i = next() % POOL * (uint64_t)(next() % POOL) / POOL;

        if (is_folded) {
            depth[0] = make_stack(pool[0]);
            len = put_folded(out, pool[0], depth[0]);
        } else {
            len = put_perf(out, pool[i], depth[i], row, strcmp(kind, "capture") == 0);
        }
        if (fwrite(out, 1, len, stdout) != len)
            return 3;
        done += len;
    }
    return 0;
}

static double cpu_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct fb_source *open_or_exit(const char *path)
{
    struct fb_source *in;
    struct fb_err err;

    if (fb_source_open(path, &in, &err) == FB_OK)
        return in;
    printf("%s\n", err.text);
    exit(3);
}

/* The floor: the same blocks, and nothing but their lines counted. */
static double count_lines(const char *path, uint64_t *ret_bytes)
{
    struct fb_source *in = open_or_exit(path);
    struct fb_block block = {0};
    struct fb_err err;
    double start = cpu_s();
    volatile uint64_t lines = 0;

    *ret_bytes = 0;
    while (fb_source_block(in, 512 * 1024, fb_cut_lines, &block, &err) == FB_OK && block.len > 0) {
        for (const char *at = block.text, *end = at + block.len; at < end; lines++)
            at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
        *ret_bytes += block.len;
    }
    fb_block_done(&block);
    fb_source_close(in);
    return cpu_s() - start;
}

static double read_once(const char *path, unsigned jobs, size_t *ret_stacks)
{
    struct fb_read_options options = {.jobs = jobs};
    struct fb_source *in = open_or_exit(path);
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;
    double start = cpu_s();

    if (fb_profile_read(in, NULL, &options, &p, &report, &err) != FB_OK) {
        printf("%s\n", err.text);
        exit(3);
    }
    start = cpu_s() - start;
    *ret_stacks = p->stacks_count;
    fb_profile_free(p);
    fb_source_close(in);
    return start;
}

int main(int argc, char **argv)
{
    double best = 1e9, floor_s = 1e9;
    uint64_t bytes = 0;
    size_t stacks = 0;
    struct rusage usage;

    if (argc == 3 && (strcmp(argv[1], "folded") == 0 || strcmp(argv[1], "perf") == 0 ||
                      strcmp(argv[1], "capture") == 0))
        return generate(argv[1], strtoull(argv[2], NULL, 10));
    if (argc < 2)
        return 2;
    for (int i = 0; i < RUNS; i++) {
        double s = read_once(argv[1], argc > 2 ? (unsigned)atoi(argv[2]) : 1, &stacks);

        best = s < best ? s : best;
    }
    (void)getrusage(RUSAGE_SELF, &usage);
    for (int i = 0; i < RUNS; i++) {
        double s = count_lines(argv[1], &bytes);

        floor_s = s < floor_s ? s : floor_s;
    }
    printf("%-30s %5.0f MB/s, %.1f x counting its lines; %zu stack nodes, %ld MB resident\n",
           strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : argv[1], (double)bytes / 1e6 / best,
           best / floor_s, stacks, usage.ru_maxrss / 1024);
    return 0;
}
