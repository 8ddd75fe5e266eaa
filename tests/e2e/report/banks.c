/* banks DIR - arms for the tests of the report, the same bytes every time:
 *
 *   control-1 control-2 variant-1 variant-2.fbank   60 s, four steps, three threads; the codec
 * costs half as much again in the variants; in second 20 to 24 all is JIT hostile-a hostile-b.fbank
 * every name that a page could stumble over, in every field steps.tsv, hostile.tsv    their steps
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "profile/profile.h"

static const int64_t START_NS = 1700000000000000000;

static uint64_t state;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

static const char *const hostile[] = {
    "</script><script>window.broken=1</script>",
    "<img src=x onerror=window.broken=1>",
    "]]><svg onload=window.broken=1>",
    "javascript:window.broken=1",
    "\"' onmouseover=window.broken=1 x=\"",
    "<!--<script>",
    "\x1b[31mred\x07",
    "\xe2\x80\xaetxt.exe\xe2\x80\xac",
    "\xff\xfe\xc0\x80\xed\xa0\x80",
    "&lt;b&gt;&amp;&#0;",
    "a;b;c 17",
    "${window.broken=1}`",
    "{{constructor.constructor('window.broken=1')()}}",
    "</title></style><style>*{display:none}</style>",
    "\xe2\x80\xa8line\xe2\x80\xa9",
    "__proto__",
};

enum { HOSTILE = sizeof hostile / sizeof *hostile };

static struct fb_profile *profile_new(uint64_t seed)
{
    struct fb_profile *p = fb_profile_new();
    char text[32];

    state = 0x9e3779b97f4a7c15u * (seed + 1);
    p->run_id = 1 + state;
    p->writer_id = 1;
    p->has_times = p->ended = true;
    p->wall_offset_ns = START_NS - 1000000000;
    p->interval_ns = 10000000;
    fb_profile_manifest_set(p, "clock_got", "cpu");
    fb_profile_manifest_set(p, "interval_ns", "10000000");
    (void)snprintf(text, sizeof text, "%lld", (long long)START_NS);
    fb_profile_manifest_set(p, "start_wall_ns", text);
    fb_profile_manifest_set(p, "start_monotonic_ns", "1000000000");
    fb_profile_manifest_set(p, "symbolized", "synthetic");
    return p;
}

static fb_frame_id frame(struct fb_profile *p, enum fb_frame_kind kind, const char *module,
                         const char *name, size_t len)
{
    struct fb_module m = {.start = 0x1000, .end = 0x2000, .unload_ns = INT64_MAX};
    struct fb_frame f = {.kind = kind};

    m.path = fb_strings_put_z(&p->strings, module);
    for (uint32_t i = 1; i < p->modules_count && f.module == 0; i++)
        f.module = p->modules[i].path == m.path ? i : 0;
    if (f.module == 0)
        f.module = fb_profile_module_add(p, &m);
    f.name = fb_strings_put(&p->strings, name, len);
    f.file = fb_strings_put_z(&p->strings, module);
    f.line = 7;
    return fb_profile_frame_put(p, &f);
}

static fb_stack_id call(struct fb_profile *p, fb_stack_id on, const char *module, const char *name)
{
    return fb_profile_stack_put(p, on, frame(p, FB_FRAME_NATIVE, module, name, strlen(name)));
}

static uint32_t thread(struct fb_profile *p, uint32_t tid, const char *name)
{
    uint32_t id = fb_profile_thread_add(p, tid, 0);

    fb_profile_thread_rename(p, id, START_NS, fb_strings_put_z(&p->strings, name));
    return id;
}

/* 1 of each: CPU of the process, throttling in second 30, GC in seconds 40 to 44. */
static void counters(struct fb_profile *p, double cores)
{
    static const char *const names[] = {"process.cpu_ns", "cgroup.throttled_ns", "jvm.gc_young_ns"};
    uint32_t ids[3];

    for (int i = 0; i < 3; i++)
        ids[i] = fb_profile_counter_put(p, names[i], "ns", FB_COUNTER_CUMULATIVE);
    for (int s = 0; s <= 61; s++) {
        size_t row = fb_profile_counter_row_add(p, START_NS + s * (int64_t)1000000000);

        p->counters.items[ids[0]].values[row] = (int64_t)(s * cores * 1e9);
        p->counters.items[ids[1]].values[row] = s > 30 ? 400000000 : 0;
        p->counters.items[ids[2]].values[row] = s <= 40 ? 0 : (s > 44 ? 4 : s - 40) * 200000000L;
    }
}

static void mark(struct fb_profile *p, const char *name, int second)
{
    struct fb_mark m = {.time_ns = START_NS + second * (int64_t)1000000000, .offered = 100};

    m.name = fb_strings_put_z(&p->strings, name);
    fb_profile_mark_add(p, &m);
}

static struct fb_profile *arm(uint64_t seed, double codec)
{
    struct fb_profile *p = profile_new(seed);
    uint32_t threads[3];
    fb_stack_id loop, stacks[7];
    double shares[] = {0.40, 0.24, 0.14 * codec, 0.06 * codec, 0.10, 0.06, 0.00}, sum = 0;
    double cores = 2 * (0.8 + 0.2 * codec);
    size_t count = (size_t)(60 * 100 * cores);

