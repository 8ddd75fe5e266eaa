/* lazy.c - sparse copies, the binary search table, blocks.  See lazy.h. */
#include "sampler/lazy.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/wire.h"
#include "sampler/memory.h"

enum {
    GRANULE = 16384,
    ARENA_TIMES = 3, /* rows take 1.6 times their records, and what the file has is unknown */
    ARENA_LEAST = 1 << 20,
    ARENA_MOST = 64 << 20,
    BLOCK_BYTES = 1 << FB_BLOCK_SHIFT,
    RECORD_MAX = 1 << 20,
    HDR_HEAD = 12, /* of .eh_frame_hdr, before its table */
    HDR_ENTRY = 8,
    FAILURES_MAX = 32, /* tries at what cannot be read: then it has no rows */
    FILE_GAP = 64,     /* code without FDEs that is worth a look into the file */
};

/* A copy of memory of the host of which only some granules have been read. */
struct sparse {
    uint64_t address;
    size_t size;
    uint8_t *bytes;
    uint64_t *have; /* a bit a granule */
    size_t fresh;   /* bytes read and not yet noted as memory in use */
};

struct fb_lazy {
    size_t mapped; /* of the mapping that this is the start of */
    uint64_t start;
    uint64_t end;
    struct fb_code_blocks blocks;
    struct sparse hdr;
    struct sparse frame;
    struct fb_cfi cfi; /* over frame */
    uint32_t entries;  /* of hdr's table */
    bool file_looked;
    struct fb_file_frame file;
    uint8_t *arena;
    size_t arena_size;
    size_t bytes; /* of it, in use */
    size_t noted; /* as memory in use */
    uint32_t made;
    uint32_t failed;
};

static const struct fb_rows no_rows;

/* --- the sparse copies ---------------------------------------------------- */

static size_t granules(size_t size)
{
    return size / GRANULE + 1;
}

/* True if all of [at, at + n) is there now. */
static bool need(struct sparse *s, const struct fb_self_read *reader, uint64_t at, size_t n)
{
    if (at > s->size || n > s->size - at)
        return false;
    for (size_t g = at / GRANULE; g * GRANULE < at + n; g++) {
        size_t from = g * GRANULE;
        size_t size = s->size - from < GRANULE ? s->size - from : GRANULE;

        if (s->have[g / 64] >> g % 64 & 1)
            continue;
        /* The end of the room may lie behind the last page: what is asked for must be there. */
        if (fb_self_read(reader, s->address + from, s->bytes + from, size) == size) {
            atomic_signal_fence(memory_order_seq_cst); /* a forked child may see the bit */
            s->have[g / 64] |= UINT64_C(1) << g % 64;
            s->fresh += size;
        } else if (fb_self_read(reader, s->address + at, s->bytes + at, n) == n) {
            s->fresh += n;
        } else {
            return false;
        }
    }
    return true;
}

static void forget(struct sparse *s)
{
    memset(s->have, 0, (granules(s->size) + 63) / 64 * 8);
}

/* --- the life of one ------------------------------------------------------ */

/* The search table that GNU ld, gold, lld and mold make: pairs of 32-bit offsets from its start. */
static bool hdr_read(const struct fb_image *image, const struct fb_self_read *reader,
                     uint32_t *ret_entries)
{
    uint8_t head[HDR_HEAD];

    if (image->eh_hdr_size < sizeof head ||
        fb_self_read(reader, image->eh_hdr, head, sizeof head) < sizeof head || head[0] != 1 ||
        head[2] != 0x03 || head[3] != 0x3b)
        return false;
    *ret_entries = (uint32_t)fb_wire_load_le(head + 8, 4);
    return *ret_entries <= (image->eh_hdr_size - HDR_HEAD) / HDR_ENTRY;
}

static void *take(uint8_t **at, size_t size)
{
    void *taken = *at;

    *at += (size + 63) & ~(size_t)63;
    return taken;
}

