/* A small profile with one of everything, for the tests of this folder. */
#ifndef FB_TESTS_BUILD_PROFILE_H
#define FB_TESTS_BUILD_PROFILE_H

#include <math.h>

#include "profile/profile.h"

static const int64_t T0 = 1700000000000000000;

static inline fb_frame_id put_native(struct fb_profile *p, uint32_t module, uint64_t address,
                                     const char *name)
{
    struct fb_frame f = {.kind = FB_FRAME_NATIVE, .module = module, .address = address};

    f.name = fb_strings_put_z(&p->strings, name);
    return fb_profile_frame_put(p, &f);
}

/* `samples` samples over three stacks and two threads, counters once a second. */
static inline struct fb_profile *build_profile(size_t samples)
{
    struct fb_profile *p = fb_profile_new();
    struct fb_module m = {.start = 0x1000, .end = 0x9000, .load_ns = T0, .unload_ns = INT64_MAX};
    uint32_t module, cpu, rss;
    fb_stack_id main_, work, deep;
    struct fb_frame java = {.kind = FB_FRAME_JAVA, .tier = FB_TIER_C1, .line = 12};

    p->run_id = 0x1122334455667788;
    p->writer_id = 42;
    p->wall_offset_ns = T0 - 5000000000;
    p->has_times = p->ended = true;
    fb_profile_manifest_set(p, "start_monotonic_ns", "5000000000");
    fb_profile_manifest_set(p, "start_wall_ns", "1700000000000000000");
    fb_profile_manifest_set(p, "interval_ns", "10101010");
    p->interval_ns = 10101010;
    m.path = fb_strings_put_z(&p->strings, "/usr/lib/libdemo.so.1.2");
    m.build_id = fb_strings_put_z(&p->strings, "00ff10ab");
    module = fb_profile_module_add(p, &m);
    main_ = fb_profile_stack_put(p, FB_STACK_ROOT, put_native(p, module, 0x1100, "main"));
    work = fb_profile_stack_put(p, main_, put_native(p, module, 0x1200, "work"));
    java.name = fb_strings_put_z(&p->strings, "a.B.c");
    java.signature = fb_strings_put_z(&p->strings, "(I)V");
    deep = fb_profile_stack_put(p, work, put_native(p, module, 0x1300, ""));
    deep = fb_profile_stack_put(p, deep, fb_profile_frame_put(p, &java));
    for (int t = 1; t <= 2; t++) {
        uint32_t id = fb_profile_thread_add(p, 100 + (uint32_t)t, 0);

        fb_profile_thread_rename(p, id, T0, fb_strings_put_z(&p->strings, t == 1 ? "main" : "io"));
    }
    for (size_t i = 0; i < samples; i++)
        fb_profile_sample_add(p, T0 + (int64_t)i * 10000000, 1 + i % 2,
                              i % 3 == 0   ? main_
                              : i % 3 == 1 ? work
                                           : deep,
                              1 + (i % 7 == 0));
    cpu = fb_profile_counter_put(p, "process.cpu_ns", "ns", FB_COUNTER_CUMULATIVE);
    rss = fb_profile_counter_put(p, "process.rss_bytes", "bytes", FB_COUNTER_GAUGE);
    for (size_t s = 0; s <= samples / 100; s++) {
        size_t row = fb_profile_counter_row_add(p, T0 + (int64_t)s * 1000000000);

        p->counters.items[cpu].values[row] = (int64_t)s * 900000000;
        if (s > 0)
            p->counters.items[rss].values[row] = 5000000 + (int64_t)s;
    }
    fb_profile_mark_add(p, &(struct fb_mark){.name = fb_strings_put_z(&p->strings, "step 1"),
                                             .time_ns = T0 + 1000000000,
                                             .offered = 400});
    p->losses[FB_LOSS_NO_SEGMENT] = 3;
    fb_profile_span_update(p);
    return p;
}

#endif
