#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/account.h"
#include "cli/commands.h"
#include "cli/contrast.h"
#include "cli/gate.h"
#include "cli/judge.h"
#include "cli/load.h"
#include "cli/pair.h"
#include "cli/predictions.h"
#include "cli/say.h"

/* All steps, or those of --step; check_options() has found each. */
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

static bool is_empty(const char *value)
{
    return value != NULL && *value == '\0';
}

static enum fb_status check_options(const struct fb_args *args, const struct fb_diff *diff,
                                    struct fb_err *err)
{
    const char *only = fb_args_get(args, "by"), *wanted;
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
    for (size_t i = 0; (wanted = fb_args_nth(args, "step", i)) != NULL; i++) {
        enum fb_status r = fb_pair_step(diff, wanted, &found, err);

        if (r != FB_OK)
            return r;
    }
    return FB_OK;
}

/* The frames of a step that carries no verdict are shown where they are asked for. */
static bool wants_frames(const struct fb_args *args, const struct fb_diff_step *step)
{
    const char *only = fb_args_get(args, "by");

    return step->frames_count > 0 && (only == NULL || is_family(only)) &&
           (step->denial[0] == '\0' || fb_args_has(args, "step") || fb_args_has(args, "by") ||
            fb_args_has(args, "format"));
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
                        struct fb_table **tables, size_t *n)
{
    struct fb_lever lever = {.text = fb_args_get(args, "lever"),
                             .key = fb_args_get(args, "lever-key")};
    struct fb_differs *differs = fb_differs_new(pair->arms, pair->count, &lever);

    if (differs->is_known || lever.text != NULL || lever.key != NULL)
        tables[(*n)++] = fb_render_differs(differs);
    fb_differs_free(differs);
}

/* What is asked of the diff beside its tables. */
struct asked {
    struct fb_gates gates;
    struct fb_predicted predicted;
    const char **sums; /* of both, borrowed */
    size_t sums_count;
};

static enum fb_status asked_read(const struct fb_args *args, struct asked *ret_asked,
                                 struct fb_err *err)
{
    struct asked a = {0};
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

static void asked_done(struct asked *asked)
{
    fb_gates_done(&asked->gates);
    fb_predicted_done(&asked->predicted);
    free(asked->sums);
}

/* Their tables; the sums made for the gates stand behind those of --sum, then the predictions'. */
static enum fb_status add_answers(const struct fb_args *args, const struct fb_diff *diff,
                                  struct asked *asked, struct fb_table **tables, size_t *n,
                                  struct fb_err *err)
{
    size_t first_sum = diff->input->sums_count - asked->sums_count;
    bool *wanted = fb_alloc_array(diff->steps_count, sizeof *wanted);
    enum fb_status r = FB_OK;

    for (size_t i = 0; i < diff->steps_count; i++)
        wanted[i] = wants_step(args, diff, i);
    if (asked->predicted.file != NULL) {
        r = fb_predicted_judge(&asked->predicted, diff, first_sum + asked->gates.sums_count,
                               &tables[*n], err);
        *n += r == FB_OK;
    }
    if (r == FB_OK && asked->gates.count > 0) {
        r = fb_gates_judge(&asked->gates, args, diff, first_sum, wanted, &tables[*n], err);
        *n += r == FB_OK;
    }
    free(wanted);
    return r;
}

static size_t add_step(const struct fb_args *args, const struct fb_diff *diff, size_t i,
                       struct fb_table **tables)
{
    size_t n = 0;

