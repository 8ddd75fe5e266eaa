#include "cli/contrast.h"

#include <string.h>

#include "base/file.h"
#include "cli/say.h"
#include "render/render.h"

enum { FILE_MAX = 256 << 20 };

/* Options of a diff that say nothing here. */
static enum fb_status check(const struct fb_args *args, struct fb_err *err)
{
    static const char *const taken[] = {"contrast", "delta-share", "format", "color"};

    if (args->count != 2)
        return fb_fail(err, FB_EUSAGE, "'--contrast' compares two diffs: A.json B.json");
    for (size_t i = 0; i < args->options_count; i++) {
        const char *name = args->options[i].option->name;
        bool is_known = false;

        for (size_t k = 0; k < sizeof taken / sizeof taken[0]; k++)
            is_known = is_known || strcmp(name, taken[k]) == 0;
        if (!is_known)
            return fb_fail(err, FB_EUSAGE, "'--%s' has no meaning with --contrast", name);
    }
    return FB_OK;
}

static enum fb_status contrast_read(const struct fb_args *args, double delta,
                                    struct fb_contrast **ret_contrast, struct fb_err *err)
{
    const char *a = args->items[0], *b = args->items[1];
    struct fb_buf text_a = {.max = FILE_MAX}, text_b = {.max = FILE_MAX};
    enum fb_status r = fb_file_read_unpacked(a, &text_a, err);

    if (r == FB_OK)
        r = fb_file_read_unpacked(b, &text_b, err);
    if (r == FB_OK)
        r = fb_contrast_new(text_a.data, text_a.len, a, text_b.data, text_b.len, b, delta,
                            ret_contrast, err);
    fb_buf_done(&text_a);
    fb_buf_done(&text_b);
    return r;
}

int fb_contrast_say(const struct fb_args *args)
{
    struct fb_contrast *contrast;
    struct fb_table *table;
    struct fb_err err;
    double delta = 10;
    enum fb_status r = check(args, &err);

    if (r == FB_OK)
        r = fb_args_number(args, "delta-share", 0.1, 100, &delta, &err);
    if (r == FB_OK)
        r = contrast_read(args, delta / 100, &contrast, &err);
    if (r != FB_OK)
        return fb_say_error(&err);
    table = fb_render_contrast(contrast, args->items[0], args->items[1]);
    fb_contrast_free(contrast);
    return fb_say_tables(args, &table, 1);
}
