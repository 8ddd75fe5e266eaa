/* Frames, checks and unpacks the chunks of a bank, and resyncs after damage. */
#include "profile/bank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "base/file.h"
#include "base/vec.h"
#include "profile/bank_chunks.h"

/* What looking for whole chunks may cost: bytes under checksums, per byte of the file and at least.
 * Only a file that was made to be slow needs more. */
enum { RESYNC_PER_BYTE = 16, RESYNC_LEAST = 256 << 20 };

struct reader {
    const uint8_t *data;
    size_t n;
    uint64_t run_id;
    bool any_run; /* the file header is damaged: the first whole chunk tells the run id */
    uint32_t next_sequence;
    uint64_t chunks;
    uint64_t resync_left; /* bytes */
    struct fb_bank_decoder decoder;
    struct fb_bank_damage *damage;
    uint32_t crc_table[256];
};

bool fb_bank_sniff(const void *head, size_t n)
{
    return n >= 8 && memcmp(head, FB_BANK_MAGIC, 8) == 0;
}

bool fb_bank_is_damaged(const struct fb_bank_damage *d)
{
    return d->skipped_bytes > 0 || d->missing_chunks > 0 || d->bad_payloads > 0 ||
           d->orphan_samples > 0 || d->unwritten_samples > 0;
}

static void note_first(struct fb_bank_damage *damage, const char *what, size_t offset)
{
    if (damage->first[0] == '\0')
        (void)snprintf(damage->first, sizeof damage->first, "%s at byte %zu", what, offset);
}

/* A whole chunk at `at`, its checksum right. */
static bool chunk_is_whole(const struct reader *r, size_t at, struct fb_chunk_header *ret_h)
{
    uint32_t crc;

    if (r->n - at < FB_CHUNK_HEADER_SIZE || !fb_chunk_header_load(r->data + at, ret_h) ||
        ret_h->stored_length > r->n - at - FB_CHUNK_HEADER_SIZE ||
        (ret_h->run_id != r->run_id && !r->any_run))
        return false;
    crc = fb_crc32(r->crc_table, 0, r->data + at, 28);
    crc = fb_crc32(r->crc_table, crc, r->data + at + FB_CHUNK_HEADER_SIZE, ret_h->stored_length);
    return crc == ret_h->crc;
}

/* Unpacks if need be; *ret_owned is to be freed. */
static const uint8_t *chunk_payload(const struct reader *r, size_t at,
                                    const struct fb_chunk_header *h, uint8_t **ret_owned)
{
    const uint8_t *stored = r->data + at + FB_CHUNK_HEADER_SIZE;
    struct fb_err ignored;

    *ret_owned = NULL;
    if (!(h->flags & FB_CHUNK_PACKED))
        return h->raw_length == h->stored_length ? stored : NULL;
    *ret_owned = fb_alloc(h->raw_length);
    if (fb_zstd_unpack_exact(stored, h->stored_length, *ret_owned, h->raw_length, &ignored) ==
        FB_OK)
        return *ret_owned;
    free(*ret_owned);
    *ret_owned = NULL;
    return NULL;
}

/* Names a gap; false for a chunk that was there before. */
static bool sequence_is_next(struct reader *r, size_t at, const struct fb_chunk_header *h)
{
    if (h->flags & FB_CHUNK_FOREIGN)
        return true;
    if (h->sequence < r->next_sequence)
        return false;
    if (h->sequence > r->next_sequence) {
        r->damage->missing_chunks += h->sequence - r->next_sequence;
        note_first(r->damage, "chunks are missing before the one", at);
    }
    r->next_sequence = h->sequence + 1;
    return true;
}

static void take_chunk(struct reader *r, size_t at, const struct fb_chunk_header *h)
{
    uint8_t *owned;
    const uint8_t *payload = chunk_payload(r, at, h, &owned);

    r->chunks++;
    if (!sequence_is_next(r, at, h) || !payload ||
        !fb_bank_decoder_put(&r->decoder, h->type, payload, h->raw_length)) {
        r->damage->bad_payloads++;
        note_first(r->damage, "a chunk's content breaks its rules", at);
    }
    free(owned);
}

/* Offset of the next whole chunk after `at`, or the end of the file. */
static size_t resync(struct reader *r, size_t at)
{
    uint8_t sync[4];
    struct fb_chunk_header h;

    fb_wire_store_le(sync, FB_CHUNK_SYNC, 4);
    while (at < r->n) {
        const uint8_t *found = memmem(r->data + at, r->n - at, sync, 4);

        if (!found)
            return r->n;
        at = (size_t)(found - r->data);
        if (chunk_is_whole(r, at, &h))
            return at;
        if (r->n - at >= FB_CHUNK_HEADER_SIZE && fb_chunk_header_load(found, &h) &&
            h.stored_length <= r->n - at) {
            r->resync_left -= h.stored_length < r->resync_left ? h.stored_length : r->resync_left;
            if (r->resync_left == 0)
                return r->n;
        }
        at++;
    }
    return r->n;
}

/* Whether the file ends inside the chunk that starts at `at`: a header of this run (or the start
 * of one) whose payload would reach past the end.  A length that was damaged looks the same, so
 * the length that would fit the file is tried against the checksum. */
