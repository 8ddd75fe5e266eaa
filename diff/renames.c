/* renames.c - functions that may be one under two names.
 *
 * Of the functions that no stack of the other arm has, the largest of both arms are compared each
 * with each: their names by pairs of letters, their callers and callees by the weight that goes
 * through them (own time is a callee, and two that are renamed themselves are alike if their names
 * are).  A pair is suggested where callers and callees agree by 80 %, names by half, and shares
 * within a factor of 2.5, and each is the other's best. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "diff/around.h"

enum { CANDIDATES_MAX = 48, LINKS_MAX = 64, NAME_MAX = 256, OWN = 0 };
static const double agree_least = 0.8, names_least = 0.5, names_least_callees = 0.4;
static const double share_ratio_least = 0.4, ambiguous_within = 0.15;
static const double samples_least = 10;

struct link {
    uint32_t function; /* OWN among callees: the function's own time */
    double weight;
};

struct links {
    struct link items[LINKS_MAX];
    size_t count;
    double sum;
};

struct candidate {
    uint32_t function;
    double share;
    struct links callers, callees;
};

struct side {
    struct candidate *items;
    size_t count;
    uint32_t *index_of; /* by function, 1 + its index; 0 none */
};

/* ---- names ---- */

/* The pairs of letters of a text, sorted. */
struct bigrams {
    uint16_t items[NAME_MAX];
    size_t count;
};

struct name {
    struct bigrams whole, last; /* last: of the method; empty where there is no part before it */
};

static int by_value(const void *a, const void *b)
{
    uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;

    return (x > y) - (x < y);
}

static void bigrams_make(const char *text, struct bigrams *out)
{
    size_t len = strlen(text);

    out->count = 0;
    for (size_t i = 0; i + 1 < len && out->count < NAME_MAX; i++)
        out->items[out->count++] =
            (uint16_t)(tolower((unsigned char)text[i]) << 8 | tolower((unsigned char)text[i + 1]));
    if (out->count > 0)
        qsort(out->items, out->count, sizeof *out->items, by_value);
}

/* Dice's coefficient: twice the pairs in common over all. */
static double alike(const struct bigrams *a, const struct bigrams *b)
{
    size_t i = 0, j = 0, common = 0;

    while (i < a->count && j < b->count) {
        uint16_t x = a->items[i], y = b->items[j];

        common += x == y;
        i += x <= y;
        j += y <= x;
    }
    return a->count + b->count > 0 ? 2 * (double)common / (double)(a->count + b->count) : 0;
}

/* What follows the last separator of a name: the method. */
static const char *last_part(const char *name)
{
    const char *last = name;

    for (const char *at = name; *at != '\0' && *at != '('; at++)
        if ((*at == '.' || *at == ':' || *at == '/' || *at == '#') && at[1] != '\0' && at[1] != '(')
            last = at + 1;
    return last;
}

static void name_make(const char *text, struct name *out)
{
    const char *last = last_part(text);

    bigrams_make(text, &out->whole);
    bigrams_make(last == text ? "" : last, &out->last);
}

/* Whole names, or methods of classes that were renamed. */
static double names_alike(const struct name *a, const struct name *b)
{
    return fmax(alike(&a->whole, &b->whole), 0.9 * alike(&a->last, &b->last));
}

/* ---- candidates ---- */

/* Inclusive share by function, recursion into itself counted once. */
static double *shares_new(const struct fb_around *a, int side)
{
    double *share = fb_alloc_array(a->fns->count, sizeof *share);

    for (uint32_t n = 1; n < a->tree->count; n++) {
        uint32_t parent = a->tree->nodes[n].parent, f = fb_around_function(a, n);

        if (parent == 0 || fb_around_function(a, parent) != f)
            share[f] += a->share[side][n];
    }
    return share;
}

static int by_share(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return x->function < y->function ? -1 : 1;
}

/* A name, and no placeholder for one. */
static bool is_named(const struct fb_functions *fns, uint32_t function)
{
    return function != 0 && strncmp(fb_function_name(fns, function), "[unknown", 8) != 0 &&
           !fb_function_is_thread(fns, function, NULL);
}

