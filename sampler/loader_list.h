/* loader_list.h - a copy of the loader's list of modules.
 *
 *     if (fb_loader_list_take(&list))        the loader's lock is held for the copy alone
 *         for (i = 0; i < list.count; i++) ... fb_loader_list_items(&list)[i] ...
 *
 * Context: normal, one thread.  A list is zero at first and is taken again and
 * again; items, headers and names are borrowed until the next take.  The caller
 * keeps fork() away meanwhile (see sampler/modules.c): the child would inherit
 * the loader's lock. */
#ifndef FB_SAMPLER_LOADER_LIST_H
#define FB_SAMPLER_LOADER_LIST_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "sampler/pages.h"

/* How often the loader has added and removed modules so far. */
struct fb_loader_counts {
    uint64_t adds;
    uint64_t subs;
};

struct fb_loader_item {
    uint64_t bias;
    uint64_t identity; /* of bias, headers and name: equal while it stays loaded */
    uint32_t phdrs_at; /* bytes into the list's text */
    uint32_t phdr_count;
    uint32_t name_at;
};

struct fb_loader_list {
    struct fb_loader_counts counts;
    uint32_t count;
    struct fb_pages items;
    struct fb_pages text;
    size_t text_size;
};

struct fb_loader_counts fb_loader_counts_get(void);

/* False without memory; the list is empty then. */
bool fb_loader_list_take(struct fb_loader_list *list);

/* Appends what the loader does not show; false without memory. */
bool fb_loader_list_add(struct fb_loader_list *list, uint64_t bias, const ElfW(Phdr) * phdrs,
                        uint32_t phdr_count, const char *name);

/* Does the loader have a module of that identity at this moment? */
bool fb_loader_list_holds(uint64_t bias, uint64_t identity);

static inline const struct fb_loader_item *fb_loader_list_items(const struct fb_loader_list *list)
{
    return list->items.data;
}

static inline const ElfW(Phdr) *
    fb_loader_list_phdrs(const struct fb_loader_list *list, const struct fb_loader_item *item)
{
    return (const ElfW(Phdr) *)(const void *)((const char *)list->text.data + item->phdrs_at);
}

static inline const char *fb_loader_list_name(const struct fb_loader_list *list,
                                              const struct fb_loader_item *item)
{
    return (const char *)list->text.data + item->name_at;
}

#endif
