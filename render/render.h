/* render.h - the public header of this folder: tables and pictures as text in a buffer.
 *
 * Nothing here computes a number that a verdict rests on: what is shown comes from steps and diff.
 * A table is built once and written in any of the formats of fb_table_writers[]. */
#ifndef FB_RENDER_RENDER_H
#define FB_RENDER_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "diff/diff.h"
#include "layers/layers.h"
#include "profile/profile.h"
#include "steps/steps.h"

/* ---- tables ---- */

enum fb_align { FB_ALIGN_LEFT, FB_ALIGN_RIGHT }; /* numbers (RIGHT) by their decimal points */

/* What becomes of a column where a text table is too wide for FB_TABLE_TEXT_WIDTH: its cells take
 * their short texts, it is left out (CSV, JSON and Markdown have it), or its texts become numbered
 * notes, whose marks stand behind the column before it. */
enum fb_narrow { FB_NARROW_NOT, FB_NARROW_SHORT, FB_NARROW_DROP, FB_NARROW_FOOT };
enum { FB_TABLE_TEXT_WIDTH = 100 };

struct fb_table; /* title, columns, rows of cells, notes under it */

/* A cell has a text for people and, where it is a number, its full-precision value for CSV/JSON.
 *
 *     struct fb_table *t = fb_table_new("Steps");
 *     fb_table_column(t, "offered", "offered", FB_ALIGN_RIGHT);      all columns first
 *     fb_table_data_column(t, "secs");
 *     fb_table_row(t);                                               then row by row,
 *     fb_table_number(t, 3000, 0);                                   cell by cell
 *     fb_table_number(t, 110.2, 3);
 *     fb_table_note(t, "A sentence.");
 *
 * Texts are copied and may hold any byte: each writer makes them harmless for its format.  A row
 * may end early (the rest is blank); more cells than columns is a bug. */
struct fb_table *fb_table_new(const char *title);
void fb_table_free(struct fb_table *t);
void fb_table_column(struct fb_table *t, const char *key, const char *heading, enum fb_align align);
void fb_table_data_column(struct fb_table *t, const char *key); /* CSV and JSON only */
/* Stands over the columns that are added from here on; NULL ends it. */
void fb_table_group(struct fb_table *t, const char *heading);
void fb_table_clip(struct fb_table *t, size_t width); /* the last column, in text only   */
/* The last column holds amounts of weight; what a unit of it is goes into its heading. */
void fb_table_amount(struct fb_table *t);
void fb_table_unit(struct fb_table *t, const char *unit);
void fb_table_range(struct fb_table *t); /* the last column has "-1.2 to +3.4", aligned at " to " */
/* The last column gives way at that level, 1 first; all columns of a level do so together. */
void fb_table_narrow(struct fb_table *t, enum fb_narrow how, unsigned level);
void fb_table_row(struct fb_table *t);                    /* starts a row              */
void fb_table_text(struct fb_table *t, const char *text); /* next cell of the row      */
void fb_table_text_n(struct fb_table *t, const char *text, size_t len);
void fb_table_number(struct fb_table *t, double value, int decimals); /* NAN: "n/a"    */
void fb_table_textf(struct fb_table *t, double value, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));                 /* a number shown in words of its own */
void fb_table_mute(struct fb_table *t);                    /* the row carries no verdict */
void fb_table_data_row(struct fb_table *t);                /* the row is in CSV and JSON only */
void fb_table_rule(struct fb_table *t);                    /* a line before the next row */
void fb_table_short(struct fb_table *t, const char *text); /* of the last cell (FB_NARROW_SHORT) */
void fb_table_note(struct fb_table *t, const char *sentence);

/* What the last cell says: shown as a colour (if asked) and in bold, never as a colour alone. */
enum fb_tone { FB_TONE_PLAIN, FB_TONE_STRONG, FB_TONE_LESS, FB_TONE_MORE };
void fb_table_tone(struct fb_table *t, enum fb_tone tone);

/* text  aligned columns, notes wrapped under the table;  md  GitHub's tables, the groups in front
 * of the headings;  csv  RFC 4180, one block a table, with a first column `table` and an empty line
 * between them if there are several, without notes;  json  {"tables": [{title, columns, rows,
 * notes}]}, a row by column keys, NAN as null. */
struct fb_table_writer {
    const char *name; /* "text", "md", "csv", "json" */
    void (*write)(const struct fb_table *const *tables, size_t count, bool color,
                  struct fb_buf *out);
};
extern const struct fb_table_writer fb_table_writers[];               /* ends with a NULL name */
const struct fb_table_writer *fb_table_writer_find(const char *name); /* NULL: no such format */

/* The per-step table of a job log, columns and decimals as users publish them. */
struct fb_table *fb_render_steps(const struct fb_steps *steps);
/* Where the CPU time of each step went; NULL where the bank's counters cannot say it. */
struct fb_table *fb_render_coverage(const struct fb_steps *steps, const struct fb_profile *p);
/* Knee, plateau and cost as notes; the same as a row, for CSV and JSON. */
void fb_render_ramp_notes(struct fb_table *t, const struct fb_ramp *ramp,
                          const struct fb_knee *knee);