/* Functions of one side alone, the largest. */
static void side_find(const struct fb_around *a, const double *mine, const double *other,
                      double least, struct side *side)
{
    size_t room = 0;

    for (uint32_t f = 1; f < a->fns->count; f++) {
        if (!(mine[f] >= least) || !(mine[f] > 0) || other[f] > 0 || !is_named(a->fns, f))
            continue;
        fb_vec_reserve(&side->items, &room, side->count + 1, sizeof *side->items);
        side->items[side->count++] = (struct candidate){.function = f, .share = mine[f]};
    }
    if (side->count > 0)
        qsort(side->items, side->count, sizeof *side->items, by_share);
    side->count = side->count < CANDIDATES_MAX ? side->count : CANDIDATES_MAX;
    side->index_of = fb_alloc_array(a->fns->count, sizeof *side->index_of);
    for (size_t i = 0; i < side->count; i++)
        side->index_of[side->items[i].function] = (uint32_t)i + 1;
}

static void side_done(struct side *side)
{
    free(side->items);
    free(side->index_of);
}

static void link_add(struct links *links, uint32_t function, double weight)
{
    links->sum += weight;
    for (size_t i = 0; i < links->count; i++)
        if (links->items[i].function == function) {
            links->items[i].weight += weight;
            return;
        }
    if (links->count < LINKS_MAX)
        links->items[links->count++] = (struct link){function, weight};
}

/* Callers and callees of every candidate of a side, by the weight between them. */
static void side_link(const struct fb_around *a, int which, struct side *side)
{
    const double *share = a->share[which];
    double *own = fb_alloc_array(a->tree->count, sizeof *own);

    for (uint32_t n = 1; n < a->tree->count; n++) {
        own[n] += share[n];
        own[a->tree->nodes[n].parent] -= share[n];
    }
    for (uint32_t n = 1; n < a->tree->count; n++) {
        uint32_t parent = a->tree->nodes[n].parent;
        uint32_t f = fb_around_function(a, n), g = parent ? fb_around_function(a, parent) : 0;

        if (!(share[n] > 0))
            continue;
        if (side->index_of[f] != 0) {
            struct candidate *c = &side->items[side->index_of[f] - 1];

            if (own[n] > 1e-12)
                link_add(&c->callees, OWN, own[n]);
            if (g != f)
                link_add(&c->callers, g, share[n]);
        }
        if (parent != 0 && g != f && side->index_of[g] != 0)
            link_add(&side->items[side->index_of[g] - 1].callees, f, share[n]);
    }
    free(own);
}

/* ---- pairs ---- */

struct matcher {
    const struct fb_around *around;
    struct side sides[2];
    double *names; /* how alike: [candidate of the control x those of the variant] */
};

static void matcher_names(struct matcher *m)
{
    struct name *names[2];

    for (int a = 0; a < 2; a++) {
        const struct side *side = &m->sides[a];

        names[a] = fb_alloc_array(side->count, sizeof *names[a]);
        for (size_t i = 0; i < side->count; i++)
            name_make(fb_function_name(m->around->fns, side->items[i].function), &names[a][i]);
    }
    m->names = fb_alloc_array(m->sides[0].count * m->sides[1].count, sizeof *m->names);
    for (size_t i = 0; i < m->sides[0].count; i++)
        for (size_t j = 0; j < m->sides[1].count; j++)
            m->names[i * m->sides[1].count + j] = names_alike(&names[0][i], &names[1][j]);
    free(names[0]);
    free(names[1]);
}

/* Of a function of each side alone; 0 where one is no candidate. */
static double matcher_alike(const struct matcher *m, uint32_t a, uint32_t b)
{
    uint32_t i = m->sides[0].index_of[a], j = m->sides[1].index_of[b];

    return i != 0 && j != 0 ? m->names[(i - 1) * m->sides[1].count + j - 1] : 0;
}

/* Whether two functions, one of each side's links, stand for one. */
static bool is_link_alike(const struct matcher *m, uint32_t a, uint32_t b)
{
    if (a == b)
        return true;
    return matcher_alike(m, a, b) >= names_least;
}

/* The part of the weight that goes to the same functions, 0..1. */
static double links_alike(const struct matcher *m, const struct links *a, const struct links *b)
{
    struct links left = *b;
    double common = 0;

    if (!(a->sum > 0) || !(b->sum > 0))
        return a->sum > 0 || b->sum > 0 ? 0 : 1;
    for (size_t i = 0; i < a->count; i++) {
        double part = a->items[i].weight / a->sum;

        for (size_t j = 0; j < left.count && part > 0; j++) {
            double there = left.items[j].weight / b->sum, taken = fmin(part, there);

            if (!(taken > 0) || !is_link_alike(m, a->items[i].function, left.items[j].function))
                continue;
            common += taken;
            part -= taken;
            left.items[j].weight -= taken * b->sum;
        }
    }
    return fmin(1, common);
}

