/* functions.h - the functions of one or several profiles under common ids.
 *
 * A raw frame is an address; a function is what people compare.  Two frames are the same function
 * when kind, tier, module and canonical name agree; the table is shared by all arms of a diff, so
 * that a function has ONE id in all of them.
 *
 *     struct fb_functions fns;
 *     fb_functions_init(&fns);
 *     uint32_t *function_of_frame = fb_functions_add(&fns, profile, canonical);
 *     ... fns.items[function_of_frame[frame.n]].name ...
 *     free(function_of_frame);
 *     fb_functions_done(&fns);
 *
 * A frame without a name becomes "[unknown] <module>", "[unknown]" without a module, or
 * "[unknown jit]" in generated code. */
#ifndef FB_PROFILE_FUNCTIONS_H
#define FB_PROFILE_FUNCTIONS_H

#include "base/buf.h"
#include "profile/model.h"

struct fb_function {
    uint32_t name;   /* string of fns.strings: the canonical name                        */
    uint32_t raw;    /* string: one raw name behind it (the first met)                   */
    uint32_t module; /* string: base name of the module without version, "" for none     */
    uint32_t file;   /* string: source file of the first frame met, "" unknown           */
    uint32_t line;
    enum fb_frame_kind kind;
    enum fb_tier tier; /* as in the frame */
    uint32_t same;     /* the first function that is this one made otherwise (interpreted, compiled,
                          inlined): same name and module.  Tables of functions go by it.  Kernel
                          frames, stubs and marks are their own */
    uint32_t raw_names; /* distinct raw names merged into it */
};

struct fb_raw_name { /* a raw name that was merged into a function */
    uint32_t function, raw;
    enum fb_frame_kind kind; /* by which it was made canonical */
    uint64_t profiles;       /* bit i: it is in the i-th profile that was added; bit 63: or later */
};

struct fb_functions {
    struct fb_strings strings;
    struct fb_function *items; /* [0] is reserved: no function, the root */
    size_t count, room;
    struct fb_raw_name *raw_pairs; /* distinct, in order of appearance */
    size_t raw_count, raw_room;
    size_t profiles;                              /* that were added */
    struct fb_index index, raw_index, same_index; /* private */
};

/* Appends the canonical form of a raw name to out (symbolize has one; NULL keeps raw names). */
typedef void (*fb_canonical_fn)(const char *raw, size_t len, enum fb_frame_kind kind,
                                struct fb_buf *out);

void fb_functions_init(struct fb_functions *fns);
void fb_functions_done(struct fb_functions *fns);

/* The id of the function, added if new. */
uint32_t fb_functions_put(struct fb_functions *fns, enum fb_frame_kind kind, const char *module,
                          const char *name);

uint32_t fb_functions_put_tier(struct fb_functions *fns, enum fb_frame_kind kind, enum fb_tier tier,
                               const char *module, const char *name);

/* The kind by which the name of a frame is made canonical: a method that was inlined keeps a
 * method's name. */
enum fb_frame_kind fb_frame_kind_of_name(const struct fb_frame *f);

/* Puts every frame of p; returns function ids by frame id (frame 0 gives 0); free() it. */
uint32_t *fb_functions_add(struct fb_functions *fns, const struct fb_profile *p,
                           fb_canonical_fn canonical);

static inline const char *fb_function_name(const struct fb_functions *fns, uint32_t id)
{
    return fb_strings_get(&fns->strings, fns->items[id].name);
}

/* The tier of a function: that of its frames, else what its kind says. */
enum fb_tier fb_function_tier(const struct fb_function *f);

/* Whether it is no code but the name of a thread, put outermost: "[worker-# tid=7]".  The name
 * without brackets and tid is appended to ret_name (NULL: not wanted). */
bool fb_function_is_thread(const struct fb_functions *fns, uint32_t id, struct fb_buf *ret_name);

/* Appends the name of a module as people write it: "/usr/lib/libz.so.1.2.13" gives "libz.so";
 * brackets as in "[vdso]" stay. */
void fb_module_short_name(const char *path, struct fb_buf *out);

#endif
