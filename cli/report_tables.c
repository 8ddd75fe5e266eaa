#include "cli/report_tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "base/sha256.h"
#include "base/vec.h"
#include "cli/account.h"

enum { NAMES_MAX = 200 };

void fb_report_add(struct fb_report_list *list, enum fb_report_kind kind, size_t step,
                   struct fb_table *table)
{
    fb_vec_reserve(&list->items, &list->room, list->count + 1, sizeof *list->items);
    list->items[list->count++] =
        (struct fb_report_table){.kind = kind, .step = step, .table = table};
}

void fb_report_list_done(struct fb_report_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        fb_table_free(list->items[i].table);
    free(list->items);
    *list = (struct fb_report_list){0};
}

/* ---- arms ---- */

static void add_arm(struct fb_report_list *list, const struct fb_arm *arm, size_t i,
                    const struct fb_knee *knee)
{
    struct fb_table *t;
    struct fb_ramp ramp;

    if (arm->steps) {
        t = fb_render_steps(arm->steps);
        fb_ramp_measure(arm->steps, knee, &ramp);
        if (ramp.top && ramp.most && arm->steps->count >= 2)
            fb_render_ramp_notes(t, &ramp, knee);
        fb_report_add(list, FB_REPORT_STEPS, i, t);
    }
    t = arm->steps && arm->profile ? fb_render_coverage(arm->steps, arm->profile) : NULL;
    if (t)
        fb_report_add(list, FB_REPORT_COVERAGE, i, t);
}

void fb_report_add_arms(struct fb_report_list *list, const struct fb_view *view,
                        const struct fb_knee *knee)
{
    for (size_t i = 0; i < view->count; i++)
        add_arm(list, &view->arms[i], i, knee);
}

/* ---- one arm alone ---- */

static void shares_of(const struct fb_view *view, int64_t from_ns, int64_t to_ns, bool by_layer,
                      struct fb_diff_shares *ret_shares)
{
    const struct fb_arm *arm = &view->arms[0];
    struct fb_diff_arm diff_arm = {
        .label = arm->name, .profile = arm->profile, .node_of_stack = arm->node_of_stack};
    struct fb_diff_input in = {.arms = &diff_arm,
                               .arms_count = 1,
                               .tree = &view->tree,
                               .fns = &view->fns,
                               .layers = view->layers,
                               .layer_of_node = view->layer_of_node};
    uint32_t *key = fb_alloc_array(view->tree.count, sizeof *key);

    for (size_t n = 0; n < view->tree.count; n++)
        key[n] =
            by_layer ? view->layer_of_node[n] : view->fns.items[view->tree.nodes[n].function].same;
    fb_diff_shares_measure(&in, from_ns, to_ns, key,
                           by_layer ? fb_layers_count(view->layers) : view->fns.count, ret_shares);
    free(key);
}

static void add_span(struct fb_report_list *list, const struct fb_view *view, size_t step,
                     int64_t from_ns, int64_t to_ns, size_t rows)
{
    const struct fb_arm *arm = &view->arms[0];
    double *self = fb_calltree_self(&view->tree, arm->profile, arm->node_of_stack, from_ns, to_ns);
    struct fb_diff_shares by_layer, by_function;
    double sum = 0;

    for (size_t n = 0; n < view->tree.count; n++)
        sum += self[n];
    if (sum > 0) {
        shares_of(view, from_ns, to_ns, true, &by_layer);
        shares_of(view, from_ns, to_ns, false, &by_function);
        fb_report_add(list, FB_REPORT_LAYERS, step,
                      fb_render_layers(view->layers, &view->tree, &view->fns, &view->applied, self,
                                       &by_layer, "Layers by self time"));
        fb_report_add(list, FB_REPORT_FRAMES, step,
                      fb_render_top(&view->tree, &view->fns, self, &by_function, NULL, rows,
                                    "Frames by self time"));
        fb_diff_shares_done(&by_layer);
        fb_diff_shares_done(&by_function);
    }
    free(self);
}

