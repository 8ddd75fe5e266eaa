/* A code cache as the JVM keeps one, made of our own memory, with blobs, compiled methods and their
 * debug information.  The places are those of JDK 17 or of JDK 25. */
#ifndef FB_TESTS_FAKE_CODE_CACHE_H
#define FB_TESTS_FAKE_CODE_CACHE_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "sampler/jvm/signal/code.h"
#include "sampler/jvm/signal/names.h"
#include "sampler/jvm/signal/vm.h"
#include "tests/unit/sampler/fake_metaspace.h"

enum {
    FAKE_CACHE_BYTES = 1 << 18,
    FAKE_SEGMENT_LOG2 = 7,
    FAKE_SEGMENTS = FAKE_CACHE_BYTES >> FAKE_SEGMENT_LOG2,
    FAKE_HEADER = 352, /* bytes of an nmethod's fields, in both forms */
    FAKE_CODE = 1024,  /* bytes of code of each blob */
    FAKE_DATA = 1024,  /* and of its debug information */
    FAKE_SCOPES_MAX = 8,
};

static _Alignas(4096) uint8_t fake_cache[FAKE_CACHE_BYTES];
static _Alignas(8) uint8_t fake_segments[FAKE_SEGMENTS];
static uint64_t fake_high;
static uint32_t fake_next; /* segment */
static _Alignas(4096) uint8_t fake_slots[FB_JVM_CACHE_BYTES];
static _Alignas(4096) uint8_t fake_names[FB_JVM_NAMES_BYTES];

/* Where a method is at a pc: innermost first. */
struct fake_scope {
    struct fake_method *method;
    int bci;
};

struct fake_place {
    uint32_t offset; /* of the pc that the description is of */
    unsigned count;
    struct fake_scope scopes[FAKE_SCOPES_MAX];
};

struct fake_blob {
    uint64_t blob;
    uint64_t code;
};

static inline void fake_put(uint64_t address, const void *value, size_t size)
{
    memcpy((void *)(uintptr_t)address, value, size);
}

static inline void fake_put_64(uint64_t object, int32_t offset, uint64_t value)
{
    if (offset >= 0)
        fake_put(object + (uint32_t)offset, &value, 8);
}

static inline void fake_put_32(uint64_t object, int32_t offset, uint32_t value)
{
    if (offset >= 0)
        fake_put(object + (uint32_t)offset, &value, 4);
}

static inline void fake_put_16(uint64_t object, int32_t offset, uint16_t value)
{
    if (offset >= 0)
        fake_put(object + (uint32_t)offset, &value, 2);
}

static inline void fake_layout_17(struct fb_jvm_layout *l)
{
    l->block_used = 8;
    l->block_size = 16;
    l->blob_name = 96;
    l->blob_size = 12;
    l->blob_frame_complete = 20;
    l->blob_frame_complete_bytes = 4;
    l->blob_frame_size = 28;
    l->blob_code_begin = 32;
    l->nmethod_method = 112;
    l->nmethod_level = 308;
    l->nmethod_compile_id = 304;
    l->nmethod_metadata_offset = 260;
    l->nmethod_pcs_offset = 268;
    l->nmethod_pcs_end_offset = 272;
    l->nmethod_scopes_begin = 120;
    l->nmethod_entry = 224;
    l->nmethod_deopt = 128;
    l->nmethod_deopt_mh = 136;
    l->nmethod_original_pc_offset = 300;
}

static inline void fake_layout_25(struct fb_jvm_layout *l)
{
    l->block_used = 4;
    l->block_size = 8;
    l->blob_name = 8;
    l->blob_size = 24;
    l->blob_frame_complete = 54;
    l->blob_frame_complete_bytes = 2;
    l->blob_frame_size = 44;
    l->blob_code_offset = 36;
    l->blob_mutable_data = 16;
    l->blob_relocation_size = 28;
    l->nmethod_method = 80;
    l->nmethod_level = 216;
    l->nmethod_compile_id = 212;
    l->nmethod_pcs_offset = 196;
    l->nmethod_scopes_offset = 200;
    l->nmethod_immutable_data = 96;
    l->nmethod_entry_offset = 154;
    l->nmethod_deopt_offset = 176;
    l->nmethod_deopt_mh_offset = 180;
    l->nmethod_original_pc_offset = 208;
}

