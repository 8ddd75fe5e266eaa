/* Any bytes as folded stacks: both pictures hold only what XML 1.0 allows, no name opens an element
 * or leaves its attribute, widths add up, and every table writer takes the names.
 *
 * A line is a stack of frames at ';'; its length gives the weights of both arms. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"
#include "render/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { STACKS_MAX = 200 };

struct profile {
    struct fb_functions fns;
    struct fb_calltree tree;
    uint32_t leaves[STACKS_MAX];
    double weights[STACKS_MAX];
    size_t count;
};

static uint32_t function_put(struct profile *p, const uint8_t *name, size_t len)
{
    char *text = fb_strndup((const char *)name, len);
    uint32_t id = fb_functions_put(&p->fns, FB_FRAME_NATIVE, len % 3 ? text : "", text);

    /* The table takes C strings; names in a profile may hold NUL, so put the whole back. */
    p->fns.items[id].name = fb_strings_put(&p->fns.strings, text, len);
    free(text);
    return id;
}

static void profile_make(struct profile *p, const uint8_t *bytes, size_t n)
{
    uint32_t node = 0;
    size_t from = 0;

    for (size_t i = 0; i <= n && p->count < STACKS_MAX; i++) {
        if (i < n && bytes[i] != ';' && bytes[i] != '\n')
            continue;
        if (i > from)
            node = fb_calltree_child(&p->tree, node, function_put(p, bytes + from, i - from));
        if (i == n || bytes[i] == '\n') {
            p->leaves[p->count] = node;
            p->weights[p->count++] = (double)(i - from);
            node = 0;
        }
        from = i + 1;
    }
}

/* Characters of XML 1.0, TAB only in the table of functions, and every '<' begins one of our own
 * elements. */
static void check(const struct fb_buf *svg)
{
    static const char *const ours[] = {"?xml",  "svg",    "/svg",     "title",    "/title", "desc",
                                       "/desc", "style",  "rect",     "text",     "/text",  "g",
                                       "/g",    "/style", "metadata", "/metadata"};
    const char *script = strstr(svg->data, "<script><![CDATA[");
    const char *table = strstr(svg->data, "<metadata class=\"functions\">");
    size_t end = script ? (size_t)(script - svg->data) : 0, at = 0;

    if (!script || strstr(script, "]]>") != strstr(script, "]]></script>\n</svg>\n"))
        abort();
    while (at < end) {
        size_t start = at;
        uint32_t code = fb_utf8_next(svg->data, end, &at);
        bool is_ours = code != '<', is_tab = table && code == '\t' && svg->data + start > table;

        if ((code < 0x20 && code != '\n' && !is_tab) || code == 0xfffe || code == 0xffff ||
            (code == 0xfffd && at == start + 1))
            abort();
        for (size_t i = 0; !is_ours && i < sizeof ours / sizeof *ours; i++) {
            size_t len = strlen(ours[i]);

            is_ours = strncmp(svg->data + at, ours[i], len) == 0 &&
                      strchr(" >/", svg->data[at + len]) != NULL;
        }
        if (!is_ours)
            abort();
    }
}

static size_t list(const double *self, size_t n, struct fb_calltree_weight *weights)
{
    size_t count = 0;

    for (uint32_t i = 0; i < n; i++)
        if (self[i] > 0)
            weights[count++] = (struct fb_calltree_weight){i, self[i]};
    return count;
}

/* Both pages: whatever the names are, the scripts are the two blocks of data and the page's own. */
static void draw_pages(const struct fb_flame_input *in, const struct fb_diff_nodes *nodes)
{
    for (int is_diff = 0; is_diff < 2; is_diff++) {
        struct fb_buf out = {0};
        size_t scripts = 0;

        fb_render_flame_html(in, is_diff ? nodes : NULL, "1", &out);
        for (const char *at = out.data; (at = strstr(at, "<script")); at++)
            scripts++;
        if (scripts != 3 || strlen(out.data) != out.len)
            abort();
        fb_buf_done(&out);
    }
}

static void draw(const struct profile *p, struct fb_layers *layers)
{
    size_t n = p->tree.count;
    uint16_t *layer_of_node = fb_layers_assign(layers, &p->tree, &p->fns);
    double *self = fb_alloc_array(n, sizeof *self), *half = fb_alloc_array(n, sizeof *half);
    double *total, *half_total;
    uint8_t *real = fb_alloc(n);
    struct fb_buf out = {0};
    struct fb_calltree_weight *weights = fb_alloc_array(n, sizeof *weights);
    struct fb_flame_input in = {.tree = &p->tree,
                                .fns = &p->fns,
                                .layers = layers,
                                .layer_of_node = layer_of_node,
                                .weights = weights,
                                .subtitle = "s",
                                .unit = "samples",
                                .ms_per_request = NAN,
                                .cores = NAN,
                                .color = (enum fb_flame_color)(p->count % FB_FLAME_COLOR_COUNT)};

    for (size_t i = 0; i < p->count; i++) {
        self[p->leaves[i]] += p->weights[i];
        half[p->leaves[i]] += i % 2 ? p->weights[i] / 1000 : 0;
        real[p->leaves[i]] = i % 3 == 0;
    }
    in.weights_count = list(self, n, weights);
    in.nodes_max = p->count % 5;
    in.title = n > 1 ? fb_function_name(&p->fns, p->tree.nodes[1].function) : "";
    fb_render_flame_svg(&in, &out);
    check(&out);
    out.len = 0;
    total = fb_calltree_total(&p->tree, self);
    half_total = fb_calltree_total(&p->tree, half);
    struct fb_diff_nodes nodes = {.control_self = self,
                                  .control_total = total,
                                  .variant_self = half,
                                  .variant_total = half_total,
                                  .self_is_real = real,
                                  .total_is_real = real,
                                  .control_ms = 0.1,
                                  .variant_ms = 0.2,
                                  .on_ms = true,
                                  .control_weight = 100,
                                  .variant_weight = 200};
    fb_render_diff_svg(&in, &nodes, &out);
    check(&out);
    draw_pages(&in, &nodes);
    for (const struct fb_table_writer *w = fb_table_writers; w->name; w++) {
        struct fb_table *t = fb_render_top(&p->tree, &p->fns, self, NULL, NULL, 50, in.title);

        out.len = 0;
        w->write((const struct fb_table *const[]){t}, 1, true, &out);
        fb_table_free(t);
    }
    fb_buf_done(&out);
    free(layer_of_node);
    free(weights);
    free(self);
    free(half);
    free(total);
    free(half_total);
    free(real);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct fb_layers *layers;
    struct profile p = {.count = 0};
    struct fb_err err;

    if (!layers && fb_layers_load("native", &layers, &err) != FB_OK)
        abort();
    fb_functions_init(&p.fns);
    fb_calltree_init(&p.tree);
    profile_make(&p, bytes, n);
    draw(&p, layers);
    fb_calltree_done(&p.tree);
    fb_functions_done(&p.fns);
    return 0;
}
