#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile.h"

static struct fb_profile *read_text(const char *text)
{
    struct fb_read_report report;
    struct fb_profile *p = NULL;
    struct fb_err err;

    if (fb_profile_decode(text, strlen(text), "t", "folded", &p, &report, &err) != FB_OK)
        fail_msg("%s", err.text);
    return p;
}

static const char first[] = "a;b;c 1\na;b;d 2\na;e;c 3\nf 4\nf;b;c 5\na 6\n";
static const char second[] = "a;b;d;g 10\na;e 20\nf;h 30\nz 40\n";

/* Both profiles in one tree, and what either has in it, folded.  at_once: the first one finds the
 * tree empty, else it does not. */
static char *fold_both(bool at_once)
{
    struct fb_profile *p = read_text(first), *q = read_text(second);
    struct fb_functions fns;
    struct fb_calltree tree;
    struct fb_calltree_weight *w;
    struct fb_buf out = {0};
    uint32_t *f, *g, *nodes, *more;
    size_t n;

    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    f = fb_functions_add(&fns, p, NULL);
    g = fb_functions_add(&fns, q, NULL);
    if (!at_once)
        (void)fb_calltree_child(&tree, 0, g[1]);
    nodes = fb_calltree_add(&tree, p, f);
    w = fb_calltree_weights(&tree, p, nodes, INT64_MIN, INT64_MAX, &n);
    fb_folded_write(&tree, &fns, w, n, &out);
    free(w);
    more = fb_calltree_add(&tree, q, g);
    w = fb_calltree_weights(&tree, q, more, INT64_MIN, INT64_MAX, &n);
    fb_folded_write(&tree, &fns, w, n, &out);
    free(w);
    w = fb_calltree_weights(&tree, p, nodes, INT64_MIN, INT64_MAX, &n);
    fb_folded_write(&tree, &fns, w, n, &out);
    free(w);
    for (uint32_t i = 1; i < tree.count; i++)
        assert_int_equal(fb_calltree_child(&tree, tree.nodes[i].parent, tree.nodes[i].function), i);
    free(nodes);
    free(more);
    free(f);
    free(g);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    fb_profile_free(p);
    fb_profile_free(q);
    return fb_buf_take(&out);
}

static void a_tree_that_takes_stacks_is_the_one_that_is_built(void **state)
{
    char *taken = fold_both(true), *built = fold_both(false);

    (void)state;
    assert_string_equal(taken, built);
    assert_string_equal(taken, "a 6\na;b;c 1\na;b;d 2\na;e;c 3\nf 4\nf;b;c 5\n"
                               "a;b;d;g 10\na;e 20\nf;h 30\nz 40\n"
                               "a 6\na;b;c 1\na;b;d 2\na;e;c 3\nf 4\nf;b;c 5\n");
    free(taken);
    free(built);
}

/* The list of a few samples and that of many are made in two ways. */
static void a_list_of_weights_is_what_the_nodes_have(void **state)
{
    struct fb_profile *p = read_text(first);
    struct fb_functions fns;
    struct fb_calltree tree;
    uint32_t *f, *nodes;

    (void)state;
    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    f = fb_functions_add(&fns, p, NULL);
    nodes = fb_calltree_add(&tree, p, f);
    for (unsigned rounds = 0; rounds < 12; rounds++) {
        struct fb_calltree_weight *w;
        double *self = fb_calltree_self(&tree, p, nodes, INT64_MIN, INT64_MAX);
        size_t n, at = 0;

        w = fb_calltree_weights(&tree, p, nodes, INT64_MIN, INT64_MAX, &n);
        for (uint32_t i = 0; i < tree.count; i++) {
            if (self[i] > 0) {
                assert_true(at < n);
                assert_int_equal(w[at].node, i);
                assert_true(w[at++].weight == self[i]);
            }
        }
        assert_int_equal(at, n);
        free(w);
        free(self);
        if (rounds == 0)
            p->samples.count = 3; /* fewer than half of the nodes */
        fb_profile_sample_add(p, 0, 0, (fb_stack_id){1 + rounds % 3}, 1);
    }
    free(nodes);
    free(f);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    fb_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_that_takes_stacks_is_the_one_that_is_built),
        cmocka_unit_test(a_list_of_weights_is_what_the_nodes_have),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
