/* json_kind.h - which of the JSON profile formats a text is.  Private to profile/.
 *
 * Told by the keys of the outermost object, in whatever order they come, from the first bytes of
 * the file alone; the caller comes with more of them where those say nothing. */
#ifndef FB_PROFILE_READ_JSON_KIND_H
#define FB_PROFILE_READ_JSON_KIND_H

#include <stdbool.h>
#include <stddef.h>

enum fb_json_profile {
    FB_JSON_PROFILE_NONE,
    FB_JSON_PROFILE_FLAMEBEARER,
    FB_JSON_PROFILE_SPEEDSCOPE,
    FB_JSON_PROFILE_FIREFOX,
    FB_JSON_PROFILE_CPUPROFILE,
    FB_JSON_PROFILE_TRACE,
};

/* Whether it begins as an object with a key, or an array of such. */
bool fb_json_looks_so(const void *head, size_t n);

enum fb_json_profile fb_json_profile_kind(const void *head, size_t n);

#endif
