/* err.h - how a function says why it failed.
 *
 * A function that can fail returns an enum fb_status and takes, last, a
 * struct fb_err that the CALLER owns (usually on its stack).  On success the
 * fb_err is untouched; on failure it holds one sentence that can be shown to a
 * user as it is: lower case, names quoted in '...', and what was expected.
 * Errors never allocate.  Only cli/ prints them.
 *
 *     r = frame_read(in, &frame, err);
 *     if (r != FB_OK)
 *         return fb_within(err, "%s: frame %u", in->name, i);
 */
#ifndef FB_BASE_ERR_H
#define FB_BASE_ERR_H

#include <stdbool.h>

/* Append, never renumber: scripts keep logs of them. */
enum fb_status {
    FB_OK = 0,
    FB_EUSAGE = 1,       /* the caller (or the command line) broke the contract     */
    FB_EIO = 2,          /* the operating system said no; the text carries strerror */
    FB_EFORMAT = 3,      /* the input is not what it claims to be                   */
    FB_ELIMIT = 4,       /* the input is bigger than a documented limit             */
    FB_ENOTFOUND = 5,    /* a named thing does not exist                            */
    FB_EUNSUPPORTED = 6, /* well-formed, but of a kind that this version cannot do  */
};

struct fb_err {
    enum fb_status status;
    char text[600];
};

/* Fills *err and returns status, so that failing is one line:
 *     return fb_fail(err, FB_EFORMAT, "frame %u: bad varint", i); */
enum fb_status fb_fail(struct fb_err *err, enum fb_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Like fb_fail() with FB_EIO, ": <strerror(errno)>" appended.  Reads errno first. */
enum fb_status fb_fail_errno(struct fb_err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "<context>: " in front of the text while an error travels up; returns its status. */
enum fb_status fb_within(struct fb_err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
