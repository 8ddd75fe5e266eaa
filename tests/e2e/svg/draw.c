/* draw DIR - pictures of made-up profiles for the tests of other programs' eyes: xmllint,
 * rsvg-convert, a browser.  Fixed seed: the same files every time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "render/render.h"

enum { HUGE_NAME = 100000 };

struct arms {
    struct fb_functions fns;
    struct fb_calltree tree;
    double *self[2];
    size_t room[2];
    uint64_t seed;
};

static uint64_t next(struct arms *a)
{
    a->seed = a->seed * 6364136223846793005u + 1442695040888963407u;
    return a->seed >> 33;
}

static uint32_t child(struct arms *a, uint32_t parent, const char *name, size_t len)
{
    uint32_t id = fb_functions_put(&a->fns, FB_FRAME_NATIVE, "server", name);

    /* The whole name, NUL included: a reader may have met one. */
    a->fns.items[id].name = fb_strings_put(&a->fns.strings, name, len);
    return fb_calltree_child(&a->tree, parent, id);
}

static void add(struct arms *a, uint32_t node, double control, double variant)
{
    double amounts[2] = {control, variant};

    for (int side = 0; side < 2; side++) {
        size_t before = a->room[side];

        fb_vec_reserve(&a->self[side], &a->room[side], a->tree.count, sizeof *a->self[side]);
        for (size_t i = before; i < a->room[side]; i++)
            a->self[side][i] = 0;
        a->self[side][node] += amounts[side];
    }
}

/* Every byte, and what has broken out of such files before. */
static void hostile(struct arms *a)
{
    static const char *const names[] = {"</title><script>window.broken=1</script>",
                                        "]]>",
                                        "\"onload=\"window.broken=1",
                                        "&lt;&#0;&bogus;",
                                        "<img src=x onerror=window.broken=1>",
                                        "\xe2\x80\xae"
                                        "txt.exe",
                                        "\xff\xfe\xc0\x80\xed\xa0\x80",
                                        "javascript:window.broken=1",
                                        "\xe2\x81\xa6isolated\xe2\x81\xa9",
                                        "{{7*7}}${window.broken=1}",
                                        "\t\r\n"};
    char *huge = fb_alloc(HUGE_NAME + 1);
    char byte[8] = "byte \0";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add(a, child(a, 0, names[i], strlen(names[i])), 40, 40);
    memset(huge, '<', HUGE_NAME);
    add(a, child(a, 0, huge, HUGE_NAME), 900, 900);
    free(huge);
    for (int i = 0; i < 256; i++) {
        byte[5] = (char)i;
        add(a, child(a, 0, byte, 6), 5, 5);
    }
}

static void server(struct arms *a)
{
    static const char *const calls[] = {"handle_request", "parse_headers", "run_phases",
                                        "send_response",  "copy_filter",   "write_filter"};
    static const char *const leaves[] = {"writev", "epoll_wait", "memcpy", "malloc", "crc32_z"};
    uint32_t loop = child(a, child(a, 0, "main", 4), "event_loop", 10), node;

    for (int i = 0; i < 600; i++) {
        const char *leaf = leaves[next(a) % 5];

        node = loop;
        for (uint64_t depth = next(a) % 9; depth > 0; depth--) {
            const char *name = calls[next(a) % 6];

            node = child(a, node, name, strlen(name));
        }
        add(a, child(a, node, leaf, strlen(leaf)), (double)(next(a) % 30), (double)(next(a) % 30));
    }
    node = child(a, child(a, loop, "gzip_filter", 11), "deflate", 7);
    add(a, node, 0, 3000);
    add(a, child(a, node, "deflate", 7), 0, 1000);
    add(a, child(a, loop, "plain_filter", 12), 1500, 0);
}

static void deep(struct arms *a)
{
    uint32_t node = 0;

    for (int i = 0; i < 10000; i++)
        node = child(a, node, i % 2 ? "ping" : "pong", 4);
    add(a, node, 7, 9);
}

