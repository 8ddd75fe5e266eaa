#include "profile/read/gperftools.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "profile/read/places.h"
#include "profile/types.h"

enum { HEADER_WORDS = 5, SIMILAR = 32, SIGNAL_FRAMES_MOST = 2 };

struct record {
    uint64_t count;
    size_t first; /* of pcs[] */
    uint32_t depth;
};

struct words {
    const unsigned char *bytes;
    size_t n, at; /* bytes */
    unsigned width;
    bool big_endian;
};

struct reader {
    struct words in;
    const char *name;
    struct fb_profile *p;
    struct fb_places places;
    struct record *records;
    size_t records_count, records_room;
    uint64_t *pcs; /* of all records, leaf first */
    size_t pcs_count, pcs_room;
    uint64_t period_us;
    bool is_java;
};

static bool get_word(struct words *in, uint64_t *ret)
{
    uint64_t v = 0;

    if (in->n - in->at < in->width)
        return false;
    for (unsigned i = 0; i < in->width; i++) {
        unsigned k = in->big_endian ? i : in->width - 1 - i;

        v = v << 8 | in->bytes[in->at + k];
    }
    in->at += in->width;
    *ret = v;
    return true;
}

/* Finds the width and order in which the first words are a header; leaves `in` behind it. */
static bool read_header(const void *bytes, size_t n, struct words *in, uint64_t *ret_period,
                        bool *ret_java)
{
    for (unsigned i = 0; i < 4; i++) {
        uint64_t w[HEADER_WORDS];
        unsigned k = 0;

        *in = (struct words){
            .bytes = bytes, .n = n, .width = i < 2 ? 8 : 4, .big_endian = i % 2 == 1};
        while (k < HEADER_WORDS && get_word(in, &w[k]))
            k++;
        if (k < HEADER_WORDS || w[0] != 0 || w[1] != 3 || w[2] > 1 || w[3] == 0 || w[4] != 0 ||
            w[3] > UINT32_MAX)
            continue;
        *ret_period = w[3];
        *ret_java = w[2] == 1;
        return true;
    }
    return false;
}

bool fb_gperftools_sniff(const void *head, size_t n)
{
    struct words in;
    uint64_t period;
    bool java;

    return read_header(head, n, &in, &period, &java);
}

static enum fb_status read_records(struct reader *r, struct fb_err *err)
{
    uint64_t count, depth, pc;

    for (;;) {
        size_t from = r->in.at;

        if (!get_word(&r->in, &count) || !get_word(&r->in, &depth) || depth == 0 ||
            depth > (r->in.n - r->in.at) / r->in.width)
            return fb_fail(err, FB_EFORMAT,
                           "%s: byte %zu: a record (count, depth, addresses) or the end (0, 1, 0) "
                           "was expected",
                           r->name, from);
        fb_vec_reserve(&r->pcs, &r->pcs_room, r->pcs_count + (size_t)depth, sizeof *r->pcs);
        for (uint64_t i = 0; i < depth && get_word(&r->in, &pc); i++)
            r->pcs[r->pcs_count + i] = !r->is_java && i > 0 ? pc - 1 : pc;
        if (count == 0 && depth == 1 && r->pcs[r->pcs_count] == 0)
            return FB_OK;
        fb_vec_reserve(&r->records, &r->records_room, r->records_count + 1, sizeof *r->records);
        r->records[r->records_count++] = (struct record){count, r->pcs_count, (uint32_t)depth};
        r->pcs_count += (size_t)depth;
    }
}

/* ---- what is no frame of the program ---- */

