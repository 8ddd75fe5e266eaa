/* fixture.h - what the tests of this folder share: the libraries of fixtures/symbols, and what
 * binutils says about them (the oracle). */
#ifndef TESTS_UNIT_SYMBOLIZE_FIXTURE_H
#define TESTS_UNIT_SYMBOLIZE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/vec.h"
#include "symbolize/module.h"

#define BUILT         FB_BUILD "/fixtures/symbols/"
#define KEPT          FB_FIXTURES "/symbols/"
#define BUILD_ID      "00112233445566778899aabbccddeeff01234567"
#define OTHER_ID      "ffffffffffffffffffffffffffffffffffffffff"
#define FIXTURE_DEBUG BUILT "split/debug"

/* The address of a symbol by nm(1). */
static inline uint64_t nm_address(const char *path, const char *symbol)
{
    char *command = fb_format("nm --format=posix '%s'", path), line[600], name[300];
    FILE *out = popen(command, "r");
    unsigned long address, found = 0;
    char type;

    assert_non_null(out);
    while (fgets(line, sizeof line, out))
        if (sscanf(line, "%299s %c %lx", name, &type, &address) == 3 && strcmp(name, symbol) == 0)
            found = address;
    pclose(out);
    free(command);
    if (found == 0)
        fail_msg("nm knows no '%s' in '%s'", symbol, path);
    return found;
}

static inline struct fb_symbols *open_symbols(const char *debug_dir, const char *path,
                                              const char *build_id)
{
    struct fb_symbols *s = NULL;
    const struct fb_elf_places places = {.debug_dir = debug_dir};
    struct fb_err err;

    if (fb_symbols_open(&places, path, build_id, &s, &err) != FB_OK)
        fail_msg("%s", err.text);
    return s;
}

/* name NULL: the address must be unknown. */
static inline void expect_name(const struct fb_symbols *s, uint64_t address, const char *name)
{
    const struct fb_symbol *found = fb_symbols_find(s, address);
    struct fb_buf text = {0};

    if (found)
        fb_symbol_name(found, &text);
    if (!name && found)
        fail_msg("%#lx is '%s', expected nothing", (unsigned long)address, text.data);
    if (name && (!found || strcmp(text.data, name) != 0))
        fail_msg("%#lx is '%s', expected '%s'", (unsigned long)address, found ? text.data : "",
                 name);
    fb_buf_done(&text);
}

#endif
