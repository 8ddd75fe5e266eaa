/* One chunk appended to a bank that its arm may be writing: under the same lock, in one write. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "profile/bank.h"

enum { NAME_MAX_BYTES = 200 };

static size_t encode_mark(uint8_t *at, size_t room, const char *name, int64_t wall_ns,
                          double offered, uint8_t flags)
{
    struct fb_wire_out out = {.data = at, .cap = room};

    fb_wire_put_varint(&out, 1);
    fb_wire_put_signed(&out, 0);
    fb_wire_put_signed(&out, wall_ns);
    fb_wire_put_blob(&out, name, strnlen(name, NAME_MAX_BYTES));
    fb_wire_put_u8(&out, flags);
    fb_wire_put_varint(&out, offered > 0 ? (uint64_t)llround(offered * 1000.0) : 0);
    return out.len;
}

/* Pads a torn tail up to alignment first, so that the new chunk starts where readers look. */
static enum fb_status append_locked(int fd, const char *path, const struct fb_chunk_header *header,
                                    const uint8_t *payload, struct fb_err *err)
{
    uint8_t chunk[FB_CHUNK_ALIGN + FB_CHUNK_HEADER_SIZE + 512] = {0};
    uint32_t crc_table[256];
    struct stat st;
    size_t lead, n;
    ssize_t done;

    if (fstat(fd, &st) != 0)
        return fb_fail_errno(err, "%s: cannot be examined", path);
    fb_crc32_init(crc_table);
    lead = fb_chunk_padding((size_t)st.st_size);
    fb_chunk_header_store(chunk + lead, header, payload, crc_table);
    memcpy(chunk + lead + FB_CHUNK_HEADER_SIZE, payload, header->stored_length);
    n = lead + FB_CHUNK_HEADER_SIZE + header->stored_length +
        fb_chunk_padding(header->stored_length);
    do {
        done = write(fd, chunk, n);
    } while (done < 0 && errno == EINTR);
    if (done != (ssize_t)n)
        return done < 0 ? fb_fail_errno(err, "%s: cannot be written", path)
                        : fb_fail(err, FB_EIO, "%s: only a part of the mark was written", path);
    return FB_OK;
}

static enum fb_status mark_open(int fd, const char *path, const char *name, int64_t wall_ns,
                                double offered, uint8_t flags, struct fb_err *err)
{
    uint8_t file_header[FB_BANK_HEADER_SIZE], payload[256];
    struct fb_chunk_header h = {.type = FB_CHUNK_MARKS, .flags = FB_CHUNK_FOREIGN};
    enum fb_status r;

    if (pread(fd, file_header, sizeof file_header, 0) != (ssize_t)sizeof file_header ||
        !fb_bank_sniff(file_header, sizeof file_header))
        return fb_fail(err, FB_EFORMAT, "%s: not a bank, so no mark can be added to it", path);
    if (fb_wire_load_le(file_header + 8, 2) != FB_BANK_MAJOR)
        return fb_fail(err, FB_EUNSUPPORTED, "%s: is of a bank format version other than %d", path,
                       FB_BANK_MAJOR);
    h.run_id = fb_wire_load_le(file_header + 16, 8);
    h.raw_length = h.stored_length =
        (uint32_t)encode_mark(payload, sizeof payload, name, wall_ns, offered, flags);
    while (flock(fd, LOCK_EX) != 0) {
        if (errno != EINTR)
            return fb_fail_errno(err, "%s: cannot be locked", path);
    }
    r = append_locked(fd, path, &h, payload, err);
    (void)flock(fd, LOCK_UN);
    return r;
}

enum fb_status fb_bank_mark(const char *path, const char *name, int64_t wall_ns, double offered,
                            uint8_t flags, struct fb_err *err)
{
    int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    enum fb_status r;

    if (fd < 0)
        return fb_fail_errno(err, "%s: cannot be opened", path);
    r = mark_open(fd, path, name, wall_ns, offered, flags, err);
    (void)close(fd);
    return r;
}
