/* The page: what stands where.  Sections of a step are marked with its number, so that the script
 * can show one step at a time; without it they follow each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/report/shell.h"
#include "render/report/time.h"
#include "render/report/verdict.h"

struct page {
    const struct fb_report_input *in;
    struct fb_report_picture *pictures;
    size_t pictures_count;
    struct fb_report_tree tree;
    struct fb_buf *out;
};

/* ---- style ---- */

static struct fb_tint tint_of(const struct fb_layers *layers, size_t i)
{
    return fb_palette_fill(fb_layers_get(layers, i)->color);
}

static void style_make(const struct fb_report_input *in, struct fb_buf *out)
{
    size_t count = in->layers ? fb_layers_count(in->layers) : 0;
    struct fb_tint *tints = fb_alloc_array(count, sizeof *tints);

    for (size_t i = 0; i < count; i++)
        tints[i] = tint_of(in->layers, i);
    fb_shell_style(tints, count, out);
    free(tints);
}

/* The name of an arm in headings: of several runs the first, and how many more. */
static void arm_put(const struct fb_report_input *in, bool is_variant, struct fb_buf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < in->arms_count; i++) {
        if (in->arms[i].is_variant != is_variant)
            continue;
        if (count++ == 0)
            fb_html_text(out, in->arms[i].name);
    }
    if (count > 1)
        fb_buf_printf(out, " and %zu more", count - 1);
}

static char *title_of(const struct fb_report_input *in)
{
    struct fb_buf text = {0};

    if (in->title)
        return fb_strdup(in->title);
    fb_report_headline_put(in, &text);
    return fb_buf_take(&text);
}

/* ---- the parts ---- */

static void subtitle_put(struct page *page)
{
    const struct fb_report_input *in = page->in;
    struct fb_buf *out = page->out;

    fb_buf_puts(out, "<p class=\"sub\">");
    if (!in->diff) {
        fb_buf_puts(out, "<b>");
        arm_put(in, false, out);
        fb_buf_puts(out, "</b>");
    } else {
        fb_buf_puts(out, "control <b>");
        arm_put(in, false, out);
        fb_buf_puts(out, "</b> against variant <b>");
        arm_put(in, true, out);
        fb_buf_printf(out, "</b> · %zu step%s · %zu pair%s", in->diff->steps_count,
                      in->diff->steps_count == 1 ? "" : "s", in->diff->pairs,
                      in->diff->pairs == 1 ? "" : "s");
    }
    if (in->layers) {
        fb_buf_puts(out, " · layers by the rules “");
        fb_html_text(out, fb_layers_name(in->layers));
        fb_buf_puts(out, "”");
    }
    fb_buf_puts(out, "</p>\n");
}

static void table_put(struct page *page, const struct fb_table *t, const char *classes)
{
    fb_html_table(page->out, t, page->in->layers, classes);
}

/* What makes the answer doubtful: the finding, and the settings behind it. */
static void differs_put(struct page *page)
{
    const struct fb_table *t = fb_report_find(page->in, FB_REPORT_DIFFERS, SIZE_MAX);
    struct fb_buf *out = page->out;

    if (!t)
        return;
    fb_buf_puts(out, "<section class=\"warn\" aria-label=\"what differs between the arms\">");
    if (t->notes_count > 0) {
        struct fb_table finding = *t;

        finding.notes_count = 1;
        fb_html_notes(out, &finding);
    }
    if (t->rows_count > 0) {
        struct fb_table rows = *t;

        rows.notes_count = 0;
        fb_buf_puts(out, "<details><summary>What differs</summary>\n");
        table_put(page, &rows, "plain");
        fb_buf_puts(out, "</details>");
    }
    fb_buf_puts(out, "</section>\n");
    if (t->notes_count > 1) { /* of the whole diff, not of the arms */
        struct fb_table others = *t;

        others.notes++;
        others.notes_count--;
        fb_html_notes(out, &others);
    }
}

static void section_begin(struct page *page, const char *id, const char *heading)
{
    fb_buf_printf(page->out, "<section id=\"%s\"><h2>%s</h2>\n", id, heading);
}

static void section_end(struct page *page)
{
    fb_buf_puts(page->out, "</section>\n");
}