static bool is_torn(const struct reader *r, size_t at)
{
    size_t left = r->n - at;
    uint8_t header[FB_CHUNK_HEADER_SIZE];
    struct fb_chunk_header h;

    fb_wire_store_le(header, FB_CHUNK_SYNC, 4);
    if (left < FB_CHUNK_HEADER_SIZE)
        return memcmp(r->data + at, header, left < 4 ? left : 4) == 0;
    if (!fb_chunk_header_load(r->data + at, &h) || (h.run_id != r->run_id && !r->any_run) ||
        h.stored_length <= left - FB_CHUNK_HEADER_SIZE)
        return false;
    memcpy(header, r->data + at, sizeof header);
    for (size_t pad = 0; pad < FB_CHUNK_ALIGN && pad <= left - FB_CHUNK_HEADER_SIZE; pad++) {
        size_t length = left - FB_CHUNK_HEADER_SIZE - pad;
        uint32_t crc;

        fb_wire_store_le(header + 24, length, 4);
        crc = fb_crc32(r->crc_table, 0, header, 28);
        if (fb_crc32(r->crc_table, crc, r->data + at + FB_CHUNK_HEADER_SIZE, length) == h.crc)
            return false;
    }
    return true;
}

/* The zeros after a payload; returns the offset after them. */
static size_t skip_padding(struct reader *r, size_t at, size_t payload_n)
{
    size_t pad = fb_chunk_padding(payload_n);

    if (pad > r->n - at) {
        r->damage->torn_tail = true;
        r->damage->torn_bytes = r->n - at;
        return r->n;
    }
    for (size_t i = 0; i < pad; i++) {
        if (r->data[at + i] != 0) {
            r->damage->skipped_bytes++;
            note_first(r->damage, "padding is not zero", at + i);
        }
    }
    return at + pad;
}

static void read_chunks(struct reader *r)
{
    size_t at = FB_BANK_HEADER_SIZE;

    while (at < r->n) {
        struct fb_chunk_header h;
        size_t next;

        if (chunk_is_whole(r, at, &h)) {
            r->run_id = h.run_id;
            r->any_run = false;
            take_chunk(r, at, &h);
            at = skip_padding(r, at + FB_CHUNK_HEADER_SIZE + h.stored_length, h.stored_length);
            continue;
        }
        next = resync(r, at + 1);
        if (next >= r->n && r->resync_left > 0 && is_torn(r, at)) {
            r->damage->torn_tail = true;
            r->damage->torn_bytes = r->n - at;
        } else {
            r->damage->skipped_bytes += next - at;
            note_first(r->damage, "no valid chunk", at);
        }
        at = next;
    }
}

/* Fills in run id; a damaged header is named and read on from, if one can tell that it is ours. */
static enum fb_status read_header(struct reader *r, const char *name, struct fb_err *err)
{
    uint8_t ours[FB_BANK_HEADER_SIZE];
    unsigned major;
    bool intact;

    if (!fb_bank_sniff(r->data, r->n))
        return fb_fail(err, FB_EFORMAT,
                       "%s: not a bank (the 8 bytes of the bank magic were expected first)", name);
    if (r->n < FB_BANK_HEADER_SIZE)
        return fb_fail(err, FB_EFORMAT, "%s: ends inside the file header (%zu of %d bytes)", name,
                       r->n, FB_BANK_HEADER_SIZE);
    major = (unsigned)fb_wire_load_le(r->data + 8, 2);
    memcpy(ours, r->data, sizeof ours);
    fb_wire_store_le(ours + 8, FB_BANK_MAJOR, 2);
    intact = fb_bank_header_crc(r->data) == fb_wire_load_le(r->data + 12, 4);
    if (major != FB_BANK_MAJOR && fb_bank_header_crc(ours) != fb_wire_load_le(r->data + 12, 4))
        return fb_fail(err, FB_EUNSUPPORTED,
                       "%s: is of bank format version %u, this flamebank reads version %d", name,
                       major, FB_BANK_MAJOR);
    if (!intact)
        note_first(r->damage, "the file header is damaged", 0);
    r->damage->bad_payloads += !intact;
    r->any_run = !intact;
    r->run_id = fb_wire_load_le(r->data + 16, 8);
    return FB_OK;
}

enum fb_status fb_bank_decode(const void *bytes, size_t n, const char *name,
                              struct fb_profile **ret_p, struct fb_bank_damage *ret_damage,
                              struct fb_err *err)
{
    struct reader r = {.data = bytes, .n = n, .damage = ret_damage};
    struct fb_profile *p;
    enum fb_status status;

    r.resync_left = (uint64_t)n * RESYNC_PER_BYTE + RESYNC_LEAST;
    *ret_damage = (struct fb_bank_damage){0};
    status = read_header(&r, name, err);
    if (status != FB_OK)
        return status;
    fb_crc32_init(r.crc_table);
    p = fb_profile_new();
    p->writer_id = fb_wire_load_le(r.data + 24, 8);
    fb_bank_decoder_init(&r.decoder, p, ret_damage);
    read_chunks(&r);
    p->run_id = r.run_id;
    fb_bank_decoder_finish(&r.decoder);
    fb_bank_decoder_done(&r.decoder);
    if (r.chunks == 0) {
        fb_profile_free(p);
        return fb_fail(err, FB_EFORMAT,
                       "%s: holds no whole chunk after its header (%zu bytes in all)", name, n);
    }
    *ret_p = p;
    return FB_OK;
}

enum fb_status fb_bank_read(const char *path, struct fb_profile **ret_p,
                            struct fb_bank_damage *ret_damage, struct fb_err *err)
{
    struct fb_buf bytes = {0};
    enum fb_status r = fb_file_read(path, &bytes, err);

    if (r == FB_OK)
        r = fb_bank_decode(bytes.data ? bytes.data : "", bytes.len, path, ret_p, ret_damage, err);
    fb_buf_done(&bytes);
    return r;
}
