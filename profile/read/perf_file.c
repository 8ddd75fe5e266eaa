/* Header (0 magic, 8 size, 16 attr size, 24 attrs, 40 data, 56 event types, 72 feature bits; a
 * section is offset and size), the data, then a section for each feature bit that is set.  The pipe
 * form has only magic and size, and all else as records. */
#include "profile/read/perf_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "base/source.h"
#include "base/vec.h"

enum {
    HEADER_BYTES = 104,
    PIPE_HEADER_BYTES = 16,
    ATTR_LEAST = 64, /* PERF_ATTR_SIZE_VER0 */
    FEATURE_BUILD_ID = 2,
    FEATURE_HOSTNAME = 3,
    FEATURE_RELEASE = 4,
    FEATURE_VERSION = 5,
    FEATURE_CMDLINE = 11,
    FEATURE_EVENT_DESC = 12,
    FEATURE_CLOCK_DATA = 29,
    MISC_BUILD_ID_SIZE = 1 << 15,
};

struct span {
    const uint8_t *at;
    size_t n;
};

uint32_t fb_perf_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t fb_perf_u64(const uint8_t *at)
{
    return fb_perf_u32(at) | (uint64_t)fb_perf_u32(at + 4) << 32;
}

bool fb_perf_file_sniff(const void *head, size_t n)
{
    return n >= 8 && (memcmp(head, "PERFILE2", 8) == 0 || memcmp(head, "2ELIFREP", 8) == 0);
}

void fb_perf_file_done(struct fb_perf_file *f)
{
    for (size_t i = 0; i < f->attrs_count; i++)
        free(f->attrs[i].name);
    free(f->attrs);
    free(f->ids);
    free(f->build_ids);
    free(f->hostname);
    free(f->release);
    free(f->version);
    free(f->cmdline);
    fb_buf_done(&f->unpacked);
    *f = (struct fb_perf_file){0};
}

/* A section that is within the file; what is not is cut. */
static struct span section(const struct fb_perf_file *f, size_t at)
{
    uint64_t offset = fb_perf_u64(f->bytes + at), size = fb_perf_u64(f->bytes + at + 8);

    if (offset > f->n)
        return (struct span){f->bytes + f->n, 0};
    return (struct span){f->bytes + offset, size < f->n - offset ? (size_t)size : f->n - offset};
}

/* ---- events ---- */

