#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "cli/flame_turn.h"
#include "cli/load.h"
#include "cli/pair.h"
#include "cli/say.h"

/* A bank's weight counts the ticks of its clock, of which one sample may stand for several. */
static const char *unit_of(const struct fb_profile *p)
{
    const char *unit = fb_profile_text(p, p->unit);

    return p->interval_ns > 0 && strcmp(unit, "samples") == 0 ? "ticks" : unit;
}

static char *subtitle_of(const struct fb_arm *arm, const struct fb_step *step, double weight)
{
    const char *clock = fb_profile_manifest_get(arm->profile, "clock_got");
    struct fb_buf out = {0};

    fb_buf_printf(&out, "%s, %.0f %s", arm->name, weight, unit_of(arm->profile));
    if (clock && arm->profile->interval_ns > 0)
        fb_buf_printf(&out, " at %.0f Hz (%s clock)", 1e9 / (double)arm->profile->interval_ns,
                      clock);
    if (step) {
        fb_buf_printf(&out, ", step %s: ", step->name);
        fb_step_health_text(step->health, &out);
    }
    return fb_buf_take(&out);
}

/* ---- one profile ---- */

/* The file's suffix says which of the two it is. */
static bool is_page(const struct fb_args *args)
{
    const char *path = fb_args_get(args, "output");
    size_t n = strlen(path);

    return n > 5 && strcmp(path + n - 5, ".html") == 0;
}

struct asked { /* whose intervals are wanted */
    const struct fb_args *args;
    const struct fb_view *view;
};

static void intervals(void *arg, const uint32_t *nodes, size_t count, double *lo, double *hi)
{
    const struct asked *asked = arg;
    struct fb_err err;

    (void)fb_view_shares_of_nodes(asked->args, asked->view, 0, nodes, count, lo, hi, &err);
}

static char *title_of(const struct fb_args *args, const struct fb_view *view,
                      const struct fb_step *step)
{
    return fb_args_has(args, "title") ? fb_strdup(fb_args_get(args, "title"))
                                      : fb_view_title(view, 0, step);
}

static void flame_put(const struct fb_args *args, const struct fb_flame_input *in,
                      struct fb_buf *out)
{
    if (is_page(args))
        fb_render_flame_html(in, NULL, FB_VERSION, out);
    else
        fb_render_flame_svg(in, out);
}

/* The same samples in the tree that is turned. */
static void draw_turned(const struct fb_args *args, struct fb_view *view, unsigned how,
                        const struct fb_flame_input *straight, struct fb_buf *out)
{
    struct fb_flame_input in = *straight, before = *straight;
    struct fb_calltree_weight *weights;
    struct fb_flame_turn turn;
    struct fb_err err;

    fb_flame_turn_init(&turn, view, how);
    fb_flame_turn_swap(&turn, view);
    if (fb_view_weights(args, view, 0, &weights, &in.weights_count, &err) == FB_OK) {
        in.weights = weights;
        in.layer_of_node = view->layer_of_node;
        before.tree = &turn.tree;
        before.layer_of_node = turn.layer_of_node;
        in.before_turn = how & FB_TURN_REVERSE ? &before : NULL;
        in.is_turned = how & FB_TURN_REVERSE;
        flame_put(args, &in, out);
        free(weights);
    }
    fb_flame_turn_swap(&turn, view);
    fb_flame_turn_done(&turn);
}

static enum fb_status draw_one(const struct fb_args *args, struct fb_view *view, unsigned how,
                               struct fb_flame_input *in, struct fb_buf *out, struct fb_err *err)
{
    const struct fb_arm *arm = &view->arms[0];
    struct asked asked = {args, view};
    struct fb_calltree_weight *weights;
    const struct fb_step *step = NULL;
    int64_t from_ns, to_ns;
    double weight = 0;
    char *title, *subtitle;
    enum fb_status r = fb_view_weights(args, view, 0, &weights, &in->weights_count, err);

    if (r == FB_OK)
        r = fb_view_window(args, arm, &from_ns, &to_ns, &step, err);
    if (r != FB_OK)
        return r;
    for (size_t i = 0; i < in->weights_count; i++)
        weight += weights[i].weight;
    title = title_of(args, view, step);
    subtitle = subtitle_of(arm, step, weight);
    in->weights = weights;
    in->title = title;
    in->subtitle = subtitle;
    in->unit = unit_of(arm->profile);
    in->ms_per_request = step ? fb_step_ms_per_request(step) : NAN;
    in->cores = step ? fb_step_cores(step) : NAN;
    in->intervals = arm->profile->has_times ? intervals : NULL;
    in->intervals_arg = &asked;
    if (how)
        draw_turned(args, view, how, in, out);
    else
        flame_put(args, in, out);
    free(title);
    free(subtitle);
    free(weights);
    return FB_OK;
}

