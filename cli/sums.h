/* sums.h - sums of rows from a command line: --sum ROW+ROW=NAME.
 *
 * A row's name may hold a '+' ("C++"): the longest name that fits is taken. */
#ifndef FB_CLI_SUMS_H
#define FB_CLI_SUMS_H

#include "diff/diff.h"
#include "layers/layers.h"

struct fb_row_sum {
    char *name;
    size_t *keys;
    size_t count;
};

/* "a+b=name", of the rows that keys names. */
enum fb_status fb_row_sum_parse(const char *text, const struct fb_keys *keys,
                                struct fb_row_sum *ret_sum, struct fb_err *err);
void fb_row_sum_done(struct fb_row_sum *sum);

struct fb_args;
struct fb_view;

/* The sums of a diff: of layers, or "frame:REGEX=NAME", the stacks that end in such a frame. */
struct fb_pair_sums {
    struct fb_diff_sum *items;
    struct fb_row_sum *rows; /* owns the names and layers of items */
    size_t count;
    uint64_t *of_node;
};

/* Those of --sum and `more`, texts of the same form that another option implies. */
enum fb_status fb_pair_sums_get(const struct fb_args *args, const struct fb_view *view,
                                const char *const *more, size_t more_count,
                                struct fb_pair_sums *ret_sums, struct fb_err *err);
void fb_pair_sums_done(struct fb_pair_sums *sums);

#endif
