/* Which rule decides a stack: patterns run once per function, nodes only combine the answers.
 *
 * The tests of a leaf (name, module, kind, tier) depend on its function alone.  So each function
 * gets a list of the rules whose leaf tests it passes, in order, cut after the first that asks for
 * nothing else; a node takes the first of the list that its stack passes.  A test of the stack
 * (any, under, root, thread) is one bit a function, and a set of bits on every node for what is
 * above it: the parent's set and the bits of the parent's function.  Parents come before children
 * in the tree, so one forward pass does it, also for frames that are charged to their caller: the
 * parent's outcome is known.  What is known of a node is kept while a later node needs it, so that
 * long paths take no memory.
 *
 * Cost: patterns x functions matches, then nodes x (words of bits + length of the list). */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "layers/layers.h"
#include "layers/rules.h"

struct entry { /* of a function's list: a rule whose leaf tests it passes */
    uint16_t rule;
    bool is_transparent; /* an item of `transparent` */
    bool not_leaf;       /* the leaf part of its `not` holds: the stack decides */
    bool is_end;
};

struct stack_test { /* a test that has a bit */
    const struct fb_patterns *patterns;
    const struct fb_layer_rule *rule;
    enum fb_part part;
    uint32_t bit;
};

struct matcher {
    const struct fb_layers *layers;
    const struct fb_functions *fns;
    bool to_caller, fold_kernel;
    bool is_uncut; /* lists hold every rule, not only those up to the first that must decide */
    struct entry *lists; /* of all functions, one list after the other */
    size_t lists_count, lists_room;
    size_t *list_of_function; /* start in `lists` */
    struct stack_test *tests; /* of all rules */
    size_t tests_count;
    size_t words;            /* 64-bit words of bits on a node */
    uint64_t *function_bits; /* by function: which tests of the stack it passes */
    struct fb_buf scratch, thread;
    size_t given_up, long_names;
    char *warning; /* the first pattern that was given up */
};

/* The function that is being prepared, as patterns see it. */
struct subject {
    const struct fb_function *function;
    struct fb_name_view name, module, thread, thread_raw;
    bool is_thread;
};

/* ---- patterns ---- */

static void give_up(struct matcher *m, const struct fb_regex *regex, const char *text, size_t len,
                    const struct fb_layer_rule *rule)
{
    if (m->given_up++ > 0)
        return;
    m->warning = fb_format(
        "rule %zu of '%s': the pattern '%.200s' was given up after too many steps on the frame "
        "'%.*s%s' and counts as no match; can it be simplified?",
        rule->line, rule->file, fb_regex_pattern(regex), (int)(len > 100 ? 100 : len), text,
        len > 100 ? "..." : "");
}

static bool matches(struct matcher *m, const struct fb_patterns *patterns,
                    const struct fb_name_view *view, const struct fb_layer_rule *rule)
{
    for (size_t i = 0; i < patterns->count; i++) {
        const struct fb_pattern *p = &patterns->items[i];
        const struct fb_regex *regex = view->is_dotted && p->dotted ? p->dotted : p->plain;
        enum fb_regex_found found = fb_regex_find(regex, view->text, view->len);

        if (found == FB_REGEX_YES)
            return true;
        if (found == FB_REGEX_LIMIT)
            give_up(m, regex, view->text, view->len, rule);
    }
    return false;
}

static struct fb_name_view plain_view(const struct fb_string *s)
{
    return (struct fb_name_view){s->text, s->len > FB_LAYERS_NAME_MAX ? FB_LAYERS_NAME_MAX : s->len,
                                 false};
}

/* A thread's name without brackets and tid, canonical and as it was first met: a pattern may be
 * written for either ("worker-#", "worker-\d+"). */
static void subject_thread(struct matcher *m, struct subject *s, uint32_t id)
{
    const struct fb_string *raw = &m->fns->strings.items[s->function->raw];
    const char *tid = memmem(raw->text, raw->len, " tid=", 5);

    m->thread.len = 0;
    s->is_thread = fb_function_is_thread(m->fns, id, &m->thread);
    if (!s->is_thread)
        return;
    s->thread = (struct fb_name_view){m->thread.data ? m->thread.data : "", m->thread.len, false};
    s->thread_raw = plain_view(raw);
    if (raw->len > 2 && raw->text[0] == '[') {
        s->thread_raw.text++;
        s->thread_raw.len = (tid ? (size_t)(tid - raw->text) : raw->len - 1) - 1;
    }
}

