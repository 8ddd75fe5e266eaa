/* code.c - segment map, blob, debug information; and the cache in front of them.  See code.h. */
#include "sampler/jvm/signal/code.h"

#include <stdatomic.h>
#include <stddef.h>

#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/signal/cpu.h"
#include "sampler/jvm/signal/frame_word.h"
#include "sampler/jvm/signal/names.h"
#include "sampler/jvm/signal/vm.h"

#include "sampler/signal/sigsafe.h"

enum {
    HOPS_MAX = 8192, /* of the segment map; it goes back by up to 254 at once */
    FREE_SEGMENT = 0xff,
    FRAME_WORDS_MAX = 1 << 16,
    PC_DESCS_MAX = 1 << 20,
    NUMBER_BYTES_MAX = 5,
    NUMBER_LOW = 192, /* a byte below it ends a number */
    METADATA_MAX = 1 << 16,
};

/* The first eight characters of blobs' names. */
#define NAME_NMETHOD  UINT64_C(0x00646f6874656d6e) /* "nmethod" */
#define NAME_NATIVE   UINT64_C(0x6e2065766974616e) /* "native nmethod" */
#define NAME_ROUTINES UINT64_C(0x74756f5262757453) /* "StubRoutines (...)" */

/* --- blobs ----------------------------------------------------------------------- */

static bool block_is_used(uint64_t block)
{
    uint8_t used;

    return fb_jvm_field_8(block, fb_jvm.layout.block_used, &used) && used == 1;
}

static uint64_t blob_in(const struct fb_jvm_heap *heap, uint64_t pc)
{
    uint64_t index = (pc - heap->low) >> heap->log2_segment;
    uint64_t block;
    uint8_t back;

    if (!fb_jvm_read_8(heap->segments + index, &back) || back == FREE_SEGMENT)
        return 0;
    for (unsigned i = 0; back > 0; i++) {
        if (i == HOPS_MAX || back > index)
            return 0;
        index -= back;
        if (!fb_jvm_read_8(heap->segments + index, &back) || back == FREE_SEGMENT)
            return 0;
    }
    block = heap->low + (index << heap->log2_segment);
    return block_is_used(block) ? block + fb_jvm.block_header : 0;
}

uint64_t fb_jvm_blob_find(uint64_t pc)
{
    for (uint32_t i = 0; i < fb_jvm.heap_count; i++) {
        const struct fb_jvm_heap *heap = &fb_jvm.heaps[i];
        uint64_t high;

        if (pc >= heap->low && fb_jvm_read_64(heap->high_at, &high) && pc < high)
            return blob_in(heap, pc);
    }
    return 0;
}

bool fb_jvm_blob_code(uint64_t blob, uint64_t *ret_begin, int32_t *ret_complete)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint32_t offset;
    uint16_t low;

    if (l->blob_code_begin >= 0) {
        if (!fb_jvm_field_64(blob, l->blob_code_begin, ret_begin))
            return false;
    } else {
        if (!fb_jvm_field_32(blob, l->blob_code_offset, &offset))
            return false;
        *ret_begin = blob + offset;
    }
    if (l->blob_frame_complete_bytes == 2) {
        if (!fb_jvm_field_16(blob, l->blob_frame_complete, &low))
            return false;
        *ret_complete = (int16_t)low;
        return true;
    }
    if (!fb_jvm_field_32(blob, l->blob_frame_complete, &offset))
        return false;
    *ret_complete = (int32_t)offset;
    return true;
}

bool fb_jvm_nmethod_entry(uint64_t nmethod, uint64_t *ret_entry)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint64_t begin;
    int32_t complete;
    uint16_t offset;

    if (l->nmethod_entry >= 0)
        return fb_jvm_field_64(nmethod, l->nmethod_entry, ret_entry);
    if (!fb_jvm_blob_code(nmethod, &begin, &complete) ||
        !fb_jvm_field_16(nmethod, l->nmethod_entry_offset, &offset))
        return false;
    *ret_entry = begin + offset;
    return true;
}

/* --- debug information ----------------------------------------------------------- */

/* Where the parts of an nmethod are. */
struct parts {
    uint64_t pcs;
    uint64_t pcs_end;
    uint64_t scopes;
    uint64_t metadata;
};