static void drop_second(struct reader *r, struct record *record)
{
    uint64_t *pcs = r->pcs + record->first;

    memmove(pcs + 1, pcs + 2, (record->depth - 2) * sizeof *pcs);
    record->depth--;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The address that stands behind the leaf of nearly all records; false where there is none. */
static bool common_second(const struct reader *r, uint64_t *ret)
{
    uint64_t *seconds = fb_alloc_array(r->records_count, sizeof *seconds);
    size_t n = 0, least = r->records_count - r->records_count / SIMILAR;
    bool found = false;

    for (size_t i = 0; i < r->records_count; i++) {
        if (r->records[i].depth > 1)
            seconds[n++] = r->pcs[r->records[i].first + 1];
    }
    if (n > 0 && n >= least) {
        qsort(seconds, n, sizeof *seconds, by_value);
        for (size_t i = 0; i + least <= n && !found; i++) {
            found = seconds[i] == seconds[i + least - 1];
            *ret = seconds[i];
        }
    }
    free(seconds);
    return found;
}

static void drop_signal_frames(struct reader *r)
{
    uint64_t common;

    for (int i = 0; i < SIGNAL_FRAMES_MOST && !r->is_java && common_second(r, &common); i++) {
        for (size_t k = 0; k < r->records_count; k++) {
            if (r->records[k].depth > 1 && r->pcs[r->records[k].first + 1] == common)
                drop_second(r, &r->records[k]);
        }
    }
    for (size_t k = 0; k < r->records_count && !r->is_java; k++) {
        const uint64_t *pcs = r->pcs + r->records[k].first;

        if (r->records[k].depth > 1 && pcs[0] == pcs[1] + 1)
            drop_second(r, &r->records[k]);
    }
}

/* ---- to the profile ---- */

static void put_records(struct reader *r, struct fb_read_report *report, uint64_t unit)
{
    for (size_t i = 0; i < r->records_count; i++) {
        const struct record *record = &r->records[i];
        fb_stack_id stack = FB_STACK_ROOT;

        report->samples_in++;
        if (record->count == 0 || record->count > (uint64_t)INT64_MAX / unit) {
            fb_report_loss(
                report, record->count ? "records whose count cannot be" : "records of count 0", 1);
            continue;
        }
        for (uint32_t k = record->depth; k-- > 0;)
            stack = fb_profile_stack_put(r->p, stack,
                                         fb_places_frame(&r->places, r->pcs[record->first + k]));
        fb_profile_sample_add(r->p, 0, FB_NO_THREAD, stack, record->count * unit);
    }
}

static enum fb_status read_file(struct reader *r, const struct fb_read_options *options,
                                struct fb_read_report *report, struct fb_err *err)
{
    struct fb_value_type types[] = {{"samples", "count", 0}, {"cpu", "nanoseconds", 0}};
    size_t type;
    enum fb_status status = read_records(r, err);

    if (status != FB_OK)
        return status;
    types[0].samples = types[1].samples = r->records_count;
    status = fb_types_choose(r->name, types, 2, options->type, 0, &type, err);
    if (status != FB_OK)
        return status;
    drop_signal_frames(r);
    r->places.p = r->p;
    fb_places_read(&r->places, (const char *)r->in.bytes + r->in.at, r->in.n - r->in.at);
    r->p->interval_ns = r->period_us * 1000;
    put_records(r, report, type == 1 ? r->p->interval_ns : 1);
    if (type == 1)
        r->p->unit = fb_strings_put_z(&r->p->strings, "nanoseconds");
    r->p->type = fb_strings_put_z(&r->p->strings, "cpu");
    r->p->rows_merged = 1;
    r->p->ended = true;
    return FB_OK;
}

enum fb_status fb_gperftools_read(struct fb_source *in, const struct fb_read_options *options,
                                  struct fb_profile **ret_p, struct fb_read_report *ret_report,
                                  struct fb_err *err)
{
    struct reader r = {.name = fb_source_name(in)};
    const char *bytes;
    size_t n;
    enum fb_status status = fb_source_all(in, &bytes, &n, err);

    if (status != FB_OK)
        return status;
    if (!read_header(bytes, n, &r.in, &r.period_us, &r.is_java))
        return fb_fail(err, FB_EFORMAT,
                       "%s: a header of gperftools (the words 0, 3, 0, period, 0) was expected",
                       r.name);
    r.p = fb_profile_new();
    status = read_file(&r, options, ret_report, err);
    if (status == FB_OK)
        *ret_p = r.p;
    else
        fb_profile_free(r.p);
    fb_places_done(&r.places);
    free(r.records);
    free(r.pcs);
    return status;
}
