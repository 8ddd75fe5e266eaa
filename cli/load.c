#include "cli/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "base/vec.h"
#include "cli/account.h"
#include "cli/arm_steps.h"
#include "cli/banked.h"
#include "cli/judge.h"
#include "cli/say.h"
#include "symbolize/symbolize.h"

static void say_damage(const char *path, const struct fb_read_report *report,
                       const struct fb_profile *p)
{
    const struct fb_bank_damage *d = &report->damage;

    if (report->skipped_lines > 0)
        fb_say("%s: %llu of %llu lines were skipped, first %s", path,
               (unsigned long long)report->skipped_lines, (unsigned long long)report->lines,
               report->first_skipped);
    if (d->torn_tail)
        fb_say("%s: ends inside a chunk (torn tail of %llu bytes), what was written before is read",
               path, (unsigned long long)d->torn_bytes);
    if (fb_bank_is_damaged(d))
        fb_say(
            "%s: is damaged (%s): %llu bytes skipped, %llu chunks missing, %llu chunks bad, %llu "
            "samples known to be lost",
            path, d->first[0] ? d->first : "definitions are lost",
            (unsigned long long)d->skipped_bytes, (unsigned long long)d->missing_chunks,
            (unsigned long long)d->bad_payloads, (unsigned long long)d->unwritten_samples);
    if (report->note[0])
        fb_say("%s: %s", path, report->note);
    for (size_t i = 0; i < report->losses_count; i++)
        fb_say("%s: %llu %s are left out, of %llu", path,
               (unsigned long long)report->losses[i].count, report->losses[i].what,
               (unsigned long long)report->samples_in);
    if (!p->ended && !d->torn_tail)
        fb_say("%s: has no end mark, the run was killed or is still going on", path);
}

static bool has_raw_addresses(const struct fb_profile *p)
{
    for (size_t i = 1; i < p->frames_count; i++) {
        if (p->frames[i].name == 0 && p->frames[i].module != FB_NO_MODULE)
            return true;
    }
    return false;
}

static void symbolize(struct fb_profile *p, bool no_inlined)
{
    struct fb_symbolizer_options options = {.no_inlined = no_inlined};
    struct fb_symbolizer *s = fb_symbolizer_new(&options);
    struct fb_symbolize_report report;

    fb_symbolize_profile(s, p, &report);
    fb_symbolize_report_done(&report);
    fb_symbolizer_free(s);
}

/* FB_OPTIONS_READ of a command line. */
static enum fb_status read_options(const struct fb_args *args, struct fb_read_options *ret_options,
                                   struct fb_err *err)
{
    const char *type = fb_args_get(args, "type"), *event = fb_args_get(args, "event");
    const char *weight = fb_args_get(args, "weight");
    double jobs = 1;

    if (type && event)
        return fb_fail(err, FB_EUSAGE, "'--type' and '--event' are the same: one was expected");
    *ret_options = (struct fb_read_options){.type = type ? type : event};
    if (weight && strcmp(weight, "period") != 0 && strcmp(weight, "samples") != 0)
        return fb_fail(err, FB_EUSAGE, "'--weight %s': period or samples was expected", weight);
    if (weight)
        ret_options->weight = weight[0] == 'p' ? FB_WEIGHT_PERIOD : FB_WEIGHT_SAMPLES;
    if (fb_args_count(args, "jobs", 1, 64, &jobs, err) != FB_OK)
        return err->status;
    ret_options->jobs = (unsigned)jobs;
    return FB_OK;
}

static enum fb_status read_profile(const struct fb_args *args, struct fb_source *in,
                                   const char *format, struct fb_profile **ret_p,
                                   struct fb_err *err)
{
    struct fb_read_options options;
    struct fb_read_report report;
    enum fb_status r = read_options(args, &options, err);

    if (r == FB_OK)
        r = fb_profile_read(in, format, &options, ret_p, &report, err);
    if (r != FB_OK)
        return r;
    say_damage(fb_source_name(in), &report, *ret_p);
    /* A bank that `record` or `symbolize` has been over keeps what they could not name. */
    if (!fb_profile_manifest_get(*ret_p, "symbolized") &&
        (has_raw_addresses(*ret_p) || fb_symbolize_has_banked_names(*ret_p)))
        symbolize(*ret_p, fb_args_has(args, "no-inlines"));
    if (fb_args_has(args, "no-inlines"))
        fb_profile_inlined_drop(*ret_p);
    return FB_OK;
}

enum fb_status fb_load_profile(const struct fb_args *args, const char *path, const char *format,
                               struct fb_profile **ret_p, struct fb_err *err)
{
    struct fb_source *in;
    enum fb_status r = fb_source_open(path, &in, err);

    if (r != FB_OK)
        return r;
    r = read_profile(args, in, format, ret_p, err);
    fb_source_close(in);
    return r;
}

/* ---- arms ---- */

