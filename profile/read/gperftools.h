/* gperftools.h - the CPU profile of gperftools, and Java's of the same shape.  Private to profile/.
 *
 * Machine words of 32 or 64 bits, of either byte order:
 *   header    0, 3, 0, period in microseconds, 0      (the third is 1 for Java)
 *   records   count, depth, pc of the leaf, of its caller ...
 *   end       0, 1, 0
 * then /proc/self/maps as text, or Java's names of addresses.  A caller's address is a return
 * address and becomes one less, inside the call, but for Java.  A frame of the signal's delivery
 * that all but one in 32 records have behind their leaf is taken out (at most twice), and so is a
 * second copy of the leaf.  Addresses without a map are kept as they are. */
#ifndef FB_PROFILE_READ_GPERFTOOLS_H
#define FB_PROFILE_READ_GPERFTOOLS_H

#include "profile/formats.h"

bool fb_gperftools_sniff(const void *head, size_t n);
enum fb_status fb_gperftools_read(struct fb_source *in, const struct fb_read_options *options,
                                  struct fb_profile **ret_p, struct fb_read_report *ret_report,
                                  struct fb_err *err);

#endif