static struct subject subject_of(struct matcher *m, uint32_t id)
{
    struct subject s = {.function = &m->fns->items[id]};
    const struct fb_string *name = &m->fns->strings.items[s.function->name];

    s.name = fb_name_view(name->text, name->len, &m->scratch);
    s.module = plain_view(&m->fns->strings.items[s.function->module]);
    m->long_names += name->len > FB_LAYERS_NAME_MAX;
    subject_thread(m, &s, id);
    return s;
}

/* ---- functions ---- */

static bool asks_stack(const struct fb_tests *tests)
{
    for (int part = 0; part < FB_PART_COUNT; part++)
        if (fb_part_is_of_stack((enum fb_part)part) && tests->on[part].count > 0)
            return true;
    return false;
}

static bool leaf_passes(struct matcher *m, const struct fb_tests *tests, const struct subject *s,
                        const struct fb_layer_rule *rule)
{
    if (tests->kinds && !(tests->kinds >> s->function->kind & 1))
        return false;
    if (tests->tiers && !(tests->tiers >> fb_function_tier(s->function) & 1))
        return false;
    if (tests->on[FB_PART_MODULE].count > 0 &&
        !matches(m, &tests->on[FB_PART_MODULE], &s->module, rule))
        return false;
    return tests->on[FB_PART_LEAF].count == 0 ||
           matches(m, &tests->on[FB_PART_LEAF], &s->name, rule);
}

/* Appends the rule to the function's list if its leaf passes.  True if nothing behind it can
 * decide. */
static bool list_rule(struct matcher *m, const struct fb_rule *rule, struct entry entry,
                      const struct subject *s, const struct fb_layer_rule *text)
{
    if (!leaf_passes(m, &rule->is, s, text))
        return false;
    if (rule->has_not)
        entry.not_leaf = leaf_passes(m, &rule->is_not, s, text);
    if (entry.not_leaf && !asks_stack(&rule->is_not))
        return false; /* the whole `not` holds */
    fb_vec_reserve(&m->lists, &m->lists_room, m->lists_count + 1, sizeof *m->lists);
    m->lists[m->lists_count++] = entry;
    return !m->is_uncut && !entry.is_transparent && !asks_stack(&rule->is) && !entry.not_leaf;
}

static void tests_collect(struct matcher *m, const struct fb_tests *tests,
                          const struct fb_layer_rule *rule)
{
    for (int part = 0; part < FB_PART_COUNT; part++)
        if (tests->on[part].count > 0 && fb_part_is_of_stack((enum fb_part)part))
            m->tests[m->tests_count++] =
                (struct stack_test){&tests->on[part], rule, (enum fb_part)part, tests->bit[part]};
}

static void bits_set(struct matcher *m, const struct subject *s, uint64_t *bits)
{
    for (size_t i = 0; i < m->tests_count; i++) {
        const struct stack_test *t = &m->tests[i];
        bool passes;

        if (t->part == FB_PART_THREAD)
            passes = s->is_thread && (matches(m, t->patterns, &s->thread, t->rule) ||
                                      matches(m, t->patterns, &s->thread_raw, t->rule));
        else
            passes = !s->is_thread && matches(m, t->patterns, &s->name, t->rule);
        if (passes)
            bits[t->bit / 64] |= UINT64_C(1) << t->bit % 64;
    }
}

static void function_prepare(struct matcher *m, uint32_t id)
{
    const struct fb_layers *l = m->layers;
    struct subject s = subject_of(m, id);
    uint64_t *bits = &m->function_bits[id * m->words];
    bool is_decided = false;

    m->list_of_function[id] = m->lists_count;
    for (size_t i = 0; m->to_caller && i < l->transparent_count; i++)
        (void)list_rule(m, &l->transparent[i],
                        (struct entry){.rule = (uint16_t)i, .is_transparent = true}, &s,
                        &l->transparent_rules[i]);
    for (size_t i = 0; i < l->rules_count && !is_decided; i++)
        is_decided =
            list_rule(m, &l->tests[i], (struct entry){.rule = (uint16_t)i}, &s, &l->rules[i]);
    fb_vec_reserve(&m->lists, &m->lists_room, m->lists_count + 1, sizeof *m->lists);
    m->lists[m->lists_count++] = (struct entry){.is_end = true};
    bits_set(m, &s, bits);
}

