/* callers.c - a frame's change beside that of its callers as a whole.
 *
 * Which methods a compiler puts into their callers decides where self time is counted.  A frame
 * that is inlined away loses its time to a caller; what the caller takes inclusive stays.  So the
 * stacks of a frame's callers are measured as a boundary is: each stack once, with the interval and
 * the verdict of any row.  Where that interval excludes what the frame lost or won, the frame's
 * change is no change of cost: it was inlined, if its callers' own time moved the other way, else
 * the work went to other code of theirs.  If the callers followed, theirs are asked, up to three
 * levels.
 *
 * Where few frames changed, the next ones by rank are measured too, to be shown and not to be
 * marked: in JVM arms a caller's inclusive change may be sure where no leaf's is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "diff/around.h"
#include "diff/follow.h"
#include "diff/frames.h"

enum { LEVELS_MAX = 3, SETS_MAX = 64, SETS_SHOWN = 12, MEMBERS_MAX = 16 };
static const double member_part = 0.05, taken_part = 0.5;

struct member {
    uint32_t function;
    double weight;
};

/* One frame that changed, and its callers. */
struct subject {
    size_t frame; /* of step->frames */
    uint32_t function;
    double change; /* of its own time, in the measure that is judged */
    double weight; /* of both arms */
    struct member members[LEVELS_MAX][MEMBERS_MAX];
    size_t counts[LEVELS_MAX];
    bool is_changed; /* else it is only shown under its immediate callers */
    bool is_settled;
};

struct pass {
    struct fb_diff *diff;
    size_t step;
    const struct fb_around *around;
    struct subject *subjects;
    size_t count;
    uint32_t *subject_of; /* by function, 1 + its index; 0 none */
    double *change_of;    /* by function: of its own time       */
};

/* Whether the frame's own change is more than chance: a verdict, one arm alone that has enough of
 * it, or what one pair of JVMs ranks. */
static bool is_changed(const struct fb_diff *diff, const struct fb_diff_row *row)
{
    bool is_ranked = diff->options.is_jvm && diff->pairs < 2;

    if (row->verdict == FB_VERDICT_DIFF || row->verdict == FB_VERDICT_ABSENT)
        return true;
    if (row->control.samples + row->variant.samples < FB_FRAMES_SAMPLES_MIN)
        return false;
    return row->verdict == FB_VERDICT_NOT_SEEN ||
           (is_ranked && row->verdict == FB_VERDICT_NONE && (row->d_lo > 0 || row->d_hi < 0));
}

static void subject_add(struct pass *p, size_t frame, bool changed)
{
    uint32_t function = p->diff->steps[p->step].frames[frame].id;

    p->subjects[p->count++] = (struct subject){.frame = frame,
                                               .function = function,
                                               .change = p->change_of[function],
                                               .is_changed = changed};
    p->subject_of[function] = (uint32_t)p->count;
}

static void subjects_find(struct pass *p)
{
    const struct fb_diff_step *out = &p->diff->steps[p->step];
    const struct fb_around *a = p->around;

    p->subjects = fb_alloc_array(SETS_MAX, sizeof *p->subjects);
    p->subject_of = fb_alloc_array(a->fns->count, sizeof *p->subject_of);
    p->change_of = fb_alloc_array(a->fns->count, sizeof *p->change_of);
    for (size_t n = 1; n < a->tree->count; n++)
        p->change_of[fb_around_function(a, (uint32_t)n)] += a->self[1][n] - a->self[0][n];
    for (size_t i = 0; i < out->frames_count && p->count < SETS_MAX; i++)
        if (is_changed(p->diff, &out->frames[i]))
            subject_add(p, i, true);
    for (size_t i = 0; i < out->frames_count && p->count < SETS_SHOWN; i++)
        if (p->subject_of[out->frames[i].id] == 0 &&
            out->frames[i].control.samples + out->frames[i].variant.samples >=
                FB_FRAMES_SAMPLES_MIN)
            subject_add(p, i, false);
}

