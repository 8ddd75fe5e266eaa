#include "layers/lint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "layers/rules.h"

/* Shares from which on a finding is one. */
static const double catch_all_most = 0.05, unmatched_most = 0.01, overlap_least = 0.005;

enum { TOP_FRAMES = 5, OVERLAPS_MAX = 10 };

struct work {
    const struct fb_lint_input *in;
    struct fb_lint *out;
    struct fb_layers_passing passing;
    double *weight;     /* by node: mean share over the arms */
    double *decided;    /* by rule and arm: share that it decides */
    double *passed;     /* by rule: share that it would take */
    bool *is_catch_all; /* by rule */
    double *by_rule;    /* by rule and rule: share of the first that the second takes from it */
};

static void add(struct work *w, enum fb_lint_level level, const char *what, uint16_t rule,
                double share, char *text)
{
    struct fb_lint *out = w->out;

    fb_vec_reserve(&out->items, &out->room, out->count + 1, sizeof *out->items);
    out->items[out->count++] = (struct fb_lint_item){level, what, rule, text, share};
    out->errors += level == FB_LINT_ERROR;
}

const char *fb_lint_level_text(enum fb_lint_level level)
{
    static const char *const words[] = {"error", "warning", "note"};

    return words[level];
}

static size_t rules_of(const struct work *w)
{
    return w->in->layers->rules_count;
}

static double decided(const struct work *w, size_t rule)
{
    double sum = 0;

    for (size_t a = 0; a < w->in->arms_count; a++)
        sum += w->decided[rule * w->in->arms_count + a] / (double)w->in->arms_count;
    return sum;
}

/* ---- measuring ---- */

/* The arms count alike, whatever their length. */
static void weights_measure(struct work *w)
{
    const struct fb_lint_input *in = w->in;

    w->weight = fb_alloc_array(in->tree->count, sizeof *w->weight);
    for (size_t a = 0; a < in->arms_count; a++) {
        double all = 0;

        for (size_t n = 0; n < in->tree->count; n++)
            all += in->self[a][n];
        for (size_t n = 0; n < in->tree->count && all > 0; n++) {
            double share = in->self[a][n] / all;
            uint16_t rule = in->applied->rule[n];

            w->weight[n] += share / (double)in->arms_count;
            if (rule != FB_NO_RULE)
                w->decided[rule * in->arms_count + a] += share;
        }
    }
}

static void passing_measure(struct work *w)
{
    const struct fb_lint_input *in = w->in;

    for (size_t n = 1; n < in->tree->count; n++) {
        uint16_t first = w->passing.start[n] < w->passing.start[n + 1]
                             ? w->passing.rules[w->passing.start[n]]
                             : FB_NO_RULE;

        if (w->weight[n] <= 0)
            continue;
        for (size_t i = w->passing.start[n]; i < w->passing.start[n + 1]; i++) {
            uint16_t rule = w->passing.rules[i];

            w->passed[rule] += w->weight[n];
            if (rule != first)
                w->by_rule[rule * rules_of(w) + first] += w->weight[n];
        }
    }
}

/* ---- rules ---- */

/* A name that no rule means.  A pattern that takes one takes anything of its shape. */
static bool takes_anything(const struct fb_patterns *patterns)
{
    static const char *const probes[] = {"zqxj", "zqxj::Qzjx::zqx(int)", "zqxj.qxz.Qzjx.zqx"};

    for (size_t i = 0; i < patterns->count; i++)
        for (size_t k = 0; k < sizeof probes / sizeof probes[0]; k++)
            if (fb_regex_match(patterns->items[i].plain, probes[k], strlen(probes[k])))
                return true;
    return false;
}

static bool is_catch_all(const struct fb_rule *rule)
{
    for (int part = 0; part < FB_PART_COUNT; part++)
        if (part != FB_PART_MODULE && rule->is.on[part].count > 0 &&
            !takes_anything(&rule->is.on[part]))
            return false;
    return true;
}

