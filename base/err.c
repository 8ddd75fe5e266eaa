#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum fb_status fb_fail(struct fb_err *err, enum fb_status status, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    err->status = status;
    return status;
}

enum fb_status fb_fail_errno(struct fb_err *err, const char *fmt, ...)
{
    const char *why = strerror(errno);
    size_t used;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    used = strlen(err->text);
    (void)snprintf(err->text + used, sizeof err->text - used, ": %s", why);
    err->status = FB_EIO;
    return FB_EIO;
}

enum fb_status fb_within(struct fb_err *err, const char *fmt, ...)
{
    char inner[sizeof err->text];
    size_t used;
    va_list ap;

    memcpy(inner, err->text, sizeof inner);
    va_start(ap, fmt);
    (void)vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    used = strlen(err->text);
    (void)snprintf(err->text + used, sizeof err->text - used, ": %.400s", inner);
    return err->status;
}
