/* The report as Markdown: sentences as HTML, which GitHub shows, tables as Markdown, pictures as
 * files beside it.  The step of the answer stands open, the others are folded. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/report/tree.h"
#include "render/report/verdict.h"

static void table_put(const struct fb_table *t, struct fb_buf *out)
{
    if (!t)
        return;
    fb_table_write_md(&t, 1, false, out);
    fb_buf_putc(out, '\n');
}

static void kind_put(const struct fb_report_input *in, enum fb_report_kind kind, size_t step,
                     struct fb_buf *out)
{
    table_put(fb_report_find(in, kind, step), out);
}

static void step_put(const struct fb_report_input *in, size_t step, struct fb_buf *out)
{
    static const enum fb_report_kind kinds[] = {
        FB_REPORT_LAYERS,  FB_REPORT_RUNS,       FB_REPORT_SUMS,
        FB_REPORT_METRICS, FB_REPORT_BOUNDARIES, FB_REPORT_MOVERS,
        FB_REPORT_RENAMES, FB_REPORT_FRAMES,     FB_REPORT_CALLERS};

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        kind_put(in, kinds[k], step, out);
}

static void folded_begin(const char *what, const char *name, struct fb_buf *out)
{
    fb_buf_printf(out, "<details><summary>%s", what);
    fb_html_text(out, name);
    fb_buf_puts(out, "</summary>\n\n");
}

static void steps_put(const struct fb_report_input *in, struct fb_buf *out)
{
    const struct fb_steps *steps = in->diff ? NULL : in->arms[0].steps;
    size_t count = in->diff ? in->diff->steps_count : steps ? steps->count : 0;
    size_t open = in->diff && count > 0 ? fb_report_headline(in) : SIZE_MAX;

    step_put(in, open, out);
    for (size_t i = 0; i < count; i++) {
        if (i == open || !fb_report_find(in, in->diff ? FB_REPORT_METRICS : FB_REPORT_LAYERS, i))
            continue;
        folded_begin("Step ", in->diff ? in->diff->steps[i].name : steps->items[i].name, out);
        step_put(in, i, out);
        fb_buf_puts(out, "</details>\n\n");
    }
}

static void pictures_put(const char *const pictures[FB_REPORT_SVG_COUNT], bool is_diff,
                         struct fb_buf *out)
{
    static const enum fb_report_svg order[] = {FB_REPORT_SVG_DIFF, FB_REPORT_SVG_CONTROL,
                                               FB_REPORT_SVG_VARIANT};
    static const char *const words[] = {
        [FB_REPORT_SVG_CONTROL] = "flamegraph of the control",
        [FB_REPORT_SVG_VARIANT] = "flamegraph of the variant",
        [FB_REPORT_SVG_DIFF] = "flamegraph of the difference",
    };

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (pictures[order[i]]) {
            fb_buf_puts(out, "<img alt=\"");
            fb_buf_puts(out, is_diff ? words[order[i]] : "flamegraph");
            fb_buf_puts(out, "\" src=\"");
            fb_html_text(out, pictures[order[i]]);
            fb_buf_puts(out, "\">\n\n");
        }
}

void fb_render_report_md(const struct fb_report_input *in,
                         const char *const pictures[FB_REPORT_SVG_COUNT], struct fb_buf *out)
{
    struct fb_buf title = {0};

    if (in->title)
        fb_buf_puts(&title, in->title);
    else
        fb_report_headline_put(in, &title);
    fb_buf_puts(out, "<h1>");
    fb_html_text_n(out, title.data, title.len);
    fb_buf_puts(out, "</h1>\n\n");
    fb_report_verdict_put(in, out);
    fb_buf_putc(out, '\n');
    kind_put(in, FB_REPORT_DIFFERS, SIZE_MAX, out);
    kind_put(in, FB_REPORT_PREDICTIONS, SIZE_MAX, out);
    kind_put(in, FB_REPORT_GATE, SIZE_MAX, out);
    kind_put(in, FB_REPORT_SUMMARY, SIZE_MAX, out);
    pictures_put(pictures, in->diff != NULL, out);
    steps_put(in, out);
    for (size_t i = 0; i < in->arms_count; i++) {
        folded_begin("Steps and CPU time of ", in->arms[i].name, out);
        kind_put(in, FB_REPORT_STEPS, i, out);
        kind_put(in, FB_REPORT_COVERAGE, i, out);
        fb_buf_puts(out, "</details>\n\n");
    }
    kind_put(in, FB_REPORT_NOTES, SIZE_MAX, out);
    kind_put(in, FB_REPORT_METHOD, SIZE_MAX, out);
    kind_put(in, FB_REPORT_INPUTS, SIZE_MAX, out);
    fb_buf_done(&title);
}

/* All healthy steps, or the only one. */
static bool picture_make(const struct fb_report_input *in, struct fb_report_picture **ret_all,
                         size_t *ret_count)
{
    *ret_all = fb_report_pictures_make(in, ret_count);
    return *ret_count > 0;
}

static void diff_put(const struct fb_report_input *in, struct fb_flame_input *flame, size_t step,
                     struct fb_buf *out)
{
    struct fb_diff_nodes nodes;

    fb_diff_nodes(in->diff, step, &nodes);
    fb_render_diff_svg(flame, &nodes, out);
    fb_diff_nodes_done(&nodes);
}

static struct fb_calltree_weight *weights_of(const struct fb_calltree *tree, const double *self,
                                             size_t *ret_count)
{
    struct fb_calltree_weight *out = fb_alloc_array(tree->count, sizeof *out);
    size_t n = 0;

    for (size_t i = 0; i < tree->count; i++)
        if (self[i] > 0)
            out[n++] = (struct fb_calltree_weight){(uint32_t)i, self[i]};
    *ret_count = n;
    return out;
}

bool fb_render_report_svg(const struct fb_report_input *in, enum fb_report_svg which,
                          struct fb_buf *out)
{
    struct fb_report_picture *all, *p;
    size_t count, weights_count, side = which == FB_REPORT_SVG_VARIANT ? 1 : 0;
    bool is_there =
        picture_make(in, &all, &count) && (in->diff != NULL || which == FB_REPORT_SVG_CONTROL);

    if (is_there) {
        p = &all[count - 1];
        struct fb_calltree_weight *weights = weights_of(in->tree, p->self[side], &weights_count);
        char *title = in->diff ? fb_format("%s against %s", in->arms[0].name,
                                           in->arms[in->arms_count - 1].name)
                               : fb_strdup(in->arms[0].name);
        char *subtitle = fb_format("%s%s%s",
                                   !in->diff || which == FB_REPORT_SVG_DIFF ? ""
                                   : side == 0                              ? "control, "
                                                                            : "variant, ",
                                   p->step == SIZE_MAX ? "" : "step ", p->name);
        struct fb_flame_input flame = {.tree = in->tree,
                                       .fns = in->fns,
                                       .layers = in->layers,
                                       .layer_of_node = in->layer_of_node,
                                       .weights = weights,
                                       .weights_count = weights_count,
                                       .title = title,
                                       .subtitle = subtitle,
                                       .unit = in->unit,
                                       .ms_per_request = p->ms[side],
                                       .cores = NAN,
                                       .is_icicle = true};

        if (which == FB_REPORT_SVG_DIFF)
            diff_put(in, &flame, p->step, out);
        else
            fb_render_flame_svg(&flame, out);
        free(weights);
        free(title);
        free(subtitle);
    }
    fb_report_pictures_free(all, count);
    return is_there;
}
