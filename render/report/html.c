#include "render/report/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "base/sha256.h"
#include "base/vec.h"
#include "render/svg.h"

/* The end of the text that is shown: not within a code point. */
static size_t shown_len(const char *text, size_t len)
{
    size_t end = FB_HTML_TEXT_MAX;

    if (len <= FB_HTML_TEXT_MAX)
        return len;
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    return end > 0 ? end : FB_HTML_TEXT_MAX;
}

void fb_html_text_n(struct fb_buf *out, const char *text, size_t len)
{
    size_t shown = shown_len(text, len);

    fb_svg_text_put(out, text, shown);
    if (shown < len)
        fb_buf_puts(out, "…");
}

void fb_html_text(struct fb_buf *out, const char *text)
{
    fb_html_text_n(out, text, strlen(text));
}

void fb_html_number(struct fb_buf *out, const char *text, size_t len)
{
    len = shown_len(text, len);
    for (size_t i = 0; i < len; i++) {
        bool is_minus = text[i] == '-' && i + 1 < len && text[i + 1] >= '0' && text[i + 1] <= '9' &&
                        (i == 0 || text[i - 1] == ' ');

        if (is_minus)
            fb_buf_puts(out, "−");
        else if ((unsigned char)text[i] >= 0x80 || text[i] < ' ')
            return fb_svg_text_put(out, text + i, len - i);
        else
            fb_svg_text_put(out, &text[i], 1);
    }
}

void fb_html_base64(struct fb_buf *out, const void *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = bytes;
    char four[4];

    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
                     (i + 2 < n ? p[i + 2] : 0u);

        for (int k = 0; k < 4; k++)
            four[k] = digits[v >> (18 - 6 * k) & 63];
        if (i + 1 >= n)
            four[2] = '=';
        if (i + 2 >= n)
            four[3] = '=';
        fb_buf_add(out, four, sizeof four);
    }
}

void fb_html_sha256(struct fb_buf *out, const void *bytes, size_t n)
{
    char text[FB_SHA256_TEXT], pair[3] = {0};
    unsigned char digest[(FB_SHA256_TEXT - 1) / 2];

    fb_sha256_text(bytes, n, text);
    for (size_t i = 0; i < sizeof digest; i++) {
        memcpy(pair, text + 2 * i, 2);
        digest[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    fb_html_base64(out, digest, sizeof digest);
}

void fb_html_data(struct fb_buf *out, const char *id, const void *bytes, size_t n)
{
    struct fb_buf packed = {0};

    fb_gzip_pack(bytes, n, &packed);
    fb_buf_printf(out, "<script type=\"application/octet-stream\" id=\"%s\">", id);
    fb_html_base64(out, packed.data, packed.len);
    fb_buf_puts(out, "</script>\n");
    fb_buf_done(&packed);
}

const struct fb_table_cell *fb_html_cell(const struct fb_table *t, size_t row, const char *key)
{
    for (size_t c = 0; c < t->columns_count; c++)
        if (strcmp(t->columns[c].key, key) == 0)
            return fb_table_cell(t, row, c);
    return NULL;
}

void fb_html_notes(struct fb_buf *out, const struct fb_table *t)
{
    for (size_t i = 0; i < t->notes_count; i++) {
        fb_buf_puts(out, "<p class=\"note\">");
        fb_svg_text_put(out, t->notes[i], strlen(t->notes[i]));
        fb_buf_puts(out, "</p>\n");
    }
}
