/* fields.c - see fields.h. */
#include "sampler/jvm/fields.h"

#include <string.h>

#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/signal/vm.h"

enum {
    FIELDS_MAX = 1024,
    ARRAY_DATA = 4, /* of an Array<u1> or Array<u2>, behind its length */
    STREAM_MAX = 1 << 16,
    PACKED_MORE = 192, /* a byte from here on is followed by another */
    PACKED_BYTES = 5,
};

struct wanted {
    uint64_t pool;
    const char *name;
    const char *descriptor;
};

static bool symbol_is(const struct wanted *w, uint32_t index, const char *text)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    size_t n = strlen(text);
    uint64_t symbol;
    uint16_t length;

    if (!fb_jvm_read_64(w->pool + (uint32_t)l->pool_size + 8 * (uint64_t)index, &symbol) ||
        !fb_jvm_is_pointer(symbol) || !fb_jvm_field_16(symbol, l->symbol_length, &length) ||
        length != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint8_t byte;

        if (!fb_jvm_read_8(symbol + (uint32_t)l->symbol_body + i, &byte) ||
            byte != (uint8_t)text[i])
            return false;
    }
    return true;
}

static bool is_wanted(const struct wanted *w, uint32_t name, uint32_t descriptor)
{
    return symbol_is(w, name, w->name) && symbol_is(w, descriptor, w->descriptor);
}

static bool in_words(uint64_t class, const struct wanted *w, uint32_t *ret_offset)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint64_t table;
    uint32_t length;
    uint16_t count;

    if (!fb_jvm_field_64(class, l->class_fields, &table) || !fb_jvm_is_pointer(table) ||
        !fb_jvm_field_16(class, l->class_field_count, &count) || count > FIELDS_MAX ||
        !fb_jvm_read_32(table, &length) || length < count * FB_JVM_FIELD_WORDS)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = table + ARRAY_DATA + 2 * FB_JVM_FIELD_WORDS * (uint64_t)i;
        uint16_t words[FB_JVM_FIELD_WORDS];

        for (unsigned k = 0; k < FB_JVM_FIELD_WORDS; k++)
            if (!fb_jvm_read_16(at + 2 * k, &words[k]))
                return false;
        if (!is_wanted(w, words[FB_JVM_FIELD_NAME], words[FB_JVM_FIELD_DESCRIPTOR]))
            continue;
        *ret_offset = ((uint32_t)words[FB_JVM_FIELD_HIGH] << 16 | words[FB_JVM_FIELD_LOW]) >>
                      FB_JVM_FIELD_TAG_BITS;
        return (words[FB_JVM_FIELD_LOW] & FB_JVM_FIELD_HAS_OFFSET) != 0;
    }
    return false;
}

struct stream {
    uint64_t at;
    uint64_t end;
    bool bad;
};

static uint32_t number_next(struct stream *s)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < PACKED_BYTES && !s->bad; i++) {
        uint8_t byte;

        s->bad = s->at >= s->end || !fb_jvm_read_8(s->at++, &byte) || byte == 0;
        if (s->bad)
            return 0;
        value += (uint32_t)(byte - 1) << 6 * i;
        if (byte < PACKED_MORE)
            break;
    }
    return value;
}

static bool in_stream(uint64_t class, const struct wanted *w, uint32_t *ret_offset)
{
    struct stream s = {.bad = false};
    uint64_t table;
    uint32_t length;
    uint32_t count;

    if (!fb_jvm_field_64(class, fb_jvm.layout.class_field_stream, &table) ||
        !fb_jvm_is_pointer(table) || !fb_jvm_read_32(table, &length) || length > STREAM_MAX)
        return false;
    s.at = table + ARRAY_DATA;
    s.end = s.at + length;
    count = number_next(&s);
    number_next(&s); /* fields that the JVM adds */
    for (uint32_t i = 0; i < count && i < FIELDS_MAX && !s.bad; i++) {
        uint32_t name = number_next(&s);
        uint32_t descriptor = number_next(&s);
        uint32_t offset = number_next(&s);
        uint32_t flags;

        number_next(&s); /* access */
        flags = number_next(&s);
        if (!s.bad && is_wanted(w, name, descriptor)) {
            *ret_offset = offset;
            return true;
        }
        for (unsigned bit = 0; bit < 32; bit++)
            if (flags & FB_JVM_FIELD_OPTIONS & 1u << bit)
                number_next(&s);
    }
    return false;
}

bool fb_jvm_field_find(uint64_t class, const char *name, const char *descriptor,
                       uint32_t *ret_offset)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    struct wanted w = {.name = name, .descriptor = descriptor};

    if (!fb_jvm_field_64(class, l->class_pool, &w.pool) || !fb_jvm_is_pointer(w.pool))
        return false;
    return (l->class_field_stream >= 0 ? in_stream(class, &w, ret_offset)
                                       : in_words(class, &w, ret_offset)) &&
           *ret_offset < 4096;
}
