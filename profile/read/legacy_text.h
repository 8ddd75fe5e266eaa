/* legacy_text.h - the text profiles of gperftools, of Go before pprof's format, and Java's of that
 * shape.  Private to profile/.
 *
 *   heap profile: 1: 10 [ 2: 20] @ heap_v2/524288     objects: bytes [of all allocations]
 *        1: 9216 [     1: 9216] @ 0xc635c8 0x42ecc3   scaled by the sampling rate
 *   heap profile: ... @ growthz                       growth of the heap
 *   threadcreate profile: total 7                     goroutine, threadcreate ...
 *   1 @ 0x44cb3 0x45045
 *   --- threadz 1 ---                                 "--- Thread", "PC: 0x...", "[same as
 * previous"
 *   --- contentionz 1 ---                             delay and count, "sampling period = 100"
 *        14 1 @ 0x0d 0x0e
 *   --- heapz 1 ---                                   bytes and objects, Java
 *
 * then the memory map or Java's names.  Addresses are return addresses and become one less, but for
 * the PC of a thread and for Java.  Several values are types of their own: --type reads one, the
 * last is the default, as in pprof. */
#ifndef FB_PROFILE_READ_LEGACY_TEXT_H
#define FB_PROFILE_READ_LEGACY_TEXT_H

#include "profile/formats.h"

bool fb_legacy_text_sniff(const void *head, size_t n);
enum fb_status fb_legacy_text_read(struct fb_source *in, const struct fb_read_options *options,
                                   struct fb_profile **ret_p, struct fb_read_report *ret_report,
                                   struct fb_err *err);

#endif