static bool has_callees(const struct candidate *c)
{
    return c->callees.count > 1 || (c->callees.count == 1 && c->callees.items[0].function != OWN);
}

/* How alike, 0..3; 0 where it is no suggestion. */
static double pair_score(const struct matcher *m, const struct candidate *a,
                         const struct candidate *b, struct fb_diff_rename *ret_rename)
{
    double ratio = fmin(a->share, b->share) / fmax(a->share, b->share);
    struct fb_diff_rename r = {
        .from = a->function, .to = b->function, .share_from = a->share, .share_to = b->share};
    double least = has_callees(a) && has_callees(b) ? names_least_callees : names_least;

    if (ratio < share_ratio_least)
        return 0;
    r.names = matcher_alike(m, a->function, b->function);
    if (r.names < least)
        return 0;
    r.callers = links_alike(m, &a->callers, &b->callers);
    if (r.callers < agree_least)
        return 0;
    r.callees = links_alike(m, &a->callees, &b->callees);
    if (r.callees < agree_least)
        return 0;
    *ret_rename = r;
    return r.names + r.callers + r.callees;
}

/* The best of one side for the i-th of the other, and whether a second is nearly as good. */
static size_t best_of(const double *scores, size_t count, size_t stride, bool *ret_ambiguous)
{
    size_t best = 0, good = 0;

    for (size_t i = 1; i < count; i++)
        best = scores[i * stride] > scores[best * stride] ? i : best;
    for (size_t i = 0; i < count; i++)
        good += scores[i * stride] > 0 &&
                scores[i * stride] >= scores[best * stride] - ambiguous_within;
    *ret_ambiguous |= good > 1;
    return best;
}

static void frames_mark(struct fb_diff_step *out, const struct fb_functions *fns,
                        const struct fb_diff_rename *r)
{
    for (size_t i = 0; i < out->frames_count; i++) {
        if (out->frames[i].id == r->from)
            out->frames[i].renamed = fb_function_name(fns, r->to);
        else if (out->frames[i].id == r->to)
            out->frames[i].renamed = fb_function_name(fns, r->from);
    }
}

static void pairs_find(const struct matcher *m, struct fb_diff_step *out)
{
    size_t from = m->sides[0].count, to = m->sides[1].count;
    double *scores = fb_alloc_array(from * to + 1, sizeof *scores);
    struct fb_diff_rename *pairs = fb_alloc_array(from * to + 1, sizeof *pairs);

    for (size_t i = 0; i < from; i++)
        for (size_t j = 0; j < to; j++)
            scores[i * to + j] =
                pair_score(m, &m->sides[0].items[i], &m->sides[1].items[j], &pairs[i * to + j]);
    out->renames = fb_alloc_array(from, sizeof *out->renames);
    for (size_t i = 0; i < from && to > 0; i++) {
        bool is_ambiguous = false;
        size_t j = best_of(scores + i * to, to, 1, &is_ambiguous);
        struct fb_diff_rename *r = &pairs[i * to + j];

        if (!(scores[i * to + j] > 0) || best_of(scores + j, from, to, &is_ambiguous) != i)
            continue;
        r->is_ambiguous = is_ambiguous;
        out->renames[out->renames_count++] = *r;
        frames_mark(out, m->around->fns, r);
    }
    free(scores);
    free(pairs);
}

void fb_rename_rows(struct fb_diff *diff, size_t step, const struct fb_around *around)
{
    struct fb_diff_step *out = &diff->steps[step];
    struct matcher m = {.around = around};
    double *shares[2];

    if (out->denial[0] != '\0')
        return;
    for (int a = 0; a < 2; a++)
        shares[a] = shares_new(around, a);
    for (int a = 0; a < 2; a++) {
        double samples = a == 1 ? out->samples_variant : out->samples_control;

        side_find(around, shares[a], shares[1 - a], samples_least / fmax(1, samples), &m.sides[a]);
        side_link(around, a, &m.sides[a]);
    }
    matcher_names(&m);
    pairs_find(&m, out);
    free(m.names);
    for (int a = 0; a < 2; a++) {
        free(shares[a]);
        side_done(&m.sides[a]);
    }
}
