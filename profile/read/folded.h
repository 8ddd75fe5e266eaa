/* folded.h - folded stacks: "root;frame;leaf 12", one stack a line.  Private to profile/.
 *
 * The count is the last blank-separated field; names may hold blanks.  '#' lines are comments, CRLF
 * and a UTF-8 byte order mark are accepted.  The suffixes _[k] _[j] _[i] _[0] _[1] become the
 * frame's kind.  A fractional count is rounded, the remainder carried to the next line, so that
 * the sum stays right within one. */
#ifndef FB_PROFILE_READ_FOLDED_H
#define FB_PROFILE_READ_FOLDED_H

#include "profile/formats.h"

bool fb_folded_sniff(const void *head, size_t n);
enum fb_status fb_folded_read(struct fb_source *in, const struct fb_read_options *options,
                              struct fb_profile **ret_p, struct fb_read_report *ret_report,
                              struct fb_err *err);

#endif
