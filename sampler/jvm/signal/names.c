/* names.c - see names.h. */
#include "sampler/jvm/signal/names.h"

#include <stddef.h>
#include <string.h>

#include "sampler/signal/guard.h"

#include "sampler/signal/sigsafe.h"

enum {
    PROBES_MAX = 512,
    PAGE = 4096,
    ENTRIES_AHEAD = 16 * PAGE,
    TEXT_AHEAD = 64 * PAGE,
    LOWEST = 4096, /* no object lies below */
};

#define COUNT_MASK UINT64_C(0xffff) /* of a symbol's word: its reference count */

struct fb_jvm_names fb_jvm_names;

static const char full_text[] = "[java method table full]";

/* What a method's name is made of. */
struct facts {
    uint64_t key;
    uint64_t class_name; /* Symbol* */
    uint64_t method_name;
    uint64_t descriptor;
};

static bool is_object(uint64_t address)
{
    return address >= LOWEST && (address & 7) == 0;
}

static bool pointer_at(uint64_t address, uint64_t *ret_pointer)
{
    return fb_guard_word(address, ret_pointer) && is_object(*ret_pointer);
}

/* Loads are of whole words that are aligned, and so never reach into another page. */
static bool short_at(uint64_t address, uint16_t *ret_value)
{
    uint64_t word;

    if (!fb_guard_word(address & ~UINT64_C(7), &word))
        return false;
    *ret_value = (uint16_t)(word >> (address & 6) * 8);
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* What a symbol says of itself, without its reference count. */
static bool symbol_mix(uint64_t symbol, uint64_t *hash)
{
    const struct fb_jvm_layout *at = fb_jvm_names.layout;
    uint64_t word;
    uint16_t length;

    if (fb_jvm_names.symbol_word) {
        if (!fb_guard_word(symbol, &word))
            return false;
        *hash = mix(*hash, word & ~COUNT_MASK);
        return true;
    }
    if (!short_at(symbol + (uint64_t)at->symbol_length, &length))
        return false;
    *hash = mix(*hash, length);
    for (uint64_t i = 0; i < 2; i++) { /* the first letters and the last */
        uint64_t from = symbol + (uint64_t)at->symbol_body + (length > 8 ? i * (length - 8u) : 0);

        if (!fb_guard_word(from & ~UINT64_C(7), &word))
            return false;
        *hash = mix(*hash, word);
    }
    return true;
}

static bool facts_read(uint64_t method, struct facts *ret)
{
    const struct fb_jvm_layout *at = fb_jvm_names.layout;
    uint64_t constant;
    uint64_t pool;
    uint64_t holder;
    uint64_t table;
    uint64_t key;
    uint64_t class_key = 1;
    uint64_t name_key = 2;
    uint64_t descriptor_key = 3;
    uint16_t name_index;
    uint16_t descriptor_index;

    if (!is_object(method) || !pointer_at(method + (uint64_t)at->method_const, &constant) ||
        !pointer_at(constant + (uint64_t)at->const_pool, &pool) ||
        !short_at(constant + (uint64_t)at->const_name, &name_index) ||
        !short_at(constant + (uint64_t)at->const_signature, &descriptor_index) ||
        !pointer_at(pool + (uint64_t)at->pool_holder, &holder) ||
        !pointer_at(holder + (uint64_t)at->klass_name, &ret->class_name))
        return false;
    table = pool + (uint64_t)at->pool_size;
    if (!pointer_at(table + 8u * name_index, &ret->method_name) ||
        !pointer_at(table + 8u * descriptor_index, &ret->descriptor))
        return false;
    /* A sum of products, which a CPU has in flight at once, where mix() would wait for each. */
    key = method * 0x9e3779b97f4a7c15u + constant * 0xbf58476d1ce4e5b9u +
          pool * 0x94d049bb133111ebu + holder * 0xd6e8feb86659fd93u +
          ((uint64_t)name_index << 16 | descriptor_index) * 0xa0761d6478bd642fu +
          ret->class_name * 0xe7037ed1a0b428dbu + ret->method_name * 0x8ebc6af09c88c6e3u +
          ret->descriptor * 0x589965cc75374cc3u;
    if (!symbol_mix(ret->class_name, &class_key) || !symbol_mix(ret->method_name, &name_key) ||
        !symbol_mix(ret->descriptor, &descriptor_key))
        return false;
    ret->key =
        mix(key + class_key * 0x1d8e4e27c47d124fu + name_key * 0xeb44accab455d165u, descriptor_key);
    return true;
}

bool fb_jvm_method_key(uint64_t method, uint64_t *ret_key)
{
    struct facts facts;

    if (!facts_read(method, &facts))
        return false;
    *ret_key = facts.key;
    return true;
}

static uint32_t slot_of(uint64_t key, unsigned probe)
{
    return ((uint32_t)(key >> 40) + probe) & (FB_JVM_NAMES_SLOTS - 1);
}

static bool is_named(uint32_t id, uint64_t key, uint64_t source)
{
    return fb_jvm_names.entries[id].key == key && fb_jvm_names.entries[id].method == source;
}

/* The id, or 0 with *ret_probe at the first empty slot (PROBES_MAX: there is none near). */
static uint32_t find(uint64_t key, uint64_t source, unsigned *ret_probe)
{
    unsigned probe;

    for (probe = 0; probe < PROBES_MAX; probe++) {
        uint32_t id =
            atomic_load_explicit(&fb_jvm_names.slots[slot_of(key, probe)], memory_order_acquire);

        if (id == 0)
            break;
        if (is_named(id, key, source))
            return id;
    }
    *ret_probe = probe;
    return 0;
}

static uint32_t refuse(void)
{
    atomic_fetch_add_explicit(&fb_jvm_names.refused, 1, memory_order_relaxed);
    return FB_JVM_NAME_FULL;
}

/* Room for the parts of a text; NULL: there is none. */
static struct fb_jvm_name_text *text_take(size_t bytes, uint32_t *ret_at)
{
    uint32_t size = (uint32_t)(sizeof(struct fb_jvm_name_text) + bytes + 7) & ~7u;
    uint32_t at;

    if (atomic_load_explicit(&fb_jvm_names.text_used, memory_order_relaxed) >
        FB_JVM_NAMES_TEXT - size)
        return NULL;
    at = atomic_fetch_add_explicit(&fb_jvm_names.text_used, size, memory_order_relaxed);
    if (at > FB_JVM_NAMES_TEXT - size)
        return NULL;
    *ret_at = at;
    return (struct fb_jvm_name_text *)(void *)(fb_jvm_names.text + at);
}

/* An entry that nobody sees yet; 0: there is none. */
static uint32_t entry_take(void)
{
    uint32_t id;

    if (atomic_load_explicit(&fb_jvm_names.used, memory_order_relaxed) >= FB_JVM_NAMES_MAX)
        return 0;
    id = atomic_fetch_add_explicit(&fb_jvm_names.used, 1, memory_order_relaxed);
    return id < FB_JVM_NAMES_MAX ? id : 0;
}

/* Puts the entry into the first slot that is empty; the id under which the name is known then. */
static uint32_t publish(uint32_t id, uint64_t key, uint64_t source, unsigned probe)
{
    for (; probe < PROBES_MAX; probe++) {
        uint32_t seen = 0;

        if (atomic_compare_exchange_strong(&fb_jvm_names.slots[slot_of(key, probe)], &seen, id))
            return id;
        if (is_named(seen, key, source))
            return seen;
    }
    return refuse();
}

static bool bytes_copy(char *to, uint64_t from, size_t n)
{
    uint64_t word = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t at = from + i;

        if ((i == 0 || (at & 7) == 0) && !fb_guard_word(at & ~UINT64_C(7), &word))
            return false;
        to[i] = (char)(word >> (at & 7) * 8);
    }
    return true;
}

