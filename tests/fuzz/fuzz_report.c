/* Any bytes as a profile with times: the page of the report holds only elements of ours, no name
 * leaves its attribute or its text, all of it is UTF-8 that can be shown, and what is embedded is
 * JSON.
 *
 * A line is a sample: frames at ';', its first one the name of the thread, too; its length gives
 * the weight and the time to the next. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "render/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { LINES_MAX = 200 };

static fb_stack_id frame_put(struct fb_profile *p, fb_stack_id on, const uint8_t *name, size_t len)
{
    struct fb_frame f = {.kind = (enum fb_frame_kind)(len % FB_FRAME_KIND_COUNT)};

    f.name = fb_strings_put(&p->strings, (const char *)name, len);
    f.file = f.name;
    return fb_profile_stack_put(p, on, fb_profile_frame_put(p, &f));
}

static void line_put(struct fb_profile *p, const uint8_t *line, size_t len, int64_t time_ns)
{
    size_t from = 0;
    fb_stack_id at = FB_STACK_ROOT;
    uint32_t thread = 0;

    for (size_t i = 0; i <= len; i++) {
        if (i < len && line[i] != ';')
            continue;
        if (i > from)
            at = frame_put(p, at, line + from, i - from);
        if (from == 0)
            thread = fb_profile_thread_add(p, (uint32_t)len,
                                           fb_strings_put(&p->strings, (const char *)line, i));
        from = i + 1;
    }
    fb_profile_sample_add(p, time_ns, thread, at, len + 1);
}

static struct fb_profile *profile_make(const uint8_t *bytes, size_t n)
{
    struct fb_profile *p = fb_profile_new();
    int64_t time_ns = 1000000000;
    size_t from = 0, lines = 0;

    p->has_times = true;
    for (size_t i = 0; i <= n && lines < LINES_MAX; i++) {
        if (i < n && bytes[i] != '\n')
            continue;
        line_put(p, bytes + from, i - from, time_ns);
        time_ns += (int64_t)(i - from) * 10000000;
        from = i + 1;
        lines++;
    }
    fb_profile_span_update(p);
    return p;
}

/* ---- the page ---- */

static void text_check(const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t start = at;
        uint32_t code = fb_utf8_next(text, len, &at);

        if ((code < 0x20 && code != '\n') || code == 0x7f || (code >= 0x202a && code <= 0x202e) ||
            (code >= 0x2066 && code <= 0x2069) || (code == 0xfffd && at == start + 1))
            abort();
    }
}

/* Past the tag at *at; its name is ours, and its attributes end with it. */
static size_t tag_check(const char *page, size_t at)
{
    static const char *const ours[] = {
        "!doctype", "html",    "head",    "meta",    "title", "style", "body",    "main",
        "header",   "h1",      "h2",      "h3",      "p",     "b",     "section", "nav",
        "div",      "table",   "caption", "thead",   "tbody", "tr",    "th",      "td",
        "span",     "i",       "small",   "svg",     "rect",  "path",  "circle",  "img",
        "details",  "summary", "footer",  "noscript"};
    size_t name = at + 1 + (page[at + 1] == '/'), len = strcspn(page + name, " >\n");
    bool is_ours = false, in_quotes = false;

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        is_ours = is_ours || (strlen(ours[i]) == len && memcmp(ours[i], page + name, len) == 0);
    if (!is_ours)
        abort();
    for (at = name; in_quotes || page[at] != '>'; at++) {
        if (page[at] == '\0' || (!in_quotes && (page[at] == '<' || page[at] == '\'')))
            abort();
        in_quotes = in_quotes != (page[at] == '"');
    }
    return at + 1;
}

/* Up to the data: there every '<' begins an element. */
static void page_check(const char *page)
{
    const char *style = strstr(page, "<style>"), *after = style ? strstr(style, "</style>") : NULL;
    const char *data = strstr(page, "<script type=");
    size_t at = 0;

    if (!after || !data)
        abort();
    text_check(page, (size_t)(data - page));
    while (at < (size_t)(data - page)) {
        if (page + at == style + strlen("<style>"))
            at = (size_t)(after - page);
        at = page[at] == '<' ? tag_check(page, at) : at + 1;
    }
}

static unsigned digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;

    if (!at)
        abort();
    return (unsigned)(at - digits);
}

static void data_check(const char *page, const char *id)
{
    char *mark = fb_format("id=\"%s\">", id);
    const char *text = strstr(page, mark);
    struct fb_buf packed = {0}, plain = {0};
    struct fb_json_doc *doc;
    struct fb_err err;

    if (!text)
        abort();
    for (text += strlen(mark); *text != '<'; text += 4) {
        uint32_t v = digit_of(text[0]) << 18 | digit_of(text[1]) << 12;

        v |= text[2] == '=' ? 0 : digit_of(text[2]) << 6;
        v |= text[3] == '=' ? 0 : digit_of(text[3]);
        fb_buf_putc(&packed, (char)(v >> 16 & 0xff));
        if (text[2] != '=')
            fb_buf_putc(&packed, (char)(v >> 8 & 0xff));
        if (text[3] != '=')
            fb_buf_putc(&packed, (char)(v & 0xff));
    }
    if (fb_unpack(packed.data, packed.len, &plain, &err) != FB_OK ||
        fb_json_parse(plain.data, plain.len, FB_JSON_WHOLE, &doc, NULL, &err) != FB_OK)
        abort();
    fb_json_free(doc);
    fb_buf_done(&packed);
    fb_buf_done(&plain);
    free(mark);
}

static void draw(const struct fb_profile *p, struct fb_layers *layers, size_t n)
{
    struct fb_functions fns;
    struct fb_calltree tree;
    struct fb_report_arm arm = {.name = fb_profile_text(p, p->threads[1].name), .profile = p};
    struct fb_report_input in = {.arms = &arm,
                                 .arms_count = 1,
                                 .tree = &tree,
                                 .fns = &fns,
                                 .layers = layers,
                                 .unit = "samples",
                                 .version = "0",
                                 .nodes_max = n % 7 ? 0 : 10,
                                 .events_max = n % 5 ? 0 : 3};
    struct fb_buf out = {0};
    uint32_t *functions, *nodes;
    uint16_t *layer_of_node;
    double *self;

    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    functions = fb_functions_add(&fns, p, NULL);
    arm.node_of_stack = nodes = fb_calltree_add(&tree, p, functions);
    in.layer_of_node = layer_of_node = fb_layers_assign(layers, &tree, &fns);
    self = fb_calltree_self(&tree, p, nodes, INT64_MIN, INT64_MAX);
    in.tables = &(struct fb_report_table){
        FB_REPORT_FRAMES, SIZE_MAX, fb_render_top(&tree, &fns, self, NULL, NULL, 50, arm.name)};
    in.tables_count = 1;
    fb_render_report_html(&in, &out);
    page_check(out.data);
    data_check(out.data, "d-model");
    data_check(out.data, "d-json");
    fb_table_free(in.tables[0].table);
    fb_buf_done(&out);
    free(self);
    free(layer_of_node);
    free(nodes);
    free(functions);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct fb_layers *layers;
    struct fb_profile *p = profile_make(bytes, n);
    struct fb_err err;

    if (!layers && fb_layers_load("native", &layers, &err) != FB_OK)
        abort();
    draw(p, layers, n);
    fb_profile_free(p);
    return 0;
}
