/* perf_frame.h - the frames of `perf script`: "   7f12ab symbol+0x1f (dso)" a line, leaf first.
 * Private to profile/.
 *
 * A line is looked up by its symbol and dso; what it stands for is told once:
 *
 *     uint32_t plan;
 *     if (fb_perf_frame_parse(&frames, line, n, &plan))      a line of a frame
 *         ...
 *     plan = fb_perf_frame_source(&frames, plan, line, n);   the source line that follows it
 *     stack = fb_perf_frame_put(&frames, part, stack, plan); when the sample is added
 *
 * The symbol's offset and the address are left out.  A dso tells the kind of its code: kernel (in
 * brackets, vmlinux, *.ko), generated (/tmp/perf-PID.map, [JIT], jitted-*.so), inlined.  Generated
 * Java "Lorg/x/Y;::run" is "org/x/Y.run", and "a->b" is b inlined into a. */
#ifndef FB_PROFILE_READ_PERF_FRAME_H
#define FB_PROFILE_READ_PERF_FRAME_H

#include "profile/read/name_cache.h"
#include "profile/read/text.h"

struct fb_perf_plan;

struct fb_perf_dso {
    const char *path; /* as in the text; kept */
    size_t len;
    enum fb_frame_kind kind;
    bool is_unknown; /* no module */
};

struct fb_perf_frames {
    struct fb_name_cache symbols, dsos, comms, sources;
    struct fb_perf_plan *plans; /* [0] is none */
    size_t plans_count, plans_room;
    struct fb_perf_dso *all; /* [0] is none: no dso on the line */
    size_t all_count, all_room;
    uint32_t last_dso;
};

/* Zero is the empty one. */
void fb_perf_frames_done(struct fb_perf_frames *frames);

/* False where the line is no frame. */
bool fb_perf_frame_parse(struct fb_perf_frames *frames, const char *line, size_t len,
                         uint32_t *ret_plan);

/* The same frame at "  file.c:12"; the plan itself where that is no source line. */
uint32_t fb_perf_frame_source(struct fb_perf_frames *frames, uint32_t plan, const char *line,
                              size_t len);

fb_stack_id fb_perf_frame_put(struct fb_perf_frames *frames, struct fb_text_part *part,
                              fb_stack_id stack, uint32_t plan);

/* The root of a command's stacks. */
fb_stack_id fb_perf_comm_put(struct fb_perf_frames *frames, struct fb_profile *p, const char *comm,
                             size_t len);

#endif