static bool length_read(uint64_t symbol, uint16_t most, uint16_t *ret_length)
{
    if (!short_at(symbol + (uint64_t)fb_jvm_names.layout->symbol_length, ret_length))
        return false;
    if (*ret_length > most)
        *ret_length = most;
    return true;
}

static bool symbol_copy(char *to, uint64_t symbol, uint16_t n)
{
    return bytes_copy(to, symbol + (uint64_t)fb_jvm_names.layout->symbol_body, n);
}

static uint32_t method_add(uint64_t method, const struct facts *facts, unsigned probe)
{
    struct fb_jvm_name_text *text;
    uint64_t key;
    uint32_t at;
    uint32_t id;
    uint16_t lens[3];

    if (!length_read(facts->class_name, FB_JVM_CLASS_MAX, &lens[0]) ||
        !length_read(facts->method_name, FB_JVM_METHOD_MAX, &lens[1]) ||
        !length_read(facts->descriptor, FB_JVM_DESCRIPTOR_MAX, &lens[2]))
        return FB_JVM_NAME_NONE;
    text = probe < PROBES_MAX ? text_take((size_t)lens[0] + lens[1] + lens[2], &at) : NULL;
    if (text == NULL)
        return refuse();
    *text = (struct fb_jvm_name_text){lens[0], lens[1], lens[2], 0};
    if (!symbol_copy(text->bytes, facts->class_name, lens[0]) ||
        !symbol_copy(text->bytes + lens[0], facts->method_name, lens[1]) ||
        !symbol_copy(text->bytes + lens[0] + lens[1], facts->descriptor, lens[2]) ||
        !fb_jvm_method_key(method, &key) || key != facts->key)
        return FB_JVM_NAME_NONE;
    id = entry_take();
    if (id == 0)
        return refuse();
    fb_jvm_names.entries[id] = (struct fb_jvm_name_entry){.key = key, .method = method, .text = at};
    return publish(id, key, method, probe);
}