static enum fb_status take_profile(struct fb_arm *arm, struct fb_profile *p, const char *path,
                                   struct fb_err *err)
{
    if (arm->profile) {
        fb_profile_free(p);
        return fb_fail(err, FB_EUSAGE, "%s: is the second profile of one arm", path);
    }
    arm->profile = p;
    return FB_OK;
}

/* A bank and JSON have their own marks, and steps have theirs; what is neither may be folded text.
 */
static enum fb_status take_file(const struct fb_args *args, struct fb_arm *arm, size_t number,
                                struct fb_source *in, struct fb_err *err)
{
    const char *head, *path = fb_source_name(in);
    const struct fb_reader *reader;
    struct fb_profile *p;
    size_t n;
    enum fb_status r = fb_source_head(in, FB_STEPS_HEAD, &head, &n, err);

    if (r != FB_OK)
        return r;
    if (!fb_profile_is_marked(head, n) && fb_arm_steps_sniff(head, n))
        return fb_arm_steps_take(args, arm, number, in, err);
    if (n > 0 && fb_reader_find(in, NULL, &reader, err) != FB_OK) {
        if (n == FB_STEPS_HEAD) /* a job log in which other programs said a lot before */
            return fb_arm_steps_take(args, arm, number, in, err);
        return fb_fail(err, FB_EFORMAT,
                       "%s: is neither a profile nor steps ('flamebank help formats' lists both)",
                       path);
    }
    r = read_profile(args, in, NULL, &p, err);
    return r == FB_OK ? take_profile(arm, p, path, err) : r;
}

/* Its own steps count only where the arm has no others. */
static enum fb_status take_folder(const struct fb_args *args, struct fb_arm *arm, const char *path,
                                  struct fb_err *err)
{
    struct fb_profile *p;
    struct fb_steps *steps;
    enum fb_status r = fb_banked_load(args, path, &p, &steps, err);

    if (r != FB_OK)
        return r;
    r = take_profile(arm, p, path, err);
    if (r != FB_OK)
        fb_steps_free(steps);
    else
        arm->banked = steps;
    return r;
}

static enum fb_status load_file(const struct fb_args *args, struct fb_arm *arm, size_t number,
                                const char *path, struct fb_err *err)
{
    struct fb_source *in;
    enum fb_status r;

    if (fb_banked_is(path))
        return take_folder(args, arm, path, err);
    r = fb_source_open(path, &in, err);
    if (r != FB_OK)
        return r;
    r = take_file(args, arm, number, in, err);
    fb_source_close(in);
    return r;
}

static enum fb_status load_arm(const struct fb_args *args, struct fb_arm *arm, size_t number,
                               struct fb_err *err)
{
    const char *argument = args->items[number], *steps = fb_args_nth(args, "steps", number);
    char *paths = fb_strdup(argument), *next = paths;
    enum fb_status r = FB_OK;

    arm->name = fb_strdup(argument);
    arm->name[strcspn(arm->name, ",")] = '\0';
    while (next && r == FB_OK) {
        char *path = strsep(&next, ",");

        r = load_file(args, arm, number, path, err);
    }
    free(paths);
    if (r == FB_OK && steps && arm->steps)
        r = fb_fail(err, FB_EUSAGE, "%s: has steps already, '--steps %s' are the second", argument,
                    steps);
    if (r == FB_OK && steps)
        r = fb_arm_steps_read(args, arm, number, steps, err);
    if (r == FB_OK && !arm->steps && arm->banked) {
        arm->steps = arm->banked;
        arm->banked = NULL;
    }
    if (r == FB_OK && !arm->steps && arm->profile)
        arm->steps = fb_steps_of_profile(arm->profile, argument);
    return r;
}

static void view_add(struct fb_view *view, struct fb_arm *arm, fb_canonical_fn canonical)
{
    uint32_t *function_of_frame;

    if (!arm->profile)
        return;
    function_of_frame = fb_functions_add(&view->fns, arm->profile, canonical);
    arm->node_of_stack = fb_calltree_add(&view->tree, arm->profile, function_of_frame);
    if (canonical)
        fb_ambiguous_find(&view->ambiguous, &view->fns, &view->tree, arm->profile,
                          function_of_frame, arm->node_of_stack);
    free(function_of_frame);
}

static enum fb_status layers_options(const struct fb_args *args, unsigned flags,
                                     struct fb_layers_options *ret_options, struct fb_err *err)
{
    const char *charge = fb_args_get(args, "charge"), *kernel = fb_args_get(args, "kernel");

    ret_options->charge = FB_CHARGE_AS_FILE;
    ret_options->fold_kernel = flags & FB_VIEW_FOLD_KERNEL;
    if (charge && strcmp(charge, "caller") != 0 && strcmp(charge, "self") != 0)
        return fb_fail(err, FB_EUSAGE, "'--charge %s': caller or self was expected", charge);
    if (kernel && strcmp(kernel, "keep") != 0 && strcmp(kernel, "fold") != 0)
        return fb_fail(err, FB_EUSAGE, "'--kernel %s': keep or fold was expected", kernel);
    if (charge)
        ret_options->charge = charge[0] == 'c' ? FB_CHARGE_CALLER : FB_CHARGE_SELF;
    if (kernel)
        ret_options->fold_kernel = kernel[0] == 'f';
    return FB_OK;
}

