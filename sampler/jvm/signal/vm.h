/* vm.h - the JVM of this process, as the handler sees it, and guarded reads of its memory.
 *
 * Context: signal, but for fb_jvm_activate(), which is the helper's (sampler/jvm/start.h).
 *
 *     if (fb_jvm_covers(pc)) ...            pc is in the JVM's code cache, and it is walked
 *     if (fb_jvm_read_64(address, &word)) ...    false: nothing readable is there
 *
 * fb_jvm is filled before it is active and never changed after; a process has one JVM in its life
 * (HotSpot allows no second one).  "Not active" is said when it goes.
 *
 * Memory of the JVM may vanish or be reused at any moment: each word is read by a guarded load, so
 * the guard (sampler/signal/guard.h) must be usable in this walk, and each value is taken for a
 * claim: addresses are checked again by the next load, counts are bounded. */
#ifndef FB_SAMPLER_JVM_SIGNAL_VM_H
#define FB_SAMPLER_JVM_SIGNAL_VM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sampler/jvm/layout.h"
#include "sampler/signal/guard.h"

enum { FB_JVM_HEAPS_MAX = 8 };

struct fb_jvm_heap {
    uint64_t low;
    uint64_t high_at;  /* where its end is, which grows */
    uint64_t segments; /* a byte for each segment */
    uint32_t log2_segment;
};

struct fb_jvm {
    struct fb_jvm_layout layout;
    uint64_t code_low; /* all heaps, also what is reserved only */
    uint64_t code_high;
    struct fb_jvm_heap heaps[FB_JVM_HEAPS_MAX];
    uint32_t heap_count;
    uint32_t block_header; /* bytes from a block's start to its blob */
    uint64_t interpreter_low;
    uint64_t interpreter_high;
    uint64_t entries_low; /* in it: where methods begin */
    uint64_t entries_high;
    uint64_t call_stub_return;
    uint32_t guard_bytes; /* at the low end of its threads' stacks, where a touch is an overflow */
    void *cache;          /* FB_JVM_CACHE_BYTES (code.h), zeroed; NULL: none */
    void *memo;           /* FB_JVM_MEMO_BYTES (memo.h), zeroed; NULL: none */
};

/* What the JVM generated for itself, sorted, disjoint; immutable once published. */
struct fb_jvm_stub {
    uint64_t begin;
    uint64_t end;
    uint64_t name; /* where the JVM has it */
};

struct fb_jvm_stubs {
    uint32_t count;
    struct fb_jvm_stub items[];
};

extern struct fb_jvm fb_jvm;
extern _Atomic bool fb_jvm_is_active;

/* This thread, which is not in a handler, takes faults of guarded loads. */
extern _Thread_local bool fb_jvm_thread_open __attribute__((tls_model("initial-exec")));

static inline bool fb_jvm_active(void)
{
    return atomic_load_explicit(&fb_jvm_is_active, memory_order_acquire);
}

static inline bool fb_jvm_covers(uint64_t pc)
{
    return fb_jvm_active() && pc >= fb_jvm.code_low && pc < fb_jvm.code_high;
}

static inline bool fb_jvm_interprets(uint64_t pc)
{
    return pc >= fb_jvm.interpreter_low && pc < fb_jvm.interpreter_high;
}

static inline bool fb_jvm_read_64(uint64_t address, uint64_t *ret_word)
{
    return fb_guard_word(address, ret_word);
}

/* Smaller ones lie in one aligned word, so that a page's last bytes can be read. */
static inline bool fb_jvm_read_32(uint64_t address, uint32_t *ret_word)
{
    uint64_t word;

    if (!fb_guard_word(address & ~UINT64_C(7), &word))
        return false;
    *ret_word = (uint32_t)(word >> 8 * (address & 4));
    return true;
}

static inline bool fb_jvm_read_16(uint64_t address, uint16_t *ret_word)
{
    uint64_t word;

    if (!fb_guard_word(address & ~UINT64_C(7), &word))
        return false;
    *ret_word = (uint16_t)(word >> 8 * (address & 6));
    return true;
}

static inline bool fb_jvm_read_8(uint64_t address, uint8_t *ret_byte)
{
    uint64_t word;

    if (!fb_guard_word(address & ~UINT64_C(7), &word))
        return false;
    *ret_byte = (uint8_t)(word >> 8 * (address & 7));
    return true;
}

/* What a field at this offset of an object says; false too if the layout has no such field. */
static inline bool fb_jvm_field_64(uint64_t object, int32_t offset, uint64_t *ret_word)
{
    return offset >= 0 && fb_jvm_read_64(object + (uint32_t)offset, ret_word);
}

static inline bool fb_jvm_field_32(uint64_t object, int32_t offset, uint32_t *ret_word)
{
    return offset >= 0 && fb_jvm_read_32(object + (uint32_t)offset, ret_word);
}

static inline bool fb_jvm_field_16(uint64_t object, int32_t offset, uint16_t *ret_word)
{
    return offset >= 0 && fb_jvm_read_16(object + (uint32_t)offset, ret_word);
}

static inline bool fb_jvm_field_8(uint64_t object, int32_t offset, uint8_t *ret_byte)
{
    return offset >= 0 && fb_jvm_read_8(object + (uint32_t)offset, ret_byte);
}

/* Something that the JVM has allocated lies at a multiple of 8 and not in the first page. */
static inline bool fb_jvm_is_pointer(uint64_t address)
{
    return address >= 4096 && (address & 7) == 0 && address >> 56 == 0;
}

void fb_jvm_activate(bool active);

/* The helper's: where the JVM counts the classes that it has unloaded. */
void fb_jvm_unloads_publish(uint64_t address);

/* That count now, FB_JVM_UNLOADS_UNKNOWN (memo.h): there is none. */
uint64_t fb_jvm_unloads(void);

/* The helper's: a list that stays for ever. */
void fb_jvm_stubs_publish(const struct fb_jvm_stubs *stubs);

/* Where the name of the stub at pc is, 0: it is not known. */
uint64_t fb_jvm_stub_name(uint64_t pc);

#endif
