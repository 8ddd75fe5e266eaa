#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "cli/diff_tables.h"
#include "cli/judge.h"
#include "cli/report_md.h"
#include "cli/report_tables.h"
#include "cli/say.h"

static const char *unit_of(const struct fb_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct fb_profile *p = view->arms[i].profile;
        const char *unit = p ? fb_profile_text(p, p->unit) : "samples";

        if (p)
            return p->interval_ns > 0 && strcmp(unit, "samples") == 0 ? "ticks" : unit;
    }
    return "samples";
}

/* The ramps of the arms that have steps; NULL where none has two.  Yours. */
static char *plot_of(const struct fb_view *view, const struct fb_knee *knee)
{
    struct fb_ramp_plot_arm *arms = fb_alloc_array(view->count, sizeof *arms);
    struct fb_ramp_plot plot = {
        .title = "The ramp", .arms = arms, .knee = knee, .layers = view->layers};
    struct fb_buf svg = {0};
    bool is_ramp = false;

    for (size_t i = 0; i < view->count; i++) {
        const struct fb_arm *arm = &view->arms[i];

        if (!arm->steps)
            continue;
        arms[plot.arms_count].name = arm->name;
        arms[plot.arms_count].steps = arm->steps;
        fb_ramp_measure(arm->steps, knee, &arms[plot.arms_count].ramp);
        is_ramp = is_ramp || (arms[plot.arms_count].ramp.top && arm->steps->count >= 2);
        plot.arms_count++;
    }
    if (is_ramp)
        fb_render_ramp_plot(&plot, &svg);
    free(arms);
    return is_ramp ? fb_buf_take(&svg) : NULL;
}

static struct fb_report_arm *arms_of(const struct fb_args *args, const struct fb_view *view)
{
    size_t controls = fb_args_has(args, "vs") ? fb_args_before(args, "vs") : 1;
    struct fb_report_arm *arms = fb_alloc_array(view->count, sizeof *arms);

    for (size_t i = 0; i < view->count; i++)
        arms[i] = (struct fb_report_arm){.name = view->arms[i].name,
                                         .is_variant = i >= controls,
                                         .profile = view->arms[i].profile,
                                         .node_of_stack = view->arms[i].node_of_stack,
                                         .steps = view->arms[i].steps};
    return arms;
}

/* Writes the report of what was gathered; takes no tables. */
static enum fb_status write_report(const struct fb_args *args, const struct fb_view *view,
                                   const struct fb_diff *diff, const struct fb_report_list *list,
                                   struct fb_err *err)
{
    const char *path = fb_args_get(args, "output"), *format = fb_args_get(args, "format");
    struct fb_knee knee = fb_knee_default();
    struct fb_report_arm *arms = arms_of(args, view);
    char *plot = plot_of(view, &knee);
    struct fb_report_input in = {.title = fb_args_get(args, "title"),
                                 .diff = diff,
                                 .tables = list->items,
                                 .tables_count = list->count,
                                 .arms = arms,
                                 .arms_count = view->count,
                                 .tree = &view->tree,
                                 .fns = &view->fns,
                                 .layers = view->layers,
                                 .layer_of_node = view->layer_of_node,
                                 .unit = unit_of(view),
                                 .version = FB_VERSION,
                                 .plot = plot};
    struct fb_buf out = {0};
    double nodes = 0;
    enum fb_status r = fb_args_count(args, "nodes", 10, 1e7, &nodes, err);

    in.nodes_max = (size_t)nodes;
    if (r == FB_OK && format && strcmp(format, "md") == 0)
        r = fb_report_md_write(&in, path, err);
    else if (r == FB_OK) {
        fb_render_report_html(&in, &out);
        r = fb_file_write(path, out.data, out.len, err);
    }
    fb_buf_done(&out);
    free(plot);
    free(arms);
    return r;
}

static enum fb_status gather(struct fb_report_list *list, const struct fb_args *args,
                             const struct fb_view *view, const struct fb_diff *diff,
                             struct fb_err *err)
{
    struct fb_knee knee = fb_knee_default();

    if (diff)
        fb_report_add_runs(list, view, diff);
    fb_report_add_arms(list, view, &knee);
    fb_report_add_method(list, args, view, diff);
    fb_report_add_names(list, view);
    return fb_report_add_inputs(list, args, view, err);
}

static enum fb_status report_pair(const struct fb_args *args, const struct fb_view *view,
                                  struct fb_diff_asked *asked, struct fb_err *err)
{
    struct fb_report_list list = {0};
    struct fb_diff_tables made = {0};
    struct fb_pair pair;
    enum fb_status r = fb_pair_new_with(args, view, asked->sums, asked->sums_count, &pair, err);

    if (r != FB_OK)
        return r;
    r = fb_diff_options_check(args, pair.diff, err);
    if (r == FB_OK)
        r = fb_diff_tables_make(args, view, &pair, asked, true, &made, err);
    for (size_t i = 0; i < made.count; i++) {
        fb_report_add(&list, made.items[i].kind, made.items[i].step, made.items[i].table);
        made.items[i].table = NULL;
    }
    if (r == FB_OK)
        r = gather(&list, args, view, pair.diff, err);
    if (r == FB_OK)
        r = write_report(args, view, pair.diff, &list, err);
    fb_report_list_done(&list);
    fb_diff_tables_done(&made);
    fb_pair_done(&pair);
    return r;
}

static enum fb_status report_one(const struct fb_args *args, const struct fb_view *view,
                                 struct fb_err *err)
{
    struct fb_report_list list = {0};
    double rows = 40;
    enum fb_status r = fb_args_count(args, "rows", 1, 1e6, &rows, err);

