/* Methods as the JVM keeps them, made of our own memory: what the names' and the lines' tests read.
 * The places are those of JDK 17. */
#ifndef FB_TESTS_FAKE_METASPACE_H
#define FB_TESTS_FAKE_METASPACE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sampler/jvm/layout.h"

enum { FAKE_POOL_SLOTS = 8, FAKE_CODE_MAX = 64, FAKE_LINES_MAX = 64 };

struct fake_symbol {
    uint32_t hash_and_count;
    uint16_t length;
    char body[1018];
};

struct fake_klass {
    uint64_t words[3];
    struct fake_symbol *name;
};

struct fake_pool {
    uint64_t words[3];
    struct fake_klass *holder;
    uint64_t more[4];
    uint16_t zero[3];
    uint16_t source_file;
    struct fake_symbol *slots[FAKE_POOL_SLOTS];
};

struct fake_const {
    uint64_t fingerprint;
    struct fake_pool *pool;
    uint64_t stackmap;
    int32_t words;
    uint16_t flags;
    uint16_t zero;
    uint16_t code_size, name_index, signature_index, idnum;
    uint16_t max_stack, max_locals, parameters, zero2;
    uint8_t code[FAKE_CODE_MAX + FAKE_LINES_MAX]; /* and the line table behind it */
};

struct fake_method {
    uint64_t vtable;
    struct fake_const *constant;
};

static inline struct fb_jvm_layout fake_layout(void)
{
    struct fb_jvm_layout layout;

    memset(&layout, 0xff, sizeof layout);
    layout.release = 17;
    layout.method_const = offsetof(struct fake_method, constant);
    layout.const_pool = offsetof(struct fake_const, pool);
    layout.const_name = offsetof(struct fake_const, name_index);
    layout.const_signature = offsetof(struct fake_const, signature_index);
    layout.const_code_size = offsetof(struct fake_const, code_size);
    layout.const_flags = offsetof(struct fake_const, flags);
    layout.const_bytes = offsetof(struct fake_const, words);
    layout.const_has_lines = 1;
    layout.const_size = offsetof(struct fake_const, code);
    layout.pool_holder = offsetof(struct fake_pool, holder);
    layout.pool_size = offsetof(struct fake_pool, slots);
    layout.pool_source_file = offsetof(struct fake_pool, source_file);
    layout.klass_name = offsetof(struct fake_klass, name);
    layout.symbol_length = offsetof(struct fake_symbol, length);
    layout.symbol_body = offsetof(struct fake_symbol, body);
    layout.symbol_hash = offsetof(struct fake_symbol, hash_and_count);
    return layout;
}

static inline void *fake_take(size_t size)
{
    void *p = aligned_alloc(8, (size + 7) & ~(size_t)7);

    if (p == NULL)
        abort();
    memset(p, 0, size);
    return p;
}

static inline struct fake_symbol *fake_symbol_make(const char *text)
{
    static uint32_t hash;
    struct fake_symbol *s = fake_take(sizeof *s);

    s->hash_and_count = ++hash << 16 | 1;
    s->length = (uint16_t)strlen(text);
    memcpy(s->body, text, s->length);
    return s;
}

static inline struct fake_method *fake_method_make(const char *class_name, const char *name,
                                                   const char *descriptor)
{
    struct fake_method *m = fake_take(sizeof *m);

    m->constant = fake_take(sizeof *m->constant);
    m->constant->pool = fake_take(sizeof *m->constant->pool);
    m->constant->pool->holder = fake_take(sizeof *m->constant->pool->holder);
    m->constant->pool->holder->name = fake_symbol_make(class_name);
    m->constant->name_index = 3;
    m->constant->signature_index = 5;
    m->constant->pool->slots[3] = fake_symbol_make(name);
    m->constant->pool->slots[5] = fake_symbol_make(descriptor);
    m->constant->words = sizeof *m->constant / 8;
    return m;
}

static inline void fake_method_free(struct fake_method *m)
{
    free(m->constant->pool->slots[3]);
    free(m->constant->pool->slots[5]);
    free(m->constant->pool->slots[7]);
    free(m->constant->pool->holder->name);
    free(m->constant->pool->holder);
    free(m->constant->pool);
    free(m->constant);
    free(m);
}

static inline uint64_t fake_address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

#endif