/* The caller `level` functions above the node's own; 0: there is none.  Recursion is one level. */
static uint32_t caller_of(const struct fb_around *a, uint32_t node, size_t level)
{
    uint32_t function = fb_around_function(a, node);

    for (size_t l = 0; l <= level; l++) {
        while (node != 0 && fb_around_function(a, node) == function)
            node = a->tree->nodes[node].parent;
        if (node == 0)
            return 0;
        function = fb_around_function(a, node);
    }
    return fb_function_is_thread(a->fns, function, NULL) ? 0 : function;
}

static void member_add(struct subject *s, size_t level, uint32_t function, double weight)
{
    struct member *least = &s->members[level][0];

    for (size_t i = 0; i < s->counts[level]; i++) {
        struct member *m = &s->members[level][i];

        if (m->function == function) {
            m->weight += weight;
            return;
        }
        least = m->weight < least->weight ? m : least;
    }
    if (s->counts[level] < MEMBERS_MAX)
        s->members[level][s->counts[level]++] = (struct member){function, weight};
    else if (weight > least->weight)
        *least = (struct member){function, weight};
}

static int by_weight(const void *x, const void *y)
{
    const struct member *a = x, *b = y;

    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

/* Callers with a twentieth of the frame's time and more; none where they do not cover it. */
static void members_cut(struct subject *s, size_t level)
{
    struct member *m = s->members[level];
    double sum = 0;
    size_t count = 0;

    if (s->counts[level] > 0)
        qsort(m, s->counts[level], sizeof *m, by_weight);
    while (count < s->counts[level] && m[count].weight >= member_part * s->weight)
        sum += m[count++].weight;
    s->counts[level] = sum >= (1 - 2 * member_part) * s->weight ? count : 0;
}

static void members_find(struct pass *p, size_t level)
{
    const struct fb_around *a = p->around;

    for (size_t i = 0; i < p->count; i++)
        p->subjects[i].weight = 0;
    for (uint32_t n = 1; n < a->tree->count; n++) {
        double weight = a->self[0][n] + a->self[1][n];
        uint32_t subject = p->subject_of[fb_around_function(a, n)], caller;

        if (subject == 0 || !(weight > 0) || p->subjects[subject - 1].is_settled)
            continue;
        p->subjects[subject - 1].weight += weight;
        caller = caller_of(a, n, level);
        if (caller != 0)
            member_add(&p->subjects[subject - 1], level, caller, weight);
    }
    for (size_t i = 0; i < p->count; i++)
        if (!p->subjects[i].is_settled)
            members_cut(&p->subjects[i], level);
}

/* ---- measuring ---- */

/* By node, a bit for each subject whose callers of that level are in the stack. */
static uint64_t *masks_new(const struct pass *p, size_t level)
{
    const struct fb_around *a = p->around;
    uint64_t *of_function = fb_alloc_array(a->fns->count, sizeof *of_function);
    uint64_t *of_node = fb_alloc_array(a->tree->count, sizeof *of_node);

    for (size_t i = 0; i < p->count; i++)
        for (size_t m = 0; !p->subjects[i].is_settled && m < p->subjects[i].counts[level]; m++)
            of_function[p->subjects[i].members[level][m].function] |= UINT64_C(1) << i;
    for (uint32_t n = 1; n < a->tree->count; n++)
        of_node[n] = of_node[a->tree->nodes[n].parent] | of_function[fb_around_function(a, n)];
    free(of_function);
    return of_node;
}

/* One window's stacks of every set: [set x cells]. */
struct sums {
    double *x, *weight, *samples;
};

static void sums_fill(const struct fb_window *w, const uint64_t *mask_of_node, size_t sets,
                      struct sums *sums)
{
    sums->x = fb_alloc_array(sets * w->cells + 1, sizeof *sums->x);
    sums->weight = fb_alloc_array(sets, sizeof *sums->weight);
    sums->samples = fb_alloc_array(sets, sizeof *sums->samples);
    for (size_t e = 0; e < w->events_count; e++) {
        const struct fb_event *event = &w->events[e];

        for (uint64_t left = mask_of_node[event->node]; left != 0; left &= left - 1) {
            size_t set = (size_t)__builtin_ctzll(left);

            sums->weight[set] += event->weight;
            sums->samples[set] += fb_event_samples(w, event);
            if (w->cells > 0)
                sums->x[set * w->cells + event->cell] += event->weight;
        }
    }
}

static void sums_done(struct sums *sums)
{
    free(sums->x);
    free(sums->weight);
    free(sums->samples);
}

/* The shares of every set in one window; shares[set x stride]. */
static void window_measure(const struct fb_window *w, const uint64_t *mask_of_node, size_t sets,
                           struct fb_share *shares, size_t stride)
{
    uint32_t *cell = fb_alloc_array(w->cells + 1, sizeof *cell);
    double *x = fb_alloc_array(w->cells + 1, sizeof *x);
    struct sums sums;

    sums_fill(w, mask_of_node, sets, &sums);
    for (size_t i = 0; i < sets; i++) {
        struct fb_series series = {
            .cell = cell, .x = x, .weight = sums.weight[i], .samples = sums.samples[i]};

        for (size_t c = 0; c < w->cells; c++) {
            if (!(sums.x[i * w->cells + c] > 0))
                continue;
            cell[series.hits] = (uint32_t)c;
            x[series.hits++] = sums.x[i * w->cells + c];
        }
        fb_share_measure(&w->grid, &series, FB_FLOOR_PLAIN, &shares[i * stride]);
    }
    sums_done(&sums);
    free(cell);
    free(x);
}

/* ---- judging ---- */

/* "deflate", or "deflate and 2 more".  Yours. */
static char *members_name(const struct pass *p, const struct subject *s, size_t level)
{
    const char *first = fb_function_name(p->around->fns, s->members[level][0].function);

    return s->counts[level] == 1 ? fb_strdup(first)
                                 : fb_format("%s and %zu more", first, s->counts[level] - 1);
}

/* shares: of the controls, then of the variants, by pair. */
static void row_fill(struct pass *p, const struct subject *s, size_t level,
                     const struct fb_share *shares, struct fb_diff_row *row)
{
    struct fb_diff_state *state = p->diff->state;
    const struct fb_step_state *st = &state->steps[p->step];
    const struct fb_diff_options *o = &p->diff->options;
    size_t k = st->pairs_count;
    struct fb_layer_pair *pairs = fb_alloc_array(k, sizeof *pairs);
    char *name = members_name(p, s, level);
    double share, tau;
    bool is_whole = true;

    fb_row_init(row, name, (uint32_t)s->frame);
    fb_side_fill(state, st, shares, false, &row->control);
    fb_side_fill(state, st, shares + k, true, &row->variant);
    fb_row_changes(row);
    row->on_share = !p->around->on_ms;
    for (size_t i = 0; i < k; i++) {
        pairs[i].control = shares[i];
        pairs[i].variant = shares[k + i];
        fb_layer_pair_close(state, st, i, &pairs[i]);
        is_whole = is_whole && !isnan(pairs[i].d_share);
    }
    share = (row->control.share + row->variant.share) / 2;
    tau = o->is_jvm ? fb_floor_jvm_frame(true, (row->control.samples + row->variant.samples) /
                                                   (2 * (double)k))
                    : fb_floor_share(o->floors, FB_FLOOR_PLAIN, share, false);
    tau = share > 0.5 ? tau * fmin(1, (1 - share) / share) : tau;
    if (p->around->on_ms)
        tau = hypot(tau, fb_floor_cpu(o->floors, fb_state_floor_health(st), 0));
    if (is_whole)
        fb_layer_pairs_judge(p->diff, p->step, pairs, tau, NULL, row);
    else
        fb_row_deny(row, "some run has none of their stacks");
    free(name);
    free(pairs);
}

/* Whether the callers up to that level took into their own time what the frame lost, or gave what
 * it won. */
static bool is_taken_over(const struct pass *p, const struct subject *s, size_t level)
{
    double taken = 0;

    for (size_t l = 0; l <= level; l++)
        for (size_t m = 0; m < s->counts[l]; m++) {
            bool is_known = false;

            for (size_t k = 0; k < l; k++)
                for (size_t j = 0; j < s->counts[k]; j++)
                    is_known |= s->members[k][j].function == s->members[l][m].function;
            taken += is_known ? 0 : p->change_of[s->members[l][m].function];
        }
    return -taken / s->change >= taken_part;
}

static void subject_settle(struct pass *p, struct subject *s, size_t level,
                           const struct fb_share *shares)
{
    struct fb_diff_step *out = &p->diff->steps[p->step];
    struct fb_diff_row *frame = &out->frames[s->frame];
    struct fb_diff_row row;

    row_fill(p, s, level, shares, &row);
    s->is_settled = !s->is_changed || fb_follow_fails(frame, &row);
    if (s->is_changed && s->is_settled) {
        frame->move = is_taken_over(p, s, level) ? FB_MOVE_INLINED : FB_MOVE_WITHIN;
    } else if (level > 0) { /* the immediate callers are shown, since no level stayed */
        free(row.name);
        return;
    }
    if (frame->callers == SIZE_MAX)
        frame->callers = out->callers_count++;
    else
        free(out->callers[frame->callers].name);
    out->callers[frame->callers] = row;
}

static void level_pass(struct pass *p, size_t level)
{
    const struct fb_step_state *s = &p->diff->state->steps[p->step];
    size_t k = s->pairs_count;
    struct fb_share *shares = fb_alloc_array(p->count * 2 * k, sizeof *shares);
    uint64_t *masks;

    members_find(p, level);
    masks = masks_new(p, level);
    for (size_t i = 0; i < 2 * k; i++)
        window_measure(fb_state_window(p->diff->state, s, i % k, i >= k), masks, p->count,
                       shares + i, 2 * k);
    for (size_t i = 0; i < p->count; i++) {
        struct subject *subject = &p->subjects[i];

        if (subject->is_settled)
            continue;
        if (subject->counts[level] > 0)
            subject_settle(p, subject, level, shares + i * 2 * k);
        else
            subject->is_settled = true; /* nobody above is left to ask */
    }
    free(masks);
    free(shares);
}

static bool is_left(const struct pass *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (!p->subjects[i].is_settled)
            return true;
    return false;
}

/* A caller whose own time moved against that of a frame that was inlined: the largest such. */
static void takers_mark(struct pass *p)
{
    struct fb_diff_step *out = &p->diff->steps[p->step];

    for (size_t t = 0; t < p->count; t++) {
        struct subject *taker = &p->subjects[t];
        double most = 0;

        if (!taker->is_changed || out->frames[taker->frame].move == FB_MOVE_INLINED)
            continue;
        for (size_t i = 0; i < p->count; i++) {
            const struct subject *s = &p->subjects[i];
            bool is_caller = false;

            for (size_t l = 0; l < LEVELS_MAX; l++)
                for (size_t m = 0; m < s->counts[l]; m++)
                    is_caller |= s->members[l][m].function == taker->function;
            if (!is_caller || out->frames[s->frame].move != FB_MOVE_INLINED ||
                s->change * taker->change >= 0 || fabs(s->change) <= most)
                continue;
            most = fabs(s->change);
            out->frames[taker->frame].move = FB_MOVE_TOOK;
            out->frames[taker->frame].partner = fb_function_name(p->around->fns, s->function);
        }
    }
}

void fb_caller_rows(struct fb_diff *diff, size_t step, const struct fb_around *around)
{
    struct fb_diff_step *out = &diff->steps[step];
    struct pass p = {.diff = diff, .step = step, .around = around};

    if (out->denial[0] != '\0')
        return;
    subjects_find(&p);
    out->callers = fb_alloc_array(p.count, sizeof *out->callers);
    for (size_t level = 0; level < LEVELS_MAX && is_left(&p); level++)
        level_pass(&p, level);
    takers_mark(&p);
    free(p.subjects);
    free(p.subject_of);
    free(p.change_of);
}
