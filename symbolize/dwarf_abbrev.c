/* Codes are dense and rising in what compilers write: then the code is the place in the table. */
#include "symbolize/dwarf_abbrev.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/vec.h"
#include "symbolize/dwarf_form.h"

enum { SIZE_MAX_FIXED = 1 << 16 };

static int by_code(const void *a, const void *b)
{
    const struct fb_abbrev *x = a, *y = b;

    return (x->code > y->code) - (x->code < y->code);
}

/* The attributes of one shape; false at the end of the bytes. */
static bool read_attrs(struct fb_abbrevs *t, struct fb_wire_in *in, struct fb_abbrev *a)
{
    for (;;) {
        uint64_t name = fb_wire_get_varint(in), form = fb_wire_get_varint(in);
        int size;

        if (in->bad || name > UINT16_MAX || form > UINT16_MAX)
            return false;
        if (name == 0 && form == 0)
            return true;
        fb_vec_reserve(&t->attrs, &t->attrs_room, t->attrs_count + 1, sizeof *t->attrs);
        size = fb_dwarf_form_size((uint16_t)form, t->version, t->address_size, t->offset_size);
        t->attrs[t->attrs_count++] =
            (struct fb_abbrev_attr){(uint16_t)name, (uint16_t)form, (int8_t)size,
                                    (uint8_t)fb_dwarf_wanted_of((uint16_t)name)};
        a->count++;
        a->has_pc |= name == DW_AT_low_pc || name == DW_AT_ranges;
        a->has_sibling |= name == DW_AT_sibling;
        if (form == DW_FORM_implicit_const) {
            fb_vec_reserve(&t->implicits, &t->implicits_room, t->implicits_count + 1,
                           sizeof *t->implicits);
            t->implicits[t->implicits_count++] = fb_dwarf_sleb(in);
        }
        a->size = a->size < 0 || size < 0 || a->size > SIZE_MAX_FIXED ? -1 : a->size + size;
    }
}

struct fb_abbrevs *fb_abbrevs_read(struct fb_wire_in in, uint8_t version, uint8_t address_size,
                                   uint8_t offset_size)
{
    struct fb_abbrevs *t = fb_alloc(sizeof *t);
    bool sorted = true;

    t->version = version;
    t->address_size = address_size;
    t->offset_size = offset_size;
    for (;;) {
        struct fb_abbrev a = {.code = fb_wire_get_varint(&in),
                              .first = (uint32_t)t->attrs_count,
                              .implicit = (uint32_t)t->implicits_count};
        uint64_t tag;

        if (in.bad || a.code == 0)
            break;
        tag = fb_wire_get_varint(&in);
        a.tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
        a.has_children = fb_wire_get_u8(&in) != 0;
        if (in.bad || t->attrs_count > UINT32_MAX / 2 || !read_attrs(t, &in, &a))
            break;
        sorted = sorted && (t->count == 0 || t->items[t->count - 1].code < a.code);
        fb_vec_reserve(&t->items, &t->room, t->count + 1, sizeof *t->items);
        t->items[t->count++] = a;
    }
    if (t->count == 0) {
        fb_abbrevs_free(t);
        return NULL;
    }
    if (!sorted)
        qsort(t->items, t->count, sizeof *t->items, by_code);
    return t;
}

void fb_abbrevs_free(struct fb_abbrevs *abbrevs)
{
    if (!abbrevs)
        return;
    free(abbrevs->items);
    free(abbrevs->attrs);
    free(abbrevs->implicits);
    free(abbrevs);
}

const struct fb_abbrev *fb_abbrevs_find(const struct fb_abbrevs *abbrevs, uint64_t code)
{
    const struct fb_abbrev key = {.code = code};

    if (code - 1 < abbrevs->count && abbrevs->items[code - 1].code == code)
        return &abbrevs->items[code - 1];
    return bsearch(&key, abbrevs->items, abbrevs->count, sizeof key, by_code);
}
