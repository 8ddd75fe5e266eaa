/* Spans of time from the command line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/vec.h"
#include "cli/account.h"
#include "cli/load.h"

static const double NS = 1e9;

/* What follows the seconds of an ISO 8601 time: a fraction, and Z or an offset. */
static bool parse_calendar(struct tm *tm, const char *rest, int64_t *ret_ns)
{
    double fraction = 0;
    int hours = 0, minutes = 0, n = 0;
    char sign = '+', *end;

    if (tm->tm_year < -200 || tm->tm_year > 200)
        return false;
    if (*rest == '.') {
        fraction = strtod(rest, &end);
        if (end == rest)
            return false;
        rest = end;
    }
    if (*rest == 'Z')
        rest++;
    else if (sscanf(rest, "%c%2d:%2d%n", &sign, &hours, &minutes, &n) == 3 && n == 6)
        rest += n;
    if (*rest != '\0' || (sign != '+' && sign != '-') || hours < 0 || hours > 23 || minutes < 0 ||
        minutes > 59)
        return false;
    hours = hours * 60 + minutes;
    *ret_ns = ((int64_t)timegm(tm) - (sign == '-' ? -60 : 60) * hours) * (int64_t)NS +
              (int64_t)(fraction * NS);
    return true;
}

/* Epoch seconds, ISO 8601 (UTC unless an offset is given), "+S" after the start, "-S" before the
 * end. */
static bool parse_time(const char *text, const struct fb_profile *p, int64_t *ret_ns)
{
    struct tm tm = {0};
    char *end;
    double at = 0;
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    double v;

    if (rest)
        return parse_calendar(&tm, rest, ret_ns);
    v = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(v) || fabs(v * NS) > 9e18)
        return false;
    if (text[0] == '+')
        at = (double)p->first_ns;
    else if (text[0] == '-')
        at = (double)p->last_ns;
    if (fabs(at + v * NS) > 9e18)
        return false;
    *ret_ns = (int64_t)(v * NS);
    if (text[0] == '+' || text[0] == '-')
        *ret_ns += text[0] == '+' ? p->first_ns : p->last_ns;
    return true;
}

static enum fb_status take_time(const struct fb_args *args, const char *name,
                                const struct fb_arm *arm, int64_t *ret_ns, struct fb_err *err)
{
    const char *text = fb_args_get(args, name);

    if (!text)
        return FB_OK;
    if (!arm->profile->has_times)
        return fb_fail(err, FB_EUSAGE, "%s: has no times, so '--%s' cannot be applied", arm->name,
                       name);
    if (!parse_time(text, arm->profile, ret_ns))
        return fb_fail(err, FB_EUSAGE,
                       "'--%s %s': epoch seconds, YYYY-MM-DDTHH:MM:SS, +SECONDS or -SECONDS was "
                       "expected",
                       name, text);
    return FB_OK;
}

/* By name first, then by offered rate, then by 1-based number. */
static const struct fb_step *find_step(const struct fb_steps *steps, const char *text)
{
    char *end;
    double number = strtod(text, &end);
    bool is_number = end != text && *end == '\0';

    for (size_t i = 0; i < steps->count; i++) {
        if (strcmp(steps->items[i].name, text) == 0)
            return &steps->items[i];
    }
    for (size_t i = 0; i < steps->count && is_number; i++) {
        if (!steps->items[i].warmup && fabs(steps->items[i].offered - number) < 1e-9 * number)
            return &steps->items[i];
    }
    if (is_number && number >= 1 && number <= (double)steps->count && number == floor(number))
        return &steps->items[(size_t)number - 1];
    return NULL;
}

/* "1000, 2000 and 3 more"; yours. */
static char *names_of(const struct fb_steps *steps)
{
    enum { MOST = 12 };
    struct fb_buf out = {0};

    for (size_t i = 0; i < steps->count && i < MOST; i++)
        fb_buf_printf(&out, "%s%s", i > 0 ? ", " : "", steps->items[i].name);
    if (steps->count > MOST)
        fb_buf_printf(&out, " and %zu more", steps->count - MOST);
    return fb_buf_take(&out);
}

static enum fb_status take_step(const char *text, const struct fb_arm *arm, int64_t *ret_from_ns,
                                int64_t *ret_to_ns, const struct fb_step **ret_step,
                                struct fb_err *err)
{
    if (!arm->steps)
        return fb_fail(err, FB_EUSAGE, "%s: has no steps, so '--step %s' cannot be applied",
                       arm->name, text);
    *ret_step = find_step(arm->steps, text);
    if (!*ret_step) {
        char *names = names_of(arm->steps);
        enum fb_status r =
            fb_fail(err, FB_EUSAGE, "%s: has no step '%s'; it has %s", arm->name, text, names);

        free(names);
        return r;
    }
    *ret_from_ns = (*ret_step)->load_start_ns;
    *ret_to_ns = (*ret_step)->load_end_ns;
    return FB_OK;
}