static bool metadata_find(uint64_t nmethod, uint64_t *ret_metadata)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint32_t offset;
    uint16_t low;
    uint64_t base;

    if (l->nmethod_metadata_offset < 0) {
        if (!fb_jvm_field_64(nmethod, l->blob_mutable_data, &base) ||
            !fb_jvm_field_32(nmethod, l->blob_relocation_size, &offset))
            return false;
        *ret_metadata = base + ((offset + 7) & ~7u);
        return true;
    }
    if (l->release >= FB_JVM_RELEASE_SHORT_OFFSETS) {
        if (!fb_jvm_field_16(nmethod, l->nmethod_metadata_offset, &low))
            return false;
        offset = low;
    } else if (!fb_jvm_field_32(nmethod, l->nmethod_metadata_offset, &offset)) {
        return false;
    }
    *ret_metadata = nmethod + offset;
    return true;
}

static bool parts_find(uint64_t nmethod, struct parts *ret)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint64_t base = nmethod;
    uint32_t first;
    uint32_t end;

    if (l->nmethod_immutable_data >= 0 &&
        !fb_jvm_field_64(nmethod, l->nmethod_immutable_data, &base))
        return false;
    if (!fb_jvm_field_32(nmethod, l->nmethod_pcs_offset, &first) ||
        !fb_jvm_field_32(nmethod,
                         l->nmethod_pcs_end_offset >= 0 && l->nmethod_immutable_data < 0
                             ? l->nmethod_pcs_end_offset
                             : l->nmethod_scopes_offset,
                         &end) ||
        end < first || end - first > (uint32_t)PC_DESCS_MAX * (uint32_t)l->pc_desc_size)
        return false;
    ret->pcs = base + first;
    ret->pcs_end = base + end;
    if (l->nmethod_scopes_begin >= 0) {
        if (!fb_jvm_field_64(nmethod, l->nmethod_scopes_begin, &ret->scopes))
            return false;
    } else {
        if (!fb_jvm_field_32(nmethod, l->nmethod_scopes_offset, &end))
            return false;
        ret->scopes = base + end;
    }
    return metadata_find(nmethod, &ret->metadata);
}

/* Where the scopes of the first description from `offset` on start, or FB_JVM_SCOPE_NONE.  Offset
 * of code and offset of scopes are one word. */
static uint32_t scope_find(const struct parts *p, int32_t offset)
{
    uint32_t size = (uint32_t)fb_jvm.layout.pc_desc_size;
    uint64_t low = 0;
    uint64_t high = (p->pcs_end - p->pcs) / size;
    uint64_t count = high;
    uint64_t word;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (!fb_jvm_read_64(p->pcs + middle * size, &word))
            return FB_JVM_SCOPE_NONE;
        if ((int32_t)(uint32_t)word < offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || !fb_jvm_read_64(p->pcs + low * size, &word))
        return FB_JVM_SCOPE_NONE;
    return (uint32_t)(word >> 32);
}

struct stream {
    uint64_t at;
    uint64_t word; /* the aligned one that holds at, if it is loaded */
    bool loaded;
};

static bool stream_byte(struct stream *s, uint32_t *ret_byte)
{
    if (!s->loaded || (s->at & 7) == 0) {
        if (!fb_jvm_read_64(s->at & ~UINT64_C(7), &s->word))
            return false;
        s->loaded = true;
    }
    *ret_byte = (uint32_t)(s->word >> 8 * (s->at & 7)) & 0xff;
    s->at++;
    return true;
}

/* Bytes of six bits each but the last, which is below NUMBER_LOW; newer JDKs have no byte 0. */
static bool stream_number(struct stream *s, uint32_t *ret_number)
{
    uint32_t least = fb_jvm.layout.release >= FB_JVM_RELEASE_NO_ZERO_BYTE ? 1 : 0;
    uint32_t sum = 0;

    for (unsigned i = 0; i < NUMBER_BYTES_MAX; i++) {
        uint32_t byte;

        if (!stream_byte(s, &byte) || byte < least)
            return false;
        sum += (byte - least) << (6 * i);
        if (byte < NUMBER_LOW)
            break;
    }
    *ret_number = sum;
    return true;
}

