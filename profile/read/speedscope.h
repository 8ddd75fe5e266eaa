/* speedscope.h - speedscope's JSON: sampled and evented profiles.  Private to profile/.
 *
 * The profiles of a file that count the same unit are the threads of one profile (a single one has
 * no thread); of several units one is chosen by options->type, which may also be the name of one
 * profile.  Time units become nanoseconds.  A sampled row is one sample with its weight and no
 * time; an evented profile gives a row for each span between two events, at its time. */
#ifndef FB_PROFILE_READ_SPEEDSCOPE_H
#define FB_PROFILE_READ_SPEEDSCOPE_H

#include "profile/formats.h"

bool fb_speedscope_sniff(const void *head, size_t n);
enum fb_status fb_speedscope_read(struct fb_source *source, const struct fb_read_options *options,
                                  struct fb_profile **ret_p, struct fb_read_report *report,
                                  struct fb_err *err);

#endif