enum fb_status fb_view_window(const struct fb_args *args, const struct fb_arm *arm,
                              int64_t *ret_from_ns, int64_t *ret_to_ns,
                              const struct fb_step **ret_step, struct fb_err *err)
{
    const char *step = fb_args_get(args, "step");
    enum fb_status r = FB_OK;

    *ret_from_ns = INT64_MIN;
    *ret_to_ns = INT64_MAX;
    *ret_step = NULL;
    if (step)
        r = take_step(step, arm, ret_from_ns, ret_to_ns, ret_step, err);
    if (r == FB_OK)
        r = take_time(args, "from", arm, ret_from_ns, err);
    if (r == FB_OK)
        r = take_time(args, "to", arm, ret_to_ns, err);
    if (r == FB_OK && *ret_from_ns >= *ret_to_ns)
        r = fb_fail(err, FB_EUSAGE, "%s: the span of time asked for is empty", arm->name);
    return r;
}

static enum fb_status no_sample(const struct fb_arm *arm, int64_t from_ns, int64_t to_ns,
                                struct fb_err *err)
{
    return fb_fail(err, FB_EFORMAT, "%s: holds no sample%s", arm->name,
                   from_ns == INT64_MIN && to_ns == INT64_MAX
                       ? ""
                       : " in the span of time that was asked for");
}

enum fb_status fb_view_self(const struct fb_args *args, const struct fb_view *view, size_t i,
                            double **ret_self, const struct fb_step **ret_step, struct fb_err *err)
{
    const struct fb_arm *arm = &view->arms[i];
    int64_t from_ns, to_ns;
    double *self, sum = 0;
    enum fb_status r = fb_view_window(args, arm, &from_ns, &to_ns, ret_step, err);

    if (r != FB_OK)
        return r;
    self = fb_calltree_self(&view->tree, arm->profile, arm->node_of_stack, from_ns, to_ns);
    for (size_t n = 0; n < view->tree.count; n++)
        sum += self[n];
    if (sum <= 0) {
        free(self);
        return no_sample(arm, from_ns, to_ns, err);
    }
    *ret_self = self;
    return FB_OK;
}

enum fb_status fb_view_weights(const struct fb_args *args, const struct fb_view *view, size_t i,
                               struct fb_calltree_weight **ret_weights, size_t *ret_count,
                               struct fb_err *err)
{
    const struct fb_arm *arm = &view->arms[i];
    const struct fb_step *step;
    int64_t from_ns, to_ns;
    struct fb_calltree_weight *weights;
    enum fb_status r = fb_view_window(args, arm, &from_ns, &to_ns, &step, err);

    if (r != FB_OK)
        return r;
    weights = fb_calltree_weights(&view->tree, arm->profile, arm->node_of_stack, from_ns, to_ns,
                                  ret_count);
    if (*ret_count == 0) {
        free(weights);
        return no_sample(arm, from_ns, to_ns, err);
    }
    *ret_weights = weights;
    return FB_OK;
}

/* arm: of the input, to be kept as long. */
static struct fb_diff_input input_of(const struct fb_view *view, size_t i, struct fb_diff_arm *arm)
{
    const struct fb_arm *a = &view->arms[i];

    *arm = (struct fb_diff_arm){
        .label = a->name, .profile = a->profile, .node_of_stack = a->node_of_stack};
    return (struct fb_diff_input){.arms = arm,
                                  .arms_count = 1,
                                  .tree = &view->tree,
                                  .fns = &view->fns,
                                  .layers = view->layers,
                                  .layer_of_node = view->layer_of_node};
}

enum fb_status fb_view_shares_by(const struct fb_args *args, const struct fb_view *view, size_t i,
                                 const uint32_t *key_of_node, size_t keys,
                                 struct fb_diff_shares *ret_shares, struct fb_err *err)
{
    struct fb_diff_arm arm;
    struct fb_diff_input in = input_of(view, i, &arm);
    const struct fb_step *step;
    int64_t from_ns, to_ns;
    enum fb_status r = fb_view_window(args, &view->arms[i], &from_ns, &to_ns, &step, err);

    if (r == FB_OK)
        fb_diff_shares_measure(&in, from_ns, to_ns, key_of_node, keys, ret_shares);
    return r;
}

enum fb_status fb_view_shares_of_nodes(const struct fb_args *args, const struct fb_view *view,
                                       size_t i, const uint32_t *nodes, size_t count, double *lo,
                                       double *hi, struct fb_err *err)
{
    struct fb_diff_arm arm;
    struct fb_diff_input in = input_of(view, i, &arm);
    const struct fb_step *step;
    int64_t from_ns, to_ns;
    enum fb_status r = fb_view_window(args, &view->arms[i], &from_ns, &to_ns, &step, err);

    if (r == FB_OK)
        fb_diff_shares_of_nodes(&in, from_ns, to_ns, nodes, count, lo, hi);
    return r;
}

enum fb_status fb_view_shares(const struct fb_args *args, const struct fb_view *view, size_t i,
                              bool by_layer, struct fb_diff_shares *ret_shares, struct fb_err *err)
{
    uint32_t *key_of_node = fb_alloc_array(view->tree.count, sizeof *key_of_node);
    size_t keys = by_layer ? fb_layers_count(view->layers) : view->fns.count;
    enum fb_status r;

    for (size_t n = 0; n < view->tree.count; n++)
        key_of_node[n] =
            by_layer ? view->layer_of_node[n] : view->fns.items[view->tree.nodes[n].function].same;
    r = fb_view_shares_by(args, view, i, key_of_node, keys, ret_shares, err);
    free(key_of_node);
    return r;
}

void fb_note_clock(struct fb_table *table, const struct fb_profile *p)
{
    char *text = fb_account_clock(p);

    if (text)
        fb_table_note(table, text);
    free(text);
    fb_account_note(table, p, NULL);
}
