/* stubs.c - see stubs.h. */
#include "sampler/jvm/stubs.h"

#include <stdbool.h>
#include <stddef.h>

#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/signal/vm.h"
#include "sampler/jvm/symbol.h"
#include "sampler/memory.h"

enum {
    STUBS_MAX = 4096,
    READINGS_MAX = 16, /* arrays stay: a handler may be in one */
};

static const char head_symbol[] = "_ZN12StubCodeDesc5_listE";

static struct {
    bool sought;
    uint64_t head_at; /* 0: not to be had */
    uint64_t head;    /* when it was last read */
    unsigned readings;
} stubs;

/* One of the list as it is in memory. */
struct known_stub {
    uint64_t next;
    uint64_t group;
    uint64_t name;
    uint64_t begin;
    uint64_t end;
};

_Static_assert(sizeof(struct known_stub) == FB_JVM_STUB_BYTES, "layout_known.h says so");

static bool is_stub(const struct known_stub *s)
{
    return s->name != 0 && s->begin >= fb_jvm.code_low && s->begin < s->end &&
           s->end <= fb_jvm.code_high;
}

/* Sorted by begin; the list is the newest first, and so mostly sorted downwards. */
static void insert(struct fb_jvm_stubs *to, const struct known_stub *s)
{
    uint32_t at = to->count++;

    for (; at > 0 && to->items[at - 1].begin > s->begin; at--)
        to->items[at] = to->items[at - 1];
    to->items[at] = (struct fb_jvm_stub){s->begin, s->end, s->name};
}

/* Turned round, so that each is inserted at the end. */
static uint32_t list_read(const struct fb_self_read *r, uint64_t head, struct known_stub *ret)
{
    uint32_t n = 0;

    for (uint64_t at = head; at != 0 && n < STUBS_MAX; at = ret[n++].next)
        if (fb_self_read(r, at, &ret[n], sizeof ret[n]) != sizeof ret[n])
            break;
    return n;
}

static void read_again(const struct fb_self_read *r, uint64_t head)
{
    size_t list_bytes = STUBS_MAX * sizeof(struct known_stub);
    struct known_stub *list = fb_memory_map(list_bytes);
    uint32_t n = list != NULL ? list_read(r, head, list) : 0;
    size_t bytes = sizeof(struct fb_jvm_stubs) + n * sizeof(struct fb_jvm_stub);
    struct fb_jvm_stubs *fresh = n > 0 ? fb_memory_map(bytes) : NULL;

    for (uint32_t i = n; fresh != NULL && i > 0; i--)
        if (is_stub(&list[i - 1]))
            insert(fresh, &list[i - 1]);
    if (fresh != NULL)
        fb_jvm_stubs_publish(fresh);
    fb_memory_unmap(list, list_bytes);
}

void fb_jvm_stubs_look(const struct fb_self_read *reader, const char *path, uint64_t bias)
{
    uint64_t head;

    if (!stubs.sought && fb_jvm_symbol_find(path, head_symbol, &stubs.head_at))
        stubs.head_at += bias;
    stubs.sought = true;
    if (stubs.head_at == 0 || stubs.readings == READINGS_MAX ||
        fb_self_read(reader, stubs.head_at, &head, sizeof head) != sizeof head ||
        head == stubs.head)
        return;
    stubs.head = head;
    stubs.readings++;
    read_again(reader, head);
}