/* Before the profiles are read: whether stacks begin with their thread depends on the rules. */
static enum fb_status load_layers(const struct fb_args *args, unsigned flags, struct fb_view *view,
                                  struct fb_err *err)
{
    const char *rules = fb_args_get(args, "rules");
    enum fb_status r;

    if (!(flags & FB_VIEW_LAYERS))
        return FB_OK;
    r = layers_options(args, flags, &view->layers_options, err);
    return r == FB_OK ? fb_layers_load(rules ? rules : "native", &view->layers, err) : r;
}

static enum fb_status apply_layers(struct fb_view *view, unsigned flags, struct fb_err *err)
{
    enum fb_status r;

    if (!view->layers)
        return FB_OK;
    view->layers_options.layers_only = flags & FB_VIEW_LAYERS_ONLY && view->count == 1;
    r = fb_layers_apply(view->layers, &view->tree, &view->fns, &view->layers_options,
                        &view->applied, err);
    if (r == FB_OK && view->applied.warning)
        fb_say("%s", view->applied.warning);
    view->layer_of_node = view->applied.layer;
    if (r == FB_OK && !view->layers_options.layers_only)
        view->boundaries_of_node = fb_layers_boundaries(view->layers, &view->tree, &view->fns);
    if (r == FB_OK)
        fb_judge_layers(view);
    return r;
}

/* One arm with debug data and one without: their frames differ, though their code may not. */
static void say_unlike_inlining(const struct fb_view *view)
{
    const char *with = NULL, *without = NULL;

    for (size_t i = 0; i < view->count; i++) {
        const struct fb_arm *arm = &view->arms[i];

        if (arm->profile && fb_profile_has_native_inlined(arm->profile))
            with = with ? with : arm->name;
        else if (arm->profile && fb_profile_has_addresses(arm->profile))
            without = without ? without : arm->name;
    }
    if (with && without)
        fb_say("%s has inlined functions and %s has none, by their debug data: frames may differ "
               "where code does not; --no-inlines compares the functions that have the code",
               with, without);
}

enum fb_status fb_view_load(const struct fb_args *args, unsigned flags, struct fb_view *ret_view,
                            struct fb_err *err)
{
    struct fb_view view = {.count = args->count, .raw_names = fb_args_has(args, "raw-names")};
    enum fb_status r = load_layers(args, flags, &view, err);
    bool by_thread = flags & FB_VIEW_THREADS;

    if (r == FB_OK)
        r = fb_judge_limits(args, &view.limits, err);
    by_thread = by_thread || (view.layers && fb_layers_need_threads(view.layers));
    view.arms = fb_alloc_array(args->count, sizeof *view.arms);
    fb_functions_init(&view.fns);
    fb_calltree_init(&view.tree);
    for (size_t i = 0; i < view.count && r == FB_OK; i++) {
        struct fb_arm *arm = &view.arms[i];

        arm->limits = view.limits;
        r = load_arm(args, arm, i, err);
        if (r == FB_OK && !arm->profile && (flags & FB_VIEW_NEEDS_PROFILE))
            r = fb_fail(err, FB_EFORMAT, "%s: holds steps but no profile", arm->name);
        if (r == FB_OK)
            r = fb_arm_steps_finish(args, arm, i, !(flags & FB_VIEW_STEPS_SHOWN), err);
        if (r == FB_OK && arm->profile)
            fb_account_say(arm->profile, arm->name);
        if (r == FB_OK && arm->profile && by_thread)
            fb_profile_root_threads(arm->profile);
        if (r == FB_OK)
            view_add(&view, arm, view.raw_names ? NULL : fb_name_canonical);
    }
    if (r == FB_OK)
        say_unlike_inlining(&view);
    if (r == FB_OK && fb_args_nth(args, "steps", view.count))
        r = fb_fail(err, FB_EUSAGE, "more '--steps' files than arms");
    if (r == FB_OK)
        r = apply_layers(&view, flags, err);
    if (r != FB_OK)
        fb_view_done(&view);
    else
        *ret_view = view;
    return r;
}

void fb_view_done(struct fb_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        fb_profile_free(view->arms[i].profile);
        fb_arm_steps_done(&view->arms[i]);
        free(view->arms[i].node_of_stack);
        free(view->arms[i].name);
    }
    free(view->arms);
    fb_ambiguous_done(&view->ambiguous);
    fb_layers_applied_done(&view->applied);
    free(view->boundaries_of_node);
    free(view->limits);
    fb_layers_free(view->layers);
    fb_calltree_done(&view->tree);
    fb_functions_done(&view->fns);
    *view = (struct fb_view){0};
}

char *fb_view_title(const struct fb_view *view, size_t i, const struct fb_step *step)
{
    return step ? fb_format("%s, step %s", view->arms[i].name, step->name)
                : fb_format("%s", view->arms[i].name);
}