static enum fb_status matcher_init(struct matcher *m, const struct fb_layers *layers,
                                   const struct fb_functions *fns,
                                   const struct fb_layers_options *options, bool is_uncut,
                                   struct fb_err *err)
{
    enum fb_charge charge = options ? options->charge : FB_CHARGE_AS_FILE;

    memset(m, 0, sizeof *m);
    m->is_uncut = is_uncut;
    m->layers = layers;
    m->fns = fns;
    m->to_caller = charge == FB_CHARGE_AS_FILE ? layers->charge_caller : charge == FB_CHARGE_CALLER;
    m->fold_kernel = options && options->fold_kernel;
    m->words = (layers->bits + 63) / 64;
    m->tests = fb_alloc_array(layers->bits, sizeof *m->tests);
    for (size_t i = 0; i < layers->rules_count; i++) {
        tests_collect(m, &layers->tests[i].is, &layers->rules[i]);
        tests_collect(m, &layers->tests[i].is_not, &layers->rules[i]);
    }
    for (size_t i = 0; m->to_caller && i < layers->transparent_count; i++) {
        tests_collect(m, &layers->transparent[i].is, &layers->transparent_rules[i]);
        tests_collect(m, &layers->transparent[i].is_not, &layers->transparent_rules[i]);
    }
    m->list_of_function = fb_alloc_array(fns->count, sizeof *m->list_of_function);
    m->function_bits = fb_alloc_array(fns->count * m->words, sizeof *m->function_bits);
    fb_vec_reserve(&m->lists, &m->lists_room, 1, sizeof *m->lists);
    m->lists[m->lists_count++] = (struct entry){.is_end = true}; /* the root: nothing matches it */
    for (size_t id = 1; id < fns->count; id++) {
        function_prepare(m, (uint32_t)id);
        if (m->given_up > FB_LAYERS_GIVEN_UP_MAX)
            return fb_fail(err, FB_ELIMIT, "%s (%zu times; this is a fault of the rule)",
                           m->warning, m->given_up);
    }
    return FB_OK;
}

static void matcher_done(struct matcher *m)
{
    free(m->lists);
    free(m->tests);
    free(m->list_of_function);
    free(m->function_bits);
    free(m->warning);
    fb_buf_done(&m->scratch);
    fb_buf_done(&m->thread);
}

/* ---- nodes ---- */

enum {
    NODE_SETTLED = 1, /* decided by a frame that is not transparent: a child may be charged to it */
    NODE_USER = 2,    /* a user frame is here, or only kernel frames are between here and one */
};

/* What is known of the way to a node, kept for the node at hand (slot 0) and for those that more
 * than the next node hangs on (from slot 1 on, by id): most nodes hang on the one before them. */
struct path {
    uint64_t *above;         /* bits of the strict ancestors */
    uint32_t *root, *thread; /* functions: outermost frame that is no thread; the thread; 0 none */
    uint8_t *flags;
    uint16_t *rule; /* what was decided */
    uint32_t *decider;
    uint32_t *branches; /* nodes with a slot, by id */
    size_t branches_count, kept;
};

static bool has_bit(const uint64_t *bits, uint32_t bit)
{
    return bits[bit / 64] >> bit % 64 & 1;
}

static bool stack_passes(const struct matcher *m, const struct fb_tests *tests,
                         const struct path *path, uint32_t function)
{
    const uint64_t *above = path->above;
    const uint64_t *bits = m->function_bits;

    if (tests->on[FB_PART_ANY].count > 0 && !has_bit(above, tests->bit[FB_PART_ANY]) &&
        !has_bit(&bits[function * m->words], tests->bit[FB_PART_ANY]))
        return false;
    if (tests->on[FB_PART_UNDER].count > 0 && !has_bit(above, tests->bit[FB_PART_UNDER]))
        return false;
    if (tests->on[FB_PART_ROOT].count > 0 &&
        !has_bit(&bits[path->root[0] * m->words], tests->bit[FB_PART_ROOT]))
        return false;
    return tests->on[FB_PART_THREAD].count == 0 ||
           has_bit(&bits[path->thread[0] * m->words], tests->bit[FB_PART_THREAD]);
}

