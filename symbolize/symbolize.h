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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "profile/profile.h"

struct fb_symbolizer;

struct fb_symbolizer_options {
    const char *debug_dir; /* searched before /usr/lib/debug; NULL none; copied */
    const char *root;      /* the arm's file system, where it is not this one: an unpacked image,
                              /proc/PID/root; NULL none; copied */
    /* > 0: what is missing is asked of the servers of DEBUGINFOD_URLS, for so many seconds in all.
     * progress (NULL: none) is called while a file comes; total 0: unknown. */
    double debuginfod_seconds;
    void (*progress)(void *data, const char *path, int64_t done, int64_t total);
    void *progress_data;
    bool again;            /* also frames that have a name already              */
    bool no_inlined;       /* no frames for inlined functions; takes those away that are there */
};

struct fb_symbolize_report {
    /* Distinct frames with an address: frames = named + already_named + unknown. */
    size_t frames, named, already_named, unknown;
    size_t inlined; /* frames of functions that were inlined into those                 */
    size_t lines;   /* of those frames: with a file and a line                          */
    size_t inlined_before, lines_before;
    double samples, unknown_samples; /* weight of all; of those whose leaf is unknown            */
    double unknown_samples_before;
    char **notes; /* one sentence per module that failed or is stripped, no full stop, and one for
                     the addresses outside of all modules */
    size_t notes_count, notes_room;
};

/* Modules stay open in it, so that a second profile of the same files costs its look-ups only. */
struct fb_symbolizer *fb_symbolizer_new(const struct fb_symbolizer_options *options);
void fb_symbolizer_free(struct fb_symbolizer *s);

/* Names every frame with an address: name (demangled), file and line where the module has them,
 * and kind FB_FRAME_STUB for a PLT entry ("f@plt").  Where functions were inlined at the address,
 * its frame keeps the function that has the code and the line of the call in it, and frames of kind
 * FB_FRAME_INLINED are put under it (profile/inlined.h).  Stack ids change then; frame ids do where
 * the profile had such frames before.  Frames must not be added to the profile afterwards.  Never
 * fails as a whole: what cannot be named is counted, and its module's reason is a note (missing
 * file, other build ID ...).  One symbolizer, one thread. */
void fb_symbolize_profile(struct fb_symbolizer *s, struct fb_profile *p,
                          struct fb_symbolize_report *ret_report);
/* Whether its names are those that the sampler took out of symbol tables, which no one has made
 * readable yet: a reason to symbolize it where every address has a name, too. */
bool fb_symbolize_has_banked_names(const struct fb_profile *p);

void fb_symbolize_report_done(struct fb_symbolize_report *report);

/* ---- one name for one function: docs/names.md lists the rules ---- */

/* A set of rules; bit i is rule i of the table, in the order of their application. */
typedef uint64_t fb_name_rules;
#define FB_NAME_RULES_ALL UINT64_MAX

/* The name of rule i, and in a line what it does (NULL: not wanted); NULL behind the last.  Rules
 * of one name are one rule to people. */
const char *fb_name_rule_get(size_t i, const char **ret_what);
/* The rules of that name; 0 for none. */
fb_name_rules fb_name_rules_named(const char *name);
/* The rules after which two functions that differ may have one name: lambdas without numbers. */
fb_name_rules fb_name_rules_merging(void);

/* Appends the canonical form of a raw name by these rules (the name itself where none applies), and
 * returns those that fired.  The canonical form of a canonical name is itself.  One pass over the
 * name a rule; names of more than 16 KiB are left as they are. */
fb_name_rules fb_name_canonical_by(fb_name_rules set, const char *raw, size_t len,
                                   enum fb_frame_kind kind, struct fb_buf *out);

/* What fb_name_canonical() applies from now on, in the whole process: called once, by the command
 * line, before any name is made.  All rules without it. */
void fb_name_rules_use(fb_name_rules set);
fb_name_rules fb_name_rules_in_use(void);

/* fb_name_canonical_by() with the rules in use; an fb_canonical_fn. */
void fb_name_canonical(const char *raw, size_t len, enum fb_frame_kind kind, struct fb_buf *out);

/* What of a raw name is no part of its function's name but worth to know: "cold, plt, static".
 * Appended, separated by ", "; nothing where there is nothing. */
void fb_name_attributes(const char *raw, size_t len, fb_name_rules fired, struct fb_buf *out);

/* Appends the demangled form of an Itanium C++, Rust or D name, the version or clone suffix kept;
 * false (nothing added) if it is none or one of the caps is passed (16 KiB in, 64 KiB out). */
bool fb_name_demangle(const char *raw, struct fb_buf *out);

#endif