    if (r == FB_OK && !view->arms[0].profile)
        r = fb_fail(err, FB_EFORMAT,
                    "%s: holds steps but no profile; a profile, or two arms, was expected",
                    view->arms[0].name);
    if (r == FB_OK) {
        fb_report_add_single(&list, view, (size_t)rows);
        r = gather(&list, args, view, NULL, err);
    }
    if (r == FB_OK)
        r = write_report(args, view, NULL, &list, err);
    fb_report_list_done(&list);
    return r;
}

static enum fb_status check(const struct fb_args *args, struct fb_err *err)
{
    static const char *const of_two[] = {
        "vs",   "sum",       "lever",       "lever-key", "match", "fail-if", "floor",
        "q",    "jvm",       "predictions", "pair",      "delta", "knee",    "delta-share",
        "step", "saturated", "by",          "strict",    "junit"};
    const char *format = fb_args_get(args, "format");

    if (!fb_args_has(args, "output"))
        return fb_fail(err, FB_EUSAGE, "'-o OUT.html' was expected (or '-o -')");
    if (format && strcmp(format, "html") != 0 && strcmp(format, "md") != 0)
        return fb_fail(err, FB_EUSAGE, "'--format %s': html or md was expected", format);
    if (format && strcmp(format, "md") == 0 && strcmp(fb_args_get(args, "output"), "-") == 0)
        return fb_fail(err, FB_EUSAGE,
                       "'-o -': a file was expected, since pictures are written beside it");
    for (size_t i = 0; args->count == 1 && i < sizeof of_two / sizeof of_two[0]; i++)
        if (fb_args_has(args, of_two[i]))
            return fb_fail(err, FB_EUSAGE, "'--%s' is for two arms, and one is given", of_two[i]);
    return FB_OK;
}

static int run(const struct fb_args *args)
{
    const char *by = fb_args_get(args, "by");
    struct fb_diff_asked asked;
    struct fb_view view;
    struct fb_err err;
    unsigned flags =
        FB_VIEW_LAYERS | (by && strcmp(by, "thread") == 0 ? (unsigned)FB_VIEW_THREADS : 0);
    int status = FB_EXIT_DONE;
    enum fb_status r = check(args, &err);

    if (r != FB_OK)
        return fb_say_error(&err);
    r = fb_diff_asked_read(args, &asked, &err);
    if (r == FB_OK)
        r = fb_view_load(args, flags, &view, &err);
    if (r == FB_OK) {
        r = view.count == 1 ? report_one(args, &view, &err)
                            : report_pair(args, &view, &asked, &err);
        fb_view_done(&view);
    }
    if (r != FB_OK)
        status = fb_say_error(&err);
    else if (asked.gates.failed > 0)
        status = FB_EXIT_NO;
    fb_diff_asked_done(&asked);
    return status;
}

static const struct fb_option options[] = {
    {"output", 'o', "OUT.html", "where to; '-' is standard output"},
    {"format", 0, "FORMAT", "html (default), or md with its pictures beside it"},
    {"title", 0, "TEXT", "instead of the sentence that is made from the numbers"},
    {"vs", 0, NULL, "what is before it are controls, what is after it variants"},
    {"nodes", 0, "N", "frames of the call tree in the file (those that fit), the rest is 'other'"},
    {"by", 0, "WHAT", "layer or frame only, or rows by package, thread or module"},
    {"rows", 'n', "N", "frames shown at most (40)"},
    {"movers", 0, "N", "those that moved most, before the others: N at most (10)"},
    {"callers", 0, NULL, "frames that changed, under their callers: was it cost or inlining?"},
    {"sum", 0, "ROW+ROW=NAME", "one more row that adds up layers, or frame:REGEX=NAME; repeatable"},
    FB_OPTIONS_GATE,
    {"predictions", 0, "FILE", "answer what `flamebank predict` registered before the run"},
    FB_OPTIONS_RULES,
    FB_OPTIONS_STEPS,
    {"step", 0, "STEP", "this step only, by name or offered rate; repeatable"},
    {"lever", 0, "TEXT", "what was changed on purpose: text in a setting's name or value"},
    {"lever-key", 0, "KEY", "the same, by the setting's whole name"},
    FB_OPTIONS_MATCH,
    FB_OPTIONS_DELTA,
    FB_OPTIONS_PAIR,
    FB_OPTIONS_READ,
    FB_OPTIONS_NAMES,
    FB_OPTIONS_LIMITS,
    {0}};

const struct fb_command fb_command_report = {
    .name = "report",
    .usage = "CONTROL VARIANT -o OUT.html | CONTROL... --vs VARIANT... -o OUT.html | FILE -o "
             "OUT.html",
    .what = "one HTML file: the answer, its tables and pictures, and the data itself",
    .text = "Writes a page that can be published: the answer in sentences made from the numbers, "
            "what differs between the arms, predictions, every step with its health, the tables of "
            "`flamebank diff` with bars and intervals, flamegraphs of both arms and of their "
            "difference, the run over time, where the CPU time went, the method, and the inputs "
            "with their hashes. The options are those of `diff`; of one file the report is of a "
            "profile.\n\n"
            "The page is one file that fetches nothing. Without scripts it has the answer and the "
            "tables; with them one step at a time, tables that can be sorted and filtered, "
            "flamegraphs with zoom and search, and windows of time that are dragged over a heat "
            "map. The tables (JSON, CSV) and the stacks (folded) can be downloaded from it.\n\n"
            "With --format md, OUT.md is written for a repository, and beside it OUT.control.svg, "
            "OUT.variant.svg and OUT.diff.svg.",
    .options = options,
    .repeats = "step steps plan clock-offset pair sum fail-if limit",
    .example =
        "flamebank report control.fbank,control.tsv variant.fbank,variant.tsv -o report.html",
    .least = 1,
    .most = 64,
    .run = run,
};