static void sparse_init(struct sparse *s, uint8_t **at, uint64_t address, size_t size)
{
    s->address = address;
    s->size = size;
    s->have = take(at, (granules(size) + 63) / 64 * 8);
    s->bytes = take(at, size);
}

struct fb_lazy *fb_lazy_new(const struct fb_image *image, uint64_t frame_address,
                            uint64_t frame_room, const struct fb_self_read *reader)
{
    size_t frame_size = frame_room < FB_IMAGE_EH_FRAME_MAX ? frame_room : FB_IMAGE_EH_FRAME_MAX;
    size_t hdr_size = frame_size > 0 ? image->eh_hdr_size : 0;
    uint64_t text = image->text_end - image->text_start;
    uint32_t entries = 0;
    struct fb_lazy *lazy;
    size_t arena = ARENA_TIMES * frame_size + ARENA_LEAST;
    size_t blocks;
    size_t mapped;
    uint8_t *at;

    if (text == 0 || text >= UINT32_MAX || hdr_size > FB_IMAGE_EH_FRAME_MAX ||
        (frame_size > 0 && !hdr_read(image, reader, &entries)))
        return NULL;
    blocks = (text + BLOCK_BYTES - 1) >> FB_BLOCK_SHIFT;
    arena = arena < ARENA_MOST ? arena : ARENA_MOST;
    mapped = sizeof *lazy + blocks * 8 + blocks / 8 + (hdr_size + frame_size) / GRANULE / 8 +
             hdr_size + frame_size + arena + 4096;
    at = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
              0);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, mapped, MADV_DONTDUMP);
    lazy = take(&at, sizeof *lazy);
    lazy->mapped = mapped;
    lazy->start = image->text_start;
    lazy->end = image->text_end;
    lazy->blocks.count = (uint32_t)blocks;
    lazy->blocks.rows = take(&at, blocks * 8);
    lazy->blocks.wanted = take(&at, (blocks + 63) / 64 * 8);
    sparse_init(&lazy->hdr, &at, image->eh_hdr, hdr_size);
    sparse_init(&lazy->frame, &at, frame_address, frame_size);
    lazy->arena = take(&at, arena);
    lazy->arena_size = arena;
    lazy->entries = entries;
    lazy->cfi = (struct fb_cfi){.bytes = lazy->frame.bytes,
                                .size = frame_size,
                                .address = frame_address,
                                .machine = FB_MACHINE_HOST};
    return lazy;
}

struct fb_code_blocks *fb_lazy_blocks(struct fb_lazy *lazy)
{
    return &lazy->blocks;
}

bool fb_lazy_wanted(struct fb_lazy *lazy)
{
    return atomic_load(&lazy->blocks.any_wanted);
}

void fb_lazy_file_give(struct fb_lazy *lazy, struct fb_file_frame *frame)
{
    lazy->file_looked = true;
    if (frame == NULL)
        return;
    lazy->file = *frame;
    *frame = (struct fb_file_frame){.count = 0};
}

bool fb_lazy_has_frames(const struct fb_lazy *lazy)
{
    return lazy->entries > 0 || lazy->file.count > 0;
}

size_t fb_lazy_bytes(const struct fb_lazy *lazy)
{
    return lazy->bytes;
}

uint32_t fb_lazy_block_count(const struct fb_lazy *lazy)
{
    return lazy->made;
}

void fb_lazy_free(struct fb_lazy *lazy)
{
    if (lazy == NULL)
        return;
    fb_file_frame_free(&lazy->file);
    while (lazy->noted > 0) {
        size_t part = lazy->noted < GRANULE ? lazy->noted : GRANULE;

        fb_memory_forget(lazy, part);
        lazy->noted -= part;
    }
    munmap(lazy, lazy->mapped);
}

/* --- memory for rows ------------------------------------------------------ */

/* Part of the mapping is in use from now on. */
static void touched(struct fb_lazy *lazy, size_t size)
{
    fb_memory_note(lazy, size);
    lazy->noted += size;
}

