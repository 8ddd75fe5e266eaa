/* report.h - which table of a comparison is which, for those who lay them out. */
#ifndef FB_RENDER_REPORT_REPORT_H
#define FB_RENDER_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb_table;

/* What a table is, and so where it stands in the page. */
enum fb_report_kind {
    FB_REPORT_DIFFERS,
    FB_REPORT_SUMMARY, /* all steps of a diff, or those of the one arm */
    FB_REPORT_METRICS, /* from here to FRAMES: of one step             */
    FB_REPORT_LAYERS,
    FB_REPORT_BOUNDARIES,
    FB_REPORT_SUMS,
    FB_REPORT_FRAMES,
    FB_REPORT_NOTES,
    FB_REPORT_PREDICTIONS,
    FB_REPORT_GATE,
    FB_REPORT_STEPS, /* of one arm: `step` is its index */
    FB_REPORT_COVERAGE,
    FB_REPORT_INPUTS, /* provenance */
    FB_REPORT_METHOD,
    FB_REPORT_NAMES,
};

struct fb_report_table {
    enum fb_report_kind kind;
    size_t step; /* of the diff (or of the one arm's steps); SIZE_MAX: of no step */
    struct fb_table *table;
};

#endif
