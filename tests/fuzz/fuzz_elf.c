/* Any bytes as an ELF file: symbols, PLT entries, function starts, and from DWARF the
 * units, scopes, ranges and line tables, are read.  Seeds: the libraries in fixtures/symbols. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbolize/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void look_up(struct fb_symbols *symbols, uint64_t address)
{
    const struct fb_symbol *symbol = fb_symbols_find(symbols, address);
    struct fb_buf name = {0};
    struct fb_place places[FB_PLACES_MAX];
    const char *file;
    size_t count;
    uint32_t line;

    if (symbol) {
        if (symbol->start > address || symbol->end <= address)
            abort();
        fb_symbol_name(symbol, &name);
        fb_buf_done(&name);
    }
    if (fb_symbols_line(symbols, address, &file, &line) && line == 0)
        abort();
    count = fb_symbols_places(symbols, address, true, places);
    for (size_t i = 0; i < count; i++)
        if ((places[i].function && !places[i].function[0]) ||
            (places[i].file && places[i].line == 0))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct fb_symbols *symbols;
    struct fb_err err;
    void *copy = fb_alloc(n);

    if (n > 0)
        memcpy(copy, bytes, n);
    if (fb_symbols_open_memory(copy, n, "fuzz", &symbols, &err) != FB_OK)
        return 0;
    for (uint64_t at = 0; at < 0x2000; at += 61)
        look_up(symbols, at);
    look_up(symbols, UINT64_MAX);
    fb_symbols_free(symbols);
    return 0;
}