struct fb_table *fb_render_ramp(const struct fb_ramp *ramp, const struct fb_knee *knee);
/* What differs between the arms, with the finding as a note; no rows where nothing does. */
struct fb_table *fb_render_differs(const struct fb_differs *differs);
struct fb_table *fb_render_contrast(const struct fb_contrast *contrast, const char *a,
                                    const char *b);
/* The answer of a diff: a row a step, CPU per request and the layers that differ. */
struct fb_table *fb_render_diff_summary(const struct fb_diff *diff);
/* What holds for the whole diff, as notes of a table without columns. */
struct fb_table *fb_render_diff_notes(const struct fb_diff *diff);
/* The tables of one step of a diff: metrics, layers, frames. */
struct fb_table *fb_render_diff_metrics(const struct fb_diff *diff, size_t step);
struct fb_table *fb_render_diff_layers(const struct fb_diff *diff, size_t step);
/* The boundaries of the rules beside their layers, and whether any has a sample. */
struct fb_table *fb_render_diff_boundaries(const struct fb_diff *diff, size_t step);
bool fb_render_diff_has_boundaries(const struct fb_diff *diff, size_t step);
/* The chosen sums, and whether the work only moved within them. */
struct fb_table *fb_render_diff_sums(const struct fb_diff *diff, size_t step);
struct fb_table *fb_render_diff_frames(const struct fb_diff *diff, size_t step);
/* What stands around the frames: the `rows` that moved most, frames that changed under their
 * callers, functions that may have been renamed.  Empty where the step has none of them. */
struct fb_table *fb_render_diff_movers(const struct fb_diff *diff, size_t step, size_t rows);
struct fb_table *fb_render_diff_callers(const struct fb_diff *diff, size_t step);
struct fb_table *fb_render_diff_renames(const struct fb_diff *diff, size_t step);

struct fb_gate_row { /* one condition in one step */
    const struct fb_gate_condition *condition;
    const char *step;
    struct fb_gate_result result;
};
struct fb_table *fb_render_gate(const struct fb_gate_row *rows, size_t count, bool is_strict);
/* The same as JUnit's XML: a test case a row. */
void fb_render_junit(const struct fb_gate_row *rows, size_t count, struct fb_buf *out);

struct fb_prediction_row { /* one prediction in one step */
    const struct fb_prediction *prediction;
    const char *step;
    struct fb_prediction_result result;
};
struct fb_table *fb_render_predictions(const struct fb_prediction_row *rows, size_t count);
/* In both tables the intervals of the shares are shown where by_... is not NULL.
 *
 * Layers of one profile with the top frames of "other", those that decided; self has tree->count
 * items. */
struct fb_table *fb_render_layers(const struct fb_layers *layers, const struct fb_calltree *tree,
                                  const struct fb_functions *fns,
                                  const struct fb_layers_applied *applied, const double *self,
                                  const struct fb_diff_shares *by_layer, const char *title);
/* Functions by self and total; only those of `wanted` (by function) unless it is NULL. */
struct fb_table *fb_render_top(const struct fb_calltree *tree, const struct fb_functions *fns,
                               const double *self, const struct fb_diff_shares *by_function,
                               const uint8_t *wanted, size_t rows, const char *title);

/* The chains of callers of the nodes that are topmost (fb_frames_topmost()), the heaviest first. */
struct fb_table *fb_render_callers(const struct fb_calltree *tree, const struct fb_functions *fns,
                                   const double *self, const uint8_t *topmost, size_t depth,
                                   size_t rows, const char *title);

struct fb_frame_pattern {
    const char *text;
    const uint8_t *matches; /* by function */
    const uint8_t *topmost; /* by node     */
};
/* Inclusive and self share of the frames of each pattern. */
struct fb_table *fb_render_inclusive(const struct fb_calltree *tree, const double *self,
                                     const struct fb_frame_pattern *patterns, size_t count,
                                     const char *title);

/* One profile's column in a table of shares. */
struct fb_share_arm {
    const char *title;
    const double *self;                  /* by node */
    const struct fb_diff_shares *shares; /* by key; NULL: no intervals */
};

struct fb_share_sum { /* a row that adds up others */
    const char *name;
    const size_t *keys;
    size_t count;
    const struct fb_diff_shares *shares; /* key 1: a stack of the sum; NULL: no interval */
};

struct fb_share_input {
    const char *title, *what; /* `what` heads the first column: "package" */
    const struct fb_calltree *tree;
    const struct fb_functions *fns;
    const struct fb_keys *keys;
    const struct fb_share_arm *arms;
    size_t arms_count;
    bool is_inclusive; /* stacks with any frame of the key, not those that end in one */
    bool keep_empty;   /* rows without weight too */
    size_t rows;       /* at most, 0: 30; ordered keys are all shown */
    size_t gap;        /* columns between the weight and the ends of the interval */
    const struct fb_share_sum *sums;
    size_t sums_count;
};

