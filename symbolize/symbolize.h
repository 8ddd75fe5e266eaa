/* symbolize.h - the public header of this folder: names for raw addresses, one name for one
 * function.
 *
 *     struct fb_symbolizer *s = fb_symbolizer_new(&options);
 *     fb_symbolize_profile(s, profile, &report);        fills name, file, line of frames
 *     fb_symbolizer_free(s);
 *
 * Addresses stay in the profile, so that the work can be repeated with better files. */
#ifndef FB_SYMBOLIZE_SYMBOLIZE_H
#define FB_SYMBOLIZE_SYMBOLIZE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "profile/profile.h"

struct fb_symbolizer;

struct fb_symbolizer_options {
    const char *debug_dir; /* searched before /usr/lib/debug; NULL none          */
    bool again;            /* also frames that have a name already               */
};

struct fb_symbolize_report {
    size_t frames, named, already_named, unknown; /* distinct frames with an address      */
    double samples, unknown_samples;              /* weight whose leaf is (un)known       */
    char **notes;                                 /* one sentence per module that failed  */
    size_t notes_count, notes_room;
};

struct fb_symbolizer *fb_symbolizer_new(const struct fb_symbolizer_options *options);
void fb_symbolizer_free(struct fb_symbolizer *s);

/* Names every frame with an address.  Never fails as a whole: what cannot be named is counted and
 * its module's reason is a note (missing file, other build ID ...). */
void fb_symbolize_profile(struct fb_symbolizer *s, struct fb_profile *p,
                          struct fb_symbolize_report *ret_report);
void fb_symbolize_report_done(struct fb_symbolize_report *report);

/* The canonical form of a raw name; an fb_canonical_fn.  docs/names.md lists the rules. */
void fb_name_canonical(const char *raw, size_t len, enum fb_frame_kind kind, struct fb_buf *out);

/* Appends the demangled form of an Itanium C++ or Rust name; false (nothing added) if it is none.
 */
bool fb_name_demangle(const char *raw, struct fb_buf *out);

#endif
