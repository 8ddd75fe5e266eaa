/* gate.c - see gate.h. */
#include "diff/gate.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "diff/verdict.h"

static const struct {
    const char *name;
    enum fb_diff_metric metric;
} metrics[] = {
    {"cpu", FB_METRIC_CPU_PER_REQUEST},
    {"cores", FB_METRIC_CORES},
    {"delivered", FB_METRIC_DELIVERED},
    {"p50", FB_METRIC_P50},
    {"p99", FB_METRIC_P99},
    {"p999", FB_METRIC_P999},
    {"throttled", FB_METRIC_THROTTLED},
    {"heap", FB_METRIC_HEAP},
    {"rss", FB_METRIC_RSS},
};

/* ---- reading ---- */

struct span { /* what is left to read, from the right */
    const char *at;
    size_t len;
};

static void trim(struct span *s)
{
    while (s->len > 0 && isspace((unsigned char)s->at[s->len - 1]))
        s->len--;
    while (s->len > 0 && isspace((unsigned char)s->at[0])) {
        s->at++;
        s->len--;
    }
}

/* Cuts the last word off. */
static struct span word_cut(struct span *s)
{
    struct span word;
    size_t from;

    trim(s);
    for (from = s->len; from > 0 && !isspace((unsigned char)s->at[from - 1]);)
        from--;
    word = (struct span){s->at + from, s->len - from};
    s->len = from;
    trim(s);
    return word;
}

static bool is_word(struct span s, const char *word)
{
    return s.len == strlen(word) && memcmp(s.at, word, s.len) == 0;
}

/* What stands behind the sign: "+5%", "-2 points", "1%", "0.2 ms". */
static enum fb_status threshold_parse(const char *at, struct fb_gate_condition *c,
                                      struct fb_err *err)
{
    const char *unit;
    char *end;
    bool is_percent;

    while (isspace((unsigned char)*at))
        at++;
    c->is_change = *at == '+' || *at == '-';
    c->threshold = strtod(at, &end);
    unit = end;
    while (isspace((unsigned char)*unit))
        unit++;
    is_percent = strcmp(unit, "%") == 0;
    c->is_points = strcmp(unit, "points") == 0;
    if (end == at || !isfinite(c->threshold) ||
        (!is_percent && !c->is_points && *unit != '\0' && strcmp(unit, "ms") != 0))
        return fb_fail(err, FB_EUSAGE,
                       "'%s': a threshold such as +5%%, '+2 points' or 1%% was expected", c->text);
    if (c->is_change && !is_percent && !c->is_points)
        return fb_fail(err, FB_EUSAGE,
                       "'%s': a change is told in %% of the control or in points of "
                       "share",
                       c->text);
    if (is_percent || c->is_points)
        c->threshold /= 100;
    if (c->is_points && c->quantity != FB_GATE_SHARE)
        return fb_fail(err, FB_EUSAGE, "'%s': points are of share", c->text);
    if (!c->is_change && is_percent != (c->quantity == FB_GATE_SHARE))
        return fb_fail(err, FB_EUSAGE, "'%s': a level of share is told in %%, of others without",
                       c->text);
    return FB_OK;
}

static enum fb_status quantity_parse(struct span word, struct fb_gate_condition *c,
                                     struct fb_err *err)
{
    static const char *const names[] = {"ms", "share", "cores"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (is_word(word, names[i])) {
            c->quantity = (enum fb_gate_quantity)i;
            return FB_OK;
        }
    }
    return fb_fail(err, FB_EUSAGE, "'%s': ms, share or cores was expected, not '%.*s'", c->text,
                   (int)word.len, word.at);
}

static enum fb_status metric_parse(struct span word, struct fb_gate_condition *c,
                                   struct fb_err *err)
{
    c->subject = FB_GATE_METRIC;
    c->quantity = FB_GATE_VALUE;
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        if (is_word(word, metrics[i].name)) {
            c->metric = metrics[i].metric;
            return FB_OK;
        }
    }
    return fb_fail(err, FB_EUSAGE,
                   "'%s': no metric '%.*s' (there are cpu, cores, delivered, p50, p99, "
                   "p999, throttled, heap, rss)",
                   c->text, (int)word.len, word.at);
}

static enum fb_status subject_parse(struct span s, struct fb_gate_condition *c, struct fb_err *err)
{
    static const struct {
        const char *prefix;
        enum fb_gate_subject subject;
    } prefixes[] = {{"layer:", FB_GATE_LAYER}, {"sum:", FB_GATE_SUM}, {"frame:", FB_GATE_FRAME}};

