/* Any bytes as a rules file; what is accepted is applied to a small tree in every way that rules
 * can be: charged to callers or not, kernel frames folded or not, all rules that pass, boundaries,
 * lint.
 *
 * The bytes may include presets; a path needs a file to be relative to, and these have none. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "layers/layers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const stacks[] = {
    "[worker-7 tid=12];main;libz.so!x;copy_[k]",
    "[C2 CompilerThre0];java/lang/Thread.run_[0];com/acme/Box.open_[j];a.B.c_[i];libc.so!memcpy",
    "a!main;libz.so!x;libz.so!x",
    "github.com/x/y.(*T).F",
    "kthread_[k]",
};

static void check(int holds)
{
    if (!holds)
        abort();
}

static void apply_all(const struct fb_layers *layers, const struct fb_calltree *tree,
                      const struct fb_functions *fns)
{
    double self[64] = {0};
    const double *selves[2] = {self, self};
    static const char *const arms[2] = {"a", "b"};

    for (size_t i = 0; i < tree->count && i < 64; i++)
        self[i] = (double)i;
    for (int i = 0; i < 4; i++) {
        struct fb_layers_options options = {.charge = i & 1 ? FB_CHARGE_CALLER : FB_CHARGE_SELF,
                                            .fold_kernel = i & 2};
        struct fb_layers_applied applied;
        struct fb_lint lint;
        struct fb_err err;

        if (fb_layers_apply(layers, tree, fns, &options, &applied, &err) != FB_OK)
            continue;
        for (size_t n = 0; n < tree->count; n++) {
            check(applied.layer[n] < fb_layers_count(layers));
            check(applied.rule[n] == FB_NO_RULE || applied.rule[n] < fb_layers_rules_count(layers));
        }
        if (fb_layers_lint(&(struct fb_lint_input){layers, tree, fns, &applied, selves, arms, 2},
                           &lint, &err) == FB_OK)
            fb_lint_done(&lint);
        fb_layers_applied_done(&applied);
    }
    free(fb_layers_boundaries(layers, tree, fns));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fb_layers *layers = NULL;
    struct fb_functions fns;
    struct fb_calltree tree;
    struct fb_err err;

    if (fb_layers_parse((const char *)data, size, "fuzz", &layers, &err) != FB_OK)
        return 0;
    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++)
        (void)fb_layers_stack_put(&tree, &fns, stacks[i], NULL);
    apply_all(layers, &tree, &fns);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    fb_layers_free(layers);
    return 0;
}