/* An empty cache of that release, walked. */
static inline void fake_cache_begin(int release)
{
    memset(fake_cache, 0, sizeof fake_cache);
    memset(fake_segments, 0xff, sizeof fake_segments);
    memset(fake_slots, 0, sizeof fake_slots);
    memset(fake_names, 0, sizeof fake_names);
    memset(&fb_jvm, 0, sizeof fb_jvm);
    fb_jvm.layout = fake_layout();
    fb_jvm.layout.release = release;
    if (release >= 23)
        fake_layout_25(&fb_jvm.layout);
    else
        fake_layout_17(&fb_jvm.layout);
    fb_jvm.layout.pc_desc_size = 16;
    fb_jvm.layout.entry_frame_wrapper = -6;
    fb_jvm.layout.call_wrapper_anchor = 32;
    fb_jvm.layout.anchor_sp = 0;
    fb_jvm.layout.anchor_pc = 8;
    fb_jvm.layout.anchor_fp = 16;
    fb_jvm.layout.continuation_return_at = 0;
    fb_jvm.code_low = fake_address(fake_cache);
    fb_jvm.code_high = fb_jvm.code_low + FAKE_CACHE_BYTES;
    fake_high = fb_jvm.code_high;
    fb_jvm.heap_count = 1;
    fb_jvm.heaps[0] = (struct fb_jvm_heap){fb_jvm.code_low, fake_address(&fake_high),
                                           fake_address(fake_segments), FAKE_SEGMENT_LOG2};
    fb_jvm.block_header = ((uint32_t)fb_jvm.layout.block_size + 7) & ~7u;
    fb_jvm.cache = fake_slots;
    fake_next = 0;
    fb_jvm_names_init(fake_names, &fb_jvm.layout);
    fb_jvm_activate(true);
}

/* A blob at the next free segments, in use.  name must stay. */
static inline struct fake_blob fake_blob_make(const char *name, int frame_words, int frame_complete)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint64_t block = fb_jvm.code_low + ((uint64_t)fake_next << FAKE_SEGMENT_LOG2);
    uint32_t bytes = fb_jvm.block_header + FAKE_HEADER + FAKE_CODE + FAKE_DATA;
    uint32_t count = (bytes + (1u << FAKE_SEGMENT_LOG2) - 1) >> FAKE_SEGMENT_LOG2;
    struct fake_blob b = {block + fb_jvm.block_header, 0};
    uint8_t used = 1;

    assert(fake_next + count <= FAKE_SEGMENTS);
    for (uint32_t i = 0; i < count; i++)
        fake_segments[fake_next + i] = (uint8_t)(i < 0xfe ? i : 0xfe);
    fake_next += count;
    b.code = b.blob + FAKE_HEADER;
    fake_put(block + (uint32_t)l->block_used, &used, 1);
    fake_put_64(b.blob, l->blob_name, fake_address(name));
    fake_put_32(b.blob, l->blob_size, bytes - fb_jvm.block_header);
    fake_put_32(b.blob, l->blob_frame_size, (uint32_t)frame_words);
    if (l->blob_frame_complete_bytes == 2)
        fake_put_16(b.blob, l->blob_frame_complete, (uint16_t)frame_complete);
    else
        fake_put_32(b.blob, l->blob_frame_complete, (uint32_t)frame_complete);
    fake_put_64(b.blob, l->blob_code_begin, b.code);
    fake_put_32(b.blob, l->blob_code_offset, FAKE_HEADER);
    return b;
}

/* HotSpot's numbers of debug information, in the form of the release. */
static inline uint8_t *fake_number(uint8_t *to, uint32_t value)
{
    uint32_t least = fb_jvm.layout.release >= 20 ? 1 : 0;
    uint32_t low = 192 - least;

    for (int i = 0; i < 4 && value >= low; i++) {
        value -= low;
        *to++ = (uint8_t)(192 + (value & 63));
        value >>= 6;
    }
    *to++ = (uint8_t)(value + least);
    return to;
}

/* The scopes of a place, callers first, so that a callee's knows where its caller's is; returns
 * where the innermost starts. */