/* A table of its own section, where there is one. */
static void whole_put(struct page *page, enum fb_report_kind kind, const char *id,
                      const char *heading)
{
    const struct fb_table *t = fb_report_find(page->in, kind, SIZE_MAX);

    if (!t || (t->rows_count == 0 && t->notes_count == 0))
        return;
    section_begin(page, id, heading);
    table_put(page, t, "plain");
    section_end(page);
}

static const char *step_heading(enum fb_report_kind kind, const struct fb_table *t)
{
    switch (kind) {
    case FB_REPORT_METRICS:
        return "Metrics";
    case FB_REPORT_LAYERS:
        return "Layers by self time";
    case FB_REPORT_BOUNDARIES:
        return "Boundaries, inclusive";
    case FB_REPORT_SUMS:
        return "Sums";
    case FB_REPORT_RUNS:
        return "Layers of each run";
    case FB_REPORT_MOVERS:
        return "What moved most";
    case FB_REPORT_RENAMES:
        return "Perhaps renamed";
    case FB_REPORT_CALLERS:
        return "Frames under their callers";
    default:
        return strncmp(t->title, "Packages", 8) == 0  ? "Packages by self time"
               : strncmp(t->title, "Threads", 7) == 0 ? "Threads"
               : strncmp(t->title, "Modules", 7) == 0 ? "Modules by self time"
                                                      : "Frames by self time";
    }
}

/* Layers stand first: they are the answer's table. */
static const enum fb_report_kind step_kinds[] = {
    FB_REPORT_LAYERS, FB_REPORT_RUNS,    FB_REPORT_SUMS,   FB_REPORT_METRICS, FB_REPORT_BOUNDARIES,
    FB_REPORT_MOVERS, FB_REPORT_RENAMES, FB_REPORT_FRAMES, FB_REPORT_CALLERS};

static void step_put(struct page *page, size_t step, const char *name, const char *health)
{
    struct fb_buf *out = page->out;

    fb_buf_printf(out, "<section class=\"step\" data-step=\"%zu\"><h2>Step ", step);
    fb_html_text(out, name);
    fb_buf_puts(out, " <span class=\"health\">");
    fb_html_text(out, health);
    fb_buf_puts(out, "</span></h2>\n");
    for (size_t k = 0; k < sizeof step_kinds / sizeof *step_kinds; k++) {
        const struct fb_table *t = fb_report_find(page->in, step_kinds[k], step);

        if (!t)
            continue;
        fb_buf_printf(out, "<h3>%s</h3>\n", step_heading(step_kinds[k], t));
        table_put(page, t, step_kinds[k] == FB_REPORT_FRAMES ? "frames" : "");
    }
    section_end(page);
}

static bool has_tables(const struct page *page, size_t step)
{
    for (size_t k = 0; k < sizeof step_kinds / sizeof *step_kinds; k++)
        if (fb_report_find(page->in, step_kinds[k], step))
            return true;
    return false;
}

static void steps_put(struct page *page)
{
    const struct fb_report_input *in = page->in;
    const struct fb_steps *steps = in->diff ? NULL : in->arms[0].steps;
    size_t count = in->diff ? in->diff->steps_count : steps ? steps->count : 0;

    for (size_t i = 0; i < count; i++) {
        struct fb_buf health = {0};

        if (!has_tables(page, i))
            continue;
        fb_step_health_text(in->diff ? in->diff->steps[i].health : steps->items[i].health, &health);
        step_put(page, i, in->diff ? in->diff->steps[i].name : steps->items[i].name, health.data);
        fb_buf_done(&health);
    }
    if (!in->diff && has_tables(page, SIZE_MAX)) {
        fb_buf_puts(page->out,
                    "<section class=\"step\" data-step=\"all\"><h2>The whole run</h2>\n");
        for (size_t k = 0; k < sizeof step_kinds / sizeof *step_kinds; k++) {
            const struct fb_table *t = fb_report_find(in, step_kinds[k], SIZE_MAX);

            if (!t)
                continue;
            fb_buf_printf(page->out, "<h3>%s</h3>\n", step_heading(step_kinds[k], t));
            table_put(page, t, step_kinds[k] == FB_REPORT_FRAMES ? "frames" : "");
        }
        section_end(page);
    }
}

