#include "cli/report_md.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"

static const char *const suffixes[FB_REPORT_SVG_COUNT] = {
    [FB_REPORT_SVG_CONTROL] = "control",
    [FB_REPORT_SVG_VARIANT] = "variant",
    [FB_REPORT_SVG_DIFF] = "diff",
};

/* One picture; *ret_link is its name as seen from the Markdown, NULL where there is none; yours. */
static enum fb_status picture_write(const struct fb_report_input *in, enum fb_report_svg which,
                                    const char *stem, char **ret_link, struct fb_err *err)
{
    const char *suffix = in->diff ? suffixes[which] : "flame";
    char *path = fb_format("%s.%s.svg", stem, suffix), *slash = strrchr(path, '/');
    struct fb_buf out = {0};
    enum fb_status r = FB_OK;

    *ret_link = NULL;
    if (fb_render_report_svg(in, which, &out)) {
        r = fb_file_write(path, out.data, out.len, err);
        if (r == FB_OK)
            *ret_link = fb_strdup(slash ? slash + 1 : path);
    }
    fb_buf_done(&out);
    free(path);
    return r;
}

enum fb_status fb_report_md_write(const struct fb_report_input *in, const char *path,
                                  struct fb_err *err)
{
    char *links[FB_REPORT_SVG_COUNT] = {NULL}, *stem = fb_strdup(path);
    struct fb_buf out = {0};
    size_t n = strlen(stem);
    enum fb_status r = FB_OK;

    if (n > 3 && strcmp(stem + n - 3, ".md") == 0)
        stem[n - 3] = '\0';
    for (int i = 0; r == FB_OK && i < FB_REPORT_SVG_COUNT; i++)
        r = picture_write(in, (enum fb_report_svg)i, stem, &links[i], err);
    if (r == FB_OK) {
        fb_render_report_md(in, (const char *const *)links, &out);
        r = fb_file_write(path, out.data, out.len, err);
    }
    for (int i = 0; i < FB_REPORT_SVG_COUNT; i++)
        free(links[i]);
    free(stem);
    fb_buf_done(&out);
    return r;
}
