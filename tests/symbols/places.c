/* places FILE [DEBUG_DIR] < ADDRESSES: what we say of each address (hex, one a line), as
 * llvm-symbolizer prints it: function and place of each frame, innermost first, then an empty line.
 * Names are as in the file, versions cut off. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/module.h"

static void show(const struct fb_place *place, const struct fb_symbol *symbol)
{
    const char *name = symbol ? symbol->name : place->function;

    if (!name)
        printf("??\n");
    else
        printf("%.*s\n", (int)strcspn(name, symbol ? "@" : ""), name);
    printf("%s:%" PRIu32 "\n", place->file ? place->file : "??", place->line);
}

int main(int argc, char **argv)
{
    struct fb_symbols *symbols;
    struct fb_err err;
    const struct fb_elf_places places_of = {.debug_dir = argc > 2 ? argv[2] : NULL};
    char line[64];

    if (argc < 2 || fb_symbols_open(&places_of, argv[1], "", &symbols, &err) != FB_OK) {
        fprintf(stderr, "places: %s\n", argc < 2 ? "a file was expected" : err.text);
        return 3;
    }
    while (fgets(line, sizeof line, stdin)) {
        struct fb_place places[FB_PLACES_MAX] = {{0}};
        uint64_t address = strtoull(line, NULL, 16);
        size_t n = fb_symbols_places(symbols, address, true, places);

        for (size_t i = 0; i + 1 < n; i++)
            show(&places[i], NULL);
        show(&places[n > 0 ? n - 1 : 0], fb_symbols_find(symbols, address));
        putchar('\n');
    }
    fb_symbols_free(symbols);
    return 0;
}
