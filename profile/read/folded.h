/* folded.h - folded stacks: "root;frame;leaf 12", one stack a line.  Private to profile/.
 *
 * The count is the last blank-separated field; names may hold blanks.  '#' lines are comments,
 * blanks before a stack are left out, CRLF is accepted.  The suffixes _[k] _[j] _[i] _[0] _[1]
 * become the frame's kind.  Lines of one stack are one row.  A fractional count is rounded, the
 * remainder carried to the next one, so that the sum stays right within one.
 *
 * A file is differential ("root;leaf 12 15", before and after) where every line of its head ends in
 * two counts; then --type before|after chooses, and --type count says that it is not. */
#ifndef FB_PROFILE_READ_FOLDED_H
#define FB_PROFILE_READ_FOLDED_H

#include "profile/formats.h"

bool fb_folded_sniff(const void *head, size_t n);
enum fb_status fb_folded_read(struct fb_source *in, const struct fb_read_options *options,
                              struct fb_profile **ret_p, struct fb_read_report *ret_report,
                              struct fb_err *err);

#endif
