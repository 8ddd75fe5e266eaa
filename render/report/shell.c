#include "render/report/shell.h"

extern const unsigned char fb_report_css[], fb_report_js_data[], fb_report_js_tables[],
    fb_report_js_flame[], fb_report_js_graph[], fb_report_js_time[], fb_report_js_main[];
extern const unsigned long fb_report_css_size, fb_report_js_data_size, fb_report_js_tables_size,
    fb_report_js_flame_size, fb_report_js_graph_size, fb_report_js_time_size,
    fb_report_js_main_size;

static void tints_put(const struct fb_tint *tints, size_t count, char letter, bool is_dark,
                      struct fb_buf *out)
{
    for (size_t i = 0; i < count; i++)
        fb_buf_printf(out, ".%c%zu{--f:%s;--t:%s}\n", letter, i,
                      is_dark ? tints[i].dark_fill : tints[i].fill,
                      is_dark ? tints[i].dark_text : tints[i].text);
}

void fb_shell_style(const struct fb_tint *tints, size_t count, struct fb_buf *out)
{
    fb_buf_add(out, fb_report_css, fb_report_css_size);
    tints_put(tints, count, 'L', false, out);
    tints_put(fb_palette_changes, FB_CHANGE_COUNT, 'D', false, out);
    fb_buf_puts(out, "@media(prefers-color-scheme:dark){\n");
    tints_put(tints, count, 'L', true, out);
    tints_put(fb_palette_changes, FB_CHANGE_COUNT, 'D', true, out);
    fb_buf_puts(out, "}\n");
}

void fb_shell_script(struct fb_buf *out)
{
    fb_buf_puts(out, "(function(){\"use strict\";\n");
    fb_buf_add(out, fb_report_js_data, fb_report_js_data_size);
    fb_buf_add(out, fb_report_js_tables, fb_report_js_tables_size);
    fb_buf_add(out, fb_report_js_flame, fb_report_js_flame_size);
    fb_buf_add(out, fb_report_js_graph, fb_report_js_graph_size);
    fb_buf_add(out, fb_report_js_time, fb_report_js_time_size);
    fb_buf_add(out, fb_report_js_main, fb_report_js_main_size);
    fb_buf_puts(out, "})();\n");
}

void fb_shell_begin(struct fb_buf *out, const char *title, const struct fb_buf *style,
                    const struct fb_buf *script)
{
    fb_buf_puts(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "script-src 'sha256-");
    fb_html_sha256(out, script->data, script->len);
    fb_buf_puts(out, "'; style-src 'sha256-");
    fb_html_sha256(out, style->data, style->len);
    fb_buf_puts(out, "'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"color-scheme\" content=\"light dark\">\n"
                     "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    fb_html_text(out, title);
    fb_buf_puts(out, "</title>\n<style>");
    fb_buf_add(out, style->data, style->len);
    fb_buf_puts(out, "</style>\n</head>\n<body>\n<main>\n");
}

void fb_shell_end(struct fb_buf *out, const struct fb_buf *script)
{
    fb_buf_puts(out, "<script>");
    fb_buf_add(out, script->data, script->len);
    fb_buf_puts(out, "</script>\n</body>\n</html>\n");
}
