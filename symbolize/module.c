/* Puts files, tables, PLT and lines of a module together. */
#include "symbolize/module.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbolize/debug_info.h"
#include "symbolize/elf_file.h"
#include "symbolize/elf_search.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/minidebug.h"
#include "symbolize/plt.h"
#include "symbolize/symbolize.h"
#include "symbolize/vdso.h"

struct fb_symbols {
    struct fb_elf_file *main, *debug; /* either may be NULL, not both */
    struct fb_minidebug *mini;
    struct fb_symbol_index functions, stubs;
    struct fb_debug *info;
    struct fb_elf_places places;
    bool whole, info_tried;
};

static const struct fb_elf_file *loaded(const struct fb_symbols *s)
{
    return s->main ? s->main : s->debug;
}

static void read_symbols(struct fb_symbols *s)
{
    const struct fb_elf_file *file = loaded(s);
    bool debug_whole = false;
    size_t starts_count = 0;
    uint64_t *starts = NULL;

    if (s->main) {
        fb_elf_symbols_add(s->main, &s->functions, &s->whole);
        starts = fb_elf_function_starts(s->main, &starts_count);
    }
    if (s->debug) {
        fb_elf_symbols_add(s->debug, &s->functions, &debug_whole);
        s->whole |= debug_whole;
    }
    if (!s->whole && s->main) {
        s->mini = fb_minidebug_read(s->main, &s->functions);
        s->whole = s->mini != NULL;
    }
    fb_symbol_index_build(&s->functions, file->code, file->code_count, starts, starts_count);
    free(starts);
    if (s->main)
        fb_plt_read(s->main, &s->functions, &s->stubs);
}

enum fb_status fb_symbols_open(const struct fb_elf_places *places, const char *path,
                               const char *build_id, struct fb_symbols **ret_symbols,
                               struct fb_err *err)
{
    struct fb_symbols *s = fb_alloc(sizeof *s);
    enum fb_status r;

    if (strcmp(path, "[vdso]") == 0)
        r = fb_vdso_open(build_id, &s->main, err);
    else
        r = fb_elf_search(places, path, build_id, &s->main, &s->debug, err);
    if (r != FB_OK) {
        free(s);
        return r;
    }
    s->places = *places;
    read_symbols(s);
    *ret_symbols = s;
    return FB_OK;
}

enum fb_status fb_symbols_open_memory(void *image, size_t n, const char *name,
                                      struct fb_symbols **ret_symbols, struct fb_err *err)
{
    struct fb_elf_file *file;
    enum fb_status r = fb_elf_file_take(image, n, name, &file, err);

    if (r != FB_OK)
        return r;
    *ret_symbols = fb_alloc(sizeof **ret_symbols);
    (*ret_symbols)->main = file;
    read_symbols(*ret_symbols);
    return FB_OK;
}

void fb_symbols_free(struct fb_symbols *symbols)
{
    if (!symbols)
        return;
    fb_debug_close(symbols->info);
    fb_symbol_index_done(&symbols->functions);
    fb_symbol_index_done(&symbols->stubs);
    fb_minidebug_free(symbols->mini);
    fb_elf_file_close(symbols->debug);
    fb_elf_file_close(symbols->main);
    free(symbols);
}

bool fb_symbols_address(const struct fb_symbols *symbols, uint64_t offset, uint64_t *ret_address)
{
    return fb_elf_file_address(loaded(symbols), offset, ret_address);
}

const struct fb_symbol *fb_symbols_find(const struct fb_symbols *symbols, uint64_t address)
{
    const struct fb_symbol *found = fb_symbol_index_find(&symbols->functions, address);

    return found ? found : fb_symbol_index_find(&symbols->stubs, address);
}

void fb_symbol_name(const struct fb_symbol *symbol, struct fb_buf *out)
{
    bool plain = symbol->kind != FB_SYMBOL_STUB && symbol->kind != FB_SYMBOL_RESOLVER;
    size_t len = (size_t)(strchrnul(symbol->name, plain ? '\0' : '@') - symbol->name);
    char *copy = plain ? NULL : fb_strndup(symbol->name, len);

    if (!fb_name_demangle(copy ? copy : symbol->name, out))
        fb_buf_add(out, symbol->name, len);
    if (symbol->kind == FB_SYMBOL_STUB)
        fb_buf_puts(out, "@plt");
    else if (symbol->kind == FB_SYMBOL_RESOLVER)
        fb_buf_puts(out, ".resolver");
    free(copy);
}

size_t fb_symbols_places(struct fb_symbols *symbols, uint64_t address, bool with_inlined,
                         struct fb_place *places)
{
    const struct fb_elf_file *code = loaded(symbols);

    if (!symbols->info_tried) {
        symbols->info_tried = true;
        if (symbols->debug)
            symbols->info = fb_debug_open(symbols->debug, code, &symbols->places);
        if (!symbols->info && symbols->main)
            symbols->info = fb_debug_open(symbols->main, code, &symbols->places);
    }
    return symbols->info ? fb_debug_find(symbols->info, address, with_inlined, places) : 0;
}

bool fb_symbols_line(struct fb_symbols *symbols, uint64_t address, const char **ret_file,
                     uint32_t *ret_line)
{
    struct fb_place places[FB_PLACES_MAX];

    if (fb_symbols_places(symbols, address, false, places) == 0 || !places[0].file)
        return false;
    *ret_file = places[0].file;
    *ret_line = places[0].line;
    return true;
}

char *fb_symbols_missing(const struct fb_symbols *symbols)
{
    return symbols->info ? fb_debug_missing(symbols->info) : NULL;
}

void fb_symbols_demangle(const char *name, struct fb_buf *out)
{
    if (!fb_name_demangle(name, out))
        fb_buf_puts(out, name);
}

bool fb_symbols_whole(const struct fb_symbols *symbols)
{
    return symbols->whole;
}