void fb_report_add_single(struct fb_report_list *list, const struct fb_view *view, size_t rows)
{
    const struct fb_arm *arm = &view->arms[0];
    struct fb_table *notes = fb_table_new("Notes");

    add_span(list, view, SIZE_MAX, INT64_MIN, INT64_MAX, rows);
    for (size_t i = 0; arm->steps && arm->profile->has_times && i < arm->steps->count; i++)
        if (arm->steps->items[i].load_end_ns > arm->steps->items[i].load_start_ns)
            add_span(list, view, i, arm->steps->items[i].load_start_ns,
                     arm->steps->items[i].load_end_ns, rows);
    fb_note_clock(notes, arm->profile);
    fb_report_add(list, FB_REPORT_NOTES, SIZE_MAX, notes);
}

/* ---- each run by itself ---- */

/* Weight by layer of one run in its window; free() it. */
static double *layers_of_run(const struct fb_view *view, const struct fb_diff_run *run)
{
    const struct fb_profile *p = run->arm->profile;
    const struct fb_step *s = run->step;
    int64_t from = s->load_start_ns ? s->load_start_ns : s->start_ns;
    int64_t to = s->load_end_ns ? s->load_end_ns : s->end_ns;
    double *self = fb_calltree_self(&view->tree, p, run->arm->node_of_stack,
                                    p->has_times ? from : INT64_MIN, p->has_times ? to : INT64_MAX);
    double *sums = fb_layers_sum(view->layers, &view->tree, view->layer_of_node, self);

    free(self);
    return sums;
}

static double sum_of(const double *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return sum;
}

static void runs_columns(struct fb_table *t, const struct fb_diff_step *s)
{
    size_t numbers[2] = {0};

    fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
    for (size_t r = 0; r < s->runs_count; r++) {
        bool is_variant = s->runs[r].arm->is_variant;
        const char *arm = is_variant ? "variant" : "control";
        size_t number = ++numbers[is_variant];
        char *group = fb_format("%s %zu", arm, number);
        char *share = fb_format("%s%zu_share_percent", arm, number);
        char *ms = fb_format("%s%zu_ms", arm, number);

        fb_table_group(t, group);
        fb_table_column(t, share, "share %", FB_ALIGN_RIGHT);
        fb_table_column(t, ms, "ms/req", FB_ALIGN_RIGHT);
        free(group);
        free(share);
        free(ms);
    }
    fb_table_group(t, NULL);
}

static struct fb_table *runs_table(const struct fb_view *view, const struct fb_diff_step *s)
{
    size_t layers = fb_layers_count(view->layers);
    double **sums = fb_alloc_array(s->runs_count, sizeof *sums);
    struct fb_table *t = fb_table_new("Layers by self time, each run by itself");

    runs_columns(t, s);
    for (size_t r = 0; r < s->runs_count; r++)
        sums[r] = layers_of_run(view, &s->runs[r]);
    for (size_t l = 0; l <= layers; l++) {
        double all = 0;

        for (size_t r = 0; r < s->runs_count; r++)
            all += l < layers ? sums[r][l] : 1;
        if (!(all > 0))
            continue;
        if (l == layers)
            fb_table_rule(t);
        fb_table_row(t);
        fb_table_text(t, l < layers ? fb_layers_get(view->layers, l)->name : "total");
        for (size_t r = 0; r < s->runs_count; r++) {
            double share = l < layers ? sums[r][l] / sum_of(sums[r], layers) : 1;

            fb_table_number(t, 100 * share, 1);
            fb_table_number(t, share * fb_step_ms_per_request(s->runs[r].step), 4);
        }
    }
    for (size_t r = 0; r < s->runs_count; r++)
        free(sums[r]);
    free(sums);
    fb_table_note(t,
                  "Each bank's own share of its samples, times its own CPU per request: an effect "
                  "that only one pair has is none.");
    return t;
}

void fb_report_add_runs(struct fb_report_list *list, const struct fb_view *view,
                        const struct fb_diff *diff)
{
    for (size_t i = 0; i < diff->steps_count; i++) {
        const struct fb_diff_step *s = &diff->steps[i];
        bool has_profiles = s->runs_count > 2 && view->layers != NULL;

        for (size_t r = 0; r < s->runs_count; r++)
            has_profiles = has_profiles && s->runs[r].arm->profile != NULL;
        if (has_profiles)
            fb_report_add(list, FB_REPORT_RUNS, i, runs_table(view, s));
    }
}

/* ---- provenance ---- */

static void time_cell(struct fb_table *t, int64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / 1000000000);
    struct tm utc;
    char text[40] = "n/a";

    if (time_ns != 0 && gmtime_r(&seconds, &utc) != NULL)
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    fb_table_text(t, text);
}

