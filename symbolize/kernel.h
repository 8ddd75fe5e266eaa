/* kernel.h - names for addresses of the running kernel, from /proc/kallsyms.
 *
 * For profiles that were recorded on this machine and kept addresses (perf.data): the module
 * "[kernel.kallsyms]" has the build ID of its kernel, which must be that of the one that runs now,
 * and as `offset` the address of its _text, by which a later boot may differ. */
#ifndef FB_SYMBOLIZE_KERNEL_H
#define FB_SYMBOLIZE_KERNEL_H

#include "base/err.h"
#include "profile/profile.h"

/* Names the kernel frames that have an address and no name; *ret_named of them.  FB_OK where there
 * are none; fails with the reason where they stay without. */
enum fb_status fb_kernel_name_frames(struct fb_profile *p, size_t *ret_named, struct fb_err *err);

/* The same of texts of such files (for tests): kallsyms, and the notes of the kernel. */
enum fb_status fb_kernel_name_frames_from(struct fb_profile *p, const struct fb_buf *kallsyms,
                                          const struct fb_buf *notes, size_t *ret_named,
                                          struct fb_err *err);

#endif