/* The first rule of the function's list that the stack passes, as if its leaf could not be charged
 * to a caller; *ret_transparent: it is to be. */
static uint16_t decide(const struct matcher *m, const struct path *path, uint32_t function,
                       bool *ret_transparent)
{
    const struct entry *e = &m->lists[m->list_of_function[function]];

    *ret_transparent = false;
    for (; !e->is_end; e++) {
        const struct fb_rule *rule =
            e->is_transparent ? &m->layers->transparent[e->rule] : &m->layers->tests[e->rule];

        if (!stack_passes(m, &rule->is, path, function) ||
            (e->not_leaf && stack_passes(m, &rule->is_not, path, function)))
            continue;
        *ret_transparent |= m->to_caller && rule->to_caller;
        if (!e->is_transparent)
            return e->rule;
    }
    return FB_NO_RULE;
}

static void slot_copy(const struct matcher *m, struct path *path, size_t to, size_t from)
{
    memcpy(&path->above[to * m->words], &path->above[from * m->words],
           m->words * sizeof *path->above);
    path->root[to] = path->root[from];
    path->thread[to] = path->thread[from];
    path->flags[to] = path->flags[from];
    path->rule[to] = path->rule[from];
    path->decider[to] = path->decider[from];
}

/* After a node: its slot, if it has one.  Nodes come by id, as the slots are. */
static void path_keep(const struct matcher *m, struct path *path, uint32_t node)
{
    if (path->kept < path->branches_count && path->branches[path->kept] == node)
        slot_copy(m, path, ++path->kept, 0);
}

static size_t slot_of(const struct path *path, uint32_t node)
{
    size_t low = 0, high = path->kept;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (path->branches[middle] > node)
            high = middle;
        else
            low = middle;
    }
    return low + 1;
}

/* Makes slot 0, the parent's until now, the node's. */
static void path_extend(const struct matcher *m, const struct fb_calltree *tree, struct path *path,
                        uint32_t node)
{
    uint32_t parent = tree->nodes[node].parent, function = tree->nodes[node].function;
    uint32_t parent_function = tree->nodes[parent].function;
    bool is_thread = parent == 0 && fb_function_is_thread(m->fns, function, NULL);

    if (parent + 1 != node)
        slot_copy(m, path, 0, slot_of(path, parent));
    for (size_t w = 0; w < m->words; w++)
        path->above[w] |= m->function_bits[parent_function * m->words + w];
    path->root[0] = is_thread ? 0 : path->root[0] ? path->root[0] : function;
    path->thread[0] = is_thread ? function : path->thread[0];
}

static void node_decide(const struct matcher *m, const struct fb_calltree *tree, struct path *path,
                        uint32_t node)
{
    uint32_t function = tree->nodes[node].function;
    enum fb_frame_kind kind = m->fns->items[function].kind;
    uint8_t above = path->flags[0];
    bool transparent = false, up;
    uint16_t rule;

    path->flags[0] = 0;
    if (kind == FB_FRAME_KERNEL)
        path->flags[0] = above & NODE_USER;
    else if (kind != FB_FRAME_MARK)
        path->flags[0] = NODE_USER;
    up = m->fold_kernel && kind == FB_FRAME_KERNEL && (above & NODE_USER);
    if (up) {
        path->flags[0] |= above & NODE_SETTLED;
        return; /* as its caller */
    }
    rule = decide(m, path, function, &transparent);
    up = transparent && (above & NODE_SETTLED);
    if (kind != FB_FRAME_MARK && (!transparent || up))
        path->flags[0] |= NODE_SETTLED;
    if (!up) {
        path->rule[0] = rule;
        path->decider[0] = node;
    }
}

static char *long_names_text(size_t count)
{
    return fb_format("%zu frame name%s longer than %d bytes: rules saw the beginning only", count,
                     count > 1 ? "s are" : " is", FB_LAYERS_NAME_MAX);
}

