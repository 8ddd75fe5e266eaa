/* Which rule decides a stack: patterns run once per function, nodes only combine the answers.
 *
 * The tests of a rule but `under` depend on the leaf function alone.  So each function gets a list
 * of the rules that it passes, in order, cut after the first without an `under`; a node takes the
 * first of the list whose ancestor is there.  Whether an ancestor matches is one bit a rule on
 * every node: the parent's bits and the bits of the parent's function (an ancestor is strictly
 * above).  Parents come before children in the tree, so one forward pass does it.
 *
 * Cost: patterns x functions matches, then nodes x (words of bits + length of the list). */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "layers/layers.h"
#include "layers/rules.h"

enum { NO_RULE = UINT16_MAX };

struct matcher {
    const struct fb_layers *layers;
    const struct fb_functions *fns;
    uint16_t *lists; /* rules of all functions, one list after the other, each ends with NO_RULE */
    size_t lists_count, lists_room;
    size_t *list_of_function; /* start in `lists` */
    size_t words;             /* 64-bit words of `under` bits on a node */
    uint64_t *function_bits;  /* by function: which `under` tests it passes */
};

static bool any_matches(const struct fb_patterns *patterns, const struct fb_string *text)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (fb_regex_match(patterns->items[i], text->text, text->len))
            return true;
    return false;
}

static bool leaf_passes(const struct matcher *m, const struct fb_rule_tests *tests,
                        const struct fb_function *function)
{
    if (tests->kinds && !(tests->kinds >> function->kind & 1))
        return false;
    if (tests->module.count > 0 &&
        !any_matches(&tests->module, &m->fns->strings.items[function->module]))
        return false;
    return tests->leaf.count == 0 ||
           any_matches(&tests->leaf, &m->fns->strings.items[function->name]);
}

static void list_add(struct matcher *m, uint16_t rule)
{
    fb_vec_reserve(&m->lists, &m->lists_room, m->lists_count + 1, sizeof *m->lists);
    m->lists[m->lists_count++] = rule;
}

static void function_prepare(struct matcher *m, size_t id)
{
    const struct fb_function *function = &m->fns->items[id];

    m->list_of_function[id] = m->lists_count;
    for (size_t r = 0; r < m->layers->rules_count; r++) {
        if (!leaf_passes(m, &m->layers->tests[r], function))
            continue;
        list_add(m, (uint16_t)r);
        if (m->layers->tests[r].under.count == 0)
            break;
    }
    list_add(m, NO_RULE);
    for (size_t r = 0; r < m->layers->rules_count; r++) {
        const struct fb_rule_tests *tests = &m->layers->tests[r];

        if (tests->under.count > 0 &&
            any_matches(&tests->under, &m->fns->strings.items[function->name]))
            m->function_bits[id * m->words + tests->under_index / 64] |= UINT64_C(1)
                                                                         << tests->under_index % 64;
    }
}

static void matcher_init(struct matcher *m, const struct fb_layers *layers,
                         const struct fb_functions *fns)
{
    memset(m, 0, sizeof *m);
    m->layers = layers;
    m->fns = fns;
    m->words = (layers->under_count + 63) / 64;
    m->list_of_function = fb_alloc_array(fns->count, sizeof *m->list_of_function);
    m->function_bits = fb_alloc_array(fns->count * m->words, sizeof *m->function_bits);
    list_add(m, NO_RULE); /* function 0, the root: nothing matches it */
    for (size_t id = 1; id < fns->count; id++)
        function_prepare(m, id);
}

static void matcher_done(struct matcher *m)
{
    free(m->lists);
    free(m->list_of_function);
    free(m->function_bits);
}

/* The first rule of the function's list whose ancestor (if it asks for one) is among `above`. */
static uint16_t decide(const struct matcher *m, uint32_t function, const uint64_t *above)
{
    const uint16_t *rule = &m->lists[m->list_of_function[function]];

    for (; *rule != NO_RULE; rule++) {
        const struct fb_rule_tests *tests = &m->layers->tests[*rule];

        if (tests->under.count == 0 ||
            (above[tests->under_index / 64] >> tests->under_index % 64 & 1))
            break;
    }
    return *rule;
}

uint16_t *fb_layers_assign_rules(const struct fb_layers *layers, const struct fb_calltree *tree,
                                 const struct fb_functions *fns)
{
    uint16_t *rule_of_node = fb_alloc_array(tree->count, sizeof *rule_of_node);
    uint64_t *above;
    struct matcher m;

    matcher_init(&m, layers, fns);
    above = fb_alloc_array(tree->count * m.words, sizeof *above);
    if (tree->count > 0)
        rule_of_node[0] = NO_RULE;
    for (size_t node = 1; node < tree->count; node++) {
        uint32_t parent = tree->nodes[node].parent;
        uint32_t parent_function = tree->nodes[parent].function;

        for (size_t w = 0; w < m.words; w++)
            above[node * m.words + w] =
                above[parent * m.words + w] | m.function_bits[parent_function * m.words + w];
        rule_of_node[node] = decide(&m, tree->nodes[node].function, &above[node * m.words]);
    }
    free(above);
    matcher_done(&m);
    return rule_of_node;
}

uint16_t *fb_layers_assign(const struct fb_layers *layers, const struct fb_calltree *tree,
                           const struct fb_functions *fns)
{
    uint16_t *of_node = fb_layers_assign_rules(layers, tree, fns);

    for (size_t node = 0; node < tree->count; node++)
        of_node[node] = of_node[node] == NO_RULE ? (uint16_t)(layers->count - 1)
                                                 : layers->rules[of_node[node]].layer;
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
