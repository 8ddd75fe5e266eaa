/* agct_names.h - the names by which agct.c compares: ids of the sampler's own table of names. */
#ifndef FB_TESTS_JVM_AGCT_NAMES_H
#define FB_TESTS_JVM_AGCT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sampler/jvm/signal/names.h"

/* 0 where it cannot be read. */
static inline uint32_t agct_name(uint64_t method)
{
    return fb_jvm_names.entries == NULL ? 0 : fb_jvm_method_name(method);
}

static inline const struct fb_jvm_name_text *agct_entry(uint32_t name)
{
    const struct fb_jvm_name_entry *entry = &fb_jvm_names.entries[name];

    return (const struct fb_jvm_name_text *)(const void *)(fb_jvm_names.text + entry->text);
}

static inline void agct_text(uint32_t name, char *ret_text, size_t room)
{
    const struct fb_jvm_name_text *t;

    if (name < FB_JVM_NAME_FIRST || fb_jvm_names.entries == NULL) {
        snprintf(ret_text, room, "[no name]");
        return;
    }
    t = agct_entry(name);
    snprintf(ret_text, room, "%.*s.%.*s", t->class_len, t->bytes, t->method_len,
             t->bytes + t->class_len);
}

/* A redefined method is two: the same by what they are called. */
static inline bool agct_same_name(uint32_t a, uint32_t b)
{
    const struct fb_jvm_name_text *s = agct_entry(a);
    const struct fb_jvm_name_text *t = agct_entry(b);
    size_t n = (size_t)s->class_len + s->method_len + s->descriptor_len;

    return a == b || (s->class_len == t->class_len && s->method_len == t->method_len &&
                      s->descriptor_len == t->descriptor_len && memcmp(s->bytes, t->bytes, n) == 0);
}

#endif
