/* formats.h - the tables of profile formats in and out.
 *
 * A format is one file in profile/read/ or profile/write/ and one row here; the order of the rows
 * is the order of preference when sniffing. */
#ifndef FB_PROFILE_FORMATS_H
#define FB_PROFILE_FORMATS_H

#include "base/buf.h"
#include "base/err.h"
#include "profile/bank.h"
#include "profile/calltree.h"

/* What a reader met and could not use; printed, never silent. */
struct fb_read_report {
    struct fb_bank_damage damage;
    uint64_t lines, skipped_lines; /* text formats                                */
    char first_skipped[200];       /* "line 7: no count at the end", "" if none   */
};

struct fb_reader {
    const char *name; /* as typed after --from       */
    const char *what; /* one line for the help       */
    bool (*sniff)(const void *head, size_t n);
    enum fb_status (*read)(const void *bytes, size_t n, const char *name, struct fb_profile **ret_p,
                           struct fb_read_report *ret_report, struct fb_err *err);
};

struct fb_writer {
    const char *name; /* as typed after --to */
    const char *suffix;
    const char *what;
    void (*write)(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out);
};

/* Both tables end with a row whose name is NULL. */
extern const struct fb_reader fb_readers[];
extern const struct fb_writer fb_writers[];

/* Reads bytes that are unpacked already (fb_file_read_unpacked()); `name` is for the messages.
 * format NULL: told by the content. */
enum fb_status fb_profile_decode(const void *bytes, size_t n, const char *name, const char *format,
                                 struct fb_profile **ret_p, struct fb_read_report *ret_report,
                                 struct fb_err *err);

/* The writer by name, or by the suffix of path when name is NULL. */
enum fb_status fb_writer_find(const char *name, const char *path, const struct fb_writer **ret_w,
                              struct fb_err *err);

/* Folded lines ("a;b;c 12") of weights by node, sorted by text; root first.  ';' in a name is
 * written as ':'; control bytes as '?'. */
void fb_folded_write(const struct fb_calltree *tree, const struct fb_functions *fns,
                     const double *self, struct fb_buf *out);

#endif
