/* floor.h - how far two runs of the SAME arm differ: as the user has measured it (floors.h), else
 * as others' runs did.
 *
 * A window's own variance says nothing of the next run, so every interval of one pair carries a
 * floor tau: the standard deviation of ln(value) between same-arm runs.  The numbers are measured
 * (docs/statistics.md, "Floors"); they are relative: 0.05 is 5 %. */
#ifndef FB_DIFF_FLOOR_H
#define FB_DIFF_FLOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "diff/floors.h"

/* Layers whose run-to-run behaviour is their own: told by a word of the layer's name. */
enum fb_floor_kind {
    FB_FLOOR_PLAIN,
    FB_FLOOR_JIT, /* the name has the word "jit" ("JIT+GC" too: the wider of the two) */
    FB_FLOOR_GC,  /* the name has the word "gc"                                      */
};

enum fb_floor_kind fb_floor_kind(const char *layer_name);

/* tau of a share p in 0..1.  Above one half the floor is that of the rest: the absolute deviation
 * is the same for a layer and its complement, and a share of 1 has none. */
double fb_floor_share(const struct fb_floors *measured, enum fb_floor_kind kind, double p,
                      bool is_jvm);

/* Marks of a step in which the machine may have wandered: seen (UNSTEADY), or the window is shorter
 * than the plateaus that it wanders in, so that nothing could be seen (SHORT). */
#define FB_FLOOR_WANDERING (FB_STEP_UNSTEADY | FB_STEP_SHORT)

/* tau of CPU per request: by the health of the step (enum fb_step_health) and the window's own
 * block standard error of ln(CPU per request) at the longest block, 0 where unknown.  Under
 * FB_FLOOR_WANDERING: the largest sd between runs of one arm that was measured where the machine's
 * own speed wandered. */
double fb_floor_cpu(const struct fb_floors *measured, uint32_t health, double window_se);

/* tau of one frame of a native arm. */
double fb_floor_frame(const struct fb_floors *measured);

/* tau of one frame of a JVM arm, by its samples in a run: every process inlines other methods. */
double fb_floor_jvm_frame(bool is_inclusive, double samples);

/* The design effect assumed of a share p when a profile has no times. */
double fb_floor_assumed_deff(enum fb_floor_kind kind, double p);

#endif