/* The end of the item at c: a class, an escape, a group, a character. */
static const char *item_end(const char *c)
{
    size_t depth = 0;

    for (; *c; c++) {
        if (*c == '\\' && c[1]) {
            c++;
        } else if (*c == '[') {
            c += c[1] == '^';
            c += c[1] == ']';
            while (*c && *c != ']')
                c += c[0] == '\\' && c[1] ? 2 : 1;
            if (!*c)
                return c;
        } else if (*c == '(') {
            depth++;
        } else if (*c == ')') {
            depth -= depth > 0;
        }
        if (depth == 0)
            return c + 1;
    }
    return c;
}

static bool is_repeat(const char *c)
{
    return (*c == '+' || *c == '*') && c[1] != '+';
}

/* "(a+)+": a group that begins and ends with a repeat, and is repeated.  The ways to cut a text
 * double with each byte.  "(::\\w+)*" has only one. */
static bool nests_repeats(const char *pattern)
{
    for (const char *c = pattern; *c; c = *c == '(' || *c == ')' ? c + 1 : item_end(c)) {
        const char *first, *end;

        if (*c != '(')
            continue;
        end = item_end(c); /* behind its ")" */
        first = c + 1;
        if (*first == '?') /* "(?:", "(?<name>", "(?|" */
            first += strcspn(first, ":>=!|)") + 1;
        if (first < end && end - c > 3 && is_repeat(end) && is_repeat(end - 2) &&
            is_repeat(item_end(first)))
            return true;
    }
    return false;
}

static void patterns_lint(struct work *w, uint16_t r, const struct fb_tests *tests)
{
    for (int part = 0; part < FB_PART_COUNT; part++)
        for (size_t i = 0; i < tests->on[part].count; i++) {
            const char *pattern = fb_regex_pattern(tests->on[part].items[i].plain);

            if (nests_repeats(pattern))
                add(w, FB_LINT_WARNING, "costly pattern", r, NAN,
                    fb_format("'%.100s' repeats a repeat: on some names it tries very many ways",
                              pattern));
        }
}

/* The rule that takes most from r. */
static uint16_t shadow_of(const struct work *w, size_t r)
{
    uint16_t most = FB_NO_RULE;

    for (size_t k = 0; k < rules_of(w); k++)
        if (w->by_rule[r * rules_of(w) + k] > 0 &&
            (most == FB_NO_RULE ||
             w->by_rule[r * rules_of(w) + k] > w->by_rule[r * rules_of(w) + most]))
            most = (uint16_t)k;
    return most;
}

static void hits_lint(struct work *w, uint16_t r)
{
    const struct fb_layers *l = w->in->layers;
    uint16_t shadow = shadow_of(w, r);

    if (w->passed[r] > 0 && decided(w, r) <= 0 && !l->tests[r].to_caller && shadow != FB_NO_RULE) {
        add(w, l->rules[shadow].layer == l->rules[r].layer ? FB_LINT_NOTE : FB_LINT_WARNING,
            "shadowed", r, w->passed[r],
            fb_format("all that it would take is taken before, most of it by rule %zu of %s (%s)",
                      l->rules[shadow].line, l->rules[shadow].file,
                      l->layers[l->rules[shadow].layer].name));
    }
    for (size_t a = 0; w->in->arms_count == 2 && a < 2; a++) {
        double here = w->decided[2 * (size_t)r + a], there = w->decided[2 * (size_t)r + 1 - a];

        if (here > 0 && there <= 0)
            add(w, here > overlap_least ? FB_LINT_WARNING : FB_LINT_NOTE, "one arm only", r, here,
                fb_format("decides in %s alone", w->in->arms[a]));
    }
    if (decided(w, r) > catch_all_most && w->is_catch_all[r])
        add(w, FB_LINT_WARNING, "catch-all", r, decided(w, r),
            fb_strdup("takes this much without looking for a name"));
}

/* One line a file: a preset has rules for much that one program never runs. */
static void idle_lint(struct work *w)
{
    const struct fb_layers *l = w->in->layers;

    for (size_t f = 0; f < l->files_count; f++) {
        struct fb_buf numbers = {0};
        size_t idle = 0, all = 0;

        for (size_t r = 0; r < l->rules_count; r++) {
            if (l->rules[r].file != l->files[f])
                continue;
            all++;
            if (w->passed[r] > 0)
                continue;
            fb_buf_printf(&numbers, "%s%zu", idle++ ? ", " : "", l->rules[r].line);
        }
        if (idle > 0)
            add(w, FB_LINT_NOTE, "never hits", FB_NO_RULE, NAN,
                fb_format("no stack passes %zu of the %zu rules of %s: %s", idle, all, l->files[f],
                          numbers.data));
        fb_buf_done(&numbers);
    }
}

