/* base64.h - RFC 4648 section 4, the standard alphabet. */
#ifndef FB_STEPS_BASE64_H
#define FB_STEPS_BASE64_H

#include "base/buf.h"
#include "base/err.h"

/* Appends the bytes that text stands for.  Padding may be left out; white space is skipped.  The
 * error names the offset of the first byte that does not belong. */
enum fb_status fb_base64_decode(const char *text, size_t len, struct fb_buf *out,
                                struct fb_err *err);

#endif
