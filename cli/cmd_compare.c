#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/commands.h"
#include "cli/judge.h"
#include "cli/load.h"
#include "cli/plot.h"
#include "cli/say.h"

/* Arms of one hour may be compared; later ones have another machine under them. */
static const double same_hour_s = 3600;

/* "ARM=FILE,FILE": the length of ARM, 0 where there is none (a path may have '=' in it). */
static size_t label_length(const char *item)
{
    size_t n = strcspn(item, "=/,");

    return item[n] == '=' ? n : 0;
}

/* The same arguments without their labels; free() the items. */
static struct fb_args unlabelled(const struct fb_args *args)
{
    struct fb_args bare = *args;
    const char **items = fb_alloc_array(args->count + 1, sizeof *items);

    for (size_t i = 0; i < args->count; i++) {
        size_t n = label_length(args->items[i]);

        items[i] = args->items[i] + (n > 0 ? n + 1 : 0);
    }
    bare.items = items;
    return bare;
}

static enum fb_status arms_name(const struct fb_args *args, struct fb_view *view,
                                struct fb_err *err)
{
    for (size_t i = 0; i < view->count; i++) {
        size_t n = label_length(args->items[i]);

        if (!view->arms[i].steps)
            return fb_fail(err, FB_EFORMAT, "%s: has neither steps nor marks", view->arms[i].name);
        if (n > 0) {
            free(view->arms[i].name);
            view->arms[i].name = fb_format("%.*s", (int)n, args->items[i]);
        }
        for (size_t k = 0; k < i; k++)
            if (strcmp(view->arms[i].name, view->arms[k].name) == 0)
                return fb_fail(err, FB_EUSAGE,
                               "two arms are called '%s'; several files of one arm belong "
                               "together: ARM=FILE,FILE",
                               view->arms[i].name);
    }
    return FB_OK;
}

/* ---- what the tables show ---- */

static enum fb_status row_take(const struct fb_args *args, struct fb_compare *c, struct fb_err *err)
{
    double rate = NAN;
    enum fb_status r = fb_args_number(args, "rate", 0, 1e12, &rate, err);

    if (r != FB_OK)
        return r;
    c->row = isnan(rate) ? fb_matched_common(c->matched) : fb_matched_find(c->matched, rate);
    if (c->row == SIZE_MAX && !isnan(rate))
        return fb_fail(err, FB_EUSAGE, "'--rate %s': no arm has a step of that rate",
                       fb_args_get(args, "rate"));
    return FB_OK;
}

/* Shares by layer of the arm's step in the row; NULL where it has no samples there. */
static double *shares_take(const struct fb_view *view, size_t arm, const struct fb_step *s)
{
    const struct fb_arm *a = &view->arms[arm];
    size_t layers = fb_layers_count(view->layers);
    double *self, *sums, all = 0;

    if (!a->profile || !s || !a->profile->has_times || s->load_start_ns == 0)
        return NULL;
    self = fb_calltree_self(&view->tree, a->profile, a->node_of_stack, s->load_start_ns,
                            s->load_end_ns);
    sums = fb_layers_sum(view->layers, &view->tree, view->layer_of_node, self);
    free(self);
    for (size_t l = 0; l < layers; l++)
        all += sums[l];
    for (size_t l = 0; l < layers; l++)
        sums[l] /= all;
    if (all > 0)
        return sums;
    free(sums);
    return NULL;
}

static enum fb_status compare_new(const struct fb_args *args, const struct fb_view *view,
                                  const struct fb_knee *knee, struct fb_compare *c,
                                  struct fb_err *err)
{
    const struct fb_steps **steps = fb_alloc_array(view->count, sizeof(struct fb_steps *));
    enum fb_status r;

    *c = (struct fb_compare){.count = view->count, .knee = knee, .layers = view->layers};
    c->arms = fb_alloc_array(view->count, sizeof *c->arms);
    for (size_t a = 0; a < view->count; a++) {
        steps[a] = view->arms[a].steps;
        c->arms[a].name = view->arms[a].name;
        fb_ramp_measure(steps[a], knee, &c->arms[a].ramp);
    }
    c->matched = fb_matched_new(steps, view->count);
    free(steps);
    r = row_take(args, c, err);
    for (size_t a = 0; a < view->count && r == FB_OK && c->row != SIZE_MAX; a++)
        c->arms[a].shares = shares_take(view, a, c->matched->rows[c->row].steps[a]);
    return r;
}

static void compare_done(struct fb_compare *c)
{
    for (size_t a = 0; a < c->count; a++)
        free(c->arms[a].shares);
    free(c->arms);
    fb_matched_free(c->matched);
}

/* When the steps of an arm began; 0 unknown. */
static int64_t start_of(const struct fb_steps *steps)
{
    int64_t start = 0;

    for (size_t i = 0; i < steps->count; i++)
        if (steps->items[i].start_ns != 0 && (start == 0 || steps->items[i].start_ns < start))
            start = steps->items[i].start_ns;
    return start;
}

