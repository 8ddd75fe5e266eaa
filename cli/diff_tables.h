/* diff_tables.h - the tables of a diff, made once for whoever shows them: `diff` prints them,
 * `report` lays them out.
 *
 *     r = fb_diff_asked_read(args, &asked, err);          before the pair is made
 *     ... fb_pair_new_with(args, view, asked.sums, asked.sums_count, &pair, err) ...
 *     r = fb_diff_options_check(args, pair.diff, err);
 *     r = fb_diff_tables_make(args, view, &pair, &asked, false, &tables, err);
 *     tables.items[i].table, .kind, .step                 in the order of `diff`
 *     fb_diff_tables_done(&tables);
 *     fb_diff_asked_done(&asked); */
#ifndef FB_CLI_DIFF_TABLES_H
#define FB_CLI_DIFF_TABLES_H

#include "cli/gate.h"
#include "cli/load.h"
#include "cli/pair.h"
#include "cli/predictions.h"

/* What is asked of the diff beside its tables. */
struct fb_diff_asked {
    struct fb_gates gates;
    struct fb_predicted predicted;
    const char **sums; /* of both, borrowed */
    size_t sums_count;
};

/* fb_diff_asked_done() after a failure too. */
enum fb_status fb_diff_asked_read(const struct fb_args *args, struct fb_diff_asked *ret_asked,
                                  struct fb_err *err);
void fb_diff_asked_done(struct fb_diff_asked *asked);

/* Options that only a made diff can check: --by, --step, --lever. */
enum fb_status fb_diff_options_check(const struct fb_args *args, const struct fb_diff *diff,
                                     struct fb_err *err);

struct fb_diff_tables {
    struct fb_report_table *items; /* the tables are owned until they are taken (set to NULL) */
    size_t count;
};

/* all_frames: also those of a step without a verdict.  asked->gates.failed is set. */
enum fb_status fb_diff_tables_make(const struct fb_args *args, const struct fb_view *view,
                                   const struct fb_pair *pair, struct fb_diff_asked *asked,
                                   bool all_frames, struct fb_diff_tables *ret_tables,
                                   struct fb_err *err);
void fb_diff_tables_done(struct fb_diff_tables *tables);

#endif