static uint32_t method_name(const struct parts *p, uint32_t index)
{
    uint64_t method;

    if (index == 0 || index > METADATA_MAX ||
        !fb_jvm_read_64(p->metadata + 8 * (uint64_t)(index - 1), &method) ||
        !fb_jvm_is_pointer(method))
        return 0;
    return fb_jvm_method_name(method);
}

/* The scopes from `offset` on, outwards; returns how many. */
static unsigned scopes_put(const struct parts *p, uint32_t offset, enum fb_jvm_tier tier,
                           uint64_t *words, unsigned room)
{
    unsigned n = 0;

    while (n < room && n < FB_JVM_INLINE_MAX) {
        struct stream s = {.at = p->scopes + offset};
        uint32_t sender;
        uint32_t method;
        uint32_t bci;

        if (!stream_number(&s, &sender) || !stream_number(&s, &method) || !stream_number(&s, &bci))
            break;
        words[n++] = fb_jvm_word(sender != FB_JVM_SCOPE_NONE ? FB_JVM_INLINED : FB_JVM_COMPILED,
                                 tier, (int32_t)bci - 1, method_name(p, method));
        if (sender == FB_JVM_SCOPE_NONE || sender >= offset)
            break; /* a caller's scope is written before its callee's */
        offset = sender;
    }
    return n;
}

static enum fb_jvm_tier tier_of(uint64_t nmethod)
{
    uint8_t level;

    if (!fb_jvm_field_8(nmethod, fb_jvm.layout.nmethod_level, &level) || level < 1 || level > 4)
        return FB_JVM_TIER_UNKNOWN;
    return (enum fb_jvm_tier)(level + 1);
}

static uint64_t own_word(uint64_t nmethod, enum fb_jvm_frame_kind kind, enum fb_jvm_tier tier)
{
    uint64_t method = 0;
    uint32_t name = 0;

    if (fb_jvm_field_64(nmethod, fb_jvm.layout.nmethod_method, &method) &&
        fb_jvm_is_pointer(method))
        name = fb_jvm_method_name(method);
    return fb_jvm_word(kind, tier, FB_JVM_BCI_UNKNOWN, name);
}

/* The true pc of a frame whose return address was changed is kept in the frame. */
static void deoptimised_look(uint64_t pc, struct fb_jvm_code *code)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    const int32_t at[2] = {l->nmethod_deopt, l->nmethod_deopt_mh};
    const int32_t offset_at[2] = {l->nmethod_deopt_offset, l->nmethod_deopt_mh_offset};
    uint32_t original;

    for (int i = 0; i < 2; i++) {
        uint64_t handler = 0;
        uint32_t offset;

        if (at[i] >= 0)
            fb_jvm_field_64(code->blob, at[i], &handler);
        else if (fb_jvm_field_32(code->blob, offset_at[i], &offset))
            handler = code->blob + offset;
        if (pc == handler &&
            fb_jvm_field_32(code->blob, l->nmethod_original_pc_offset, &original) &&
            original < FRAME_WORDS_MAX * 8)
            code->original_pc = (int32_t)original;
    }
}

static bool nmethod_describe(uint64_t pc, bool interrupted, uint64_t *words, unsigned room,
                             struct fb_jvm_code *code)
{
    enum fb_jvm_tier tier = tier_of(code->blob);
    struct parts parts;
    uint64_t begin;
    int32_t complete;
    uint32_t scope = FB_JVM_SCOPE_NONE;

    if (!fb_jvm_field_32(code->blob, fb_jvm.layout.nmethod_compile_id, &code->compile_id) ||
        !fb_jvm_blob_code(code->blob, &begin, &complete) || pc < begin)
        return false;
    if (code->kind == FB_JVM_CODE_WRAPPER) {
        words[0] = own_word(code->blob, FB_JVM_NATIVE, tier);
        code->word_count = 1;
        return true;
    }
    code->frame_bytes += (int32_t)fb_jvm_cpu_pushed(pc);
    if (!interrupted)
        deoptimised_look(pc, code);
    if (code->original_pc >= 0)
        return true; /* the caller of this looks at that pc */
    if (parts_find(code->blob, &parts))
        scope = scope_find(&parts, (int32_t)(pc - begin) + interrupted);
    if (scope != FB_JVM_SCOPE_NONE)
        code->word_count = (uint8_t)scopes_put(&parts, scope, tier, words, room);
    if (code->word_count == 0) {
        words[0] = own_word(code->blob, FB_JVM_COMPILED, tier);
        code->word_count = 1;
    }
    return true;
}