/* A preset may try a rule of what it includes before its own: that is no mistake. */
static enum fb_lint_level repeated_level(const struct fb_layer_rule *a,
                                         const struct fb_layer_rule *b)
{
    if (a->file == b->file)
        return FB_LINT_ERROR;
    return a->layer == b->layer ? FB_LINT_NOTE : FB_LINT_WARNING;
}

static void rules_lint(struct work *w)
{
    const struct fb_layers *l = w->in->layers;

    for (size_t r = 0; r < l->rules_count; r++) {
        for (size_t k = 0; k < r; k++) {
            if (strcmp(l->rules[k].text, l->rules[r].text) != 0)
                continue;
            add(w, repeated_level(&l->rules[k], &l->rules[r]), "repeated", (uint16_t)r, NAN,
                fb_format("rule %zu of %s has the same tests, so this one can never decide",
                          l->rules[k].line, l->rules[k].file));
            break;
        }
        hits_lint(w, (uint16_t)r);
        patterns_lint(w, (uint16_t)r, &l->tests[r].is);
        patterns_lint(w, (uint16_t)r, &l->tests[r].is_not);
    }
}

/* ---- frames ---- */

struct ranked {
    uint32_t function;
    double share;
};

static int by_share(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return x->function < y->function ? -1 : x->function > y->function;
}

/* Functions by the share of the nodes that are wanted; yours.  node_of: whose function a node's
 * weight is put to, NULL: its own. */
static struct ranked *rank(const struct work *w, const uint8_t *wanted, const uint32_t *node_of)
{
    struct ranked *items = fb_alloc_array(w->in->fns->count, sizeof *items);

    for (uint32_t f = 0; f < w->in->fns->count; f++)
        items[f].function = f;
    for (size_t n = 1; n < w->in->tree->count; n++)
        if (wanted[n])
            items[w->in->tree->nodes[node_of ? node_of[n] : n].function].share += w->weight[n];
    qsort(items, w->in->fns->count, sizeof *items, by_share);
    return items;
}

static void unmatched_lint(struct work *w)
{
    size_t nodes = w->in->tree->count;
    uint8_t *wanted = fb_alloc_array(nodes, sizeof *wanted);
    struct fb_buf text = {0};
    struct ranked *items;
    double sum = 0;

    for (size_t n = 1; n < nodes; n++) {
        wanted[n] = w->in->applied->rule[n] == FB_NO_RULE;
        sum += wanted[n] ? w->weight[n] : 0;
    }
    items = rank(w, wanted, w->in->applied->decider);
    for (size_t i = 0; i < TOP_FRAMES && i < w->in->fns->count && items[i].share > 0; i++)
        fb_buf_printf(&text, "%s%.60s %.1f %%", i ? ", " : "",
                      fb_function_name(w->in->fns, items[i].function), 100 * items[i].share);
    if (sum > 0)
        add(w, sum > unmatched_most ? FB_LINT_WARNING : FB_LINT_NOTE, "unmatched", FB_NO_RULE, sum,
            fb_format("no rule takes %s", text.data));
    fb_buf_done(&text);
    free(items);
    free(wanted);
}

/* The first rule that passes node n and is no catch-all, and after it the first of another layer.
 */
static bool overlap_at(const struct work *w, size_t n, uint16_t *ret_first, uint16_t *ret_second)
{
    const struct fb_layers *l = w->in->layers;

    *ret_first = FB_NO_RULE;
    for (size_t i = w->passing.start[n]; i < w->passing.start[n + 1]; i++) {
        uint16_t rule = w->passing.rules[i];

        if (w->is_catch_all[rule])
            continue;
        if (*ret_first == FB_NO_RULE) {
            *ret_first = rule;
        } else if (l->rules[rule].layer != l->rules[*ret_first].layer) {
            *ret_second = rule;
            return true;
        }
    }
    return false;
}