/* What a file is for: "control", "variant", "rules" ... */
static enum fb_status add_file(struct fb_table *t, const char *role, const char *path,
                               const struct fb_profile *p, struct fb_err *err)
{
    struct fb_buf bytes = {0};
    char hash[FB_SHA256_TEXT] = "";
    struct stat st;
    bool is_file = strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
    enum fb_status r = is_file ? fb_file_read(path, &bytes, err) : FB_OK;

    if (r != FB_OK)
        return r;
    if (is_file)
        fb_sha256_text(bytes.data ? bytes.data : "", bytes.len, hash);
    fb_table_row(t);
    fb_table_text(t, role);
    fb_table_text(t, path);
    fb_table_number(t, is_file ? (double)bytes.len : NAN, 0);
    if (p) {
        fb_table_number(t, (double)p->samples.count, 0);
        fb_table_number(t, p->interval_ns > 0 ? 1e9 / (double)p->interval_ns : NAN, 0);
        time_cell(t, p->has_times ? p->first_ns : 0);
        fb_table_number(t, p->has_times ? (double)(p->last_ns - p->first_ns) / 1e9 : NAN, 1);
    } else {
        for (int i = 0; i < 4; i++)
            fb_table_text(t, "");
    }
    fb_table_text(t, is_file ? hash : "no regular file");
    fb_buf_done(&bytes);
    return FB_OK;
}

/* Each of "BANK,STEPS,STEPS"; the profile's facts stand beside the first that is one. */
static enum fb_status add_files(struct fb_table *t, const char *role, const char *paths,
                                const struct fb_profile *p, struct fb_err *err)
{
    char *copy = fb_strdup(paths), *next = copy;
    enum fb_status r = FB_OK;

    for (bool is_first = true; next && r == FB_OK; is_first = false)
        r = add_file(t, role, strsep(&next, ","), is_first ? p : NULL, err);
    free(copy);
    return r;
}

static void losses_note(struct fb_table *t, const struct fb_arm *arm)
{
    char *text = arm->profile ? fb_account_text(arm->profile) : NULL, *line;

    if (text) {
        line = fb_format("%s: %s.", arm->name, text);
        fb_table_note(t, line);
        free(line);
    }
    free(text);
}

enum fb_status fb_report_add_inputs(struct fb_report_list *list, const struct fb_args *args,
                                    const struct fb_view *view, struct fb_err *err)
{
    static const char *const more[] = {"steps", "rules", "floor", "predictions"};
    size_t controls = fb_args_has(args, "vs") ? fb_args_before(args, "vs") : 1;
    struct fb_table *t = fb_table_new("Inputs");
    const char *path;
    enum fb_status r = FB_OK;

    fb_table_column(t, "role", "role", FB_ALIGN_LEFT);
    fb_table_column(t, "file", "file", FB_ALIGN_LEFT);
    fb_table_column(t, "bytes", "bytes", FB_ALIGN_RIGHT);
    fb_table_column(t, "samples", "samples", FB_ALIGN_RIGHT);
    fb_table_column(t, "hz", "Hz", FB_ALIGN_RIGHT);
    fb_table_column(t, "start", "start", FB_ALIGN_LEFT);
    fb_table_column(t, "seconds", "seconds", FB_ALIGN_RIGHT);
    fb_table_column(t, "sha256", "SHA-256", FB_ALIGN_LEFT);
    for (size_t i = 0; r == FB_OK && i < view->count; i++)
        r = add_files(t,
                      view->count == 1 ? "profile"
                      : i < controls   ? "control"
                                       : "variant",
                      args->items[i], view->arms[i].profile, err);
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        for (size_t i = 0; r == FB_OK && (path = fb_args_nth(args, more[k], i)) != NULL; i++)
            if (strcmp(more[k], "rules") != 0 || strchr(path, '/') || strchr(path, '.'))
                r = add_files(t, more[k], path, NULL, err);
    for (size_t i = 0; i < view->count; i++)
        losses_note(t, &view->arms[i]);
    if (r == FB_OK)
        fb_report_add(list, FB_REPORT_INPUTS, SIZE_MAX, t);
    else
        fb_table_free(t);
    return r;
}

/* ---- method ---- */

static void fact(struct fb_table *t, const char *what, char *value)
{
    fb_table_row(t);
    fb_table_text(t, what);
    fb_table_text(t, value);
    free(value);
}

