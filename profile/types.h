/* types.h - one of several events or values in a file: they are never added up.
 *
 *     struct fb_value_type types[] = {{"samples", "count", 120}, {"cpu", "nanoseconds", 120}};
 *     r = fb_types_choose(name, types, 2, options->type, 1, &chosen, err);
 *
 * Private to profile/. */
#ifndef FB_PROFILE_TYPES_H
#define FB_PROFILE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "profile/formats.h"

#define FB_TYPES_NO_DEFAULT SIZE_MAX

struct fb_value_type {
    const char *name, *unit; /* "cpu", "nanoseconds"; unit may be "" */
    uint64_t samples;        /* that have it                         */
};

/* The index of the type `asked` for (its name, or "name/unit"); where nothing is asked, the only
 * type that has samples, else `fallback`, which the format itself names as its default.  Fails with
 * a list of all types where there is no such type, or several and no default. */
enum fb_status fb_types_choose(const char *file, const struct fb_value_type *types, size_t n,
                               const char *asked, size_t fallback, size_t *ret_chosen,
                               struct fb_err *err);

/* Says in the report's note which was chosen by default, and which others there are. */
void fb_types_note(const struct fb_value_type *types, size_t n, size_t chosen,
                   struct fb_read_report *report);

#endif