struct fb_table *fb_render_shares(const struct fb_share_input *in);
/* The sums alone, behind the rows of a table with the same columns (fb_render_layers()). */
void fb_render_share_sums(struct fb_table *t, const struct fb_share_input *in);

/* The inclusive share of each boundary beside the self share of its layer. */
struct fb_table *fb_render_boundaries(const struct fb_layers *layers,
                                      const struct fb_calltree *tree, const uint64_t *bits,
                                      const uint16_t *layer_of_node,
                                      const struct fb_share_arm *arms, size_t arms_count,
                                      const char *title);

/* ---- N arms side by side ---- */

struct fb_compare_arm {
    const char *name;
    struct fb_ramp ramp;
    double *shares; /* of its step in the row, by layer; NULL unknown */
};

struct fb_compare {
    struct fb_compare_arm *arms;
    size_t count;
    struct fb_matched *matched;
    size_t row; /* of `matched`: the rate of the ladder; SIZE_MAX none */
    const struct fb_knee *knee;
    const struct fb_layers *layers;
};

struct fb_compare_value {
    const char *name, *title;
    fb_step_value of;
    int decimals;
};
extern const struct fb_compare_value fb_compare_values[]; /* ends with a NULL name */

struct fb_table *fb_render_compare_ladder(const struct fb_compare *c);
struct fb_table *fb_render_compare_by_rate(const struct fb_compare *c,
                                           const struct fb_compare_value *value);
struct fb_table *fb_render_compare_saturated(const struct fb_compare *c);
/* Every matched step of an arm against the first arm's. */
struct fb_table *fb_render_compare_switch(const struct fb_compare *c, size_t arm);
/* These are NULL where nothing is known. */
struct fb_table *fb_render_compare_attribution(const struct fb_compare *c);
struct fb_table *fb_render_compare_counters(const struct fb_compare *c);

/* ---- pictures ---- */

struct fb_ramp_plot_arm {
    const char *name;
    const struct fb_steps *steps;
    struct fb_ramp ramp;
};

struct fb_ramp_plot {
    const char *title;
    const struct fb_ramp_plot_arm *arms;
    size_t arms_count;
    const struct fb_knee *knee;
    const struct fb_layers *layers;
    const double *shares; /* of arms[0], by step and layer; NULL: cores are drawn instead */
};

/* Delivered, p99, CPU per request, and layers or cores over the offered rate, as SVG. */
void fb_render_ramp_plot(const struct fb_ramp_plot *in, struct fb_buf *out);

enum fb_flame_color {
    FB_FLAME_BY_LAYER,
    FB_FLAME_BY_KIND,
    FB_FLAME_BY_MODULE,
    FB_FLAME_BY_PACKAGE,
    FB_FLAME_BY_TIER,
    FB_FLAME_COLOR_COUNT
};
const char *fb_flame_color_text(enum fb_flame_color color); /* "layer" */
bool fb_flame_color_parse(const char *text, enum fb_flame_color *ret_color);

struct fb_flame_input {
    const struct fb_calltree *tree;
    const struct fb_functions *fns;
    const struct fb_layers *layers;
    const uint16_t *layer_of_node;
    const struct fb_calltree_weight *weights; /* by node, each once; of one profile         */
    size_t weights_count;
    const char *title, *subtitle;
    const char *unit;      /* of a weight: "samples"                                */
    double ms_per_request; /* of the whole picture; NAN unknown                     */
    double cores;          /* NAN unknown                                           */
    bool is_icicle;        /* root at the top                                       */
    size_t nodes_max;      /* drawn at most; 0: 20000 (a page: all); the rest is in `other`  */
    enum fb_flame_color color;
    bool is_turned; /* callers stand on what they called */
    /* Of one profile that is turned: the same before that, for the legend; else NULL. */
    const struct fb_flame_input *before_turn;
    /* Asks for the 95 % intervals (0 to 1) of the totals of nodes, by rising id; NULL: none are
     * shown.  lo[] stays NAN where none is known. */
    void (*intervals)(void *arg, const uint32_t *nodes, size_t count, double *lo, double *hi);
    void *intervals_arg;
};

/* A self-contained interactive SVG. */
void fb_render_flame_svg(const struct fb_flame_input *in, struct fb_buf *out);

/* The differential one over the union tree; changes inside the noise are grey.  `in` gives tree,
 * names, layers, title; `nodes` the amounts. */
void fb_render_diff_svg(const struct fb_flame_input *in, const struct fb_diff_nodes *nodes,
                        struct fb_buf *out);

/* Either of them (nodes NULL: of one profile) as an HTML page that holds the whole tree, or its
 * nodes_max widest nodes: it draws what can be seen and searches all. */
void fb_render_flame_html(const struct fb_flame_input *in, const struct fb_diff_nodes *nodes,
                          const char *version, struct fb_buf *out);

#include "render/report/report.h"

#endif