    tables[n++] = fb_render_diff_metrics(diff, i);
    if (by(args, "layer") && diff->steps[i].layers_count > 0)
        tables[n++] = fb_render_diff_layers(diff, i);
    if (by(args, "layer") && fb_render_diff_has_boundaries(diff, i))
        tables[n++] = fb_render_diff_boundaries(diff, i);
    if (diff->steps[i].sums_count > 0)
        tables[n++] = fb_render_diff_sums(diff, i);
    if (wants_frames(args, &diff->steps[i]))
        tables[n++] = fb_render_diff_frames(diff, i);
    return n;
}

static int say_diff(const struct fb_args *args, const struct fb_view *view,
                    const struct fb_pair *pair, struct asked *asked)
{
    const struct fb_diff *diff = pair->diff;
    struct fb_table **tables = fb_alloc_array(5 * diff->steps_count + 5, sizeof(struct fb_table *));
    struct fb_err err;
    size_t n = 0;
    int status;

    add_differs(args, pair, tables, &n);
    tables[n++] = fb_render_diff_summary(diff);
    for (size_t i = 0; i < diff->steps_count; i++)
        if (wants_step(args, diff, i))
            n += add_step(args, diff, i, &tables[n]);
    tables[n++] = notes(view, diff);
    if (add_answers(args, diff, asked, tables, &n, &err) != FB_OK) {
        while (n > 0)
            fb_table_free(tables[--n]);
        free(tables);
        return fb_say_error(&err);
    }
    status = fb_say_tables(args, tables, n);
    free(tables);
    return status == FB_EXIT_DONE && asked->gates.failed > 0 ? FB_EXIT_NO : status;
}

static bool is_by_thread(const struct fb_args *args)
{
    const char *only = fb_args_get(args, "by");

    return only != NULL && strcmp(only, "thread") == 0;
}

static int run_asked(const struct fb_args *args, struct asked *asked)
{
    struct fb_view view;
    struct fb_pair pair;
    struct fb_err err;
    int status;

    if (fb_view_load(args, FB_VIEW_LAYERS | (is_by_thread(args) ? FB_VIEW_THREADS : 0), &view,
                     &err) != FB_OK)
        return fb_say_error(&err);
    if (fb_pair_new_with(args, &view, asked->sums, asked->sums_count, &pair, &err) != FB_OK) {
        status = fb_say_error(&err);
    } else {
        if (check_options(args, pair.diff, &err) != FB_OK)
            status = fb_say_error(&err);
        else
            status = say_diff(args, &view, &pair, asked);
        fb_pair_done(&pair);
    }
    fb_view_done(&view);
    return status;
}

static int run(const struct fb_args *args)
{
    struct asked asked;
    struct fb_err err;
    int status;

    if (fb_args_has(args, "contrast"))
        return fb_contrast_say(args);
    if (asked_read(args, &asked, &err) != FB_OK)
        status = fb_say_error(&err);
    else
        status = run_asked(args, &asked);
    asked_done(&asked);
    return status;
}

static const struct fb_option options[] = {
    {"vs", 0, NULL, "what is before it are controls, what is after it variants"},
    {"by", 0, "WHAT", "layer or frame only, or rows by package, thread or module"},
    {"rows", 'n', "N", "frames shown at most (40)"},
    {"sum", 0, "ROW+ROW=NAME", "one more row that adds up layers, or frame:REGEX=NAME; repeatable"},
    FB_OPTIONS_GATE,
    {"predictions", 0, "FILE", "answer what `flamebank predict` registered before the run"},
    {"contrast", 0, NULL, "the arguments are two diffs as JSON: is the change the same in both?"},
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
    FB_OPTIONS_TABLES,
    FB_OPTIONS_LIMITS,
    {0}};

const struct fb_command fb_command_diff = {
    .name = "diff",
    .usage = "CONTROL VARIANT | CONTROL... --vs VARIANT...",
    .what = "which changes between two arms are real, by how much",
    .text =
        "Compares the arms step by step: delivered, latency and CPU per request first, then every "
        "layer and frame by share of samples and by ms per request, each with its interval and a "
        "verdict: DIFF, SAME, UNRESOLVED, BURSTY, absent, or none and why. A change is (variant - "
        "control) / control. The boundaries of the rules, where they have samples, are a table of "
        "their own: a layer that differs while its boundary is the same was moved by inlining.\n\n"
        "An arm is a bank, 'BANK,STEPS', or a steps file alone; --steps, --plan and --clock-offset "
        "are "
        "given once an arm, in their order, or (the last two) once for all. The i-th control is "
        "paired with "
        "the "
        "i-th variant; with several pairs the spread between pairs is measured, with one it is "
        "assumed, and said so.\n\n"
        "Steps of one offered rate are compared, and judged only if the delivered rates agree "
        "within 0.5 %: a request costs less at a higher rate. --match utilization compares steps "
        "at "
        "one fraction of each arm's knee, --pair 600:3000 the steps that are named; such tables "
        "carry no verdict. --saturated judges steps past the knee, per delivered request.\n\n"
        "First of all stands what differs between the arms in their command lines, JVMs, "
        "environments, labels, builds, load and machines: one thing, nothing, or several. With "
        "--lever the declared change is looked for there: whether it was applied, and whether it "
        "was alone.\n\n"
        "--sum adds rows up: where layers of it differ and the sum is the same, the work moved "
        "within it. --fail-if names what is not wanted, for continuous integration: 'layer:codec "
        "ms > +5%', 'total ms > +3%', 'frame:REGEX share > 1%', 'p99 > +10%', 'delivered < -1%'. "
        "A sign makes it a change, else it is the variant's level. It fails only where the whole "
        "95 % interval is beyond it, and then the exit status is 1; with --strict also where the "
        "interval does not exclude it. --predictions says of each prediction of the file whether "
        "it held, failed, is indeterminate or cannot be answered, and refuses those that were "
        "registered after the step's window began.\n\n"
        "--contrast A.json B.json takes two diffs that were written with --format json, such as of "
        "one lever on one core and on two, and says whether the change differs between them.\n\n"
        "The frames of a step without a verdict (the warm-up, a sick step) are shown only with "
        "--step, --by frame or a --format.",
    .options = options,
    .repeats = "step steps plan clock-offset pair sum fail-if limit",
    .example = "flamebank diff control.fbank,control.tsv variant.fbank,variant.tsv",
    .least = 2,
    .most = 64,
    .run = run,
};
