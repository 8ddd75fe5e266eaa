/* formats.h - the tables of profile formats in and out.
 *
 * A format is one file in profile/read/ or profile/write/ and one row here; the order of the rows
 * is the order of preference when sniffing. */
#ifndef FB_PROFILE_FORMATS_H
#define FB_PROFILE_FORMATS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/source.h"
#include "profile/bank.h"
#include "profile/calltree.h"

/* What a format can hold, beside stacks of names and their weights. */
enum fb_holds {
    FB_HOLDS_TIMES = 1 << 0,   /* when each sample was taken */
    FB_HOLDS_THREADS = 1 << 1, /* names and ids              */
    FB_HOLDS_LABELS = 1 << 2,
    FB_HOLDS_MODULES = 1 << 3,   /* the file that a frame's code is in, and its build ID */
    FB_HOLDS_ADDRESSES = 1 << 4, /* of frames                                            */
    FB_HOLDS_LINES = 1 << 5,     /* source file and line of a frame                      */
    FB_HOLDS_KINDS = 1 << 6,     /* java, jit, stub ...; two have bits of their own      */
    FB_HOLDS_TIERS = 1 << 7,     /* interpreted, C1                                      */
    FB_HOLDS_UNIT = 1 << 8,      /* what a weight is an amount of                        */
    FB_HOLDS_INTERVAL = 1 << 9,  /* the time between two samples                         */
    FB_HOLDS_COUNTERS = 1 << 10,
    FB_HOLDS_MARKS = 1 << 11, /* steps, pauses                                        */
    FB_HOLDS_MANIFEST = 1 << 12,
    FB_HOLDS_NAMES = 1 << 13, /* ';' and control bytes in names                       */
    FB_HOLDS_BYTES = 1 << 14, /* names that are no UTF-8                              */
    FB_HOLDS_INLINED = 1 << 15,
    FB_HOLDS_KERNEL = 1 << 16, /* that a frame is the kernel's                         */
    FB_HOLDS_ALL = (1 << 17) - 1,
};

/* What is in the profile, of enum fb_holds. */
unsigned fb_profile_holds(const struct fb_profile *p);

/* "times, threads, labels", in words; nothing is added for 0. */
void fb_holds_text(unsigned holds, struct fb_buf *out);

/* What a sample weighs where a format has both. */
enum fb_weight_by {
    FB_WEIGHT_AS_FORMAT, /* as the format's own tools count                      */
    FB_WEIGHT_PERIOD,    /* the amount of the event that the sample stands for   */
    FB_WEIGHT_SAMPLES,   /* 1                                                    */
};

/* What to read of a file.  Zero: as the format says, on one core. */
struct fb_read_options {
    const char *type; /* the event or value type where a file has several; NULL: the only one, or
                         that which the format names as its default */
    enum fb_weight_by weight;
    unsigned jobs; /* threads that large text may use; the profile is the same */
};

enum { FB_REPORT_LOSSES_MOST = 8 };

/* What a reader met and could not use; printed, never silent. */
struct fb_read_report {
    struct fb_bank_damage damage;
    uint64_t samples_in; /* of the type that was asked for; = samples of the profile + losses */
    struct fb_read_loss {
        const char *what; /* "samples of negative value (of the base of a difference)" */
        uint64_t count;
    } losses[FB_REPORT_LOSSES_MOST];
    size_t losses_count;
    char note[256]; /* a sentence without full stop, "" none: other types in the file ... */
    uint64_t lines, skipped_lines; /* text formats                                */
    char first_skipped[200];       /* "line 7: no count at the end", "" if none   */
};

/* Adds to the loss of that name; `what` is kept (a literal). */
void fb_report_loss(struct fb_read_report *report, const char *what, uint64_t count);

/* read: the whole source, however large, in one pass where the format allows; errors begin with
 * fb_source_name(in).  The report is zeroed by the caller. */
struct fb_reader {
    const char *name;                          /* as typed after --from          */
    const char *what;                          /* one line for the help          */
    bool (*sniff)(const void *head, size_t n); /* up to FB_SNIFF_BYTES of a file */
    enum fb_status (*read)(struct fb_source *in, const struct fb_read_options *options,
                           struct fb_profile **ret_p, struct fb_read_report *report,
                           struct fb_err *err);
};

/* Layers of a profile's stacks, for formats that have categories. */
struct fb_write_layers {
    const char *const *names;
    size_t count;
    const uint16_t *of_stack; /* by stack id */
};

struct fb_writer {
    const char *name;   /* as typed after --to */
    const char *suffix; /* several apart by blanks */
    const char *what;
    unsigned holds; /* of enum fb_holds: the rest of a profile is left out */
    void (*write)(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out);
};

/* A format of fb_writers[] that holds two profiles, a baseline and what is compared with it. */
struct fb_pair_writer {
    const char *name;
    enum fb_status (*write)(const struct fb_profile *left, const struct fb_profile *right,
                            fb_canonical_fn canonical, struct fb_buf *out, struct fb_err *err);
};

/* One that has categories. */
struct fb_layer_writer {
    const char *name;
    void (*write)(const struct fb_profile *p, fb_canonical_fn canonical,
                  const struct fb_write_layers *layers, struct fb_buf *out);
};

/* All tables end with a row whose name is NULL. */
extern const struct fb_reader fb_readers[];
extern const struct fb_writer fb_writers[];
extern const struct fb_pair_writer fb_pair_writers[];
extern const struct fb_layer_writer fb_layer_writers[];

/* The reader by name, or (format NULL) by the content.  FB_EUSAGE or FB_EFORMAT. */
enum fb_status fb_reader_find(struct fb_source *in, const char *format,
                              const struct fb_reader **ret_reader, struct fb_err *err);

/* Whether the first bytes are a profile for sure: a bank, or JSON with the keys of one.  Text is
 * not (folded stacks, or a table of steps?). */
bool fb_profile_is_marked(const void *head, size_t n);

/* Reads a profile; format NULL: told by the content. */
enum fb_status fb_profile_read(struct fb_source *in, const char *format,
                               const struct fb_read_options *options, struct fb_profile **ret_p,
                               struct fb_read_report *ret_report, struct fb_err *err);

/* The same of bytes in memory; `name` is for the messages. */
enum fb_status fb_profile_decode(const void *bytes, size_t n, const char *name, const char *format,
                                 struct fb_profile **ret_p, struct fb_read_report *ret_report,
                                 struct fb_err *err);

/* The writer by name, or by the suffix of path when name is NULL. */
enum fb_status fb_writer_find(const char *name, const char *path, const struct fb_writer **ret_w,
                              struct fb_err *err);

/* Folded lines ("a;b;c 12") of weights by node, sorted by text; root first.  ';' in a name is
 * written as ':'; control bytes as '?'. */
void fb_folded_write(const struct fb_calltree *tree, const struct fb_functions *fns,
                     const struct fb_calltree_weight *weights, size_t count, struct fb_buf *out);

/* Two profiles over one tree, the baseline left, as a double flamebearer.  FB_EUNSUPPORTED where
 * their weights are of different things. */
enum fb_status fb_flamebearer_write_pair(const struct fb_profile *left,
                                         const struct fb_profile *right, fb_canonical_fn canonical,
                                         struct fb_buf *out, struct fb_err *err);

#endif
