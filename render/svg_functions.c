/* The functions of a picture: what is said of where their code is, and the table of all that the
 * script makes its details of. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/svg.h"

enum { RAW_MOST = 300 }; /* bytes of a raw name */

uint32_t fb_svg_functions_put(struct fb_svg_functions *f, uint32_t function)
{
    if (function >= f->numbers_room) {
        size_t room = 2 * (size_t)function + 64;
        uint32_t *numbers = fb_alloc_array(room, sizeof *numbers);

        if (f->numbers)
            memcpy(numbers, f->numbers, f->numbers_room * sizeof *numbers);
        free(f->numbers);
        f->numbers = numbers;
        f->numbers_room = room;
    }
    if (f->numbers[function] == 0) {
        fb_vec_reserve(&f->order, &f->order_room, f->count + 1, sizeof *f->order);
        f->order[f->count++] = function;
        f->numbers[function] = (uint32_t)f->count;
    }
    return f->numbers[function] - 1;
}

void fb_svg_functions_done(struct fb_svg_functions *f)
{
    free(f->numbers);
    free(f->order);
    *f = (struct fb_svg_functions){0};
}

static void text_put(struct fb_buf *out, const char *text)
{
    fb_svg_name_put(out, text, strlen(text));
}

static void kind_put(struct fb_buf *out, const struct fb_function *f)
{
    text_put(out, fb_frame_kind_text(f->kind));
    if (f->tier != FB_TIER_UNKNOWN)
        fb_buf_printf(out, " · %s", fb_tier_text(f->tier));
}

/* Whether the raw name says more: not the same path with other separators, or with a mark of its
 * kind behind it. */
static bool has_raw(const struct fb_functions *fns, const struct fb_function *f)
{
    const struct fb_string *raw = &fns->strings.items[f->raw], *name = &fns->strings.items[f->name];
    size_t i = 0;

    if (f->raw == f->name || raw->len == 0)
        return false;
    while (i < raw->len && i < name->len &&
           (raw->text[i] == name->text[i] || (raw->text[i] == '/' && name->text[i] == '.')))
        i++;
    return i < name->len || (i < raw->len && strncmp(raw->text + i, "_[", 2) != 0);
}

static void raw_put(struct fb_buf *out, const struct fb_functions *fns, const struct fb_function *f)
{
    const struct fb_string *raw = &fns->strings.items[f->raw];
    size_t len = raw->len;

    if (!has_raw(fns, f))
        return;
    if (len > RAW_MOST) {
        for (len = RAW_MOST; len > 0 && ((unsigned char)raw->text[len] & 0xc0) == 0x80;)
            len--;
    }
    fb_svg_text_put(out, raw->text, len);
    if (len < raw->len)
        fb_buf_puts(out, "…");
    if (f->raw_names > 1)
        fb_buf_printf(out, " and %u more", f->raw_names - 1);
}

static void file_put(struct fb_buf *out, const struct fb_functions *fns,
                     const struct fb_function *f)
{
    text_put(out, fb_strings_get(&fns->strings, f->file));
    if (f->line > 0)
        fb_buf_printf(out, ":%u", f->line);
}

void fb_svg_place_put(struct fb_buf *out, const struct fb_functions *fns, uint32_t function)
{
    const struct fb_function *f = &fns->items[function];
    const char *module = fb_strings_get(&fns->strings, f->module);

    fb_buf_puts(out, " · ");
    kind_put(out, f);
    if (module[0] != '\0') {
        fb_buf_puts(out, " · module ");
        text_put(out, module);
    }
    if (f->file != 0) {
        fb_buf_puts(out, " · ");
        file_put(out, fns, f);
    }
    if (has_raw(fns, f)) {
        fb_buf_puts(out, "\nraw name ");
        raw_put(out, fns, f);
    }
}

/* kind TAB module TAB file:line TAB raw name; a TAB in one of them is shown as its picture. */
void fb_svg_functions_write(const struct fb_svg_functions *f, const struct fb_functions *fns,
                            struct fb_buf *out)
{
    fb_buf_puts(out, "<metadata class=\"functions\">");
    for (size_t i = 0; i < f->count; i++) {
        const struct fb_function *function = &fns->items[f->order[i]];

        kind_put(out, function);
        fb_buf_putc(out, '\t');
        text_put(out, fb_strings_get(&fns->strings, function->module));
        fb_buf_putc(out, '\t');
        if (function->file != 0)
            file_put(out, fns, function);
        fb_buf_putc(out, '\t');
        raw_put(out, fns, function);
        fb_buf_putc(out, '\n');
    }
    fb_buf_puts(out, "</metadata>\n");
}
