/* Any bytes as a bank, and any bytes as the payloads of well-framed chunks (the checksums would
 * keep a fuzzer out otherwise): no crash, no leak, and what reads is written and read again alike.
 *
 * Input that does not start with the magic is a list of {u8 type, u8 length low, u8 length high,
 * payload}. */
#include <stdlib.h>

#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void add_chunk(struct fb_buf *out, uint8_t type, uint32_t sequence, const uint8_t *payload,
                      size_t n)
{
    struct fb_chunk_header h = {.type = type,
                                .run_id = 7,
                                .sequence = sequence,
                                .raw_length = (uint32_t)n,
                                .stored_length = (uint32_t)n};
    uint8_t header[FB_CHUNK_HEADER_SIZE];
    uint32_t table[256];

    fb_crc32_init(table);
    fb_chunk_header_store(header, &h, payload, table);
    fb_buf_add(out, header, sizeof header);
    fb_buf_add(out, payload, n);
    fb_buf_add(out, "\0\0\0\0\0\0\0", fb_chunk_padding(n));
}

static void frame_chunks(const uint8_t *data, size_t n, struct fb_buf *out)
{
    uint8_t header[FB_BANK_HEADER_SIZE];
    uint32_t sequence = 0;

    fb_bank_header_store(header, 7, 1);
    fb_buf_add(out, header, sizeof header);
    while (n >= 3) {
        size_t length = data[1] | (size_t)data[2] << 8;

        length = length > n - 3 ? n - 3 : length;
        add_chunk(out, data[0] % 18, sequence++, data + 3, length);
        data += 3 + length;
        n -= 3 + length;
    }
}

static void check(const uint8_t *data, size_t n)
{
    struct fb_bank_damage damage;
    struct fb_profile *p, *q;
    struct fb_buf out = {0};
    struct fb_err err;

    if (fb_bank_decode(data, n, "fuzz", &p, &damage, &err) != FB_OK)
        return;
    p->run_id = p->run_id ? p->run_id : 1;
    fb_bank_encode(p, &out);
    if (fb_bank_decode(out.data, out.len, "again", &q, &damage, &err) == FB_OK) {
        if (fb_bank_is_damaged(&damage) || q->samples.count != p->samples.count ||
            fb_profile_weight(q) != fb_profile_weight(p))
            abort();
        fb_profile_free(q);
    } else if (p->samples.count > 0) {
        abort();
    }
    fb_buf_done(&out);
    fb_profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fb_buf framed = {0};

    if (fb_bank_sniff(data, n)) {
        check(data, n);
        return 0;
    }
    frame_chunks(data, n, &framed);
    check((const uint8_t *)framed.data, framed.len);
    fb_buf_done(&framed);
    return 0;
}