uint32_t fb_jvm_method_name(uint64_t method)
{
    struct facts facts;
    unsigned probe;
    uint32_t id;

    if (!facts_read(method, &facts))
        return FB_JVM_NAME_NONE;
    id = find(facts.key, method, &probe);
    return id != 0 ? id : method_add(method, &facts, probe);
}

/* Copies up to the NUL; false: there is none, or it cannot be read. */
static bool plain_copy(char to[FB_JVM_PLAIN_MAX], uint64_t from, uint16_t *ret_n, uint64_t *ret_key)
{
    uint64_t word = 0;
    uint64_t key = from;

    for (uint16_t i = 0; i < FB_JVM_PLAIN_MAX; i++) {
        uint64_t at = from + i;

        if ((i == 0 || (at & 7) == 0) && !fb_guard_word(at & ~UINT64_C(7), &word))
            return false;
        to[i] = (char)(word >> (at & 7) * 8);
        if (to[i] == '\0') {
            *ret_n = i;
            *ret_key = key;
            return i > 0;
        }
        key = mix(key, (uint8_t)to[i]);
    }
    return false;
}

uint32_t fb_jvm_blob_name(uint64_t source)
{
    char copy[FB_JVM_PLAIN_MAX];
    struct fb_jvm_name_text *text;
    uint64_t key;
    unsigned probe;
    uint32_t at;
    uint32_t id;
    uint16_t n;

    if (source < LOWEST || !plain_copy(copy, source, &n, &key))
        return FB_JVM_NAME_NONE;
    id = find(key, source, &probe);
    if (id != 0)
        return id;
    text = probe < PROBES_MAX ? text_take(n, &at) : NULL;
    id = text != NULL ? entry_take() : 0;
    if (id == 0)
        return refuse();
    *text = (struct fb_jvm_name_text){.method_len = n, .is_plain = 1};
    memcpy(text->bytes, copy, n);
    fb_jvm_names.entries[id] = (struct fb_jvm_name_entry){.key = key, .method = source, .text = at};
    return publish(id, key, source, probe);
}

void fb_jvm_names_init(void *memory, const struct fb_jvm_layout *layout)
{
    uint8_t *at = memory;
    struct fb_jvm_name_text *full;

    fb_jvm_names.layout = layout;
    fb_jvm_names.entries = memory;
    at += FB_JVM_NAMES_MAX * sizeof(struct fb_jvm_name_entry);
    fb_jvm_names.slots = (_Atomic uint32_t *)(void *)at;
    at += FB_JVM_NAMES_SLOTS * sizeof(uint32_t);
    fb_jvm_names.text = at;
    fb_jvm_names.symbol_word =
        layout->symbol_hash == 0 && layout->symbol_length == 4 && layout->symbol_body == 6;
    full = (struct fb_jvm_name_text *)(void *)at;
    *full = (struct fb_jvm_name_text){.method_len = sizeof full_text - 1, .is_plain = 1};
    memcpy(full->bytes, full_text, sizeof full_text - 1);
    atomic_store(&fb_jvm_names.text_used,
                 (uint32_t)(sizeof *full + sizeof full_text + 7) & ~UINT32_C(7));
    atomic_store(&fb_jvm_names.used, FB_JVM_NAME_FIRST);
    atomic_store(&fb_jvm_names.refused, 0);
}

/* An atomic addition of nothing writes the page and takes nothing from who writes there too. */
static void touch(uint8_t *region, size_t from, size_t to, size_t size)
{
    for (size_t at = from & ~(size_t)(PAGE - 1); at < to && at < size; at += PAGE)
        atomic_fetch_add_explicit((_Atomic uint32_t *)(void *)(region + at), 0,
                                  memory_order_relaxed);
}

void fb_jvm_names_prepare(void)
{
    static size_t entries_to;
    static size_t text_to;
    static const void *whose;
    size_t entries = atomic_load(&fb_jvm_names.used) * sizeof(struct fb_jvm_name_entry);
    size_t text = atomic_load(&fb_jvm_names.text_used);

    if (whose != fb_jvm_names.entries) {
        whose = fb_jvm_names.entries;
        entries_to = text_to = 0;
        touch((uint8_t *)fb_jvm_names.slots, 0, FB_JVM_NAMES_SLOTS * 4, FB_JVM_NAMES_SLOTS * 4);
    }
    if (entries + ENTRIES_AHEAD / 2 > entries_to) {
        touch((uint8_t *)fb_jvm_names.entries, entries_to, entries + ENTRIES_AHEAD,
              FB_JVM_NAMES_MAX * sizeof(struct fb_jvm_name_entry));
        entries_to = entries + ENTRIES_AHEAD;
    }
    if (text + TEXT_AHEAD / 2 > text_to) {
        touch(fb_jvm_names.text, text_to, text + TEXT_AHEAD, FB_JVM_NAMES_TEXT);
        text_to = text + TEXT_AHEAD;
    }
}