static void empty(struct arms *a)
{
    add(a, child(a, 0, "main", 4), 0, 0);
}

static void save(const char *folder, const char *name, const char *kind, struct fb_buf *b)
{
    char *path = fb_format("%s/%s-%s.svg", folder, name, kind);
    struct fb_err err;

    if (fb_file_write(path, b->data, b->len, &err) != FB_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    free(path);
    b->len = 0;
}

static double *shares(const double *self, size_t count, double *ret_sum)
{
    double *share = fb_alloc_array(count, sizeof *share);

    *ret_sum = 0;
    for (size_t i = 0; i < count; i++)
        *ret_sum += self[i];
    for (size_t i = 0; i < count; i++)
        share[i] = *ret_sum > 0 ? self[i] / *ret_sum : 0;
    return share;
}

static void draw_diff(const struct fb_flame_input *in, const struct arms *a, struct fb_buf *b)
{
    struct fb_diff_nodes n = {
        .control_ms = 0.1691, .variant_ms = 0.1710, .on_ms = true, .is_judged = true};
    size_t count = a->tree.count;

    n.control_self = shares(a->self[0], count, &n.control_weight);
    n.variant_self = shares(a->self[1], count, &n.variant_weight);
    n.control_total = fb_calltree_total(&a->tree, n.control_self);
    n.variant_total = fb_calltree_total(&a->tree, n.variant_self);
    n.self_is_real = fb_alloc(count);
    n.total_is_real = fb_alloc(count);
    for (size_t i = 0; i < count; i++) {
        n.self_is_real[i] = fabs(n.variant_self[i] - n.control_self[i]) > 0.002;
        n.total_is_real[i] = fabs(n.variant_total[i] - n.control_total[i]) > 0.004;
    }
    fb_render_diff_svg(in, &n, b);
    fb_diff_nodes_done(&n);
}

static int draw(const char *folder, const char *name, void (*fill)(struct arms *), size_t boxes)
{
    struct arms a = {.seed = 20};
    struct fb_layers *layers;
    struct fb_buf b = {0};
    struct fb_err err;
    uint16_t *layer_of_node;
    struct fb_calltree_weight *weights;
    size_t count = 0;
    struct fb_flame_input in;

    fb_functions_init(&a.fns);
    fb_calltree_init(&a.tree);
    fill(&a);
    if (fb_layers_load("native", &layers, &err) != FB_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    layer_of_node = fb_layers_assign(layers, &a.tree, &a.fns);
    weights = fb_alloc_array(a.tree.count, sizeof *weights);
    for (uint32_t i = 0; i < a.tree.count; i++)
        if (a.self[1][i] > 0)
            weights[count++] = (struct fb_calltree_weight){i, a.self[1][i]};
    in = (struct fb_flame_input){.tree = &a.tree,
                                 .fns = &a.fns,
                                 .layers = layers,
                                 .layer_of_node = layer_of_node,
                                 .weights = weights,
                                 .weights_count = count,
                                 .title = "Variant, 3,000 requests per second",
                                 .subtitle = "made up · <b>not bold</b> & \"quoted\" ]]>",
                                 .unit = "samples",
                                 .ms_per_request = 0.171,
                                 .cores = 0.513,
                                 .nodes_max = boxes};
    fb_render_flame_svg(&in, &b);
    save(folder, name, "flame", &b);
    in.title = "Plain → gzip, 3,000 requests per second";
    in.is_icicle = true;
    draw_diff(&in, &a, &b);
    save(folder, name, "diff", &b);
    fb_buf_done(&b);
    free(layer_of_node);
    free(weights);
    fb_layers_free(layers);
    fb_calltree_done(&a.tree);
    fb_functions_done(&a.fns);
    free(a.self[0]);
    free(a.self[1]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: draw DIR\n");
        return 2;
    }
    return draw(argv[1], "server", server, 0) | draw(argv[1], "cut", server, 150) |
           draw(argv[1], "hostile", hostile, 0) | draw(argv[1], "deep", deep, 0) |
           draw(argv[1], "empty", empty, 0);
}
