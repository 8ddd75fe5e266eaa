/* strings.h - interned strings: equal texts have equal ids.
 *
 * Zero-initialise with fb_strings_init(); id 0 is "".  Texts may hold any byte but are stored
 * NUL-terminated; the length is kept. */
#ifndef FB_BASE_STRINGS_H
#define FB_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/index.h"

struct fb_string {
    const char *text;
    size_t len;
};

struct fb_strings {
    struct fb_string *items; /* by id */
    size_t count, room;
    struct fb_index index;
    struct fb_arena arena;
};

void fb_strings_init(struct fb_strings *s);
void fb_strings_done(struct fb_strings *s);

/* The id of the text, added if new.  At most UINT32_MAX - 1 strings. */
uint32_t fb_strings_put(struct fb_strings *s, const char *text, size_t len);
uint32_t fb_strings_put_z(struct fb_strings *s, const char *text);

/* The id of the text or UINT32_MAX if it is not there. */
uint32_t fb_strings_find(const struct fb_strings *s, const char *text, size_t len);

/* Borrowed until fb_strings_done(); id < count. */
static inline const char *fb_strings_get(const struct fb_strings *s, uint32_t id)
{
    return s->items[id].text;
}

#endif