/* Names for what the file does not name. */
static char *attr_name(uint32_t type, uint64_t config)
{
    static const char *const hardware[] = {"cycles",
                                           "instructions",
                                           "cache-references",
                                           "cache-misses",
                                           "branches",
                                           "branch-misses",
                                           "bus-cycles",
                                           "stalled-cycles-frontend",
                                           "stalled-cycles-backend",
                                           "ref-cycles"};
    static const char *const software[] = {
        "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
        "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
        "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};

    if (type == 0 && config < sizeof hardware / sizeof hardware[0])
        return fb_strdup(hardware[config]);
    if (type == 1 && config < sizeof software / sizeof software[0])
        return fb_strdup(software[config]);
    return fb_format("event-%u-%llx", type, (unsigned long long)config);
}

static void attr_add(struct fb_perf_file *f, const uint8_t *at)
{
    uint64_t flags = fb_perf_u64(at + 40);
    struct fb_perf_attr a = {.type = fb_perf_u32(at),
                             .config = fb_perf_u64(at + 8),
                             .period = fb_perf_u64(at + 16),
                             .sample_type = fb_perf_u64(at + 24),
                             .read_format = fb_perf_u64(at + 32),
                             .is_freq = flags >> 10 & 1,
                             .has_sample_id = flags >> 18 & 1};

    a.name = attr_name(a.type, a.config);
    fb_vec_reserve(&f->attrs, &f->attrs_room, f->attrs_count + 1, sizeof *f->attrs);
    f->attrs[f->attrs_count++] = a;
}

static void id_add(struct fb_perf_file *f, uint64_t id, size_t attr)
{
    fb_vec_reserve(&f->ids, &f->ids_room, f->ids_count + 1, sizeof *f->ids);
    f->ids[f->ids_count++] = (struct fb_perf_id){id, (uint32_t)attr};
}

static int by_id(const void *a, const void *b)
{
    const struct fb_perf_id *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

uint32_t fb_perf_file_attr_of(const struct fb_perf_file *f, uint64_t id)
{
    struct fb_perf_id key = {id, 0}, *found;

    if (f->ids_count == 0)
        return 0;
    found = bsearch(&key, f->ids, f->ids_count, sizeof *f->ids, by_id);
    return found ? found->attr : 0;
}

/* The attrs section: of each event its attr, and a section with its ids.  Sections may overlap in a
 * broken file: no more ids than it has bytes for. */
static enum fb_status read_attrs(struct fb_perf_file *f, const char *name, struct fb_err *err)
{
    struct span attrs = section(f, 24);
    uint64_t size = fb_perf_u64(f->bytes + 16);

    if (size < ATTR_LEAST + 16 || size > 4096)
        return fb_fail(err, FB_EFORMAT, "%s: attributes of %llu bytes, 80 to 4096 were expected",
                       name, (unsigned long long)size);
    for (size_t at = 0; size <= attrs.n - at; at += size) {
        struct span ids = section(f, (size_t)(attrs.at - f->bytes) + at + (size_t)size - 16);

        attr_add(f, attrs.at + at);
        for (size_t i = 0; i + 8 <= ids.n && f->ids_count < f->n / 8; i += 8)
            id_add(f, fb_perf_u64(ids.at + i), f->attrs_count - 1);
    }
    return FB_OK;
}

/* A string with its length before it; false where it is cut. */
static bool take_string(struct span *s, const char **ret_text, size_t *ret_len)
{
    uint32_t n;

    if (s->n < 4)
        return false;
    n = fb_perf_u32(s->at);
    if (n > s->n - 4)
        return false;
    *ret_text = (const char *)s->at + 4;
    *ret_len = strnlen(*ret_text, n);
    s->at += 4 + n;
    s->n -= 4 + n;
    return true;
}

static void name_attr(struct fb_perf_file *f, size_t attr, const char *text, size_t len)
{
    if (attr >= f->attrs_count || len == 0)
        return;
    free(f->attrs[attr].name);
    f->attrs[attr].name = fb_strndup(text, len);
}

/* count, attr size, then of each event: attr, how many ids, name, ids. */
static void read_event_desc(struct fb_perf_file *f, struct span s)
{
    uint32_t count, size;

    if (s.n < 8)
        return;
    count = fb_perf_u32(s.at);
    size = fb_perf_u32(s.at + 4);
    s.at += 8;
    s.n -= 8;
    for (uint32_t i = 0; i < count && size <= s.n && s.n - size >= 4; i++) {
        uint64_t ids = (uint64_t)fb_perf_u32(s.at + size) * 8;
        const char *text;
        size_t len;

        s.at += size + 4;
        s.n -= size + 4;
        if (!take_string(&s, &text, &len) || ids > s.n)
            return;
        name_attr(f, i, text, len);
        s.at += ids;
        s.n -= (size_t)ids;
    }
}

/* ---- other features ---- */

/* One build ID: what is behind the header of such a record. */
static void read_build_id(struct fb_perf_file *f, const uint8_t *at, size_t n, uint16_t misc)
{
    struct fb_perf_build_id b = {.size = 20};

    if (n < 4 + 24 + 1)
        return;
    if (misc & MISC_BUILD_ID_SIZE && at[4 + 20] <= 20)
        b.size = at[4 + 20];
    memcpy(b.bytes, at + 4, 20);
    b.path = (const char *)at + 28;
    b.path_len = strnlen(b.path, n - 28);
    fb_vec_reserve(&f->build_ids, &f->build_ids_room, f->build_ids_count + 1, sizeof *f->build_ids);
    f->build_ids[f->build_ids_count++] = b;
}

static void read_build_ids(struct fb_perf_file *f, struct span s)
{
    while (s.n >= 8) {
        size_t size = (size_t)s.at[6] | (size_t)s.at[7] << 8;

        if (size < 8 || size > s.n)
            return;
        read_build_id(f, s.at + 8, size - 8, (uint16_t)(s.at[4] | s.at[5] << 8));
        s.at += size;
        s.n -= size;
    }
}

static void keep_string(char **to, struct span s)
{
    const char *text;
    size_t len;

    if (!take_string(&s, &text, &len))
        return;
    free(*to);
    *to = fb_strndup(text, len);
}

static void read_cmdline(struct fb_perf_file *f, struct span s)
{
    struct fb_buf line = {0};
    const char *text;
    size_t len;
    uint32_t words;

    if (s.n < 4)
        return;
    words = fb_perf_u32(s.at);
    s.at += 4;
    s.n -= 4;
    for (uint32_t i = 0; i < words && take_string(&s, &text, &len); i++) {
        if (i > 0)
            fb_buf_putc(&line, ' ');
        fb_buf_add(&line, text, len);
    }
    free(f->cmdline);
    f->cmdline = fb_buf_take(&line);
}

static void read_feature(struct fb_perf_file *f, unsigned feature, struct span s)
{
    switch (feature) {
    case FEATURE_BUILD_ID:
        read_build_ids(f, s);
        break;
    case FEATURE_HOSTNAME:
        keep_string(&f->hostname, s);
        break;
    case FEATURE_RELEASE:
        keep_string(&f->release, s);
        break;
    case FEATURE_VERSION:
        keep_string(&f->version, s);
        break;
    case FEATURE_CMDLINE:
        read_cmdline(f, s);
        break;
    case FEATURE_EVENT_DESC:
        read_event_desc(f, s);
        break;
    case FEATURE_CLOCK_DATA: /* version, clock, the wall clock's time and that clock's, at once */
        if (s.n >= 24 && fb_perf_u32(s.at) == 1)
            f->wall_offset_ns = (int64_t)(fb_perf_u64(s.at + 8) - fb_perf_u64(s.at + 16));
        break;
    default:
        break;
    }
}

static void read_features(struct fb_perf_file *f)
{
    uint64_t at = fb_perf_u64(f->bytes + 40) + fb_perf_u64(f->bytes + 48);

    for (unsigned bit = 0; bit < 256; bit++) {
        if (!(f->bytes[72 + bit / 8] >> bit % 8 & 1))
            continue;
        if (at > f->n || f->n - at < 16)
            return;
        read_feature(f, bit, section(f, (size_t)at));
        at += 16;
    }
}

/* ---- records ---- */

bool fb_perf_file_next(const struct fb_perf_file *f, size_t *at, struct fb_perf_record *ret_record)
{
    const uint8_t *r = f->data + *at;
    size_t left = f->data_n - *at, size, skip = 0;

    if (left < 8)
        return false;
    size = (size_t)r[6] | (size_t)r[7] << 8;
    if (size < 8 || size > left)
        return false;
    *ret_record = (struct fb_perf_record){.type = fb_perf_u32(r),
                                          .misc = (uint16_t)(r[4] | r[5] << 8),
                                          .bytes = r + 8,
                                          .size = size - 8};
    if (ret_record->type == FB_PERF_TOOL_AUXTRACE && size >= 16)
        skip = fb_perf_u64(r + 8) < left - size ? (size_t)fb_perf_u64(r + 8) : left - size;
    *at += size + skip;
    return true;
}

/* What the pipe form has as records. */
static void read_tool_records(struct fb_perf_file *f)
{
    struct fb_perf_record r;
    size_t at = 0;

    while (fb_perf_file_next(f, &at, &r)) {
        if (r.type == FB_PERF_TOOL_ATTR && r.size >= ATTR_LEAST) {
            size_t size = fb_perf_u32(r.bytes + 4);

            attr_add(f, r.bytes);
            for (; size >= ATTR_LEAST && size + 8 <= r.size; size += 8)
                id_add(f, fb_perf_u64(r.bytes + size), f->attrs_count - 1);
        } else if (r.type == FB_PERF_TOOL_BUILD_ID) {
            read_build_id(f, r.bytes, r.size, r.misc);
        } else if (r.type == FB_PERF_TOOL_FEATURE && r.size >= 8) {
            read_feature(f, (unsigned)fb_perf_u64(r.bytes), (struct span){r.bytes + 8, r.size - 8});
        }
    }
}

/* Adds what a compressed record holds; all of them are one stream. */
static enum fb_status unpack_record(struct fb_perf_file *f, struct fb_unpacker *u, struct span in,
                                    uint64_t *packed, const char *name, struct fb_err *err)
{
    char step[16 * 1024];

    *packed += in.n;
    for (;;) {
        size_t in_n = in.n, out_n = sizeof step;
        bool done;
        enum fb_status r = fb_unpacker_step(u, in.at, &in_n, false, step, &out_n, &done, err);

        if (r != FB_OK)
            return fb_within(err, "%s: a compressed record", name);
        fb_buf_add(&f->unpacked, step, out_n);
        in.at += in_n;
        in.n -= in_n;
        if (f->unpacked.len > FB_UNPACK_FREE && f->unpacked.len / FB_UNPACK_RATIO > *packed)
            return fb_fail(err, FB_ELIMIT,
                           "%s: compressed records unpack to more than %d times "
                           "their size, which no profile does",
                           name, FB_UNPACK_RATIO);
        if (in_n == 0 && out_n == 0)
            return FB_OK;
    }
}

/* The plain records, and behind them the stream that was compressed: a record of it may begin in
 * one and end in the next, whatever plain records are between them. */
static enum fb_status unpack_records(struct fb_perf_file *f, const char *name, struct fb_err *err)
{
    struct fb_unpacker *u = fb_unpacker_new(FB_COMPRESS_ZSTD);
    struct fb_perf_record r;
    enum fb_status status = FB_OK;
    uint64_t packed = 0;

    for (size_t at = 0, start = 0; fb_perf_file_next(f, &at, &r); start = at) {
        if (r.type != FB_PERF_TOOL_COMPRESSED && r.type != FB_PERF_TOOL_COMPRESSED2)
            fb_buf_add(&f->unpacked, f->data + start, at - start);
    }
    for (size_t at = 0; status == FB_OK && fb_perf_file_next(f, &at, &r);) {
        size_t skip = r.type == FB_PERF_TOOL_COMPRESSED2 ? 8 : 0;

        if ((r.type == FB_PERF_TOOL_COMPRESSED || r.type == FB_PERF_TOOL_COMPRESSED2) &&
            skip <= r.size)
            status = unpack_record(f, u, (struct span){r.bytes + skip, r.size - skip}, &packed,
                                   name, err);
    }
    f->data = (const uint8_t *)(f->unpacked.data ? f->unpacked.data : "");
    f->data_n = f->unpacked.len;
    fb_unpacker_free(u);
    return status;
}

static bool has_compressed(const struct fb_perf_file *f)
{
    struct fb_perf_record r;

    for (size_t at = 0; fb_perf_file_next(f, &at, &r);) {
        if (r.type == FB_PERF_TOOL_COMPRESSED || r.type == FB_PERF_TOOL_COMPRESSED2)
            return true;
    }
    return false;
}

static enum fb_status open_file(struct fb_perf_file *f, const char *name, struct fb_err *err)
{
    struct span data;
    enum fb_status r;

    if (f->n < HEADER_BYTES)
        return fb_fail(err, FB_EFORMAT, "%s: ends inside the header of perf.data", name);
    r = read_attrs(f, name, err);
    if (r != FB_OK)
        return r;
    data = section(f, 40);
    f->data = data.at;
    f->data_n = data.n;
    /* perf writes the size at the end: after a kill it is 0, and the records go on to the end. */
    if (fb_perf_u64(f->bytes + 48) == 0)
        f->data_n = (size_t)(f->bytes + f->n - f->data);
    f->is_torn = f->data_n != fb_perf_u64(f->bytes + 48);
    if (!f->is_torn)
        read_features(f);
    return FB_OK;
}

enum fb_status fb_perf_file_open(struct fb_perf_file *f, const void *bytes, size_t n,
                                 const char *name, struct fb_err *err)
{
    enum fb_status r = FB_OK;

    *f = (struct fb_perf_file){.bytes = bytes, .n = n};
    if (n < PIPE_HEADER_BYTES)
        return fb_fail(err, FB_EFORMAT, "%s: ends inside the header of perf.data", name);
    if (memcmp(bytes, "2ELIFREP", 8) == 0)
        return fb_fail(err, FB_EUNSUPPORTED,
                       "%s: is of a big-endian machine, little-endian is read", name);
    f->is_pipe = fb_perf_u64(f->bytes + 8) == PIPE_HEADER_BYTES;
    if (f->is_pipe) {
        f->data = f->bytes + PIPE_HEADER_BYTES;
        f->data_n = n - PIPE_HEADER_BYTES;
    } else {
        r = open_file(f, name, err);
    }
    if (r == FB_OK && has_compressed(f))
        r = unpack_records(f, name, err);
    if (r == FB_OK && f->is_pipe)
        read_tool_records(f);
    if (r == FB_OK && f->attrs_count == 0)
        r = fb_fail(err, FB_EFORMAT, "%s: describes no event", name);
    if (r != FB_OK)
        fb_perf_file_done(f);
    else if (f->ids_count > 0)
        qsort(f->ids, f->ids_count, sizeof *f->ids, by_id);
    return r;
}
