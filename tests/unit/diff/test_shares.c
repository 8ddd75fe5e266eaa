/* Intervals of the boxes of one profile: those of the same stacks taken as one row. */
#include "world.h"

static bool is_on(const struct fb_calltree *tree, uint32_t node, uint32_t ancestor)
{
    while (node > ancestor)
        node = tree->nodes[node].parent;
    return node == ancestor;
}

static void a_node_has_the_interval_of_all_stacks_on_it(void **state)
{
    struct world w;
    struct world_random random = {5};
    struct fb_diff *diff;
    uint32_t *nodes, *key;
    double *lo, *hi;
    size_t count;
    bool is_told_apart = false;

    (void)state;
    world_init(&w, WORLD_RULES);
    for (int arm = 0; arm < 2; arm++) {
        struct fb_profile *p = world_arm(&w, arm == 1, 110);

        p->first_ns = WORLD_START_NS;
        p->last_ns = p->first_ns + (int64_t)110 * WORLD_SECOND - 1;
        for (size_t s = 0; s < 110; s++) {
            world_samples(p, s, "main;a;b;c", world_poisson(&random, 20));
            world_samples(p, s, "main;a;b", world_poisson(&random, s % 20 < 3 ? 30 : 2));
            world_samples(p, s, "main;c;c", world_poisson(&random, 9));
        }
    }
    diff = world_diff(&w, NULL);
    count = w.tree.count;
    nodes = fb_alloc_array(count, sizeof *nodes);
    key = fb_alloc_array(count, sizeof *key);
    lo = fb_alloc_array(count, sizeof *lo);
    hi = fb_alloc_array(count, sizeof *hi);
    for (uint32_t i = 0; i < count; i++)
        nodes[i] = i;
    fb_diff_shares_of_nodes(&w.in, INT64_MIN, INT64_MAX, nodes, count, lo, hi);
    for (uint32_t i = 1; i < count; i++) {
        struct fb_diff_shares shares;

        for (uint32_t n = 0; n < count; n++)
            key[n] = is_on(&w.tree, n, i);
        fb_diff_shares_measure(&w.in, INT64_MIN, INT64_MAX, key, 2, &shares);
        assert_true(fabs(shares.lo[1] - lo[i]) < 1e-6 && fabs(shares.hi[1] - hi[i]) < 1e-6);
        assert_true(shares.share[1] > 0 && lo[i] <= shares.share[1] && shares.share[1] <= hi[i]);
        is_told_apart |= hi[i] - lo[i] > 0.01 && hi[i] < 0.9;
        fb_diff_shares_done(&shares);
    }
    assert_true(is_told_apart);
    free(nodes);
    free(key);
    free(lo);
    free(hi);
    world_done(&w, diff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_has_the_interval_of_all_stacks_on_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
