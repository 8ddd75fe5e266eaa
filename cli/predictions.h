/* predictions.h - --predictions FILE: what was predicted, over the steps of a diff.
 *
 *     r = fb_predicted_read(args, &predicted, err);      before the pair is made
 *     predicted.sums, predicted.sums_count               for fb_pair_sums_get()
 *     r = fb_predicted_judge(&predicted, diff, first_sum, &table, err);
 *     fb_predicted_done(&predicted); */
#ifndef FB_CLI_PREDICTIONS_H
#define FB_CLI_PREDICTIONS_H

#include "cli/gate.h"

struct fb_predicted {
    struct fb_predictions *file; /* NULL: the option is not given */
    char **sums;
    size_t sums_count;
};

enum fb_status fb_predicted_read(const struct fb_args *args, struct fb_predicted *ret_predicted,
                                 struct fb_err *err);
void fb_predicted_done(struct fb_predicted *predicted);

enum fb_status fb_predicted_judge(struct fb_predicted *predicted, const struct fb_diff *diff,
                                  size_t first_sum, struct fb_table **ret_table,
                                  struct fb_err *err);

#endif