/* The nodes that have a child which does not follow them at once. */
static void branches_find(struct path *path, const struct fb_calltree *tree)
{
    uint64_t *is_branch = fb_alloc_array(tree->count / 64 + 1, sizeof *is_branch);
    size_t count = 0;

    is_branch[0] = 1;
    for (uint32_t node = 1; node < tree->count; node++) {
        uint32_t parent = tree->nodes[node].parent;

        if (parent + 1 != node)
            is_branch[parent / 64] |= UINT64_C(1) << parent % 64;
    }
    for (size_t i = 0; i <= tree->count / 64; i++)
        count += (size_t)__builtin_popcountll(is_branch[i]);
    path->branches = fb_alloc_array(count, sizeof *path->branches);
    for (size_t i = 0; i <= tree->count / 64; i++)
        for (uint64_t bits = is_branch[i]; bits != 0; bits &= bits - 1)
            path->branches[path->branches_count++] =
                (uint32_t)(i * 64 + (size_t)__builtin_ctzll(bits));
    free(is_branch);
}

/* At the root. */
static void path_init(struct path *path, const struct matcher *m, const struct fb_calltree *tree)
{
    size_t slots;

    *path = (struct path){0};
    branches_find(path, tree);
    slots = path->branches_count + 1;
    path->above = fb_alloc_array(slots * m->words, sizeof *path->above);
    path->root = fb_alloc_array(slots, sizeof *path->root);
    path->thread = fb_alloc_array(slots, sizeof *path->thread);
    path->flags = fb_alloc_array(slots, sizeof *path->flags);
    path->rule = fb_alloc_array(slots, sizeof *path->rule);
    path->decider = fb_alloc_array(slots, sizeof *path->decider);
    path->rule[0] = FB_NO_RULE;
    path_keep(m, path, 0);
}

static void path_done(struct path *path)
{
    free(path->above);
    free(path->root);
    free(path->thread);
    free(path->flags);
    free(path->rule);
    free(path->decider);
    free(path->branches);
}

static void nodes_decide(struct matcher *m, const struct fb_calltree *tree,
                         struct fb_layers_applied *out)
{
    struct path path;
    uint16_t other = (uint16_t)(m->layers->count - 1);

    path_init(&path, m, tree);
    out->layer[0] = other;
    if (out->rule)
        out->rule[0] = FB_NO_RULE;
    for (uint32_t node = 1; node < tree->count; node++) {
        path_extend(m, tree, &path, node);
        node_decide(m, tree, &path, node);
        path_keep(m, &path, node);
        out->layer[node] =
            path.rule[0] == FB_NO_RULE ? other : m->layers->rules[path.rule[0]].layer;
        if (out->rule) {
            out->rule[node] = path.rule[0];
            out->decider[node] = path.decider[0];
        }
    }
    path_done(&path);
}

enum fb_status fb_layers_apply(const struct fb_layers *layers, const struct fb_calltree *tree,
                               const struct fb_functions *fns,
                               const struct fb_layers_options *options,
                               struct fb_layers_applied *ret_applied, struct fb_err *err)
{
    struct matcher m;
    enum fb_status r = matcher_init(&m, layers, fns, options, false, err);

    if (r == FB_OK) {
        *ret_applied = (struct fb_layers_applied){0};
        ret_applied->layer = fb_alloc_array(tree->count, sizeof *ret_applied->layer);
        if (!options || !options->layers_only) {
            ret_applied->rule = fb_alloc_array(tree->count, sizeof *ret_applied->rule);
            ret_applied->decider = fb_alloc_array(tree->count, sizeof *ret_applied->decider);
        }
        nodes_decide(&m, tree, ret_applied);
        ret_applied->warning = m.warning;
        m.warning = NULL;
        if (!ret_applied->warning && m.long_names > 0)
            ret_applied->warning = long_names_text(m.long_names);
    }
    matcher_done(&m);
    return r;
}

void fb_layers_applied_done(struct fb_layers_applied *applied)
{
    free(applied->layer);
    free(applied->rule);
    free(applied->decider);
    free(applied->warning);
    memset(applied, 0, sizeof *applied);
}

/* ---- every rule that passes ---- */

static void passing_add(struct fb_layers_passing *out, size_t *room, uint16_t rule)
{
    fb_vec_reserve(&out->rules, room, out->rules_count + 1, sizeof *out->rules);
    out->rules[out->rules_count++] = rule;
}

