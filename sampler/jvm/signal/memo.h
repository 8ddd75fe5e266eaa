/* memo.h - which name a Method had when it was last looked at: for interpreted frames.
 *
 *     if (fb_jvm_memo_read(method, &facts)) ...       could it be a Method? three loads
 *     id = fb_jvm_memo_name(&facts, unloads);         its name, often by one look
 *
 * Context: signal, in a walk in which the guard is usable.
 *
 * names.h reads all that a name is made of at each look, because memory of methods is used again
 * when classes are unloaded.  The JVM counts classes that it unloads, before it frees them.  So
 * while that count, the method's ConstMethod and the numbers in it are the same, the name is the
 * same, and the look at it is saved.  Without the count (-XX:-UsePerfData) nothing is saved.  Slots
 * are shared by all threads, written and read as code.h's are. */
#ifndef FB_SAMPLER_JVM_SIGNAL_MEMO_H
#define FB_SAMPLER_JVM_SIGNAL_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/jvm/signal/frame_word.h"
#include "sampler/jvm/signal/vm.h"

enum {
    FB_JVM_MEMO_SLOTS = 4096,
    FB_JVM_MEMO_BYTES = FB_JVM_MEMO_SLOTS * 64,
};

#define FB_JVM_UNLOADS_UNKNOWN UINT64_MAX

struct fb_jvm_memo_facts {
    uint64_t method;
    uint64_t constant; /* its ConstMethod */
    uint64_t numbers;  /* of it: the word with the size of its code */
};

static inline bool fb_jvm_memo_read(uint64_t method, struct fb_jvm_memo_facts *ret_facts)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;

    ret_facts->method = method;
    return fb_jvm_is_pointer(method) &&
           fb_jvm_field_64(method, l->method_const, &ret_facts->constant) &&
           fb_jvm_is_pointer(ret_facts->constant) &&
           fb_jvm_field_64(ret_facts->constant, l->const_code_size & ~7, &ret_facts->numbers);
}

/* 0: there is none that can be read. */
uint32_t fb_jvm_memo_name(const struct fb_jvm_memo_facts *facts, uint64_t unloads);

/* The same of a text that ends with a NUL and never changes: our own. */
uint32_t fb_jvm_memo_plain(const char *text);

/* The bci of a pointer into the method's bytecodes, or FB_JVM_BCI_UNKNOWN. */
static inline int32_t fb_jvm_memo_bci(const struct fb_jvm_memo_facts *facts, uint64_t bytecode)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint64_t first = facts->constant + (uint32_t)l->const_size;
    uint16_t size = (uint16_t)(facts->numbers >> 8 * (l->const_code_size & 6));

    return bytecode >= first && bytecode - first < size ? (int32_t)(bytecode - first)
                                                        : FB_JVM_BCI_UNKNOWN;
}

#endif