    if (is_word(s, "total")) {
        c->subject = FB_GATE_TOTAL;
        return FB_OK;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t n = strlen(prefixes[i].prefix);

        if (s.len > n && memcmp(s.at, prefixes[i].prefix, n) == 0) {
            c->subject = prefixes[i].subject;
            c->name = fb_strndup(s.at + n, s.len - n);
            return FB_OK;
        }
    }
    return fb_fail(err, FB_EUSAGE,
                   "'%s': total, layer:NAME, sum:NAME or frame:REGEX was expected, not "
                   "'%.*s'",
                   c->text, (int)s.len, s.at);
}

/* The last sign of order with a number behind it: a pattern may hold others. */
static const char *order_find(const char *text)
{
    const char *found = NULL;

    for (const char *at = text; *at != '\0'; at++)
        if (*at == '<' || *at == '>')
            found = at;
    return found;
}

enum fb_status fb_gate_parse(const char *text, struct fb_gate_condition *ret_condition,
                             struct fb_err *err)
{
    struct fb_gate_condition c = {.text = fb_strdup(text)};
    const char *order = order_find(text);
    struct span left = {text, order != NULL ? (size_t)(order - text) : 0}, word;
    enum fb_status r;

    word = word_cut(&left);
    if (order == NULL || word.len == 0) {
        r = fb_fail(err, FB_EUSAGE, "'%s': SUBJECT QUANTITY > THRESHOLD was expected", text);
    } else {
        c.is_more = *order == '>';
        r = left.len == 0 ? metric_parse(word, &c, err) : quantity_parse(word, &c, err);
    }
    if (r == FB_OK && left.len > 0)
        r = subject_parse(left, &c, err);
    if (r == FB_OK)
        r = threshold_parse(order + 1, &c, err);
    if (r != FB_OK)
        fb_gate_done(&c);
    else
        *ret_condition = c;
    return r;
}

void fb_gate_done(struct fb_gate_condition *condition)
{
    free(condition->text);
    free(condition->name);
    *condition = (struct fb_gate_condition){0};
}

/* ---- judging ---- */

