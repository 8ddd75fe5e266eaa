#include "cli/pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"

enum { FLOORS_MAX = 1 << 20, PACKAGE_DEPTH = 3 };

static enum fb_status take_options(const struct fb_args *args, struct fb_diff_options *o,
                                   struct fb_err *err)
{
    double delta = 0, delta_share = 0, q = 0, rows = 0;
    enum fb_status r = fb_args_number(args, "delta", 0.1, 100, &delta, err);

    if (r == FB_OK)
        r = fb_args_number(args, "delta-share", 0.1, 100, &delta_share, err);
    if (r == FB_OK)
        r = fb_args_number(args, "q", 0.01, 50, &q, err);
    if (r == FB_OK)
        r = fb_args_count(args, "rows", 1, 1e6, &rows, err);
    o->delta_cpu = delta / 100;
    o->delta_share = delta_share / 100;
    o->q = q / 100;
    o->frames_max = (size_t)rows;
    o->is_jvm = fb_args_has(args, "jvm");
    return r;
}

static enum fb_status check_sides(const struct fb_args *args, size_t controls, size_t count,
                                  struct fb_err *err)
{
    if (!fb_args_has(args, "vs") && count != 2)
        return fb_fail(err, FB_EUSAGE,
                       "%zu arms: two were expected, or controls, '--vs' and variants", count);
    if (controls == 0 || controls == count)
        return fb_fail(err, FB_EUSAGE, "'--vs' needs a control before it and a variant after it");
    if (2 * controls != count)
        return fb_fail(err, FB_EUSAGE,
                       "%zu controls and %zu variants: as many of each was expected", controls,
                       count - controls);
    return FB_OK;
}

/* An arm without steps is compared as one step over the whole profile. */
static struct fb_steps *steps_of(const struct fb_arm *arm, struct fb_steps **ret_whole)
{
    if (arm->steps)
        return arm->steps;
    *ret_whole = fb_steps_whole(arm->profile, arm->name);
    (void)fb_steps_add_counters(*ret_whole, arm->profile);
    fb_steps_judge(*ret_whole);
    return *ret_whole;
}

enum fb_status fb_pair_new(const struct fb_args *args, const struct fb_view *view,
                           struct fb_pair *ret_pair, struct fb_err *err)
{
    return fb_pair_new_with(args, view, NULL, 0, ret_pair, err);
}

static enum fb_status match_take(const struct fb_args *args, struct fb_diff_options *options,
                                 struct fb_err *err)
{
    const char *match = fb_args_get(args, "match"), *knee = fb_args_get(args, "knee");

    options->knee = fb_knee_default();
    options->saturated = fb_args_has(args, "saturated");
    if (match != NULL && strcmp(match, "rate") != 0 && strcmp(match, "utilization") != 0)
        return fb_fail(err, FB_EUSAGE, "'--match %s': rate or utilization was expected", match);
    if (match != NULL && strcmp(match, "utilization") == 0)
        options->match = FB_MATCH_UTILIZATION;
    if (match != NULL && fb_args_has(args, "pair"))
        return fb_fail(err, FB_EUSAGE, "'--match' and '--pair': one of them was expected");
    if (knee != NULL && options->match != FB_MATCH_UTILIZATION)
        return fb_fail(err, FB_EUSAGE, "'--knee' needs '--match utilization'");
    return knee != NULL ? fb_knee_parse(knee, &options->knee, err) : FB_OK;
}

/* "600:3000", once or several times. */
static enum fb_status steps_take(const struct fb_args *args, struct fb_pair *pair,
                                 struct fb_diff_options *options, struct fb_err *err)
{
    size_t count = 0;

    while (fb_args_nth(args, "pair", count))
        count++;
    if (count == 0)
        return FB_OK;
    pair->steps = fb_alloc_array(2 * count, sizeof *pair->steps);
    pair->steps_count = 2 * count;
    for (size_t i = 0; i < count; i++) {
        const char *text = fb_args_nth(args, "pair", i), *colon = strchr(text, ':');

        if (colon == NULL || colon == text || colon[1] == '\0' || strchr(colon + 1, ':') != NULL)
            return fb_fail(err, FB_EUSAGE,
                           "'--pair %s': a control's step and a variant's, 600:3000, was expected",
                           text);
        pair->steps[i] = fb_strndup(text, (size_t)(colon - text));
        pair->steps[count + i] = fb_strdup(colon + 1);
    }
    options->match = FB_MATCH_STEPS;
    options->match_control = (const char *const *)pair->steps;
    options->match_variant = (const char *const *)(pair->steps + count);
    options->match_count = count;
    return FB_OK;
}

/* The rows behind the layers; frames unless --by says something else. */
static void keys_take(const struct fb_args *args, const struct fb_view *view, struct fb_pair *pair)
{
    const char *wanted = fb_args_get(args, "by");
    enum fb_by by;

    if (wanted == NULL || !fb_by_parse(wanted, &by) ||
        (by != FB_BY_PACKAGE && by != FB_BY_THREAD && by != FB_BY_MODULE))
        return;
    fb_keys_make(&pair->keys, by, PACKAGE_DEPTH, view->layers, view->layer_of_node, &view->tree,
                 &view->fns);
    pair->by_keys = (struct fb_diff_keys){.what = fb_by_text(by),
                                          .of_node = pair->keys.of_node,
                                          .names = pair->keys.names,
                                          .count = pair->keys.count,
                                          .is_inlined = by == FB_BY_PACKAGE};
    pair->input.keys = &pair->by_keys;
}