/* Where the script draws. */
static void pictures_put(struct page *page)
{
    if (page->pictures_count == 0)
        return;
    fb_buf_puts(page->out,
                "<section id=\"flame\"><h2>Flamegraph</h2><noscript><p class=\"note\">The "
                "flamegraphs and the run over time are drawn by this page's own script, from the "
                "data at its end; everything else can be read without it.</p></noscript>"
                "</section>\n<section id=\"time\"><h2>Over time</h2></section>\n");
}

static void plot_put(struct page *page)
{
    if (!page->in->plot)
        return;
    section_begin(page, "ramp", "The ramp");
    fb_buf_puts(page->out, "<img class=\"ramp\" alt=\"delivered, p99, CPU per request and cores "
                           "over the offered rate; the same figures as in the tables of steps\" "
                           "src=\"data:image/svg+xml;base64,");
    fb_html_base64(page->out, page->in->plot, strlen(page->in->plot));
    fb_buf_puts(page->out, "\">\n");
    section_end(page);
}

/* The full table of steps of each arm, and where its CPU time went. */
static void arms_put(struct page *page)
{
    const struct fb_report_input *in = page->in;

    section_begin(page, "arms", in->diff ? "Steps of each arm" : "Steps");
    for (size_t i = 0; i < in->arms_count; i++) {
        const struct fb_table *steps = fb_report_find(in, FB_REPORT_STEPS, i);
        const struct fb_table *coverage = fb_report_find(in, FB_REPORT_COVERAGE, i);

        if (in->diff && (steps || coverage)) {
            fb_buf_printf(page->out, "<h3>%s: ", in->arms[i].is_variant ? "variant" : "control");
            fb_html_text(page->out, in->arms[i].name);
            fb_buf_puts(page->out, "</h3>\n");
        }
        if (steps)
            table_put(page, steps, "plain");
        if (coverage) {
            fb_buf_puts(page->out, "<h3>Where the CPU time went</h3>\n");
            table_put(page, coverage, "plain");
        }
    }
    section_end(page);
}

/* ---- the data ---- */

