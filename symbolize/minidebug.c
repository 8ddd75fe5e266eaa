/* One Dwfl per file, told never to look for other files. */
#include "symbolize/minidebug.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vec.h"
#include "symbolize/elf_symbols.h"

struct fb_minidebug {
    Dwfl *dwfl;
};

static int find_no_elf(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
                       char **ret_path, Elf **ret_elf)
{
    (void)mod, (void)data, (void)name, (void)base, (void)ret_path, (void)ret_elf;
    return -1;
}

static int find_no_debug(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
                         const char *file, const char *link, GElf_Word crc, char **ret_path)
{
    (void)mod, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc;
    (void)ret_path;
    return -1;
}

static const Dwfl_Callbacks callbacks = {.find_elf = find_no_elf, .find_debuginfo = find_no_debug};

/* The module at its own addresses (base 0), or NULL. */
static Dwfl_Module *report(Dwfl *dwfl, const struct fb_elf_file *file)
{
    Dwfl_Module *mod;
    int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);

    if (fd < 0)
        return NULL;
    dwfl_report_begin(dwfl);
    mod = dwfl_report_elf(dwfl, "module", file->path, fd, 0, true);
    if (!mod)
        close(fd);
    dwfl_report_end(dwfl, NULL, NULL);
    return mod;
}

struct fb_minidebug *fb_minidebug_read(const struct fb_elf_file *file, struct fb_symbol_index *ix)
{
    struct fb_minidebug *mini;
    Dwfl_Module *mod;
    int count;

    if (file->fd < 0 || !fb_elf_file_has_section(file, ".gnu_debugdata"))
        return NULL;
    mini = fb_alloc(sizeof *mini);
    mini->dwfl = dwfl_begin(&callbacks);
    mod = mini->dwfl ? report(mini->dwfl, file) : NULL;
    count = mod ? dwfl_module_getsymtab(mod) : -1;
    for (int i = 0; i < count; i++) {
        GElf_Word section;
        GElf_Addr address;
        GElf_Sym symbol;
        const char *name = dwfl_module_getsym_info(mod, i, &symbol, &address, &section, NULL, NULL);

        if (!name || section == SHN_UNDEF)
            continue;
        symbol.st_value = address;
        fb_elf_symbol_add(file->machine, &symbol, name, true, ix);
    }
    if (count < 0) {
        fb_minidebug_free(mini);
        return NULL;
    }
    return mini;
}

void fb_minidebug_free(struct fb_minidebug *mini)
{
    if (!mini)
        return;
    if (mini->dwfl)
        dwfl_end(mini->dwfl);
    free(mini);
}
