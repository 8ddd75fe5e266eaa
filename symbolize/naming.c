/* The name of the function that has the code is the symbol's where there is one: linkers and
 * compilers keep apart there what DWARF calls the same (.cold, .part, clones). */
#include "symbolize/naming.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

void fb_naming_begin(struct fb_naming *n, struct fb_symbols *symbols)
{
    n->symbols = symbols;
    n->last = NULL;
}

void fb_naming_done(struct fb_naming *n)
{
    free(n->known);
    fb_index_done(&n->known_index);
}

/* The string of a borrowed name, demangled. */
static uint32_t string_of(struct fb_naming *n, const char *raw)
{
    uint64_t hash = fb_hash_mix((uint64_t)(uintptr_t)raw);
    struct fb_index_cursor at = fb_index_seek(&n->known_index, hash);
    struct fb_buf text = {0};
    uint32_t i;

    while (fb_index_step(&n->known_index, &at, &i))
        if (n->known[i].raw == raw)
            return n->known[i].name;
    fb_symbols_demangle(raw, &text);
    fb_vec_reserve(&n->known, &n->known_room, n->known_count + 1, sizeof *n->known);
    fb_index_add(&n->known_index, hash, (uint32_t)n->known_count);
    n->known[n->known_count++] =
        (struct fb_naming_known){raw, fb_strings_put(&n->p->strings, text.data, text.len)};
    fb_buf_done(&text);
    return n->known[n->known_count - 1].name;
}

static uint32_t symbol_string(struct fb_naming *n, const struct fb_symbol *symbol)
{
    struct fb_buf text = {0};

    if (symbol != n->last) {
        fb_symbol_name(symbol, &text);
        n->last = symbol;
        n->last_name = fb_strings_put(&n->p->strings, text.data, text.len);
        fb_buf_done(&text);
    }
    return n->last_name;
}

static void set_line(struct fb_naming *n, struct fb_frame *f, const struct fb_place *place)
{
    if (!place->file)
        return;
    f->file = fb_strings_put_z(&n->p->strings, place->file);
    f->line = place->line;
}

/* A function without a name in DWARF (it happens in assembly and in broken files) ends the chain:
 * it would stand for nothing. */
static void put_chain(struct fb_naming *n, uint32_t frame, const struct fb_place *places,
                      size_t count)
{
    struct fb_inlined_chains *c = n->chains;
    struct fb_inlined_chain *chain = &c->of_frame[frame];

    *chain = (struct fb_inlined_chain){.first = (uint32_t)c->ids_count, .known = true};
    for (size_t i = count > 0 ? count - 1 : 0; i-- > 0 && places[i].function;) {
        struct fb_frame f = {.kind = FB_FRAME_INLINED,
                             .module = n->p->frames[frame].module,
                             .address = n->p->frames[frame].address,
                             .name = string_of(n, places[i].function)};

        set_line(n, &f, &places[i]);
        fb_vec_reserve(&c->ids, &c->ids_room, c->ids_count + 1, sizeof *c->ids);
        c->ids[c->ids_count++] = fb_profile_frame_append(n->p, &f);
        chain->count++;
    }
}

bool fb_naming_frame(struct fb_naming *n, uint32_t frame)
{
    struct fb_frame *f = &n->p->frames[frame];
    const struct fb_symbol *symbol = fb_symbols_find(n->symbols, f->address);
    struct fb_place places[FB_PLACES_MAX];
    size_t count = fb_symbols_places(n->symbols, f->address, n->with_inlined, places);

    if (count > 0)
        set_line(n, f, &places[count - 1]);
    if (symbol) {
        f->name = symbol_string(n, symbol);
        if (symbol->kind == FB_SYMBOL_STUB)
            f->kind = FB_FRAME_STUB;
    } else if (count > 0 && places[count - 1].function) {
        f->name = string_of(n, places[count - 1].function);
    }
    if (count > 0 || !n->with_inlined)
        put_chain(n, frame, places, count);
    return symbol || (count > 0 && places[count - 1].function);
}
