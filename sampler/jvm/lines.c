/* lines.c - see lines.h.
 *
 * The table is a stream of steps.  A byte that is not 255 is one: its upper five bits are added to
 * the bci, its lower three to the line.  255 is followed by both steps as signed numbers in the
 * packing of UNSIGNED5, and 0 ends the table.  A bci belongs to the last entry that is not behind
 * it. */
#include "sampler/jvm/lines.h"

#include <stdbool.h>

#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/reading.h"
#include "sampler/jvm/signal/names.h"
#include "sampler/signal/guard.h"

enum {
    STEPS_MAX = 8192,
    BYTES_MAX = 65536,
    LONG_STEP = 255,
    PACKED_MORE = 192, /* a byte from here on is followed by another */
    PACKED_BYTES = 5,
};

struct stream {
    uint64_t at;
    uint64_t end;
    uint64_t word; /* the aligned word of the last byte */
    bool has_word;
    bool bad;
    uint8_t excluded; /* what a byte of a packed number is counted from */
};

static uint8_t byte_next(struct stream *s)
{
    if (s->at >= s->end ||
        ((!s->has_word || (s->at & 7) == 0) && !fb_guard_word(s->at & ~UINT64_C(7), &s->word))) {
        s->bad = true;
        return 0;
    }
    s->has_word = true;
    return (uint8_t)(s->word >> (s->at++ & 7) * 8);
}

static int32_t signed_next(struct stream *s)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < PACKED_BYTES; i++) {
        uint8_t byte = byte_next(s);

        value += (uint32_t)(byte - s->excluded) << 6 * i;
        if (byte < PACKED_MORE)
            break;
    }
    return (int32_t)(value >> 1) ^ -(int32_t)(value & 1);
}

/* Saturating: what the bytes say may be anything. */
static int64_t bounded(int64_t value)
{
    return value < 0 ? 0 : value > UINT16_MAX ? UINT16_MAX + 1 : value;
}

static uint32_t line_find(struct stream *s, int32_t bci)
{
    int64_t at = 0;
    int64_t line = 0;
    int64_t best_at = -1;
    int64_t best = 0;

    for (unsigned i = 0; i < STEPS_MAX; i++) {
        uint8_t step = byte_next(s);

        if (s->bad || step == 0)
            break;
        if (step == LONG_STEP) {
            at = bounded(at + signed_next(s));
            line = bounded(line + signed_next(s));
        } else {
            at = bounded(at + (step >> 3));
            line = bounded(line + (step & 7));
        }
        if (at <= bci && at >= best_at) {
            best_at = at;
            best = line;
        }
        if (at == bci)
            break;
    }
    return s->bad || best > UINT16_MAX ? 0 : (uint32_t)best;
}

static bool number_at(uint64_t address, unsigned bytes, uint32_t *ret_value)
{
    uint64_t word;

    if (!fb_guard_word(address & ~UINT64_C(7), &word))
        return false;
    word >>= (address & 7) * 8;
    *ret_value = bytes == 2 ? (uint16_t)word : (uint32_t)word;
    return true;
}

/* Where the table of the method lies; false: it has none. */
static bool table_find(uint64_t method, struct stream *ret)
{
    const struct fb_jvm_layout *at = fb_jvm_names.layout;
    uint64_t constant;
    uint32_t flags;
    uint32_t words;
    uint32_t code;

    if (at->const_flags < 0 || at->const_bytes < 0 || at->const_has_lines <= 0 ||
        !fb_guard_word(method + (uint64_t)at->method_const, &constant) || (constant & 7) != 0 ||
        !number_at(constant + (uint64_t)at->const_flags, 2, &flags) ||
        (flags & (uint32_t)at->const_has_lines) == 0 ||
        !number_at(constant + (uint64_t)at->const_bytes, 4, &words) ||
        !number_at(constant + (uint64_t)at->const_code_size, 2, &code))
        return false;
    *ret = (struct stream){
        .at = constant + (uint64_t)at->const_size + code,
        .end = constant + UINT64_C(8) * words,
        .excluded = at->release >= FB_JVM_RELEASE_NO_ZERO_BYTE,
    };
    return ret->at < ret->end && ret->end - ret->at <= BYTES_MAX;
}

/* The method bears the name that was taken down. */
static bool is_as_named(const struct fb_jvm_name_entry *entry)
{
    uint64_t key;

    return fb_jvm_method_key(entry->method, &key) && key == entry->key;
}

uint32_t fb_jvm_line(uint32_t id, int32_t bci)
{
    const struct fb_jvm_name_entry *entry = &fb_jvm_names.entries[id];
    struct stream s;
    uint32_t line;

    if (bci < 0 || id < FB_JVM_NAME_FIRST || !fb_jvm_may_read() || !is_as_named(entry) ||
        !table_find(entry->method, &s))
        return 0;
    line = line_find(&s, bci);
    return is_as_named(entry) ? line : 0;
}

/* The symbol with the name of the class's file; 0: it has none. */
/* Where the number of the file's name is: in the pool, or in the class. */
static bool source_index_at(uint64_t pool, uint64_t *ret_at)
{
    const struct fb_jvm_layout *at = fb_jvm_names.layout;
    bool in_pool = at->pool_source_file >= 0;
    uint64_t holder = pool;

    if (!in_pool &&
        (at->class_source_file < 0 || !fb_guard_word(pool + (uint64_t)at->pool_holder, &holder) ||
         (holder & 7) != 0))
        return false;
    *ret_at = holder + (uint32_t)(in_pool ? at->pool_source_file : at->class_source_file);
    return true;
}

static uint64_t source_find(uint64_t method)
{
    const struct fb_jvm_layout *at = fb_jvm_names.layout;
    uint64_t constant;
    uint64_t pool;
    uint64_t symbol;
    uint64_t where;
    uint32_t index;

    if (!fb_guard_word(method + (uint64_t)at->method_const, &constant) || (constant & 7) != 0 ||
        !fb_guard_word(constant + (uint64_t)at->const_pool, &pool) || (pool & 7) != 0 ||
        !source_index_at(pool, &where) || !number_at(where, 2, &index) || index == 0 ||
        !fb_guard_word(pool + (uint64_t)at->pool_size + UINT64_C(8) * index, &symbol))
        return 0;
    return (symbol & 7) == 0 ? symbol : 0;
}

size_t fb_jvm_source(uint32_t id, char *ret_text, size_t cap)
{
    const struct fb_jvm_layout *at = fb_jvm_names.layout;
    const struct fb_jvm_name_entry *entry = &fb_jvm_names.entries[id];
    struct stream s = {.bad = false};
    uint64_t symbol;
    uint32_t length;

    if (id < FB_JVM_NAME_FIRST || !fb_jvm_may_read() || !is_as_named(entry))
        return 0;
    symbol = source_find(entry->method);
    if (symbol == 0 || !number_at(symbol + (uint64_t)at->symbol_length, 2, &length))
        return 0;
    if (length > cap)
        length = (uint32_t)cap;
    s.at = symbol + (uint64_t)at->symbol_body;
    s.end = s.at + length;
    for (uint32_t i = 0; i < length; i++)
        ret_text[i] = (char)byte_next(&s);
    return !s.bad && is_as_named(entry) ? length : 0;
}
