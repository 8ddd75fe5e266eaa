/* text.h - large text in blocks, on one core or several, to the same profile.  Private to profile/.
 *
 * A format says where its text may be cut and takes a block at a time into a part of its own:
 *
 *     static void take(struct fb_text_part *part, const char *text, size_t n);
 *     static const struct fb_text_format format = {.cut = fb_cut_lines, .take = take, ...};
 *     r = fb_text_read(in, &format, &arg, options->jobs, &text, err);
 *     ... text.p, text.parts[i].state ...
 *     fb_text_done(&text);                    the profile is the caller's
 *
 * With one job the part's profile is the result.  With several, every thread has a part, and their
 * samples are put together in the order of the blocks.  So that the profile is the same, a format
 * adds samples by fb_text_sample_add() alone, and a sample's thread, then its frames from the root
 * on are put into the profile only when it is added; a frame's strings in the order name, file, and
 * its module before. */
#ifndef FB_PROFILE_READ_TEXT_H
#define FB_PROFILE_READ_TEXT_H

#include "base/source.h"
#include "profile/formats.h"

struct fb_text_fraction { /* a row whose weight is not whole */
    size_t row;
    double weight;
};

/* What one thread has read.  Lines are counted by the format, within the block. */
struct fb_text_part {
    struct fb_profile *p;
    void *state;                            /* of the format; zero at first */
    const void *arg;                        /* of fb_text_read()            */
    uint64_t lines, skipped, first_skipped; /* of the block at hand; first_skipped from 1 */
    const char *why;                        /* of the first skipped line                  */
    struct fb_text_fraction *fractions;
    size_t fractions_count, fractions_room;
    struct fb_index row_of_stack; /* where rows are merged by their stack */
    struct fb_index threads, modules;
};

struct fb_text_format {
    size_t state_bytes;
    fb_cut_fn cut;
    bool merges_rows; /* rows without time: one a stack */
    void (*take)(struct fb_text_part *part, const char *text, size_t n);
    void (*done)(void *state); /* frees what is in a state; NULL: nothing */
};

struct fb_text {
    const struct fb_text_format *format;
    struct fb_profile *p; /* yours */
    struct fb_text_part *parts;
    size_t parts_count;
    uint64_t lines, skipped;
    char first_skipped[200]; /* "line 7: no count at the end" */
};

/* Fails only where the source does. */
enum fb_status fb_text_read(struct fb_source *in, const struct fb_text_format *format,
                            const void *arg, unsigned jobs, struct fb_text *ret_text,
                            struct fb_err *err);
void fb_text_done(struct fb_text *text); /* not the profile */

/* Counts what is to be said of the rows and lines into the report. */
void fb_text_report(const struct fb_text *text, struct fb_read_report *report);

/* Hands the profile over, or frees it and fails: where it has no samples (with the first line that
 * could not be used, else `empty`), and where their weights are more than can be added up. */
enum fb_status fb_text_check(struct fb_text *text, struct fb_source *in, const char *empty,
                             struct fb_profile **ret_p, struct fb_err *err);

/* A row of the samples; the weight may be a fraction, which is carried to the rows after it. */
void fb_text_sample_add(struct fb_text_part *part, bool merges_rows, int64_t time_ns,
                        uint32_t thread, fb_stack_id stack, double weight);

/* The line at hand cannot be used. */
static inline void fb_text_skip(struct fb_text_part *part, const char *why)
{
    if (part->skipped++ == 0) {
        part->first_skipped = part->lines;
        part->why = why;
    }
}

/* The thread of a process (0: unknown) with this name, the module with this path ("" is none), each
 * added if new. */
uint32_t fb_text_thread_put(struct fb_text_part *part, uint32_t pid, uint32_t tid, const char *name,
                            size_t name_len);
uint32_t fb_text_module_put(struct fb_text_part *part, const char *path, size_t len);

/* ---- of text.c alone ---- */

/* A part's ids in another profile; 0: not there yet. */
struct fb_text_maps {
    uint32_t *frames, *stacks, *threads;
    size_t frames_room, stacks_room, threads_room;
    size_t frames_count, stacks_count, threads_count;
    uint32_t *way; /* of a stack, from the leaf */
    size_t way_room;
};

struct fb_text_range { /* rows and fractions of a part */
    size_t first, end, first_fraction, end_fraction;
};

/* Adds the rows of a part to another one. */
void fb_text_merge(struct fb_text_part *to, bool merges_rows, const struct fb_text_part *from,
                   struct fb_text_maps *maps, const struct fb_text_range *range);
void fb_text_maps_done(struct fb_text_maps *maps);
/* More weight for a row; what is too much for it stays UINT64_MAX, which fb_text_check() refuses.
 */
void fb_text_weight_add(struct fb_text_part *part, size_t row, uint64_t weight);
/* The row of a stack, added with weight 0 if new. */
size_t fb_text_row_of_stack(struct fb_text_part *part, fb_stack_id stack);

#endif