static void *memory_take(struct fb_lazy *lazy, size_t size)
{
    size_t whole = (size + 7) & ~(size_t)7;
    void *taken = lazy->arena + lazy->bytes;

    if (lazy->arena_size - lazy->bytes < whole)
        return NULL;
    lazy->bytes += whole;
    touched(lazy, whole);
    return taken;
}

/* --- the FDEs of a block -------------------------------------------------- */

/* Both halves of an entry of the search table, as runtime addresses. */
static bool entry_read(struct fb_lazy *lazy, const struct fb_self_read *reader, uint32_t i,
                       uint64_t *ret_code, uint64_t *ret_fde)
{
    size_t at = HDR_HEAD + (size_t)i * HDR_ENTRY;

    if (!need(&lazy->hdr, reader, at, HDR_ENTRY))
        return false;
    *ret_code =
        lazy->hdr.address + (uint64_t)(int64_t)(int32_t)fb_wire_load_le(lazy->hdr.bytes + at, 4);
    *ret_fde = lazy->hdr.address +
               (uint64_t)(int64_t)(int32_t)fb_wire_load_le(lazy->hdr.bytes + at + 4, 4);
    return true;
}

/* The last entry that starts at or before address (0 if none does): the search of at most 32
 * steps. */
static bool entry_find(struct fb_lazy *lazy, const struct fb_self_read *reader, uint64_t address,
                       uint32_t *ret_i)
{
    uint32_t first = 0;
    uint32_t end = lazy->entries;

    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        uint64_t code;
        uint64_t fde;

        if (!entry_read(lazy, reader, middle, &code, &fde))
            return false;
        if (code <= address)
            first = middle + 1;
        else
            end = middle;
    }
    *ret_i = first > 0 ? first - 1 : 0;
    return true;
}

/* The whole record at an offset of the section. */
static bool record_need(struct fb_lazy *lazy, const struct fb_self_read *reader, uint64_t at)
{
    uint64_t length;

    if (!need(&lazy->frame, reader, at, 4))
        return false;
    length = fb_wire_load_le(lazy->frame.bytes + at, 4);
    return length <= RECORD_MAX && need(&lazy->frame, reader, at, 4 + (size_t)length);
}

/* False: cannot be read.  A record that makes no sense is passed over. */
static bool fde_add(struct fb_lazy *lazy, const struct fb_self_read *reader,
                    struct fb_rows_build *build, uint64_t record)
{
    uint64_t at = record - lazy->frame.address;
    struct fb_cfi_fde fde;
    size_t cie;

    if (at >= lazy->frame.size)
        return true;
    if (!record_need(lazy, reader, at))
        return false;
    if (!fb_cfi_cie_of(&lazy->cfi, at, &cie))
        return true;
    if (!record_need(lazy, reader, cie))
        return false;
    if (!fb_cfi_at(&lazy->cfi, at, &fde) || fde.end <= build->low || fde.start >= build->high)
        return true;
    return fb_rows_add(build, &lazy->cfi, &fde);
}

static bool mapped_add(struct fb_lazy *lazy, const struct fb_self_read *reader,
                       struct fb_rows_build *build)
{
    uint64_t code;
    uint64_t record;
    uint32_t i;

    if (!entry_find(lazy, reader, build->low, &i))
        return false;
    for (; i < lazy->entries; i++) {
        if (!entry_read(lazy, reader, i, &code, &record))
            return false;
        if (code >= build->high)
            return true;
        if (!fde_add(lazy, reader, build, record))
            return false;
    }
    return true;
}

static bool file_add(struct fb_lazy *lazy, struct fb_rows_build *build)
{
    struct fb_cfi_fde fde;

    for (uint32_t i = fb_file_frame_first(&lazy->file, build->low);
         i < lazy->file.count && lazy->file.fdes[i].start < build->high; i++)
        if (lazy->file.fdes[i].end > build->low &&
            fb_cfi_at(&lazy->file.cfi, lazy->file.fdes[i].at, &fde) &&
            !fb_rows_add(build, &lazy->file.cfi, &fde))
            return false;
    return true;
}

