/* csv.h - samples as a table for other programs.  Private to profile/.
 *
 * RFC 4180 with a header: time_ns (Unix; empty without times), tid, thread, weight, unit, leaf,
 * stack. Without times, rows of one stack and thread are one.  The stack is as in folded text, root
 * first: in a name, ';' is written ':' and a control byte '?'.  Bytes that are no UTF-8 stay as
 * they are. */
#ifndef FB_PROFILE_WRITE_CSV_H
#define FB_PROFILE_WRITE_CSV_H

#include "profile/formats.h"

void fb_csv_profile_write(const struct fb_profile *p, fb_canonical_fn canonical,
                          struct fb_buf *out);

#endif
