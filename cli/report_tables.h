/* report_tables.h - what a report shows beside the tables of its diff.
 *
 *     struct fb_report_list list = {0};
 *     fb_report_add_arms(&list, view, knee);             steps and coverage, by arm
 *     r = fb_report_add_single(&list, args, view, err);  of one arm: layers and frames by step
 *     fb_report_add_runs(&list, view, diff);             with several pairs: each run by itself
 *     r = fb_report_add_inputs(&list, args, view, err);  the files, with their hashes
 *     fb_report_add_method(&list, args, view, diff);     rules, margins, options
 *     fb_report_add_names(&list, view);                  names merged into one function
 *     fb_report_list_done(&list); */
#ifndef FB_CLI_REPORT_TABLES_H
#define FB_CLI_REPORT_TABLES_H

#include "cli/load.h"

struct fb_report_list {
    struct fb_report_table *items; /* the tables are owned */
    size_t count, room;
};

void fb_report_add(struct fb_report_list *list, enum fb_report_kind kind, size_t step,
                   struct fb_table *table);
void fb_report_add_arms(struct fb_report_list *list, const struct fb_view *view,
                        const struct fb_knee *knee);
void fb_report_add_single(struct fb_report_list *list, const struct fb_view *view, size_t rows);
/* Of each step of which there are several pairs: the layers of each run. */
void fb_report_add_runs(struct fb_report_list *list, const struct fb_view *view,
                        const struct fb_diff *diff);
enum fb_status fb_report_add_inputs(struct fb_report_list *list, const struct fb_args *args,
                                    const struct fb_view *view, struct fb_err *err);
void fb_report_add_method(struct fb_report_list *list, const struct fb_args *args,
                          const struct fb_view *view, const struct fb_diff *diff);
void fb_report_add_names(struct fb_report_list *list, const struct fb_view *view);
void fb_report_list_done(struct fb_report_list *list);

#endif
