/* symbol_rank.h - which of several names of one address people mean.
 *
 * Header-only, of the C library alone: the sampler banks names by the same rule
 * by which `symbolize` finds them, so that an arm whose files are gone has the
 * names of one whose files are there.
 *
 *     if (!fb_symbol_is_mark(machine, name)) ...
 *     better = fb_symbol_rank(&x, &y) < 0;
 *
 * Function before IFUNC before untyped; then visible before local; fewer leading
 * underscores; strong before weak; shorter; first by bytes.  So libc's write is
 * "write", not "__write" or "__GI___write". */
#ifndef FB_BASE_SYMBOL_RANK_H
#define FB_BASE_SYMBOL_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fb_symbol_rank {
    const char *name;
    unsigned kind; /* 0 function, 1 IFUNC, 2 untyped */
    bool local;
    bool weak;
};

/* Below 0: x is the better name. */
static inline int fb_symbol_rank(const struct fb_symbol_rank *x, const struct fb_symbol_rank *y)
{
    size_t under_x, under_y, len_x, len_y;

    if (x->kind != y->kind)
        return x->kind > y->kind ? 1 : -1;
    if (x->local != y->local)
        return x->local ? 1 : -1;
    under_x = strspn(x->name, "_");
    under_y = strspn(y->name, "_");
    if (under_x != under_y)
        return under_x > under_y ? 1 : -1;
    if (x->weak != y->weak)
        return x->weak ? 1 : -1;
    len_x = strcspn(x->name, "@");
    len_y = strcspn(y->name, "@");
    if (len_x != len_y)
        return len_x > len_y ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* "$x", "$d.12" (where code and data begin, on machines whose ABI mixes them) and marks of
 * compilers: no functions.  machine is ELF's e_machine. */
static inline bool fb_symbol_is_mark(uint16_t machine, const char *name)
{
    enum { ARM = 40, AARCH64 = 183, RISCV = 243 };

    if (strncmp(name, ".L", 2) == 0 || strncmp(name, ".annobin", 8) == 0)
        return true;
    return (machine == AARCH64 || machine == ARM || machine == RISCV) && name[0] == '$' &&
           name[1] != '\0' && strchr("xdat", name[1]) != NULL &&
           (name[2] == '\0' || name[2] == '.' || machine == RISCV);
}

#endif
