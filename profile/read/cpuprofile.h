/* cpuprofile.h - Chrome's and Node.js' .cpuprofile (profile/read/v8.h says what it means).
 * Private to profile/. */
#ifndef FB_PROFILE_READ_CPUPROFILE_H
#define FB_PROFILE_READ_CPUPROFILE_H

#include "profile/formats.h"

bool fb_cpuprofile_sniff(const void *head, size_t n);
enum fb_status fb_cpuprofile_read(struct fb_source *source, const struct fb_read_options *options,
                                  struct fb_profile **ret_p, struct fb_read_report *report,
                                  struct fb_err *err);

#endif
