/* time.h - the run over time, embedded: who used the CPU in which second, and the samples
 * themselves as fine as the budget allows.
 *
 *     fb_report_time_put(&tree, arm, &json, &binary);   an object for the JSON; numbers behind
 *                                                       each other in the binary
 *
 * An arm without times, or of less than one sample, gives `null` and no numbers.
 *
 * A column is a whole number of seconds (one, in runs of up to COLUMNS_MAX seconds).  The binary
 * part of an arm, all numbers LEB128, weights in the profile's unit:
 *     heat     columns x ROWS                 weight in each part of a column, column by column
 *     layers   used layers x columns          weight by layer
 *     lanes    lanes x columns                weight by thread, and 1 + the layer that has most
 *     samples  entries, then (cell - last cell, box, weight), by cell and box: cells of `grain`
 *              milliseconds from the start */
#ifndef FB_RENDER_REPORT_TIME_H
#define FB_RENDER_REPORT_TIME_H

#include "render/report/tree.h"

void fb_report_time_put(const struct fb_report_tree *tree, const struct fb_report_arm *arm,
                        struct fb_buf *json, struct fb_buf *binary);

#endif