/* Does a NUL-terminated text of at most 64 bytes hold "ontinuation"? */
static bool names_continuation(uint64_t name)
{
    static const char wanted[] = "ontinuation";
    unsigned matched = 0;

    for (unsigned i = 0; i < 64; i++) {
        uint8_t c;

        if (!fb_jvm_read_8(name + i, &c) || c == 0)
            return false;
        matched = c == (uint8_t)wanted[matched] ? matched + 1 : c == (uint8_t)wanted[0];
        if (wanted[matched] == '\0')
            return true;
    }
    return false;
}

bool fb_jvm_blob_is_nmethod(uint64_t blob)
{
    uint64_t name;
    uint64_t head;

    return blob != 0 && fb_jvm_field_64(blob, fb_jvm.layout.blob_name, &name) &&
           fb_jvm_read_64(name, &head) && (head == NAME_NMETHOD || head == NAME_NATIVE);
}

bool fb_jvm_blob_is_barrier(uint64_t blob)
{
    uint64_t name;
    uint64_t head;

    return fb_jvm.layout.release >= FB_JVM_RELEASE_CONTINUATIONS &&
           fb_jvm_field_64(blob, fb_jvm.layout.blob_name, &name) && fb_jvm_read_64(name, &head) &&
           head == NAME_ROUTINES && names_continuation(name);
}

static bool describe(uint64_t pc, bool interrupted, uint64_t *words, unsigned room,
                     struct fb_jvm_code *code)
{
    uint64_t name;
    uint64_t head;
    uint64_t stub;
    uint32_t size;
    bool called;

    *code = (struct fb_jvm_code){.original_pc = -1, .blob = fb_jvm_blob_find(pc)};
    if (code->blob == 0 || !fb_jvm_field_64(code->blob, fb_jvm.layout.blob_name, &name) ||
        !fb_jvm_read_64(name, &head) ||
        !fb_jvm_field_32(code->blob, fb_jvm.layout.blob_frame_size, &size))
        return false;
    if ((int32_t)size > 0 && size < FRAME_WORDS_MAX)
        code->frame_bytes = (int32_t)size * 8;
    code->kind = code->frame_bytes > 0 ? FB_JVM_CODE_SIZED : FB_JVM_CODE_LEAF;
    if (head == NAME_NMETHOD || head == NAME_NATIVE) {
        code->kind = head == NAME_NMETHOD ? FB_JVM_CODE_METHOD : FB_JVM_CODE_WRAPPER;
        return nmethod_describe(pc, interrupted, words, room, code);
    }
    if (fb_jvm_blob_is_barrier(code->blob))
        code->kind = FB_JVM_CODE_BARRIER;
    /* Nobody called the barrier: it is where it begins. */
    called = !interrupted && code->kind != FB_JVM_CODE_BARRIER;
    stub = head == NAME_ROUTINES ? fb_jvm_stub_name(pc - called) : 0;
    code->is_vague = head == NAME_ROUTINES && stub == 0;
    words[0] = fb_jvm_word(FB_JVM_STUB, FB_JVM_TIER_UNKNOWN, FB_JVM_BCI_UNKNOWN,
                           fb_jvm_blob_name(stub != 0 ? stub : name));
    code->word_count = 1;
    return true;
}

/* --- the cache ------------------------------------------------------------------- */

struct slot {
    _Atomic uint32_t sequence; /* odd: somebody writes */
    uint32_t compile_id;
    _Atomic uint64_t key;
    uint64_t blob;
    int32_t frame_bytes;
    int32_t original_pc;
    uint8_t kind;
    uint8_t word_count;
    uint16_t zero[7];
    uint64_t words[FB_JVM_CACHE_WORDS];
};

