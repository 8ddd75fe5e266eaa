/* v8.h - what V8's CPU profiler writes, alone (.cpuprofile) or in pieces in a trace.  Private to
 * profile/.
 *
 *     fb_v8_init(&v, p);
 *     fb_v8_take(&v, &in);               one object or several, as they come
 *     r = fb_v8_finish(&v, name, thread, options, report, err);
 *     fb_v8_done(&v);
 *
 * An object has nodes (each with its children's ids, or its parent's) or, in old files, a nested
 * `head`; samples are ids of nodes, with the microseconds since the sample before (`timeDeltas`) or
 * since the start of the clock (`timestamps`).
 *
 * A sample stands for the time until the next one; the last one has no time.  Where the clock goes
 * back, it stands still instead.  The garbage collector runs on top of the stack that it stopped.
 * Samples of an idle thread are left out, and counted; `(root)` is no frame. */
#ifndef FB_PROFILE_READ_V8_H
#define FB_PROFILE_READ_V8_H

#include "base/json_in.h"
#include "profile/formats.h"

struct fb_v8_node;
struct fb_v8_edge;

struct fb_v8 {
    struct fb_profile *p;
    struct fb_v8_node *nodes;
    size_t nodes_count, nodes_room;
    struct fb_v8_edge *edges;
    size_t edges_count, edges_room;
    int64_t *samples; /* ids */
    size_t samples_count, samples_room;
    double *times; /* us: deltas, or (are_stamps) times */
    size_t times_count, times_room;
    double start_us;
    bool are_stamps;
};

void fb_v8_init(struct fb_v8 *v, struct fb_profile *p);
void fb_v8_done(struct fb_v8 *v);

/* Takes the members of an object that are known, also those of a `cpuProfile` within. */
void fb_v8_take(struct fb_v8 *v, struct fb_json_in *in);

/* Adds the samples to the profile, whose unit becomes "nanoseconds" (with options->weight SAMPLES,
 * or where there are hit counts alone, "samples"). */
enum fb_status fb_v8_finish(struct fb_v8 *v, const char *name, uint32_t thread,
                            const struct fb_read_options *options, struct fb_read_report *report,
                            struct fb_err *err);

#endif
