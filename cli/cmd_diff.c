#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/commands.h"
#include "cli/contrast.h"
#include "cli/diff_tables.h"
#include "cli/judge.h"
#include "cli/load.h"
#include "cli/pair.h"
#include "cli/say.h"

static int say_diff(const struct fb_args *args, const struct fb_view *view,
                    const struct fb_pair *pair, struct fb_diff_asked *asked)
{
    struct fb_diff_tables made;
    struct fb_table **tables;
    struct fb_err err;
    int status;

    if (fb_diff_tables_make(args, view, pair, asked, false, &made, &err) != FB_OK)
        return fb_say_error(&err);
    tables = fb_alloc_array(made.count, sizeof *tables);
    for (size_t i = 0; i < made.count; i++) {
        tables[i] = made.items[i].table;
        made.items[i].table = NULL;
    }
    status = fb_say_tables(args, tables, made.count);
    free(tables);
    fb_diff_tables_done(&made);
    return status == FB_EXIT_DONE && asked->gates.failed > 0 ? FB_EXIT_NO : status;
}

static bool is_by_thread(const struct fb_args *args)
{
    const char *only = fb_args_get(args, "by");

    return only != NULL && strcmp(only, "thread") == 0;
}

static int run_asked(const struct fb_args *args, struct fb_diff_asked *asked)
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
        if (fb_diff_options_check(args, pair.diff, &err) != FB_OK)
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
    struct fb_diff_asked asked;
    struct fb_err err;
    int status;

    if (fb_args_has(args, "contrast"))
        return fb_contrast_say(args);
    if (fb_diff_asked_read(args, &asked, &err) != FB_OK)
        status = fb_say_error(&err);
    else
        status = run_asked(args, &asked);
    fb_diff_asked_done(&asked);
    return status;
}

static const struct fb_option options[] = {
    {"vs", 0, NULL, "what is before it are controls, what is after it variants"},
    {"by", 0, "WHAT", "layer or frame only, or rows by package, thread or module"},
    {"rows", 'n', "N", "frames shown at most (40)"},
    {"movers", 0, "N", "those that moved most, first of all: N at most (10)"},
    {"callers", 0, NULL, "frames that changed, under their callers: was it cost or inlining?"},
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
        "Frames begin with what moved most: more, less, new, gone, moved (its callers did not "
        "follow, so that it was inlined or other code of theirs took over) or perhaps renamed; "
        "--callers shows each of them under its callers, by the same statistics. Renames are "
        "suggested and never merged.\n\n"
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