/* --- blocks --------------------------------------------------------------- */

static void fresh_note(struct fb_lazy *lazy, struct sparse *s)
{
    for (; s->fresh > 0; s->fresh -= s->fresh < GRANULE ? s->fresh : GRANULE)
        touched(lazy, s->fresh < GRANULE ? s->fresh : GRANULE);
}

static const struct fb_rows *rows_make(struct fb_lazy *lazy, struct fb_rows_build *build)
{
    struct fb_rows *rows;

    if (!fb_rows_run(build))
        return build->out_of_memory ? NULL : &no_rows;
    rows = memory_take(lazy, sizeof *rows + fb_rows_bytes(build));
    if (rows != NULL)
        fb_rows_pack(build, rows + 1, rows);
    return rows;
}

/* Memory was short, or something cannot be read, which is an accident of a moment or for ever. */
static enum fb_lazy_made block_fail(struct fb_lazy *lazy, uint32_t block)
{
    if (++lazy->failed > FAILURES_MAX)
        atomic_store_explicit(&lazy->blocks.rows[block], &no_rows, memory_order_release);
    return FB_LAZY_NOTHING;
}

static enum fb_lazy_made block_make(struct fb_lazy *lazy, const struct fb_self_read *reader,
                                    struct fb_rows_build *build, uint32_t block,
                                    fb_lazy_check_fn still_there, void *ctx)
{
    uint64_t low = lazy->start + ((uint64_t)block << FB_BLOCK_SHIFT);
    uint64_t high = lazy->end - low > BLOCK_BYTES ? low + BLOCK_BYTES : lazy->end;
    const struct fb_rows *rows;

    if (!fb_rows_begin(build, low, low, high, FB_LAZY_RULES_MAX) ||
        !mapped_add(lazy, reader, build) || !file_add(lazy, build))
        return block_fail(lazy, block);
    if (!lazy->file_looked && fb_rows_have_gap(build, FILE_GAP))
        return FB_LAZY_WANTS_FILE;
    fresh_note(lazy, &lazy->hdr);
    fresh_note(lazy, &lazy->frame);
    rows = rows_make(lazy, build);
    if (rows == NULL)
        return block_fail(lazy, block);
    if (!still_there(ctx)) {
        forget(&lazy->hdr);
        forget(&lazy->frame);
        lazy->cfi.cie.good = false;
        return FB_LAZY_NOTHING;
    }
    atomic_store_explicit(&lazy->blocks.rows[block], rows, memory_order_release);
    lazy->made++;
    return FB_LAZY_MADE;
}

enum fb_lazy_made fb_lazy_make(struct fb_lazy *lazy, const struct fb_self_read *reader,
                               struct fb_rows_build *build, fb_lazy_check_fn still_there, void *ctx)
{
    enum fb_lazy_made made = FB_LAZY_NOTHING;

    atomic_store(&lazy->blocks.any_wanted, false);
    for (uint32_t word = 0; word < (lazy->blocks.count + 63) / 64; word++) {
        uint64_t bits = atomic_exchange(&lazy->blocks.wanted[word], 0);

        for (; bits != 0; bits &= bits - 1) {
            uint32_t block = word * 64 + (uint32_t)__builtin_ctzll(bits);
            enum fb_lazy_made one = FB_LAZY_NOTHING;

            if (atomic_load(&lazy->blocks.rows[block]) == NULL)
                one = block_make(lazy, reader, build, block, still_there, ctx);
            if (one == FB_LAZY_WANTS_FILE) {
                atomic_fetch_or(&lazy->blocks.wanted[word], bits);
                atomic_store(&lazy->blocks.any_wanted, true);
                return one;
            }
            if (one == FB_LAZY_MADE)
                made = one;
        }
    }
    return made;
}
