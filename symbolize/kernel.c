#include "symbolize/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"

struct symbol {
    uint64_t address;
    const char *name; /* in the text */
    size_t len;
};

struct symbols {
    struct symbol *items; /* functions, sorted */
    size_t count, room;
    uint64_t text; /* of _text, or _stext; 0 unknown */
};

static const char MODULE[] = "[kernel.kallsyms]";

static bool is_wanted(const struct fb_profile *p, const struct fb_frame *f)
{
    return f->kind == FB_FRAME_KERNEL && f->name == 0 && f->address != 0 &&
           f->module != FB_NO_MODULE && f->module < p->modules_count &&
           strcmp(fb_profile_text(p, p->modules[f->module].path), MODULE) == 0;
}

/* "ffffffff81000000 T _text[\t[module]]" */
static void take_line(struct symbols *s, const char *line, size_t len)
{
    struct symbol symbol = {0};
    size_t at = 0, end;

    for (; at < len && line[at] != ' '; at++) {
        const char *digit = strchr("0123456789abcdef", line[at]);

        if (!digit || line[at] == '\0')
            return;
        symbol.address = symbol.address << 4 |
                         (uint64_t)(line[at] <= '9' ? line[at] - '0' : line[at] - 'a' + 10);
    }
    if (at + 4 > len || !strchr("tTwW", line[at + 1]))
        return;
    end = at + 3;
    while (end < len && line[end] != '\t' && line[end] != ' ')
        end++;
    symbol.name = line + at + 3;
    symbol.len = end - at - 3;
    if (symbol.len == 5 && memcmp(symbol.name, "_text", 5) == 0)
        s->text = symbol.address;
    if (s->text == 0 && symbol.len == 6 && memcmp(symbol.name, "_stext", 6) == 0)
        s->text = symbol.address;
    fb_vec_reserve(&s->items, &s->room, s->count + 1, sizeof *s->items);
    s->items[s->count++] = symbol;
}

/* By address; of several names at one, functions before marks such as _stext. */
static int by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    bool x_mark = x->len > 0 && x->name[0] == '_', y_mark = y->len > 0 && y->name[0] == '_';
    int r;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x_mark != y_mark)
        return x_mark ? 1 : -1;
    r = memcmp(x->name, y->name, n);
    return r ? r : x->len < y->len ? -1 : x->len > y->len;
}

static void symbols_read(struct symbols *s, const char *text, size_t n)
{
    for (size_t at = 0; at < n;) {
        const char *stop = memchr(text + at, '\n', n - at);
        size_t len = stop ? (size_t)(stop - text) - at : n - at;

        take_line(s, text + at, len);
        at += len + 1;
    }
    if (s->count > 0)
        qsort(s->items, s->count, sizeof *s->items, by_address);
}

/* The first of the last address that is not above; NULL below all. */
static const struct symbol *symbols_find(const struct symbols *s, uint64_t address)
{
    size_t low = 0, high = s->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->items[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 1 && s->items[low - 2].address == s->items[low - 1].address)
        low--;
    return low > 0 ? &s->items[low - 1] : NULL;
}

static uint32_t u32_at(const char *bytes)
{
    uint32_t v;

    memcpy(&v, bytes, sizeof v);
    return v;
}

/* The build ID among ELF notes, as hex; false where there is none. */
static bool notes_build_id(const struct fb_buf *notes, char ret_hex[static 41])
{
    for (size_t at = 0; at + 12 <= notes->len;) {
        uint64_t name = u32_at(notes->data + at), desc = u32_at(notes->data + at + 4);
        uint32_t type = u32_at(notes->data + at + 8);
        size_t desc_at = at + 12 + (size_t)((name + 3) / 4 * 4);

        if (desc_at > notes->len || desc > notes->len - desc_at)
            return false;
        if (type == 3 && name == 4 && desc <= 20 && memcmp(notes->data + at + 12, "GNU", 4) == 0) {
            for (size_t i = 0; i < desc; i++) {
                unsigned char c = (unsigned char)notes->data[desc_at + i];

                ret_hex[2 * i] = "0123456789abcdef"[c >> 4];
                ret_hex[2 * i + 1] = "0123456789abcdef"[c & 15];
            }
            ret_hex[2 * desc] = '\0';
            return true;
        }
        at = desc_at + (size_t)((desc + 3) / 4 * 4);
    }
    return false;
}

static size_t name_all(struct fb_profile *p, const struct symbols *s)
{
    size_t named = 0;

    for (size_t i = 1; i < p->frames_count; i++) {
        struct fb_frame *f = &p->frames[i];
        const struct symbol *symbol;
        uint64_t text;

        if (!is_wanted(p, f))
            continue;
        text = p->modules[f->module].offset;
        symbol = symbols_find(s, f->address - (text != 0 ? text - s->text : 0));
        if (!symbol)
            continue;
        f->name = fb_strings_put(&p->strings, symbol->name, symbol->len);
        named++;
    }
    return named;
}

enum fb_status fb_kernel_name_frames_from(struct fb_profile *p, const struct fb_buf *kallsyms,
                                          const struct fb_buf *notes, size_t *ret_named,
                                          struct fb_err *err)
{
    struct symbols s = {0};
    char running[41] = "";
    enum fb_status r = FB_OK;

    for (size_t i = 1; i < p->modules_count; i++) {
        const char *recorded = fb_profile_text(p, p->modules[i].build_id);

        if (strcmp(fb_profile_text(p, p->modules[i].path), MODULE) != 0)
            continue;
        if (!notes_build_id(notes, running) || strcmp(recorded, running) != 0)
            return fb_fail(err, FB_ENOTFOUND,
                           "the kernel of the profile (build ID %s) is not the one that runs here",
                           recorded[0] ? recorded : "unknown");
    }
    symbols_read(&s, kallsyms->data ? kallsyms->data : "", kallsyms->len);
    if (s.text == 0)
        r = fb_fail(err, FB_ENOTFOUND,
                    "/proc/kallsyms shows no addresses (kernel.kptr_restrict, or no root)");
    else
        *ret_named = name_all(p, &s);
    free(s.items);
    return r;
}

enum fb_status fb_kernel_name_frames(struct fb_profile *p, size_t *ret_named, struct fb_err *err)
{
    struct fb_buf kallsyms = {.max = 256 << 20}, notes = {.max = 1 << 20};
    bool any = false;
    enum fb_status r = FB_OK;

    *ret_named = 0;
    for (size_t i = 1; i < p->frames_count && !any; i++)
        any = is_wanted(p, &p->frames[i]);
    if (!any)
        return FB_OK;
    r = fb_file_read("/sys/kernel/notes", &notes, err);
    if (r == FB_OK)
        r = fb_file_read("/proc/kallsyms", &kallsyms, err);
    if (r == FB_OK)
        r = fb_kernel_name_frames_from(p, &kallsyms, &notes, ret_named, err);
    fb_buf_done(&kallsyms);
    fb_buf_done(&notes);
    return r;
}