static void overlaps_lint(struct work *w)
{
    const struct fb_layers *l = w->in->layers;
    size_t nodes = w->in->tree->count;
    uint8_t *wanted = fb_alloc_array(nodes, sizeof *wanted);
    uint16_t *rules = fb_alloc_array(2 * w->in->fns->count, sizeof *rules), pair[2];
    struct ranked *items;

    for (size_t n = 1; n < nodes; n++) {
        if (w->weight[n] <= 0 || !overlap_at(w, n, &pair[0], &pair[1]))
            continue;
        wanted[n] = 1;
        memcpy(&rules[2 * w->in->tree->nodes[n].function], pair, sizeof pair);
    }
    items = rank(w, wanted, NULL);
    for (size_t i = 0; i < OVERLAPS_MAX && i < w->in->fns->count; i++) {
        const uint16_t *of = &rules[2 * items[i].function];

        if (items[i].share < overlap_least)
            break;
        add(w, FB_LINT_NOTE, "several layers", of[0], items[i].share,
            fb_format("%.60s goes to %s; rule %zu of %s would put it into %s",
                      fb_function_name(w->in->fns, items[i].function),
                      l->layers[l->rules[of[0]].layer].name, l->rules[of[1]].line,
                      l->rules[of[1]].file, l->layers[l->rules[of[1]].layer].name));
    }
    free(items);
    free(rules);
    free(wanted);
}

static void layers_lint(struct work *w)
{
    const struct fb_layers *l = w->in->layers;

    for (size_t i = 0; i + 1 < l->count; i++)
        if (!l->layers[i].has_rollup && l->layers[i].rollup == FB_ROLLUP_OTHER)
            add(w, FB_LINT_WARNING, "no rollup", FB_NO_RULE, NAN,
                fb_format("layer '%s' has no 'rollup' and its name is none: it is 'other' there",
                          l->layers[i].name));
}

static int by_level(const void *a, const void *b)
{
    const struct fb_lint_item *x = a, *y = b;

    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->what != y->what)
        return strcmp(x->what, y->what);
    if (!isnan(x->share) && !isnan(y->share) && x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return x->rule < y->rule ? -1 : x->rule > y->rule;
}

enum fb_status fb_layers_lint(const struct fb_lint_input *in, struct fb_lint *ret_lint,
                              struct fb_err *err)
{
    struct work w = {.in = in, .out = ret_lint};
    size_t rules = in->layers->rules_count;
    enum fb_status r = fb_layers_passing(in->layers, in->tree, in->fns, &w.passing, err);

    *ret_lint = (struct fb_lint){0};
    if (r != FB_OK)
        return r;
    w.decided = fb_alloc_array(rules * in->arms_count, sizeof *w.decided);
    w.passed = fb_alloc_array(rules, sizeof *w.passed);
    w.by_rule = fb_alloc_array(rules * rules, sizeof *w.by_rule);
    w.is_catch_all = fb_alloc_array(rules, sizeof *w.is_catch_all);
    for (size_t i = 0; i < rules; i++)
        w.is_catch_all[i] = is_catch_all(&in->layers->tests[i]);
    weights_measure(&w);
    passing_measure(&w);
    if (w.passing.warning)
        add(&w, FB_LINT_ERROR, "limit", FB_NO_RULE, NAN, fb_strdup(w.passing.warning));
    rules_lint(&w);
    idle_lint(&w);
    layers_lint(&w);
    unmatched_lint(&w);
    overlaps_lint(&w);
    if (ret_lint->count > 0)
        qsort(ret_lint->items, ret_lint->count, sizeof *ret_lint->items, by_level);
    fb_layers_passing_done(&w.passing);
    free(w.weight);
    free(w.decided);
    free(w.passed);
    free(w.by_rule);
    free(w.is_catch_all);
    return FB_OK;
}

void fb_lint_done(struct fb_lint *lint)
{
    for (size_t i = 0; i < lint->count; i++)
        free(lint->items[i].text);
    free(lint->items);
    *lint = (struct fb_lint){0};
}
