/* names.h - Java methods by name, taken down at the moment of the tick.
 *
 * Context: signal, but for the functions at the end.
 *
 *     id = fb_jvm_method_name(method);      a Method*; the guard (signal/guard.h) must be usable
 *     id = fb_jvm_blob_name(text);         of a stub, or what the walker has to say
 *
 * A class may be unloaded, and a method redefined, before anybody else looks; so class, method and
 * descriptor are copied out of the JVM's symbols at the first tick that meets them.  The table is
 * keyed by what the name is made of: the Method* and every pointer on the way to its three symbols,
 * and what the symbols say of themselves (identity hash, length, first letters).  All of that is
 * read each time, eleven loads, so that memory which was used again for another method is
 * another key and not the old name.  An id is given to one name and never to another.
 *
 * A thread that finds no slot with its key writes entry and text where nobody looks yet, reads the
 * key once more, and puts the entry into the slot by one compare-and-swap; where another thread was
 * first with the same method, it takes that one's and its own copy is left unused.  So nothing is
 * locked, nothing waits, and nothing that can be seen is half written.
 *
 * Bounds: FB_JVM_NAMES_MAX names and FB_JVM_NAMES_TEXT bytes of text; then each further method has
 * the name FB_JVM_NAME_FULL.  Parts of a name are cut at FB_JVM_CLASS_MAX and its like. */
#ifndef FB_SAMPLER_JVM_SIGNAL_NAMES_H
#define FB_SAMPLER_JVM_SIGNAL_NAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sampler/jvm/layout.h"

enum {
    FB_JVM_NAMES_MAX = 96 << 10,
    FB_JVM_NAMES_SLOTS = 128 << 10,
    FB_JVM_NAMES_TEXT = 16 << 20,
    FB_JVM_CLASS_MAX = 512, /* bytes */
    FB_JVM_METHOD_MAX = 256,
    FB_JVM_DESCRIPTOR_MAX = 512,
    FB_JVM_PLAIN_MAX = 120,
};

enum {
    FB_JVM_NAME_NONE = 0, /* it could not be read */
    FB_JVM_NAME_FULL = 1, /* "[java method table full]" */
    FB_JVM_NAME_FIRST = 2,
};

struct fb_jvm_name_entry {
    uint64_t key;
    uint64_t method; /* the Method*, or the address of a plain name */
    uint32_t text;   /* offset of a struct fb_jvm_name_text */
    uint32_t zero;
};

struct fb_jvm_name_text {
    uint16_t class_len; /* bytes that follow, one part behind the other, without NULs */
    uint16_t method_len;
    uint16_t descriptor_len;
    uint16_t is_plain; /* method_len bytes, and nothing else */
    char bytes[];
};

/* Everything that the handler shares with the helper.  Entries below `used` may be unfinished: only
 * an id that came out of fb_jvm_method_name() may be looked up. */
struct fb_jvm_names {
    const struct fb_jvm_layout *layout;
    struct fb_jvm_name_entry *entries; /* FB_JVM_NAMES_MAX */
    _Atomic uint32_t *slots;           /* FB_JVM_NAMES_SLOTS ids, 0: empty */
    uint8_t *text;                     /* FB_JVM_NAMES_TEXT */
    bool symbol_word;      /* hash, count, length and letters of a symbol are one word */
    _Atomic uint32_t used; /* entries; may pass the maximum by a few */
    _Atomic uint32_t text_used;
    _Atomic uint64_t refused; /* ticks' frames that found the table full */
};
extern struct fb_jvm_names fb_jvm_names;

/* 0 where something on the way cannot be read. */
uint32_t fb_jvm_method_name(uint64_t method);

/* Of a text that ends with a NUL within FB_JVM_PLAIN_MAX bytes, of the JVM's or ours. */
uint32_t fb_jvm_blob_name(uint64_t text);

/* The key of a method as it is now: what fb_jvm_method_name() compares. */
bool fb_jvm_method_key(uint64_t method, uint64_t *ret_key);

/* Normal context, before the first use: memory is FB_JVM_NAMES_BYTES of zeros that nobody frees;
 * the layout stays. */
enum {
    FB_JVM_NAMES_BYTES = FB_JVM_NAMES_MAX * (int)sizeof(struct fb_jvm_name_entry) +
                         FB_JVM_NAMES_SLOTS * 4 + FB_JVM_NAMES_TEXT,
};
void fb_jvm_names_init(void *memory, const struct fb_jvm_layout *layout);

/* Normal context, any time: pages that the next names will be written to are made present, so that
 * the handler does not fault for them.  Called once a second. */
void fb_jvm_names_prepare(void);

#endif
