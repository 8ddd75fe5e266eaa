#include "profile/types.h"

#include <stdio.h>
#include <string.h>

/* "cpu/nanoseconds (120 samples), alloc/bytes (7 samples)", all but `without`. */
static void list_types(const struct fb_value_type *types, size_t n, size_t without,
                       struct fb_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i == without)
            continue;
        fb_buf_printf(out, "%s%s%s%s (%llu samples)", out->len > 0 ? ", " : "", types[i].name,
                      types[i].unit[0] ? "/" : "", types[i].unit,
                      (unsigned long long)types[i].samples);
    }
    if (out->len == 0)
        fb_buf_puts(out, "none");
}

static bool is_asked(const struct fb_value_type *type, const char *asked)
{
    size_t n = strlen(type->name);

    return strcmp(type->name, asked) == 0 ||
           (strncmp(type->name, asked, n) == 0 && asked[n] == '/' &&
            strcmp(type->unit, asked + n + 1) == 0);
}

static enum fb_status fail(const char *file, const struct fb_value_type *types, size_t n,
                           const char *asked, struct fb_err *err)
{
    struct fb_buf list = {0};

    list_types(types, n, SIZE_MAX, &list);
    if (asked)
        (void)fb_fail(err, FB_EFORMAT, "%s: has no samples of type '%s', it has %s", file, asked,
                      list.data);
    else if (n == 0)
        (void)fb_fail(err, FB_EFORMAT, "%s: holds no samples", file);
    else
        (void)fb_fail(err, FB_EFORMAT, "%s: holds several types, one was expected by --type: %s",
                      file, list.data);
    fb_buf_done(&list);
    return FB_EFORMAT;
}

enum fb_status fb_types_choose(const char *file, const struct fb_value_type *types, size_t n,
                               const char *asked, size_t fallback, size_t *ret_chosen,
                               struct fb_err *err)
{
    size_t filled = 0, last = 0;

    if (!asked && fallback < n) {
        *ret_chosen = fallback;
        return FB_OK;
    }
    for (size_t i = 0; i < n; i++) {
        if (asked && is_asked(&types[i], asked)) {
            *ret_chosen = i;
            return FB_OK;
        }
        if (types[i].samples > 0) {
            filled++;
            last = i;
        }
    }
    if (asked || (n != 1 && filled != 1))
        return fail(file, types, n, asked, err);
    *ret_chosen = filled == 1 ? last : 0;
    return FB_OK;
}

void fb_types_note(const struct fb_value_type *types, size_t n, size_t chosen,
                   struct fb_read_report *report)
{
    struct fb_buf list = {0};

    if (n < 2)
        return;
    list_types(types, n, chosen, &list);
    (void)snprintf(report->note, sizeof report->note, "read as %s/%s; --type reads %s",
                   types[chosen].name, types[chosen].unit, list.data);
    fb_buf_done(&list);
}