static const struct fb_diff_row *row_named(const struct fb_diff_row *rows, size_t count,
                                           const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static enum fb_status row_find(const struct fb_diff_step *s, const struct fb_gate_condition *c,
                               const struct fb_diff_row **ret_row, struct fb_err *err)
{
    *ret_row = NULL;
    switch (c->subject) {
    case FB_GATE_METRIC:
        for (size_t i = 0; i < s->metrics_count; i++)
            if (s->metrics[i].id == (uint32_t)c->metric)
                *ret_row = &s->metrics[i];
        return FB_OK; /* a metric that no arm knows has no row */
    case FB_GATE_TOTAL:
        *ret_row = s->layers_count > 0 ? &s->layers[s->layers_count - 1] : NULL;
        return FB_OK;
    case FB_GATE_FRAME:
        *ret_row = c->sum < s->sums_count ? &s->sums[c->sum] : NULL;
        return FB_OK;
    case FB_GATE_LAYER:
        *ret_row = row_named(s->layers, s->layers_count, c->name);
        break;
    case FB_GATE_SUM:
        *ret_row = row_named(s->sums, s->sums_count, c->name);
        break;
    }
    if (*ret_row == NULL && s->layers_count > 0)
        return fb_fail(err, FB_EUSAGE, "'%s': there is no %s '%s'", c->text,
                       c->subject == FB_GATE_LAYER ? "layer" : "sum", c->name);
    return FB_OK;
}

/* A change of share where the verdict rests on ms: its interval from those of the two shares and
 * the row's floor, by the rule of one pair.  Narrower ones would need the pairs one by one. */
static void share_change(const struct fb_diff_row *row, struct fb_gate_result *to)
{
    const struct fb_diff_side *a = &row->control, *b = &row->variant;
    double d = log(b->share / a->share);
    double half = hypot((a->share_hi - a->share_lo) / 2 / a->share,
                        (b->share_hi - b->share_lo) / 2 / b->share);
    struct fb_evidence e = {.d = &d, .half = &half, .pairs = 1, .tau = row->floor};
    struct fb_judged judged;

    if (!(a->share > 0 && b->share > 0) || isnan(half) || isnan(row->floor))
        return;
    fb_verdict_judge(&e, &judged);
    to->value = expm1(d);
    to->lo = expm1(d - judged.half);
    to->hi = expm1(d + judged.half);
}

/* A change in points: the relative interval around it, scaled by the control's share. */
static void to_points(const struct fb_diff_row *row, struct fb_gate_result *to)
{
    to->value = row->change_points;
    to->lo *= row->control.share;
    to->hi *= row->control.share;
}

/* What the generator counted has no interval, and is true of a sick step as well. */
static bool is_counted(const struct fb_gate_condition *c)
{
    return c->subject == FB_GATE_METRIC && c->metric == FB_METRIC_DELIVERED;
}

static void change_measure(const struct fb_diff_row *row, const struct fb_gate_condition *c,
                           struct fb_gate_result *to)
{
    bool of_share = c->quantity == FB_GATE_SHARE;

    if (c->subject == FB_GATE_METRIC || of_share == row->on_share) {
        to->value = row->change;
        to->lo = expm1(row->d_lo);
        to->hi = expm1(row->d_hi);
    } else if (of_share) {
        share_change(row, to);
    } else {
        to->reason = "ms per request are unknown";
    }
    if (c->is_points)
        to_points(row, to);
    if (is_counted(c))
        to->lo = to->hi = to->value;
}

static void level_measure(const struct fb_diff_row *row, const struct fb_gate_condition *c,
                          struct fb_gate_result *to)
{
    const struct fb_diff_side *v = &row->variant;
    double scale = v->ms > 0 ? v->cores / v->ms : NAN;

    switch (c->quantity) {
    case FB_GATE_SHARE:
        *to = (struct fb_gate_result){FB_GATE_NOT_JUDGED, v->share, v->share_lo, v->share_hi, ""};
        return;
    case FB_GATE_MS:
        *to = (struct fb_gate_result){FB_GATE_NOT_JUDGED, v->ms, v->ms_lo, v->ms_hi,
                                      isnan(v->ms) ? "ms per request are unknown" : ""};
        return;
    case FB_GATE_CORES:
        *to = (struct fb_gate_result){FB_GATE_NOT_JUDGED, v->cores, v->ms_lo * scale,
                                      v->ms_hi * scale,
                                      isnan(scale) ? "ms per request are unknown" : ""};
        return;
    case FB_GATE_VALUE: /* one number a run: without the spread of runs it has no interval */
        to->value = row->value_variant;
        to->lo = to->hi = row->value_variant;
        return;
    }
}

static void outcome_set(const struct fb_gate_condition *c, bool is_strict, struct fb_gate_result *r)
{
    bool is_beyond = c->is_more ? r->lo > c->threshold : r->hi < c->threshold;
    bool is_within = c->is_more ? r->hi <= c->threshold : r->lo >= c->threshold;

    if (isnan(r->lo) || isnan(r->hi)) {
        r->outcome = is_strict ? FB_GATE_FAIL : FB_GATE_NOT_JUDGED;
        if (r->reason[0] == '\0')
            r->reason = "it has no interval";
        return;
    }
    r->outcome = is_beyond || (is_strict && !is_within) ? FB_GATE_FAIL : FB_GATE_PASS;
    if (!is_beyond && !is_within)
        r->reason = "the interval does not exclude it";
}

/* Where no arm has a profile, the total of a request is what the steps say of it. */
static struct fb_gate_condition total_of_steps(const struct fb_diff_step *s,
                                               const struct fb_gate_condition *c)
{
    struct fb_gate_condition metric = *c;

    if (c->subject != FB_GATE_TOTAL || s->layers_count > 0 || c->quantity == FB_GATE_SHARE)
        return metric;
    metric.metric = c->quantity == FB_GATE_MS ? FB_METRIC_CPU_PER_REQUEST : FB_METRIC_CORES;
    metric.subject = FB_GATE_METRIC;
    metric.quantity = FB_GATE_VALUE;
    return metric;
}

enum fb_status fb_gate_judge(const struct fb_diff *diff, size_t step,
                             const struct fb_gate_condition *condition, bool is_strict,
                             struct fb_gate_result *ret_result, struct fb_err *err)
{
    const struct fb_diff_step *s = &diff->steps[step];
    const struct fb_gate_condition c = total_of_steps(s, condition);
    const struct fb_diff_row *row;
    enum fb_status r = row_find(s, &c, &row, err);

    if (r != FB_OK)
        return r;
    *ret_result = (struct fb_gate_result){FB_GATE_NOT_JUDGED, NAN, NAN, NAN, ""};
    if (row == NULL)
        ret_result->reason = "neither arm knows it";
    else if (c.is_change)
        change_measure(row, &c, ret_result);
    else
        level_measure(row, &c, ret_result);
    if (row != NULL && c.is_change && row->verdict == FB_VERDICT_NONE && isnan(ret_result->lo)) {
        ret_result->reason = row->reason;
        ret_result->lo = ret_result->hi = NAN;
    }
    if (s->denial[0] != '\0' && !is_counted(&c)) {
        ret_result->reason = s->denial;
        ret_result->lo = ret_result->hi = NAN;
    }
    outcome_set(&c, is_strict, ret_result);
    return FB_OK;
}