static char *options_text(const struct fb_args *args)
{
    struct fb_buf b = {0};

    fb_buf_puts(&b, "");
    for (size_t i = 0; i < args->options_count; i++) {
        const struct fb_arg_option *o = &args->options[i];

        if (strcmp(o->option->name, "output") == 0)
            continue;
        fb_buf_printf(&b, "%s--%s%s%s", b.len > 0 ? " " : "", o->option->name, o->value ? " " : "",
                      o->value ? o->value : "");
    }
    if (b.len == 0)
        fb_buf_puts(&b, "none");
    return fb_buf_take(&b);
}

static void diff_facts(struct fb_table *t, const struct fb_diff *diff)
{
    const struct fb_diff_options *o = &diff->options;

    fact(t, "change", fb_strdup("(variant − control) / control; its interval is of the ratio"));
    fact(t, "steps compared by",
         fb_strdup(o->match == FB_MATCH_UTILIZATION ? "the same fraction of each arm's knee"
                   : o->match == FB_MATCH_STEPS     ? "the names given"
                                                    : "offered rate, delivered within 0.5 %"));
    fact(t, "the same is",
         fb_format("within ±%g %% of CPU per request, ±%g %% of a layer or frame",
                   100 * o->delta_cpu, 100 * o->delta_share));
    fact(t, "false discoveries among frames", fb_format("%g %% at most", 100 * o->q));
    fact(t, "run-to-run floor",
         fb_strdup(o->floors   ? "the user's own"
                   : o->is_jvm ? "assumed, of JVM arms"
                               : "assumed, of native arms"));
    fact(t, "pairs of runs", fb_format("%zu", diff->pairs));
}

void fb_report_add_method(struct fb_report_list *list, const struct fb_args *args,
                          const struct fb_view *view, const struct fb_diff *diff)
{
    struct fb_table *t = fb_table_new("Method");

    fb_table_column(t, "what", "what", FB_ALIGN_LEFT);
    fb_table_column(t, "value", "value", FB_ALIGN_LEFT);
    fact(t, "flamebank", fb_strdup(FB_VERSION));
    fact(t, "options", options_text(args));
    if (view->layers)
        fact(t, "layer rules",
             fb_format("%s: %zu layers, %zu rules, the first that matches",
                       fb_layers_name(view->layers), fb_layers_count(view->layers),
                       fb_layers_rules_count(view->layers)));
    if (diff)
        diff_facts(t, diff);
    fact(t, "names",
         fb_strdup(fb_args_has(args, "raw-names")
                       ? "as they are in the files"
                       : "canonical: what differs from run to run is taken out"));
    fb_table_note(t, "The statistics are those of docs/statistics.md: intervals from blocks of "
                     "seconds, the floor of run-to-run noise, equivalence by two one-sided tests.");
    fb_report_add(list, FB_REPORT_METHOD, SIZE_MAX, t);
}

/* ---- names ---- */

/* Functions of several raw names: what was taken for one, so that a reader can disagree. */
void fb_report_add_names(struct fb_report_list *list, const struct fb_view *view)
{
    const struct fb_functions *fns = &view->fns;
    struct fb_table *t = fb_table_new("Names that were merged");
    size_t merged = 0, shown = 0;
    char *note;

    fb_table_column(t, "function", "function", FB_ALIGN_LEFT);
    fb_table_column(t, "raw", "name in the files", FB_ALIGN_LEFT);
    for (size_t i = 0; i < fns->raw_count; i++) {
        const struct fb_function *f = &fns->items[fns->raw_pairs[i].function];

        if (f->raw_names < 2)
            continue;
        merged++;
        if (shown >= NAMES_MAX)
            continue;
        shown++;
        fb_table_row(t);
        fb_table_text(t, fb_function_name(fns, fns->raw_pairs[i].function));
        fb_table_text(t, fb_strings_get(&fns->strings, fns->raw_pairs[i].raw));
    }
    if (merged == 0) {
        fb_table_free(t);
        return;
    }
    note =
        fb_format("%zu names of the files belong to functions with more than one; %zu are shown. "
                  "--raw-names keeps them apart.",
                  merged, shown);
    fb_table_note(t, note);
    free(note);
    fb_report_add(list, FB_REPORT_NAMES, SIZE_MAX, t);
}
