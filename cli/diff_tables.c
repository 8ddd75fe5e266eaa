#include "cli/diff_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/account.h"

/* All steps, or those of --step; fb_diff_options_check() has found each. */
static bool wants_step(const struct fb_args *args, const struct fb_diff *diff, size_t step)
{
    const char *wanted;
    struct fb_err checked;
    size_t found;

    if (!fb_args_has(args, "step"))
        return true;
    for (size_t i = 0; (wanted = fb_args_nth(args, "step", i)) != NULL; i++) {
        if (fb_pair_step(diff, wanted, &found, &checked) == FB_OK && found == step)
            return true;
    }
    return false;
}

static bool by(const struct fb_args *args, const char *what)
{
    const char *only = fb_args_get(args, "by");

    return !only || strcmp(only, what) == 0;
}

/* Rows that are judged as a family, behind the layers. */
static bool is_family(const char *by)
{
    return strcmp(by, "frame") == 0 || strcmp(by, "package") == 0 || strcmp(by, "thread") == 0 ||
           strcmp(by, "module") == 0;
}

/* A job log alone has no frames. */
static bool has_frames(const struct fb_diff *diff)
{
    for (size_t i = 0; i < diff->steps_count; i++)
        if (diff->steps[i].layers_count > 0)
            return true;
    return false;
}

static bool is_empty(const char *value)
{
    return value != NULL && *value == '\0';
}

enum fb_status fb_diff_options_check(const struct fb_args *args, const struct fb_diff *diff,
                                     struct fb_err *err)
{
    const char *only = fb_args_get(args, "by"), *wanted;
    double movers;
    size_t found;

    if (fb_args_has(args, "lever") && fb_args_has(args, "lever-key"))
        return fb_fail(err, FB_EUSAGE, "'--lever' and '--lever-key': one of them was expected");
    if (is_empty(fb_args_get(args, "lever")) || is_empty(fb_args_get(args, "lever-key")))
        return fb_fail(err, FB_EUSAGE,
                       "'--lever' and '--lever-key': a text was expected, and an empty one is in "
                       "every setting");
    if (only && strcmp(only, "layer") != 0 && !is_family(only))
        return fb_fail(err, FB_EUSAGE,
                       "'--by %s': layer, frame, package, thread or module was expected", only);
    if ((fb_args_has(args, "callers") || fb_args_has(args, "movers")) && only &&
        strcmp(only, "frame") != 0)
        return fb_fail(err, FB_EUSAGE,
                       "'--callers' and '--movers' are of frames: no '--by %s' was expected", only);
    if (fb_args_number(args, "movers", 0, 1000, &movers, err) != FB_OK)
        return FB_EUSAGE;
    if ((fb_args_has(args, "callers") || fb_args_has(args, "movers")) && !has_frames(diff))
        return fb_fail(err, FB_EUSAGE,
                       "'--callers' and '--movers' are of frames: a profile of each arm was "
                       "expected");
    for (size_t i = 0; (wanted = fb_args_nth(args, "step", i)) != NULL; i++) {
        enum fb_status r = fb_pair_step(diff, wanted, &found, err);

        if (r != FB_OK)
            return r;
    }
    return FB_OK;
}

enum fb_status fb_diff_asked_read(const struct fb_args *args, struct fb_diff_asked *ret_asked,
                                  struct fb_err *err)
{
    struct fb_diff_asked a = {0};
    enum fb_status r = fb_gates_parse(args, &a.gates, err);

    if (r == FB_OK)
        r = fb_predicted_read(args, &a.predicted, err);
    a.sums = fb_alloc_array(a.gates.sums_count + a.predicted.sums_count, sizeof *a.sums);
    for (size_t i = 0; i < a.gates.sums_count; i++)
        a.sums[a.sums_count++] = a.gates.sums[i];
    for (size_t i = 0; i < a.predicted.sums_count; i++)
        a.sums[a.sums_count++] = a.predicted.sums[i];
    *ret_asked = a;
    return r;
}

void fb_diff_asked_done(struct fb_diff_asked *asked)
{
    fb_gates_done(&asked->gates);
    fb_predicted_done(&asked->predicted);
    free(asked->sums);
    *asked = (struct fb_diff_asked){0};
}

static void add(struct fb_diff_tables *tables, enum fb_report_kind kind, size_t step,
                struct fb_table *table)
{
    tables->items[tables->count++] =
        (struct fb_report_table){.kind = kind, .step = step, .table = table};
}

/* The frames of a step that carries no verdict are shown where they are asked for. */
static bool wants_frames(const struct fb_args *args, const struct fb_diff_step *step,
                         bool all_frames)
{
    const char *only = fb_args_get(args, "by");

    return step->frames_count > 0 && (only == NULL || is_family(only)) &&
           (step->denial[0] == '\0' || all_frames || fb_args_has(args, "step") ||
            fb_args_has(args, "by") || fb_args_has(args, "format"));
}

static struct fb_table *notes(const struct fb_view *view, const struct fb_diff *diff)
{
    struct fb_table *t = fb_render_diff_notes(diff);

