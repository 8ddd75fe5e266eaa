/* folded_stack.h - "root;frame;leaf" to a stack, and counts at the end of a line.  Private to
 * profile/. */
#ifndef FB_PROFILE_READ_FOLDED_STACK_H
#define FB_PROFILE_READ_FOLDED_STACK_H

#include "profile/read/name_cache.h"
#include "profile/read/text.h"

/* The line before and the stacks on its way, so that what a line has in common with it is not
 * looked up again: folded stacks are mostly sorted.  Starts as zeros, and again with every block,
 * since it points into the text. */
enum { FB_FOLDED_WAY_MOST = 128 };
struct fb_folded_way {
    const char *text;
    size_t len, count;
    struct {
        size_t end; /* behind the frame's ';' */
        fb_stack_id stack;
    } at[FB_FOLDED_WAY_MOST];
};

/* The stack of the text, which ends before `len`; empty frames are left out.  `frames` and `way`
 * belong to the same profile, `frames` from its start to its end. */
fb_stack_id fb_folded_stack_put(struct fb_profile *p, struct fb_name_cache *frames,
                                struct fb_folded_way *way, const char *text, size_t len);

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
