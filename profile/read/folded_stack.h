/* folded_stack.h - "root;frame;leaf" to a stack, and counts at the end of a line.  Private to
 * profile/. */
#ifndef FB_PROFILE_READ_FOLDED_STACK_H
#define FB_PROFILE_READ_FOLDED_STACK_H

#include "profile/read/name_cache.h"
#include "profile/read/text.h"

/* The stack of the text, which ends before `len`; empty frames are left out.  `frames` belongs to
 * the same profile, from its start to its end. */
fb_stack_id fb_folded_stack_put(struct fb_profile *p, struct fb_name_cache *frames,
                                const char *text, size_t len);

/* Cuts a count and the blanks around it off the end; false with a reason where there is none. */
bool fb_folded_count_cut(const char *line, size_t *len, double *ret_count, const char **ret_why);

/* The length without blanks and CR at the end. */
static inline size_t fb_folded_trim(const char *line, size_t len)
{
    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t' || line[len - 1] == '\r'))
        len--;
    return len;
}

#endif
