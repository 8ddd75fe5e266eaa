/* memo.c - see memo.h. */
#include "sampler/jvm/signal/memo.h"

#include <stdatomic.h>
#include <stddef.h>

#include "sampler/jvm/signal/frame_word.h"
#include "sampler/jvm/signal/names.h"
#include "sampler/jvm/signal/vm.h"

#include "sampler/signal/sigsafe.h"

struct slot {
    _Atomic uint32_t sequence; /* odd: somebody writes */
    uint32_t name;
    uint64_t method;
    uint64_t constant;
    uint64_t numbers;
    uint64_t unloads;
    uint64_t zero[3];
};

_Static_assert(sizeof(struct slot) == 64, "slots fill FB_JVM_MEMO_BYTES");
_Static_assert(FB_JVM_MEMO_SLOTS == 1 << 12, "a slot is the top 12 bits");

static uint32_t slot_name(struct slot *s, const struct fb_jvm_memo_facts *facts, uint64_t unloads)
{
    uint32_t sequence = atomic_load_explicit(&s->sequence, memory_order_acquire);
    uint32_t name = __atomic_load_n(&s->name, __ATOMIC_RELAXED);
    bool same = __atomic_load_n(&s->method, __ATOMIC_RELAXED) == facts->method &&
                __atomic_load_n(&s->constant, __ATOMIC_RELAXED) == facts->constant &&
                __atomic_load_n(&s->numbers, __ATOMIC_RELAXED) == facts->numbers &&
                __atomic_load_n(&s->unloads, __ATOMIC_RELAXED) == unloads;

    atomic_thread_fence(memory_order_acquire);
    return same && (sequence & 1) == 0 &&
                   atomic_load_explicit(&s->sequence, memory_order_relaxed) == sequence
               ? name
               : 0;
}

static void slot_write(struct slot *s, const struct fb_jvm_memo_facts *facts, uint64_t unloads,
                       uint32_t name)
{
    uint32_t sequence = atomic_load_explicit(&s->sequence, memory_order_relaxed);

    if ((sequence & 1) != 0 ||
        !atomic_compare_exchange_strong(&s->sequence, &sequence, sequence + 1))
        return;
    atomic_thread_fence(memory_order_release);
    __atomic_store_n(&s->name, name, __ATOMIC_RELAXED);
    __atomic_store_n(&s->method, facts->method, __ATOMIC_RELAXED);
    __atomic_store_n(&s->constant, facts->constant, __ATOMIC_RELAXED);
    __atomic_store_n(&s->numbers, facts->numbers, __ATOMIC_RELAXED);
    __atomic_store_n(&s->unloads, unloads, __ATOMIC_RELAXED);
    atomic_store_explicit(&s->sequence, sequence + 2, memory_order_release);
}

/* NULL: there are no slots. */
static struct slot *slot_of(uint64_t method)
{
    struct slot *slots = fb_jvm.memo;

    return slots != NULL ? &slots[method * UINT64_C(0x9e3779b97f4a7c15) >> (64 - 12)] : NULL;
}

uint32_t fb_jvm_memo_plain(const char *text)
{
    const struct fb_jvm_memo_facts facts = {.method = (uint64_t)(uintptr_t)text};
    struct slot *s = slot_of(facts.method);
    uint32_t name = s != NULL ? slot_name(s, &facts, 0) : 0;

    if (name != 0)
        return name;
    name = fb_jvm_blob_name(facts.method);
    if (s != NULL && name >= FB_JVM_NAME_FIRST)
        slot_write(s, &facts, 0, name);
    return name;
}

uint32_t fb_jvm_memo_name(const struct fb_jvm_memo_facts *facts, uint64_t unloads)
{
    struct slot *s = slot_of(facts->method);
    uint32_t name;

    if (s == NULL || unloads == FB_JVM_UNLOADS_UNKNOWN)
        return fb_jvm_method_name(facts->method);
    name = slot_name(s, facts, unloads);
    if (name != 0)
        return name;
    name = fb_jvm_method_name(facts->method);
    if (name >= FB_JVM_NAME_FIRST)
        slot_write(s, facts, unloads, name);
    return name;
}