static void hour_note(struct fb_table *t, const struct fb_view *view)
{
    for (size_t a = 1; a < view->count; a++) {
        int64_t first = start_of(view->arms[0].steps), start = start_of(view->arms[a].steps);
        double apart_s = (double)(start - first) / 1e9;
        char *text;

        if (first == 0 || start == 0 || fabs(apart_s) <= same_hour_s)
            continue;
        text = fb_format("%s began %.1f h %s %s: what the machine did meanwhile is in the changes.",
                         view->arms[a].name, fabs(apart_s) / 3600, apart_s > 0 ? "after" : "before",
                         view->arms[0].name);
        fb_table_note(t, text);
        free(text);
    }
}

/* Whether any step of any arm has the value. */
static bool is_known(const struct fb_compare *c, fb_step_value of)
{
    for (size_t i = 0; i < c->matched->count; i++)
        for (size_t a = 0; a < c->count; a++)
            if (c->matched->rows[i].steps[a] && !isnan(of(c->matched->rows[i].steps[a])))
                return true;
    return false;
}

static int say(const struct fb_args *args, const struct fb_view *view, const struct fb_compare *c)
{
    struct fb_table **tables = fb_alloc_array(view->count + 10, sizeof(struct fb_table *));
    size_t n = 0;
    int status;

    tables[n++] = fb_render_compare_ladder(c);
    hour_note(tables[0], view);
    tables[n] = fb_render_compare_attribution(c);
    n += tables[n] ? 1 : 0;
    for (const struct fb_compare_value *v = fb_compare_values; v->name; v++)
        if (is_known(c, v->of))
            tables[n++] = fb_render_compare_by_rate(c, v);
    if (is_known(c, fb_step_cores))
        tables[n++] = fb_render_compare_saturated(c);
    for (size_t a = 1; a < view->count; a++)
        tables[n++] = fb_render_compare_switch(c, a);
    tables[n] = fb_render_compare_counters(c);
    n += tables[n] ? 1 : 0;
    status = fb_say_tables(args, tables, n);
    free(tables);
    return status;
}

static int run(const struct fb_args *args)
{
    const char *rule = fb_args_get(args, "knee");
    struct fb_knee knee = fb_knee_default();
    struct fb_args bare = unlabelled(args);
    struct fb_view view = {0};
    struct fb_compare compare = {0};
    struct fb_err err;
    enum fb_status r = rule ? fb_knee_parse(rule, &knee, &err) : FB_OK;
    int status;

    if (r == FB_OK)
        r = fb_view_load(&bare, FB_VIEW_LAYERS, &view, &err);
    if (r == FB_OK)
        r = arms_name(args, &view, &err);
    if (r == FB_OK)
        r = compare_new(args, &view, &knee, &compare, &err);
    if (r != FB_OK)
        status = fb_say_error(&err);
    else if (fb_args_has(args, "plot"))
        status = fb_plot_say(args, &view, &knee);
    else
        status = say(args, &view, &compare);
    compare_done(&compare);
    fb_view_done(&view);
    free((void *)(uintptr_t)bare.items);
    return status;
}

static const struct fb_option options[] = {
    {"rate", 0, "N", "the offered rate of the ladder, the attribution and the counters"},
    {"knee", 0, "RULE", "not-sent[=PERCENT] (default, 0.1), p50[=MS] (10) or p99[=MS] (400)"},
    {"plot", 'p', "FILE.svg", "draw all ramps instead"},
    FB_OPTIONS_STEPS,
    FB_OPTIONS_READ,
    FB_OPTIONS_RULES,
    FB_OPTIONS_NAMES,
    FB_OPTIONS_TABLES,
    FB_OPTIONS_LIMITS,
    {0}};

const struct fb_command fb_command_compare = {
    .name = "compare",
    .usage = "[ARM=]FILE[,FILE]... [ARM=]FILE[,FILE]...",
    .what = "several arms side by side: ladder, layers, cores, throughput per core",
    .text = "Needs no more than the job logs of the arms; with their banks beside them, layers are "
            "shown too. Prints the ladder (knee, plateau, the most that was delivered, cost and "
            "latency at one rate, memory), the attribution of that rate by layer, delivered, CPU "
            "per request, p99 and cores by offered rate, throughput per core where the arms are "
            "saturated, the change from the first arm to each other one, and the generator's own "
            "counters.\n\n"
            "Several logs of one arm are one ramp that was continued: 'ARM=LOG,LOG'. A rate that "
            "was held twice has two rows. The rate of the ladder is the highest that every arm "
            "held in a sound step, or that of --rate.\n\n"
            "It shows, and judges nothing: 'flamebank diff' says which changes are real.",
    .options = options,
    .repeats = "limit steps plan clock-offset",
    .example = "flamebank compare h1=h1.fbank,h1.log.gz h2c=h2c-a.log.gz,h2c-b.log.gz",
    .least = 2,
    .most = 64,
    .run = run,
};
