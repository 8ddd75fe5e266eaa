/* The preset jvm on profiles of services that another profiler took: JDK 17 and 25, REST and gRPC.
 * Nothing of weight is unmatched, libjvm is in three rows, and the REST profile's rows are beside
 * the column that its users published (docs/presets.md).
 *
 * The profiles are kept outside the tree, where FB_SHARED says; without them the tests are skipped,
 * visibly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "layers/layers.h"
#include "symbolize/symbolize.h"

static const char *const profiles[] = {"rest17",
                                       "rest25",
                                       "grpc17-direct-unary",
                                       "grpc17-direct-stream",
                                       "grpc25-default-unary",
                                       "grpc25-vt-unary"};

enum { PROFILES = sizeof profiles / sizeof profiles[0] };

static char *profile_path(const char *name)
{
    const char *shared = getenv("FB_SHARED");

    return shared ? fb_format("%s/reference/profiles/%s.collapsed", shared, name)
                  : fb_format("%s/../../shared/reference/profiles/%s.collapsed", FB_FIXTURES, name);
}

static void skip_without_profiles(void)
{
    char *path = profile_path(profiles[0]);
    FILE *f = fopen(path, "r");

    free(path);
    if (f) {
        fclose(f);
        return;
    }
    print_message("SKIPPED: no reference profiles (set FB_SHARED)\n");
    skip();
}

static struct fb_layers *jvm(void)
{
    struct fb_layers *layers = NULL;
    struct fb_err err;

    if (fb_layers_load("jvm", &layers, &err) != FB_OK)
        fail_msg("%s", err.text);
    return layers;
}

static struct fb_profile *profile_read(const char *name)
{
    char *path = profile_path(name);
    struct fb_profile *p = NULL;
    struct fb_read_report report = {0};
    struct fb_buf text = {0};
    struct fb_err err;

    if (fb_file_read_unpacked(path, &text, &err) != FB_OK ||
        fb_profile_decode(text.data, text.len, name, "folded", &p, &report, &err) != FB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(report.skipped_lines, 0);
    fb_buf_done(&text);
    free(path);
    return p;
}

/* Samples by layer; free() it. */
static double *samples_by_layer(const struct fb_layers *layers, const char *name)
{
    struct fb_profile *p = profile_read(name);
    struct fb_functions fns;
    struct fb_calltree tree;
    uint32_t *function_of_frame, *node_of_stack;
    uint16_t *layer_of_node;
    double *self, *sum;

    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    function_of_frame = fb_functions_add(&fns, p, fb_name_canonical);
    node_of_stack = fb_calltree_add(&tree, p, function_of_frame);
    self = fb_calltree_self(&tree, p, node_of_stack, INT64_MIN, INT64_MAX);
    layer_of_node = fb_layers_assign(layers, &tree, &fns);
    sum = fb_layers_sum(layers, &tree, layer_of_node, self);
    free(function_of_frame);
    free(node_of_stack);
    free(layer_of_node);
    free(self);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    fb_profile_free(p);
    return sum;
}

static double total_of(const struct fb_layers *layers, const double *sum)
{
    double total = 0;

    for (size_t i = 0; i < fb_layers_count(layers); i++)
        total += sum[i];
    return total;
}

static int samples_of(const struct fb_layers *layers, const double *sum, const char *layer)
{
    for (size_t i = 0; i < fb_layers_count(layers); i++)
        if (strcmp(fb_layers_get(layers, i)->name, layer) == 0)
            return (int)lrint(sum[i]);
    fail_msg("no layer '%s'", layer);
    return 0;
}

static void at_most_one_percent_of_a_jvm_profile_is_unmatched(void **state)
{
    struct fb_layers *layers;

    (void)state;
    skip_without_profiles();
    layers = jvm();
    for (size_t i = 0; i < PROFILES; i++) {
        double *sum = samples_by_layer(layers, profiles[i]);
        double other = 100 * samples_of(layers, sum, "other") / total_of(layers, sum);

        if (other > 1)
            fail_msg("%s: %.1f %% unmatched", profiles[i], other);
        free(sum);
    }
    fb_layers_free(layers);
}

static void libjvm_is_compilers_collector_and_runtime(void **state)
{
    struct fb_layers *layers;
    double *sum;

    (void)state;
    skip_without_profiles();
    layers = jvm();
    sum = samples_by_layer(layers, "grpc17-direct-unary");
    assert_int_equal(samples_of(layers, sum, "jit"), 131);
    assert_int_equal(samples_of(layers, sum, "gc"), 8);
    assert_int_equal(samples_of(layers, sum, "vm runtime"), 7);
    assert_int_equal(samples_of(layers, sum, "dispatch stubs"), 6);
    assert_int_equal(samples_of(layers, sum, "copy stubs"), 5);
    free(sum);
    fb_layers_free(layers);
}

static void the_rest_profile_is_beside_the_published_column(void **state)
{
    static const struct {
        const char *layer;
        int samples;
        double published_percent, within_points;
    } rows[] = {
        {"syscalls", 303, 28, 1.5}, {"clojure", 271, 25, 1.5}, {"java std", 157, 15, 1.5},
        {"jetty", 98, 10, 1.5},     {"json", 80, 4, 4},        {"web framework", 20, 4, 2.5},
    };
    struct fb_layers *layers;
    double *sum, total;

    (void)state;
    skip_without_profiles();
    layers = jvm();
    sum = samples_by_layer(layers, "rest17");
    total = total_of(layers, sum);
    assert_int_equal(lrint(total), 1045);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int samples = samples_of(layers, sum, rows[i].layer);

        assert_int_equal(samples, rows[i].samples);
        assert_true(fabs(100 * samples / total - rows[i].published_percent) <
                    rows[i].within_points);
    }
    free(sum);
    fb_layers_free(layers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_most_one_percent_of_a_jvm_profile_is_unmatched),
        cmocka_unit_test(libjvm_is_compilers_collector_and_runtime),
        cmocka_unit_test(the_rest_profile_is_beside_the_published_column),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