    threads[0] = thread(p, 11, "worker-1");
    threads[1] = thread(p, 12, "worker-2");
    threads[2] = thread(p, 13, "compiler");
    loop = call(p, call(p, FB_STACK_ROOT, "/srv/app", "main"), "/srv/app", "event_loop");
    stacks[0] = call(p, call(p, loop, "/srv/app", "send_response"), "/usr/lib/libc.so.6", "writev");
    stacks[1] = call(p, loop, "/usr/sbin/nginx", "ngx_http_parse_request_line");
    stacks[2] = call(p, call(p, loop, "/srv/app", "encode"), "/usr/lib/libz.so.1", "deflate");
    stacks[3] = call(p, stacks[2], "/usr/lib/libz.so.1", "crc32_z");
    stacks[4] = call(p, call(p, loop, "/srv/app", "alloc"), "/usr/lib/libc.so.6", "malloc");
    stacks[5] = call(p, call(p, loop, "/srv/app", "handle"), "/srv/app", "handle");
    stacks[6] = call(p, FB_STACK_ROOT, "/srv/app", "compile_method");
    for (int i = 0; i < 7; i++)
        sum += shares[i];
    for (size_t i = 0; i < count; i++) {
        int64_t at = START_NS + (int64_t)((double)i / (100 * cores) * 1e9);
        double u = uniform() * sum;
        int k = 0;

        while (k < 5 && (u -= shares[k]) >= 0)
            k++;
        if (at >= START_NS + 20000000000 && at < START_NS + 24000000000 && uniform() < 0.6)
            k = 6;
        fb_profile_sample_add(p, at, k == 6 ? threads[2] : threads[i % 2], stacks[k], 1);
    }
    counters(p, cores);
    mark(p, "deploy", 31);
    fb_profile_manifest_set(p, "command", codec > 1 ? "server --level=9" : "server --level=6");
    fb_profile_span_update(p);
    return p;
}

static struct fb_profile *hostile_arm(uint64_t seed)
{
    struct fb_profile *p = profile_new(seed);
    char *huge = fb_alloc(100001), key[64];
    fb_stack_id at, stacks[HOSTILE + 3];

    memset(huge, 'h', 100000);
    for (int i = 0; i < HOSTILE; i++) {
        at = call(p, FB_STACK_ROOT, hostile[i], hostile[i]);
        stacks[i] = call(p, at, hostile[HOSTILE - 1 - i], hostile[(i + 1) % HOSTILE]);
        (void)thread(p, (uint32_t)i + 1, hostile[i]);
        if (i < 4)
            mark(p, hostile[i], i * 2);
        (void)snprintf(key, sizeof key, "label.key%d", i);
        fb_profile_manifest_set(p, key, hostile[(i + (int)seed) % HOSTILE]);
    }
    fb_profile_manifest_set(p, "command", hostile[0]);
    stacks[HOSTILE] = call(p, FB_STACK_ROOT, "/srv/app", huge);
    stacks[HOSTILE + 1] =
        fb_profile_stack_put(p, FB_STACK_ROOT, frame(p, FB_FRAME_JAVA, "/srv/app", "nul\0byte", 8));
    stacks[HOSTILE + 2] = call(p, FB_STACK_ROOT, huge, "in a module of 100 kB");
    for (size_t i = 0; i < 6000; i++)
        fb_profile_sample_add(p, START_NS + (int64_t)i * 5000000, 1 + (uint32_t)(i % HOSTILE),
                              stacks[(size_t)(uniform() * (HOSTILE + 3))], 1);
    counters(p, 2);
    fb_profile_span_update(p);
    free(huge);
    return p;
}

static int put(const char *dir, const char *name, struct fb_profile *p)
{
    char *path = fb_format("%s/%s", dir, name);
    struct fb_err err;
    enum fb_status r = fb_bank_write(p, path, &err);

    if (r != FB_OK)
        (void)fprintf(stderr, "banks: %s\n", err.text);
    fb_profile_free(p);
    free(path);
    return r == FB_OK ? 0 : 1;
}

static int put_text(const char *dir, const char *name, const char *text)
{
    char *path = fb_format("%s/%s", dir, name);
    struct fb_err err;
    enum fb_status r = fb_file_write(path, text, strlen(text), &err);

    if (r != FB_OK)
        (void)fprintf(stderr, "banks: %s\n", err.text);
    free(path);
    return r == FB_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : ".";
    int bad = 0;

    bad += put(dir, "control-1.fbank", arm(1, 1));
    bad += put(dir, "control-2.fbank", arm(2, 1));
    bad += put(dir, "variant-1.fbank", arm(3, 1.5));
    bad += put(dir, "variant-2.fbank", arm(4, 1.5));
    bad += put(dir, "hostile-a.fbank", hostile_arm(1));
    bad += put(dir, "hostile-b.fbank", hostile_arm(2));
    bad += put_text(dir, "steps.tsv",
                    "name\tstart\tend\toffered\tdelivered\twarmup\tp50_ms\tp99_ms\n"
                    "warm\t1700000000\t1700000010\t500\t500\t1\t0.4\t3.0\n"
                    "1000\t1700000010\t1700000019\t1000\t1000\t0\t0.5\t2.1\n"
                    "2000\t1700000025\t1700000042\t2000\t1999.5\t0\t0.6\t2.4\n"
                    "3000\t1700000042\t1700000060\t3000\t2999\t0\t0.9\t4.4\n");
    bad += put_text(
        dir, "hostile.tsv",
        "name\tstart\tend\toffered\tdelivered\n"
        "</script><script>window.broken=1</script>\t1700000000\t1700000015\t10\t10\n"
        "\xe2\x80\xae<img src=x onerror=window.broken=1>\t1700000015\t1700000030\t20\t20\n");
    return bad > 0 ? 3 : 0;
}