static enum fb_status floors_take(const struct fb_args *args, struct fb_pair *pair,
                                  struct fb_diff_options *options, struct fb_err *err)
{
    const char *path = fb_args_get(args, "floor");
    struct fb_buf text = {.max = FLOORS_MAX};
    enum fb_status r;

    if (path == NULL)
        return FB_OK;
    r = fb_file_read(path, &text, err);
    if (r == FB_OK)
        r = fb_floors_read(text.data, text.len, path, &pair->floors, err);
    fb_buf_done(&text);
    if (r == FB_OK)
        options->floors = &pair->floors;
    return r;
}

/* The arms of the view by their index, controls first.  pair->sums is there. */
static enum fb_status pair_make(const struct fb_args *args, const struct fb_view *view,
                                const size_t *index, size_t count, size_t controls,
                                struct fb_pair *pair, struct fb_err *err)
{
    struct fb_diff_options options = {0};
    enum fb_status r = take_options(args, &options, err);

    if (r == FB_OK)
        r = match_take(args, &options, err);
    if (r == FB_OK)
        r = steps_take(args, pair, &options, err);
    if (r == FB_OK)
        r = floors_take(args, pair, &options, err);
    if (r != FB_OK)
        return r;
    pair->count = count;
    pair->arms = fb_alloc_array(count, sizeof *pair->arms);
    pair->whole = fb_alloc_array(count, sizeof *pair->whole);
    for (size_t i = 0; i < count; i++) {
        const struct fb_arm *arm = &view->arms[index[i]];

        pair->arms[i] = (struct fb_diff_arm){
            .is_variant = i >= controls,
            .label = arm->name,
            .profile = arm->profile,
            .node_of_stack = arm->node_of_stack,
            .steps = steps_of(arm, &pair->whole[i]),
        };
    }
    pair->input = (struct fb_diff_input){.arms = pair->arms,
                                         .arms_count = count,
                                         .tree = &view->tree,
                                         .fns = &view->fns,
                                         .layers = view->layers,
                                         .layer_of_node = view->layer_of_node,
                                         .boundaries_of_node = view->boundaries_of_node,
                                         .sums = pair->sums.items,
                                         .sums_count = pair->sums.count,
                                         .sums_of_node = pair->sums.of_node};
    keys_take(args, view, pair);
    return fb_diff_new(&pair->input, &options, &pair->diff, err);
}

enum fb_status fb_pair_new_with(const struct fb_args *args, const struct fb_view *view,
                                const char *const *sums, size_t sums_count,
                                struct fb_pair *ret_pair, struct fb_err *err)
{
    size_t controls = fb_args_has(args, "vs") ? fb_args_before(args, "vs") : 1;
    size_t *index = fb_alloc_array(view->count, sizeof *index);
    enum fb_status r = check_sides(args, controls, view->count, err);

    *ret_pair = (struct fb_pair){0};
    for (size_t i = 0; i < view->count; i++)
        index[i] = i;
    if (r == FB_OK)
        r = fb_pair_sums_get(args, view, sums, sums_count, &ret_pair->sums, err);
    if (r == FB_OK)
        r = pair_make(args, view, index, view->count, controls, ret_pair, err);
    free(index);
    if (r != FB_OK)
        fb_pair_done(ret_pair);
    return r;
}

enum fb_status fb_pair_new_two(const struct fb_args *args, const struct fb_view *view, size_t i,
                               size_t j, struct fb_pair *ret_pair, struct fb_err *err)
{
    const size_t index[] = {i, j};
    enum fb_status r;

    *ret_pair = (struct fb_pair){0};
    r = pair_make(args, view, index, 2, 1, ret_pair, err);
    if (r != FB_OK)
        fb_pair_done(ret_pair);
    return r;
}

void fb_pair_done(struct fb_pair *pair)
{
    fb_diff_free(pair->diff);
    fb_pair_sums_done(&pair->sums);
    fb_keys_done(&pair->keys);
    for (size_t i = 0; i < pair->steps_count; i++)
        free(pair->steps[i]);
    free(pair->steps);
    for (size_t i = 0; i < pair->count; i++)
        fb_steps_free(pair->whole[i]);
    free(pair->whole);
    free(pair->arms);
    *pair = (struct fb_pair){0};
}

enum fb_status fb_pair_step(const struct fb_diff *diff, const char *wanted, size_t *ret_step,
                            struct fb_err *err)
{
    char *end;
    double offered = strtod(wanted, &end);

    for (size_t i = 0; i < diff->steps_count; i++) {
        if (strcmp(wanted, diff->steps[i].name) == 0)
            return *ret_step = i, FB_OK;
    }
    for (size_t i = 0; end != wanted && *end == '\0' && i < diff->steps_count; i++) {
        if (offered == diff->steps[i].offered && !(diff->steps[i].health & FB_STEP_WARMUP))
            return *ret_step = i, FB_OK;
    }
    return fb_fail(err, FB_EUSAGE, "no step '%s' is in both arms", wanted);
}