_Static_assert(sizeof(struct slot) == 256, "slots fill FB_JVM_CACHE_BYTES");

static struct slot *slot_of(uint64_t key)
{
    struct slot *slots = fb_jvm.cache;

    return slots == NULL ? NULL : &slots[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - 13)];
}

_Static_assert(FB_JVM_CACHE_SLOTS == 1 << 13, "a slot is the top 13 bits");

/* Words are copied one by one as atomics, since another thread may write them meanwhile. */
static bool slot_read(struct slot *s, uint64_t key, uint64_t *words, unsigned room,
                      struct fb_jvm_code *code)
{
    uint32_t sequence = atomic_load_explicit(&s->sequence, memory_order_acquire);
    uint32_t compile_id;

    if ((sequence & 1) != 0 || atomic_load_explicit(&s->key, memory_order_relaxed) != key)
        return false;
    code->blob = __atomic_load_n(&s->blob, __ATOMIC_RELAXED);
    code->compile_id = __atomic_load_n(&s->compile_id, __ATOMIC_RELAXED);
    code->frame_bytes = __atomic_load_n(&s->frame_bytes, __ATOMIC_RELAXED);
    code->original_pc = __atomic_load_n(&s->original_pc, __ATOMIC_RELAXED);
    code->kind = __atomic_load_n(&s->kind, __ATOMIC_RELAXED);
    code->word_count = __atomic_load_n(&s->word_count, __ATOMIC_RELAXED);
    if (code->word_count > room || code->word_count > FB_JVM_CACHE_WORDS)
        return false;
    for (unsigned i = 0; i < code->word_count; i++)
        words[i] = __atomic_load_n(&s->words[i], __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&s->sequence, memory_order_relaxed) != sequence)
        return false;
    if (code->kind > FB_JVM_CODE_WRAPPER)
        return true;
    return fb_jvm_field_32(code->blob, fb_jvm.layout.nmethod_compile_id, &compile_id) &&
           compile_id == code->compile_id && block_is_used(code->blob - fb_jvm.block_header);
}

static void slot_write(struct slot *s, uint64_t key, const uint64_t *words,
                       const struct fb_jvm_code *code)
{
    uint32_t sequence = atomic_load_explicit(&s->sequence, memory_order_relaxed);

    if (code->word_count > FB_JVM_CACHE_WORDS || (sequence & 1) != 0 ||
        !atomic_compare_exchange_strong(&s->sequence, &sequence, sequence + 1))
        return;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&s->key, key, memory_order_relaxed);
    __atomic_store_n(&s->blob, code->blob, __ATOMIC_RELAXED);
    __atomic_store_n(&s->compile_id, code->compile_id, __ATOMIC_RELAXED);
    __atomic_store_n(&s->frame_bytes, code->frame_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&s->original_pc, code->original_pc, __ATOMIC_RELAXED);
    __atomic_store_n(&s->kind, code->kind, __ATOMIC_RELAXED);
    __atomic_store_n(&s->word_count, code->word_count, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < code->word_count; i++)
        __atomic_store_n(&s->words[i], words[i], __ATOMIC_RELAXED);
    atomic_store_explicit(&s->sequence, sequence + 2, memory_order_release);
}

/* A name that could not be had, or no better one, may be had the next time; a list that was cut is
 * no whole answer. */
static bool worth_keeping(const uint64_t *words, unsigned room, const struct fb_jvm_code *code)
{
    for (unsigned i = 0; i < code->word_count; i++)
        if (fb_jvm_word_name(words[i]) == 0)
            return false;
    return code->word_count < room && !code->is_vague;
}

bool fb_jvm_code_find(uint64_t pc, bool interrupted, uint64_t *words, unsigned room,
                      struct fb_jvm_code *ret_code)
{
    uint64_t key = pc << 1 | interrupted;
    struct slot *slot = slot_of(key);

    if (room == 0)
        return false;
    if (slot != NULL && slot_read(slot, key, words, room, ret_code))
        return true;
    if (!describe(pc, interrupted, words, room, ret_code))
        return false;
    if (slot != NULL && worth_keeping(words, room, ret_code))
        slot_write(slot, key, words, ret_code);
    return true;
}