static void node_passing(const struct matcher *m, const struct path *path, uint32_t function,
                         struct fb_layers_passing *out, size_t *room)
{
    const struct entry *e = &m->lists[m->list_of_function[function]];

    for (; !e->is_end; e++) {
        const struct fb_rule *rule = &m->layers->tests[e->rule];

        if (e->is_transparent || !stack_passes(m, &rule->is, path, function) ||
            (e->not_leaf && stack_passes(m, &rule->is_not, path, function)))
            continue;
        passing_add(out, room, e->rule);
    }
}

enum fb_status fb_layers_passing(const struct fb_layers *layers, const struct fb_calltree *tree,
                                 const struct fb_functions *fns,
                                 struct fb_layers_passing *ret_passing, struct fb_err *err)
{
    struct matcher m;
    struct path path;
    size_t room = 0;
    enum fb_status r = matcher_init(&m, layers, fns, NULL, true, err);

    if (r == FB_OK) {
        *ret_passing = (struct fb_layers_passing){
            .start = fb_alloc_array(tree->count + 1, sizeof *ret_passing->start)};
        path_init(&path, &m, tree);
        for (uint32_t node = 1; node < tree->count; node++) {
            ret_passing->start[node] = ret_passing->rules_count;
            path_extend(&m, tree, &path, node);
            path_keep(&m, &path, node);
            node_passing(&m, &path, tree->nodes[node].function, ret_passing, &room);
        }
        ret_passing->start[tree->count] = ret_passing->rules_count;
        path_done(&path);
        ret_passing->warning = m.warning;
        m.warning = NULL;
    }
    matcher_done(&m);
    return r;
}

void fb_layers_passing_done(struct fb_layers_passing *passing)
{
    free(passing->start);
    free(passing->rules);
    free(passing->warning);
    *passing = (struct fb_layers_passing){0};
}

uint16_t *fb_layers_assign(const struct fb_layers *layers, const struct fb_calltree *tree,
                           const struct fb_functions *fns)
{
    struct fb_layers_applied applied;
    uint16_t *layer;
    struct fb_err err;

    if (fb_layers_apply(layers, tree, fns, NULL, &applied, &err) != FB_OK) {
        layer = fb_alloc_array(tree->count, sizeof *layer); /* all of it is "other" */
        for (size_t i = 0; i < tree->count; i++)
            layer[i] = (uint16_t)(layers->count - 1);
        return layer;
    }
    layer = applied.layer;
    applied.layer = NULL;
    fb_layers_applied_done(&applied);
    return layer;
}

/* ---- boundaries ---- */

uint64_t *fb_layers_boundaries(const struct fb_layers *layers, const struct fb_calltree *tree,
                               const struct fb_functions *fns)
{
    uint64_t *of_function = fb_alloc_array(fns->count, sizeof *of_function);
    uint64_t *of_node = fb_alloc_array(tree->count, sizeof *of_node);
    struct matcher m = {.layers = layers, .fns = fns};
    static const struct fb_layer_rule nowhere = {.file = "boundaries"};

    for (size_t id = 1; id < fns->count && layers->boundaries_count > 0; id++) {
        struct subject s = subject_of(&m, (uint32_t)id);

        for (size_t b = 0; b < layers->boundaries_count; b++) {
            const struct fb_boundary_tests *t = &layers->boundary_tests[b];

            if ((t->kinds && !(t->kinds >> s.function->kind & 1)) ||
                (t->frames.count > 0 && !matches(&m, &t->frames, &s.name, &nowhere)) ||
                (t->module.count > 0 && !matches(&m, &t->module, &s.module, &nowhere)))
                continue;
            of_function[id] |= UINT64_C(1) << b;
        }
    }
    for (size_t node = 1; node < tree->count; node++)
        of_node[node] = of_node[tree->nodes[node].parent] | of_function[tree->nodes[node].function];
    free(of_function);
    matcher_done(&m);
    return of_node;
}

double *fb_layers_sum(const struct fb_layers *layers, const struct fb_calltree *tree,
                      const uint16_t *layer_of_node, const double *self)
{
    double *sum = fb_alloc_array(layers->count, sizeof *sum);

    for (size_t node = 0; node < tree->count; node++)
        sum[layer_of_node[node]] += self[node];
    return sum;
}
