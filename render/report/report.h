/* report.h - one HTML file that says what was found, and holds all that it was found from.
 *
 *     struct fb_report_input in = {.diff = diff, .tables = tables, .arms = arms, ...};
 *     fb_render_report_html(&in, &out);
 *
 * The answer stands first, in sentences that are made from the cells of the tables; the tables are
 * those that `diff` prints, so that a number is computed once.  Without scripts the page has the
 * answer and every table; with scripts it has one step at a time, flamegraphs, and the run over
 * time, drawn from the data that is embedded.  It fetches nothing: a Content-Security-Policy
 * allows this one style and this one script, by their hashes.
 *
 * Names are hostile.  They go into the page as escaped text, into the data as JSON strings within
 * base64, and from there only into textContent.  The same input gives the same bytes. */
#ifndef FB_RENDER_REPORT_REPORT_H
#define FB_RENDER_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "diff/diff.h"
#include "layers/layers.h"
#include "profile/profile.h"
#include "steps/steps.h"

struct fb_table;

/* What a table is, and so where it stands in the page. */
enum fb_report_kind {
    FB_REPORT_DIFFERS,
    FB_REPORT_SUMMARY, /* all steps of a diff, or those of the one arm */
    FB_REPORT_METRICS, /* from here to CALLERS: of one step            */
    FB_REPORT_LAYERS,
    FB_REPORT_BOUNDARIES,
    FB_REPORT_SUMS,
    FB_REPORT_MOVERS,
    FB_REPORT_RENAMES,
    FB_REPORT_FRAMES,
    FB_REPORT_CALLERS,
    FB_REPORT_NOTES,
    FB_REPORT_PREDICTIONS,
    FB_REPORT_GATE,
    FB_REPORT_RUNS,  /* of one step; from here on the tables are the report's own */
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

struct fb_report_arm { /* one bank (or steps file) of the command line */
    const char *name;
    bool is_variant;
    const struct fb_profile *profile; /* NULL: steps alone     */
    const uint32_t *node_of_stack;    /* NULL without a profile */
    const struct fb_steps *steps;     /* NULL: none             */
};

struct fb_report_input {
    const char *title;          /* NULL: made from the numbers               */
    const struct fb_diff *diff; /* NULL: one arm, arms[0]                    */
    const struct fb_report_table *tables;
    size_t tables_count;
    const struct fb_report_arm *arms;
    size_t arms_count;
    const struct fb_calltree *tree;
    const struct fb_functions *fns;
    const struct fb_layers *layers;
    const uint16_t *layer_of_node;
    const char *unit; /* of a weight: "ticks" */
    const char *version;
    const char *plot;  /* an SVG of the ramp; NULL: none                */
    size_t nodes_max;  /* of the embedded call tree; 0: all that keep the page under 3 MB */
    size_t events_max; /* of the embedded samples by time, of all arms; 0: 400000 */
};

void fb_render_report_html(const struct fb_report_input *in, struct fb_buf *out);

/* The same without what needs a script, as GitHub's Markdown.  `pictures` are the files beside it,
 * as links; NULL where one is not there. */
enum fb_report_svg {
    FB_REPORT_SVG_CONTROL, /* of one arm: that arm */
    FB_REPORT_SVG_VARIANT,
    FB_REPORT_SVG_DIFF,
    FB_REPORT_SVG_COUNT
};
void fb_render_report_md(const struct fb_report_input *in,
                         const char *const pictures[FB_REPORT_SVG_COUNT], struct fb_buf *out);
/* One of these pictures; false, and nothing is written, where there is nothing to draw. */
bool fb_render_report_svg(const struct fb_report_input *in, enum fb_report_svg which,
                          struct fb_buf *out);

/* The step of a diff that the answer is about: of those that are shown and judged the one with the
 * highest rate, else the last one that is no warm-up. */
size_t fb_report_headline(const struct fb_report_input *in);

#endif