/* ---- two arms ---- */

/* The step that was asked for, or all healthy ones (SIZE_MAX). */
static enum fb_status find_step(const struct fb_args *args, const struct fb_diff *diff,
                                size_t *ret_step, struct fb_err *err)
{
    const char *wanted = fb_args_get(args, "step");

    *ret_step = SIZE_MAX;
    if (fb_args_has(args, "from") || fb_args_has(args, "to"))
        return fb_fail(err, FB_EUSAGE,
                       "two arms are compared by steps: '--from' and '--to' are for "
                       "one profile");
    if (wanted)
        return fb_pair_step(diff, wanted, ret_step, err);
    return FB_OK;
}

/* step NULL: several. */
static char *diff_subtitle(const struct fb_diff_step *step, const struct fb_diff_nodes *nodes,
                           const char *unit)
{
    struct fb_buf out = {0};

    if (!step) {
        fb_buf_puts(&out, nodes->is_judged ? "all healthy steps" : "all steps (shown, not judged)");
    } else {
        fb_buf_printf(&out, "step %s: ", step->name);
        fb_step_health_text(step->health, &out);
        if (step->denial[0] != '\0')
            fb_buf_puts(&out, " (shown, not judged)");
    }
    fb_buf_printf(&out, "; %.0f %s in the control, %.0f in the variant", nodes->control_weight,
                  unit, nodes->variant_weight);
    return fb_buf_take(&out);
}

static enum fb_status draw_diff(const struct fb_args *args, const struct fb_view *view,
                                struct fb_flame_input *in, struct fb_buf *out, struct fb_err *err)
{
    struct fb_pair pair;
    struct fb_diff_nodes nodes;
    size_t step;
    char *title, *subtitle;
    enum fb_status r = fb_pair_new(args, view, &pair, err);

    if (r != FB_OK)
        return r;
    r = find_step(args, pair.diff, &step, err);
    if (r == FB_OK) {
        fb_diff_nodes(pair.diff, step, &nodes);
        title = fb_args_has(args, "title") ? fb_strdup(fb_args_get(args, "title"))
                                           : fb_format("%s against %s", view->arms[0].name,
                                                       view->arms[view->count - 1].name);
        in->unit = view->arms[0].profile ? unit_of(view->arms[0].profile) : "samples";
        if (pair.diff->steps_count == 1)
            step = 0;
        subtitle =
            diff_subtitle(step == SIZE_MAX ? NULL : &pair.diff->steps[step], &nodes, in->unit);
        in->title = title;
        in->subtitle = subtitle;
        if (is_page(args))
            fb_render_flame_html(in, &nodes, FB_VERSION, out);
        else
            fb_render_diff_svg(in, &nodes, out);
        free(title);
        free(subtitle);
        fb_diff_nodes_done(&nodes);
    }
    fb_pair_done(&pair);
    return r;
}

static enum fb_status draw_pair(const struct fb_args *args, struct fb_view *view, unsigned how,
                                struct fb_flame_input *in, struct fb_buf *out, struct fb_err *err)
{
    struct fb_flame_turn turn;
    enum fb_status r;

    if (!how)
        return draw_diff(args, view, in, out, err);
    fb_flame_turn_init(&turn, view, how);
    fb_flame_turn_swap(&turn, view);
    in->layer_of_node = view->layer_of_node;
    in->is_turned = how & FB_TURN_REVERSE;
    r = draw_diff(args, view, in, out, err);
    fb_flame_turn_swap(&turn, view);
    fb_flame_turn_done(&turn);
    return r;
}

static unsigned turn_of(const struct fb_args *args)
{
    return (fb_args_has(args, "reverse") || fb_args_has(args, "bottom-up") ? FB_TURN_REVERSE : 0) |
           (fb_args_has(args, "merge") ? FB_TURN_MERGE : 0);
}

static int draw(const struct fb_args *args, struct fb_view *view, enum fb_flame_color color,
                const char *path)
{
    struct fb_flame_input in = {.tree = &view->tree,
                                .fns = &view->fns,
                                .layers = view->layers,
                                .layer_of_node = view->layer_of_node,
                                .ms_per_request = NAN,
                                .cores = NAN,
                                .color = color,
                                .is_icicle = fb_args_has(args, "icicle")};
    struct fb_buf out = {0};
    struct fb_err err;
    double nodes = 0;
    enum fb_status r = fb_args_count(args, "nodes", 10, 1e7, &nodes, &err);

    in.nodes_max = (size_t)nodes;
    if (r == FB_OK && view->count == 1)
        r = view->arms[0].profile
                ? draw_one(args, view, turn_of(args), &in, &out, &err)
                : fb_fail(&err, FB_EFORMAT, "%s: holds steps but no profile", view->arms[0].name);
    else if (r == FB_OK)
        r = draw_pair(args, view, turn_of(args), &in, &out, &err);
    if (r == FB_OK)
        r = fb_file_write(path, out.data, out.len, &err);
    fb_buf_done(&out);
    return r == FB_OK ? FB_EXIT_DONE : fb_say_error(&err);
}