static void layers_json(const struct fb_report_input *in, struct fb_buf *out)
{
    fb_buf_puts(out, "\"layers\":[");
    for (size_t i = 0; in->layers && i < fb_layers_count(in->layers); i++) {
        fb_buf_puts(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        fb_report_string(out, fb_layers_get(in->layers, i)->name);
        fb_buf_printf(out, ",\"color\":\"%s\"}", tint_of(in->layers, i).fill);
    }
    fb_buf_puts(out, "],");
}

static void steps_json(const struct page *page, struct fb_buf *out)
{
    const struct fb_report_input *in = page->in;
    const struct fb_steps *steps = in->diff ? NULL : in->arms[0].steps;
    size_t count = in->diff ? in->diff->steps_count : steps ? steps->count : 0;

    fb_buf_printf(out, "\"headline\":%zu,\"steps\":[",
                  in->diff && count > 0 ? fb_report_headline(in) : 0);
    for (size_t i = 0; i < count; i++) {
        struct fb_buf health = {0};

        fb_step_health_text(in->diff ? in->diff->steps[i].health : steps->items[i].health, &health);
        fb_buf_puts(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        fb_report_string(out, in->diff ? in->diff->steps[i].name : steps->items[i].name);
        fb_buf_puts(out, ",\"health\":");
        fb_report_string(out, health.data);
        fb_buf_printf(out, ",\"judged\":%s}",
                      in->diff && in->diff->steps[i].denial[0] == '\0' ? "true" : "false");
        fb_buf_done(&health);
    }
    fb_buf_puts(out, "],");
}

/* Everything that the script draws from: one JSON, one run of numbers. */
static void model_put(struct page *page)
{
    const struct fb_report_input *in = page->in;
    struct fb_buf json = {0}, binary = {0};

    fb_buf_printf(&json, "{\"format\":1,\"diff\":%s,\"unit\":", in->diff ? "true" : "false");
    fb_report_string(&json, in->unit ? in->unit : "samples");
    fb_buf_putc(&json, ',');
    layers_json(in, &json);
    steps_json(page, &json);
    fb_report_tree_put(&page->tree, &binary);
    if (page->pictures_count > 0) {
        fb_report_tree_json(&page->tree, &json);
        fb_buf_putc(&json, ',');
    }
    fb_buf_puts(&json, "\"arms\":[");
    for (size_t i = 0; i < in->arms_count; i++) {
        fb_buf_puts(&json, i > 0 ? ",{\"name\":" : "{\"name\":");
        fb_report_string(&json, in->arms[i].name);
        fb_buf_printf(&json,
                      ",\"variant\":%s,\"time\":", in->arms[i].is_variant ? "true" : "false");
        fb_report_time_put(&page->tree, &in->arms[i], &json, &binary);
        fb_buf_putc(&json, '}');
    }
    fb_buf_puts(&json, "]}");
    fb_html_data(page->out, "d-model", json.data, json.len);
    fb_html_data(page->out, "d-numbers", binary.data ? binary.data : "", binary.len);
    fb_buf_done(&json);
    fb_buf_done(&binary);
}

/* The tables as `diff --format json` and `csv` have them, for who wants to compute with them. */
static void tables_put(struct page *page)
{
    const struct fb_report_input *in = page->in;
    const struct fb_table **tables = fb_alloc_array(in->tables_count, sizeof *tables);
    struct fb_buf text = {0};
    size_t n = 0;

    for (size_t i = 0; i < in->tables_count; i++)
        if (in->tables[i].kind < FB_REPORT_RUNS || !in->diff)
            tables[n++] = in->tables[i].table;
    fb_table_write_json(tables, n, false, &text);
    fb_html_data(page->out, "d-json", text.data ? text.data : "", text.len);
    text.len = 0;
    fb_table_write_csv(tables, n, false, &text);
    fb_html_data(page->out, "d-csv", text.data ? text.data : "", text.len);
    fb_buf_done(&text);
    free(tables);
}

static void body_put(struct page *page, const char *title)
{
    struct fb_buf *out = page->out;

    fb_buf_puts(out, "<header><h1>");
    fb_html_text(out, title);
    fb_buf_puts(out, "</h1>\n");
    subtitle_put(page);
    fb_buf_puts(out, "</header>\n<section class=\"verdict\" aria-label=\"verdict\">\n");
    fb_report_verdict_put(page->in, out);
    fb_buf_puts(out, "</section>\n");
    differs_put(page);
    whole_put(page, FB_REPORT_PREDICTIONS, "predictions", "Predictions");
    whole_put(page, FB_REPORT_GATE, "gate", "Gate");
    whole_put(page, FB_REPORT_SUMMARY, "summary", "Every step");
    fb_buf_puts(out, "<nav id=\"switch\" aria-label=\"step\"></nav>\n");
    steps_put(page);
    pictures_put(page);
    plot_put(page);
    arms_put(page);
    whole_put(page, FB_REPORT_NOTES, "notes", "What the numbers mean, and what they leave out");
    whole_put(page, FB_REPORT_METHOD, "method", "Method");
    whole_put(page, FB_REPORT_INPUTS, "inputs", "Provenance");
    whole_put(page, FB_REPORT_NAMES, "names", "Names that were merged");
    fb_buf_puts(out, "<section id=\"data\"><h2>Data</h2><p class=\"note\">All of it is in this "
                     "file.</p></section>\n");
    if (page->in->version) {
        fb_buf_puts(out, "<footer><p class=\"note\">flamebank ");
        fb_html_text(out, page->in->version);
        fb_buf_puts(out, "</p></footer>\n");
    }
    fb_buf_puts(out, "</main>\n");
}

void fb_render_report_html(const struct fb_report_input *in, struct fb_buf *out)
{
    struct page page = {.in = in, .out = out};
    struct fb_buf style = {0}, script = {0};
    char *title = title_of(in);

    style_make(in, &style);
    fb_shell_script(&script);
    page.pictures = fb_report_pictures_make(in, &page.pictures_count);
    fb_report_tree_init(&page.tree, in, page.pictures, page.pictures_count);
    fb_shell_begin(out, title, &style, &script);
    body_put(&page, title);
    model_put(&page);
    tables_put(&page);
    fb_shell_end(out, &script);
    fb_report_tree_done(&page.tree);
    fb_report_pictures_free(page.pictures, page.pictures_count);
    fb_buf_done(&style);
    fb_buf_done(&script);
    free(title);
}