static inline uint32_t fake_scopes_put(uint64_t scopes, uint8_t **at,
                                       const struct fake_place *place, uint64_t *metadata,
                                       uint32_t *metadata_count)
{
    uint32_t sender = 0;

    for (unsigned i = place->count; i > 0; i--) {
        uint32_t offset = (uint32_t)(fake_address(*at) - scopes);

        metadata[(*metadata_count)++] = fake_address(place->scopes[i - 1].method);
        *at = fake_number(*at, sender);
        *at = fake_number(*at, *metadata_count);
        *at = fake_number(*at, (uint32_t)(place->scopes[i - 1].bci + 1));
        sender = offset;
    }
    return sender;
}

/* Places are sorted by offset, each a description of its own. */
static inline struct fake_blob fake_nmethod_make(struct fake_method *method, int level,
                                                 uint32_t compile_id, int frame_words,
                                                 int frame_complete,
                                                 const struct fake_place *places, unsigned count)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    struct fake_blob b = fake_blob_make("nmethod", frame_words, frame_complete);
    uint64_t data = b.code + FAKE_CODE; /* metadata, descriptions, scopes */
    uint64_t pcs = data + 32 * sizeof(uint64_t);
    uint64_t scopes = pcs + 16 * (uint64_t)(count + 2);
    uint8_t *at = (uint8_t *)(uintptr_t)scopes + 1; /* 0 is no scope */
    uint64_t *metadata = (uint64_t *)(uintptr_t)data;
    uint32_t metadata_count = 0;

    fake_put_32(pcs, 0, (uint32_t)-1);
    for (unsigned i = 0; i < count; i++) {
        uint64_t desc = pcs + 16 * (uint64_t)(i + 1);

        fake_put_32(desc, 0, places[i].offset);
        fake_put_32(desc, 4, fake_scopes_put(scopes, &at, &places[i], metadata, &metadata_count));
    }
    fake_put_32(pcs + 16 * (uint64_t)(count + 1), 0, INT32_MAX);
    fake_put_64(b.blob, l->nmethod_method, fake_address(method));
    fake_put_32(b.blob, l->nmethod_level & ~3, (uint32_t)level);
    fake_put_32(b.blob, l->nmethod_compile_id, compile_id);
    fake_put_32(b.blob, l->nmethod_metadata_offset, (uint32_t)(data - b.blob));
    fake_put_64(b.blob, l->blob_mutable_data, data - 16);
    fake_put_32(b.blob, l->blob_relocation_size, 13); /* and what aligns it */
    fake_put_64(b.blob, l->nmethod_immutable_data, data);
    fake_put_32(b.blob, l->nmethod_pcs_offset,
                (uint32_t)(pcs - (l->nmethod_immutable_data >= 0 ? data : b.blob)));
    fake_put_32(b.blob, l->nmethod_pcs_end_offset, (uint32_t)(scopes - b.blob));
    fake_put_64(b.blob, l->nmethod_scopes_begin, scopes);
    fake_put_32(b.blob, l->nmethod_scopes_offset, (uint32_t)(scopes - data));
    fake_put_64(b.blob, l->nmethod_entry, b.code);
    fake_put_16(b.blob, l->nmethod_entry_offset, 0);
    fake_put_64(b.blob, l->nmethod_deopt, b.code + FAKE_CODE - 16);
    fake_put_64(b.blob, l->nmethod_deopt_mh, b.code + FAKE_CODE - 8);
    fake_put_32(b.blob, l->nmethod_deopt_offset, FAKE_HEADER + FAKE_CODE - 16);
    fake_put_32(b.blob, l->nmethod_deopt_mh_offset, FAKE_HEADER + FAKE_CODE - 8);
    fake_put_32(b.blob, l->nmethod_original_pc_offset, 8);
    return b;
}

/* Is the id that of a plain name, and this one? */
static inline bool fake_is_plain(uint32_t id, const char *name)
{
    const struct fb_jvm_name_text *t =
        (const struct fb_jvm_name_text *)(const void *)(fb_jvm_names.text +
                                                        fb_jvm_names.entries[id].text);

    return id >= FB_JVM_NAME_FIRST && t->is_plain && t->method_len == strlen(name) &&
           memcmp(t->bytes, name, t->method_len) == 0;
}

#endif