    for (size_t i = 0; i < view->count; i++)
        if (view->arms[i].profile)
            fb_account_note(t, view->arms[i].profile, view->arms[i].name);
    return t;
}

/* Profiles of other tools have no manifest: then there is a table only where a lever was declared.
 */
static void add_differs(const struct fb_args *args, const struct fb_pair *pair,
                        struct fb_diff_tables *tables)
{
    struct fb_lever lever = {.text = fb_args_get(args, "lever"),
                             .key = fb_args_get(args, "lever-key")};
    struct fb_differs *differs = fb_differs_new(pair->arms, pair->count, &lever);

    if (differs->is_known || lever.text != NULL || lever.key != NULL)
        add(tables, FB_REPORT_DIFFERS, SIZE_MAX, fb_render_differs(differs));
    fb_differs_free(differs);
}

static void add_frames(const struct fb_args *args, const struct fb_diff *diff, size_t i,
                       struct fb_diff_tables *tables)
{
    const struct fb_diff_step *s = &diff->steps[i];
    struct fb_err err;
    double movers = 10;

    (void)fb_args_number(args, "movers", 0, 1000, &movers, &err); /* checked before */
    if (s->movers_count > 0 && movers >= 1)
        add(tables, FB_REPORT_MOVERS, i, fb_render_diff_movers(diff, i, (size_t)movers));
    if (s->renames_count > 0)
        add(tables, FB_REPORT_RENAMES, i, fb_render_diff_renames(diff, i));
    add(tables, FB_REPORT_FRAMES, i, fb_render_diff_frames(diff, i));
    if (s->callers_count > 0 && fb_args_has(args, "callers"))
        add(tables, FB_REPORT_CALLERS, i, fb_render_diff_callers(diff, i));
}

static void add_step(const struct fb_args *args, const struct fb_diff *diff, size_t i,
                     bool all_frames, struct fb_diff_tables *tables)
{
    add(tables, FB_REPORT_METRICS, i, fb_render_diff_metrics(diff, i));
    if (by(args, "layer") && diff->steps[i].layers_count > 0)
        add(tables, FB_REPORT_LAYERS, i, fb_render_diff_layers(diff, i));
    if (by(args, "layer") && fb_render_diff_has_boundaries(diff, i))
        add(tables, FB_REPORT_BOUNDARIES, i, fb_render_diff_boundaries(diff, i));
    if (diff->steps[i].sums_count > 0)
        add(tables, FB_REPORT_SUMS, i, fb_render_diff_sums(diff, i));
    if (wants_frames(args, &diff->steps[i], all_frames))
        add_frames(args, diff, i, tables);
}

/* The answers; the sums made for the gates stand behind those of --sum, then the predictions'. */
static enum fb_status add_answers(const struct fb_args *args, const struct fb_diff *diff,
                                  struct fb_diff_asked *asked, struct fb_diff_tables *tables,
                                  struct fb_err *err)
{
    size_t first_sum = diff->input->sums_count - asked->sums_count;
    bool *wanted = fb_alloc_array(diff->steps_count, sizeof *wanted);
    struct fb_table *table;
    enum fb_status r = FB_OK;

    for (size_t i = 0; i < diff->steps_count; i++)
        wanted[i] = wants_step(args, diff, i);
    if (asked->predicted.file != NULL) {
        r = fb_predicted_judge(&asked->predicted, diff, first_sum + asked->gates.sums_count, &table,
                               err);
        if (r == FB_OK)
            add(tables, FB_REPORT_PREDICTIONS, SIZE_MAX, table);
    }
    if (r == FB_OK && asked->gates.count > 0) {
        r = fb_gates_judge(&asked->gates, args, diff, first_sum, wanted, &table, err);
        if (r == FB_OK)
            add(tables, FB_REPORT_GATE, SIZE_MAX, table);
    }
    free(wanted);
    return r;
}

enum fb_status fb_diff_tables_make(const struct fb_args *args, const struct fb_view *view,
                                   const struct fb_pair *pair, struct fb_diff_asked *asked,
                                   bool all_frames, struct fb_diff_tables *ret_tables,
                                   struct fb_err *err)
{
    const struct fb_diff *diff = pair->diff;
    struct fb_diff_tables t = {.items = fb_alloc_array(8 * diff->steps_count + 5, sizeof *t.items)};
    enum fb_status r;

    add_differs(args, pair, &t);
    add(&t, FB_REPORT_SUMMARY, SIZE_MAX, fb_render_diff_summary(diff));
    fb_note_names(view, "'flamebank names' lists them, --no-name-rule turns one off.",
                  t.items[0].table);
    for (size_t i = 0; i < diff->steps_count; i++)
        if (wants_step(args, diff, i))
            add_step(args, diff, i, all_frames, &t);
    add(&t, FB_REPORT_NOTES, SIZE_MAX, notes(view, diff));
    r = add_answers(args, diff, asked, &t, err);
    if (r == FB_OK)
        *ret_tables = t;
    else
        fb_diff_tables_done(&t);
    return r;
}

void fb_diff_tables_done(struct fb_diff_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++)
        fb_table_free(tables->items[i].table);
    free(tables->items);
    *tables = (struct fb_diff_tables){0};
}
