/* loader_list.c - dl_iterate_phdr into memory that is there before the lock is taken. */
#include "sampler/loader_list.h"

#include <string.h>

enum {
    GROW_TRIES = 16,       /* each doubles: far beyond any process */
    NAME_BYTES_MAX = 4096, /* PATH_MAX */
};

struct copy {
    struct fb_loader_list *list;
    bool full;
};

static int counts_of_first(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct fb_loader_counts *counts = ctx;

    (void)size;
    counts->adds = info->dlpi_adds;
    counts->subs = info->dlpi_subs;
    return 1;
}

struct fb_loader_counts fb_loader_counts_get(void)
{
    struct fb_loader_counts counts = {0};

    dl_iterate_phdr(counts_of_first, &counts);
    return counts;
}

static bool text_put(struct fb_loader_list *list, const void *bytes, size_t size, uint32_t *ret_at)
{
    size_t at = (list->text_size + 7) & ~(size_t)7; /* program headers want it */

    if (at > list->text.size || size > list->text.size - at)
        return false;
    memcpy((char *)list->text.data + at, bytes, size);
    list->text_size = at + size;
    *ret_at = (uint32_t)at;
    return true;
}

static int copy_one(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct copy *copy = ctx;
    struct fb_loader_list *list = copy->list;
    struct fb_loader_item *items = list->items.data;
    struct fb_loader_item item = {.bias = info->dlpi_addr, .phdr_count = info->dlpi_phnum};
    const char *name = info->dlpi_name != NULL ? info->dlpi_name : "";
    size_t length = strnlen(name, NAME_BYTES_MAX - 1);

    (void)size;
    list->counts.adds = info->dlpi_adds;
    list->counts.subs = info->dlpi_subs;
    if ((list->count + 1) * sizeof item > list->items.size ||
        !text_put(list, info->dlpi_phdr, item.phdr_count * sizeof(ElfW(Phdr)), &item.phdrs_at) ||
        !text_put(list, name, length + 1, &item.name_at)) {
        copy->full = true;
        return 1;
    }
    ((char *)list->text.data)[item.name_at + length] = 0;
    items[list->count++] = item;
    return 0;
}

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    return h;
}

static uint64_t identity_of(uint64_t bias, const ElfW(Phdr) * phdrs, uint32_t phdr_count,
                            const char *name, size_t length)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    h = hash_bytes(h, &bias, sizeof bias);
    h = hash_bytes(h, phdrs, phdr_count * sizeof *phdrs);
    return hash_bytes(h, name, length);
}

static void identity_set(const struct fb_loader_list *list, struct fb_loader_item *item)
{
    const char *name = fb_loader_list_name(list, item);

    item->identity = identity_of(item->bias, fb_loader_list_phdrs(list, item), item->phdr_count,
                                 name, strlen(name));
}

bool fb_loader_list_take(struct fb_loader_list *list)
{
    for (unsigned i = 0; i < GROW_TRIES; i++) {
        struct copy copy = {.list = list};

        list->count = 0;
        list->text_size = 0;
        if (!fb_pages_reserve(&list->items, (size_t)1 << (16 + i)) ||
            !fb_pages_reserve(&list->text, (size_t)1 << (18 + i)))
            break;
        dl_iterate_phdr(copy_one, &copy);
        if (!copy.full) {
            struct fb_loader_item *items = list->items.data;

            for (uint32_t k = 0; k < list->count; k++)
                identity_set(list, &items[k]);
            return true;
        }
    }
    list->count = 0;
    return false;
}

bool fb_loader_list_add(struct fb_loader_list *list, uint64_t bias, const ElfW(Phdr) * phdrs,
                        uint32_t phdr_count, const char *name)
{
    struct fb_loader_item item = {.bias = bias, .phdr_count = phdr_count};
    struct fb_loader_item *items;
    size_t headers = phdr_count * sizeof *phdrs;

    if (!fb_pages_reserve(&list->items, (list->count + 1) * sizeof item) ||
        !fb_pages_reserve(&list->text, list->text_size + headers + strlen(name) + 32) ||
        !text_put(list, phdrs, headers, &item.phdrs_at) ||
        !text_put(list, name, strlen(name) + 1, &item.name_at))
        return false;
    identity_set(list, &item);
    items = list->items.data;
    items[list->count++] = item;
    return true;
}

struct search {
    uint64_t bias;
    uint64_t identity;
    bool found;
};

static int search_one(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct search *search = ctx;
    const char *name = info->dlpi_name != NULL ? info->dlpi_name : "";

    (void)size;
    search->found = info->dlpi_addr == search->bias &&
                    identity_of(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, name,
                                strnlen(name, NAME_BYTES_MAX - 1)) == search->identity;
    return search->found;
}

bool fb_loader_list_holds(uint64_t bias, uint64_t identity)
{
    struct search search = {.bias = bias, .identity = identity};

    dl_iterate_phdr(search_one, &search);
    return search.found;
}
