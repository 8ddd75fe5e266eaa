#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "cli/commands.h"
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

static enum fb_status draw_one(const struct fb_args *args, const struct fb_view *view,
                               struct fb_flame_input *in, struct fb_buf *out, struct fb_err *err)
{
    const struct fb_arm *arm = &view->arms[0];
    const struct fb_step *step;
    double *self, weight = 0;
    char *title, *subtitle;
    enum fb_status r = fb_view_self(args, view, 0, &self, &step, err);

    if (r != FB_OK)
        return r;
    for (size_t i = 0; i < view->tree.count; i++)
        weight += self[i];
    title = fb_args_has(args, "title") ? fb_strdup(fb_args_get(args, "title"))
                                       : fb_view_title(view, 0, step);
    subtitle = subtitle_of(arm, step, weight);
    in->self = self;
    in->title = title;
    in->subtitle = subtitle;
    in->unit = unit_of(arm->profile);
    in->ms_per_request = step ? fb_step_ms_per_request(step) : NAN;
    in->cores = step ? fb_step_cores(step) : NAN;
    fb_render_flame_svg(in, out);
    free(title);
    free(subtitle);
    free(self);
    return FB_OK;
}

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
        fb_render_diff_svg(in, &nodes, out);
        free(title);
        free(subtitle);
        fb_diff_nodes_done(&nodes);
    }
    fb_pair_done(&pair);
    return r;
}

static int draw(const struct fb_args *args, const struct fb_view *view, const char *path)
{
    struct fb_flame_input in = {.tree = &view->tree,
                                .fns = &view->fns,
                                .layers = view->layers,
                                .layer_of_node = view->layer_of_node,
                                .ms_per_request = NAN,
                                .cores = NAN,
                                .is_icicle = fb_args_has(args, "icicle")};
    struct fb_buf out = {0};
    struct fb_err err;
    double nodes = 0;
    enum fb_status r = fb_args_count(args, "nodes", 10, 1e7, &nodes, &err);

    in.nodes_max = (size_t)nodes;
    if (r == FB_OK && view->count == 1)
        r = view->arms[0].profile
                ? draw_one(args, view, &in, &out, &err)
                : fb_fail(&err, FB_EFORMAT, "%s: holds steps but no profile", view->arms[0].name);
    else if (r == FB_OK)
        r = draw_diff(args, view, &in, &out, &err);
    if (r == FB_OK)
        r = fb_file_write(path, out.data, out.len, &err);
    fb_buf_done(&out);
    return r == FB_OK ? FB_EXIT_DONE : fb_say_error(&err);
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
    struct fb_view view;
    struct fb_err err;
    size_t n = path ? strlen(path) : 0;
    int status;

    if (!path || (strcmp(path, "-") != 0 && (n < 4 || strcmp(path + n - 4, ".svg") != 0))) {
        fb_say("'-o OUT.svg' was expected (or '-o -')");
        return FB_EXIT_USAGE;
    }
    if (check_single(args, &err) != FB_OK ||
        fb_view_load(args, FB_VIEW_LAYERS, &view, &err) != FB_OK)
        return fb_say_error(&err);
    status = draw(args, &view, path);
    fb_view_done(&view);
    return status;
}

static const struct fb_option options[] = {
    {"output", 'o', "OUT.svg", "where to; '-' is standard output"},
    {"icicle", 0, NULL, "the root on top"},
    {"title", 0, "TEXT", "instead of the files' names"},
    {"nodes", 0, "N", "frames drawn at most (20000), the rest is summed up as 'other'"},
    {"vs", 0, NULL, "what is before it are controls, what is after it variants"},
    FB_OPTIONS_RULES,
    FB_OPTIONS_WINDOW,
    FB_OPTIONS_PAIR,
    FB_OPTIONS_READ,
    FB_OPTIONS_NAMES,
    {0}};

const struct fb_command fb_command_flame = {
    .name = "flame",
    .usage = "FILE -o OUT.svg | CONTROL VARIANT -o OUT.svg",
    .what = "an interactive flamegraph, or the difference of two arms",
    .text = "One profile gives a flamegraph coloured by layer. Two arms give their difference over "
            "the union of both trees: blue is less, orange is more, grey is a change that cannot "
            "be told from noise; frames that vanished or are new are drawn too. The SVG needs "
            "nothing else and can be read without scripts.",
    .options = options,
    .repeats = "steps plan clock-offset",
    .example = "flamebank flame control.fbank,control.tsv variant.fbank,variant.tsv -o diff.svg",
    .least = 1,
    .most = 64,
    .run = run,
};