static enum fb_status check_color(const struct fb_args *args, enum fb_flame_color *ret_color,
                                  struct fb_err *err)
{
    const char *text = fb_args_get(args, "color-by");

    *ret_color = FB_FLAME_BY_LAYER;
    if (text && args->count > 1)
        return fb_fail(err, FB_EUSAGE,
                       "'--color-by' is for one profile: two arms are coloured by "
                       "their difference");
    if (text && !fb_flame_color_parse(text, ret_color))
        return fb_fail(err, FB_EUSAGE,
                       "'--color-by %s': layer, kind, module, package or tier was expected", text);
    return FB_OK;
}

static enum fb_status check_single(const struct fb_args *args, struct fb_err *err)
{
    static const char *const of_two[] = {"vs", "q", "jvm"};

    for (size_t i = 0; args->count == 1 && i < sizeof of_two / sizeof of_two[0]; i++) {
        if (fb_args_has(args, of_two[i]))
            return fb_fail(err, FB_EUSAGE, "'--%s' is for two arms, and one is given", of_two[i]);
    }
    return FB_OK;
}

static int run(const struct fb_args *args)
{
    const char *path = fb_args_get(args, "output");
    enum fb_flame_color color;
    struct fb_view view;
    struct fb_err err;
    size_t n = path ? strlen(path) : 0;
    int status;

    if (!path || (strcmp(path, "-") != 0 && (n < 4 || strcmp(path + n - 4, ".svg") != 0) &&
                  !is_page(args))) {
        fb_say("'-o OUT.svg' or '-o OUT.html' was expected (or '-o -', an SVG)");
        return FB_EXIT_USAGE;
    }
    if (check_single(args, &err) != FB_OK || check_color(args, &color, &err) != FB_OK ||
        fb_view_load(args, FB_VIEW_LAYERS | FB_VIEW_LAYERS_ONLY, &view, &err) != FB_OK)
        return fb_say_error(&err);
    status = draw(args, &view, color, path);
    fb_view_done(&view);
    return status;
}

static const struct fb_option options[] = {
    {"output", 'o', "OUT",
     "OUT.svg, or OUT.html with the whole tree; '-' is an SVG on standard output"},
    {"icicle", 0, NULL, "the root on top"},
    {"reverse", 0, NULL, "from the leaves: callers stand on what they called"},
    {"bottom-up", 0, NULL, "the same as --reverse"},
    {"merge", 0, NULL, "a function that calls itself is one frame"},
    {"color-by", 0, "WHAT", "of one profile: layer (default), kind, module, package or tier"},
    {"title", 0, "TEXT", "instead of the files' names"},
    {"nodes", 0, "N", "frames in the file at most (SVG 20000, HTML all), the rest is 'other'"},
    {"vs", 0, NULL, "what is before it are controls, what is after it variants"},
    FB_OPTIONS_RULES,
    FB_OPTIONS_WINDOW,
    FB_OPTIONS_PAIR,
    FB_OPTIONS_READ,
    FB_OPTIONS_NAMES,
    {0}};

const struct fb_command fb_command_flame = {
    .name = "flame",
    .usage = "FILE -o OUT.svg|OUT.html | CONTROL VARIANT -o OUT.svg|OUT.html",
    .what = "an interactive flamegraph, or the difference of two arms",
    .text = "One profile gives a flamegraph coloured by layer. Two arms give their difference over "
            "the union of both trees: blue is less, orange is more, grey is a change that cannot "
            "be told from noise; frames that vanished or are new are drawn too. With --reverse the "
            "leaves are at the root, each with the share of its callers. The SVG needs "
            "nothing else and can be read without scripts.\n\n"
            "The SVG has the widest 20,000 frames and sums up the others. OUT.html has the whole "
            "tree, however large: what can be seen is drawn, all of it is searched, and the stacks "
            "can be downloaded from it. It fetches nothing either, but it needs its script.",
    .options = options,
    .repeats = "steps plan clock-offset",
    .example = "flamebank flame control.fbank,control.tsv variant.fbank,variant.tsv -o diff.svg",
    .least = 1,
    .most = 64,
    .run = run,
};
