/* trace_frames.h - samples of a trace over its `stackFrames`, as exporters of perf write them.
 * Private to profile/.
 *
 *     "stackFrames": {"5": {"name": "main", "parent": "2"}},
 *     "samples": [{"ts": 12.5, "pid": 1, "tid": 2, "sf": 5, "weight": 1}]
 *
 * Both come in any order, in time and in the file; ids are numbers or texts. */
#ifndef FB_PROFILE_READ_TRACE_FRAMES_H
#define FB_PROFILE_READ_TRACE_FRAMES_H

#include "base/json_in.h"
#include "profile/formats.h"

struct fb_trace_sample {
    uint32_t frame; /* string: its id */
    int64_t pid, tid, ns;
    uint64_t weight;
};

struct fb_trace_frames {
    struct fb_profile *p;
    struct fb_trace_frame *frames; /* private */
    size_t frames_count, frames_room;
    struct fb_trace_sample *samples;
    size_t count, room;
};

void fb_trace_frames_done(struct fb_trace_frames *t);

void fb_trace_frames_take(struct fb_trace_frames *t, struct fb_json_in *in);
void fb_trace_frames_take_samples(struct fb_trace_frames *t, struct fb_json_in *in);

/* The stack of each sample, UINT32_MAX where the file lacks its frame; free() it.  NULL where
 * frames go in a circle. */
uint32_t *fb_trace_frames_stacks(const struct fb_trace_frames *t);

/* A number, or one written as a text; the fallback for what is none. */
double fb_trace_number(struct fb_json_in *in, double fallback);

#endif
