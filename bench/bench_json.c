/* CPU time of reading and writing profiles in JSON, MB/s of JSON, beside a floor of the same run:
 * passing over the same text, where quotes and brackets alone are looked at.
 *
 *   bench_json      a line a format, the least of 5 runs each
 *
 * The profile is a tree of random width over 20,000 names, as a server's is that is asked for a
 * day: some 50 MB as a flamebearer; a tenth of it for the formats that take more bytes a stack. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/json_in.h"
#include "base/vec.h"
#include "profile/profile.h"

enum { RUNS = 5, NAMES = 20000 };

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

/* Each node is below a random one of the last 4096, so depth grows as in real stacks. */
static struct fb_profile *make(size_t nodes)
{
    struct fb_profile *p = fb_profile_new();
    fb_frame_id *frames = fb_alloc_array(NAMES, sizeof *frames);
    uint64_t state = 88172645463325252u;

    for (int i = 0; i < NAMES; i++) {
        char name[64];
        struct fb_frame f = {.kind = FB_FRAME_JAVA};

        (void)snprintf(name, sizeof name, "io/netty/channel/Abstract%dContext.invoke", i);
        f.name = fb_strings_put_z(&p->strings, name);
        frames[i] = fb_profile_frame_put(p, &f);
    }
    for (size_t i = 0; i < nodes; i++) {
        uint64_t back = random_next(&state) % 4096, at = p->stacks_count - 1;
        fb_stack_id parent = {(uint32_t)(at > back ? at - back : 0)};

        fb_stack_id stack = fb_profile_stack_put(p, parent, frames[random_next(&state) % NAMES]);

        if (random_next(&state) % 3 == 0)
            fb_profile_sample_add(p, 0, FB_NO_THREAD, stack, 1 + random_next(&state) % 999);
    }
    p->interval_ns = 10000000;
    p->rows_merged = 1;
    free(frames);
    return p;
}

static double floor_s(const struct fb_buf *json)
{
    double best = 1e9;

    for (int i = 0; i < RUNS; i++) {
        struct fb_json_in in;
        double start = cpu_s();

        fb_json_in_start(&in, json->data, json->len);
        fb_json_in_skip(&in);
        best = cpu_s() - start < best ? cpu_s() - start : best;
        fb_json_in_done(&in);
    }
    return best;
}

static double read_s(const struct fb_buf *json, const char *format, uint64_t weight)
{
    double best = 1e9;

    for (int i = 0; i < RUNS; i++) {
        struct fb_read_report report;
        struct fb_profile *p;
        struct fb_err err;
        double start = cpu_s();

        if (fb_profile_decode(json->data, json->len, format, format, &p, &report, &err) != FB_OK) {
            (void)fprintf(stderr, "%s\n", err.text);
            exit(1);
        }
        best = cpu_s() - start < best ? cpu_s() - start : best;
        if (fb_profile_weight(p) % weight != 0) /* some count nanoseconds */
            exit(1);
        fb_profile_free(p);
    }
    return best;
}

static void row(const struct fb_profile *p, const char *format, const char *target)
{
    const struct fb_writer *writer;
    struct fb_buf json = {0};
    struct fb_err err;
    double wrote, read, floor, mb;

    if (fb_writer_find(format, "", &writer, &err) != FB_OK)
        exit(1);
    wrote = cpu_s();
    writer->write(p, NULL, &json);
    wrote = cpu_s() - wrote;
    mb = (double)json.len / 1e6;
    read = read_s(&json, format, fb_profile_weight(p));
    floor = floor_s(&json);
    (void)printf("%-12s %6.1f MB  read %5.0f MB/s  (%.1f x the floor of %.0f MB/s)%s  write %.0f "
                 "MB/s\n",
                 format, mb, mb / read, read / floor, mb / floor, target, mb / wrote);
    fb_buf_done(&json);
}

int main(void)
{
    struct fb_profile *p = make(4400000);

    row(p, "flamebearer", " (target: 150)");
    fb_profile_free(p);
    p = make(330000);
    row(p, "speedscope", "");
    row(p, "firefox", "");
    row(p, "cpuprofile", "");
    fb_profile_free(p);
    return 0;
}
