/* pprof.h - a profile as gzipped profile.proto.  Private to profile/.
 *
 * Samples are merged by stack, thread and labels.  A frame and what was inlined into it are one
 * location of several lines.  Ticks are "samples/count" (the default type) and, where their
 * interval is known, also nanoseconds of CPU or wall time; any other unit is one type of that unit.
 * Threads are the labels thread, tid and pid, the manifest is comments "flamebank.KEY=VALUE". Names
 * are canonical, system names raw; a byte that is no UTF-8 is written as \xHH, as protobuf wants.
 */
#ifndef FB_PROFILE_WRITE_PPROF_H
#define FB_PROFILE_WRITE_PPROF_H

#include "profile/formats.h"

void fb_pprof_write(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out);

#endif
