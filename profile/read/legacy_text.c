#include "profile/read/legacy_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "profile/read/places.h"
#include "profile/types.h"

enum { VALUES_MOST = 4, JAVA_RATE = 512 * 1024 };

enum sort { SORT_NONE, SORT_HEAP, SORT_COUNTS, SORT_THREADS, SORT_CONTENTION, SORT_JAVA_HEAP };

struct record {
    double values[VALUES_MOST];
    size_t first; /* of pcs[], leaf first */
    uint32_t depth;
    int64_t block_bytes; /* of one object; 0 unknown */
};

struct reader {
    const char *name;
    struct fb_profile *p;
    struct fb_places places;
    enum sort sort;
    char what[64];         /* "threadcreate" */
    bool is_java, has_all; /* Java's addresses; a heap with all allocations */
    double rate;           /* of sampled objects, bytes; of sampled contentions */
    double cycles_per_ns;
    struct record *records;
    size_t records_count, records_room;
    uint64_t *pcs;
    size_t pcs_count, pcs_room;
    uint64_t line; /* number */
};

struct line {
    const char *at, *end;
};

static bool starts(const struct line *l, const char *text)
{
    size_t n = strlen(text);

    return (size_t)(l->end - l->at) >= n && memcmp(l->at, text, n) == 0;
}

/* Takes the text from the front; blanks in it stand for any number of them. */
static bool take(struct line *l, const char *text)
{
    for (; *text; text++) {
        if (*text == ' ') {
            while (l->at < l->end && isblank((unsigned char)*l->at))
                l->at++;
        } else if (l->at < l->end && *l->at == *text) {
            l->at++;
        } else {
            return false;
        }
    }
    return true;
}

static bool take_number(struct line *l, double *ret)
{
    double v = 0;
    const char *from;

    (void)take(l, " ");
    for (from = l->at; l->at < l->end && isdigit((unsigned char)*l->at); l->at++)
        v = v * 10 + (*l->at - '0');
    *ret = v;
    return l->at > from && v < 9e15;
}

static struct line next_line(const char **text, const char *end)
{
    const char *stop = memchr(*text, '\n', (size_t)(end - *text));
    struct line l = {*text, stop ? stop : end};

    *text = stop ? stop + 1 : end;
    if (l.end > l.at && l.end[-1] == '\r')
        l.end--;
    (void)take(&l, " ");
    return l;
}

/* ---- the first line ---- */

/* "1: 10 [ 2: 20]" */
static bool take_counts(struct line *l, double values[VALUES_MOST])
{
    return take_number(l, &values[0]) && take(l, " : ") && take_number(l, &values[1]) &&
           take(l, " [ ") && take_number(l, &values[2]) && take(l, " : ") &&
           take_number(l, &values[3]) && take(l, " ] @");
}

static void read_rate(struct reader *r, struct line l)
{
    double rate;

    (void)take(&l, " ");
    if (starts(&l, "growth") || starts(&l, "heapprofile")) {
        r->rate = 1;
        return;
    }
    r->rate = starts(&l, "heap/") ? 0.5 : 1; /* that one has twice the rate */
    while (l.at < l.end && *l.at != '/')
        l.at++;
    l.at += l.at < l.end;
    r->rate = take_number(&l, &rate) && rate > 0 ? r->rate * rate : 1;
}

static bool read_head(struct reader *r, struct line l)
{
    double values[VALUES_MOST];
    struct line word = l;
    size_t n;

    if (take(&l, "heap profile: ")) {
        r->sort = SORT_HEAP;
        if (!take_counts(&l, values))
            return false;
        r->has_all = values[2] != values[0] || values[3] != values[1];
        read_rate(r, l);
        return true;
    }
    if (starts(&l, "--- thread") || starts(&l, "--- Thread"))
        r->sort = SORT_THREADS;
    else if (starts(&l, "--- contention") || starts(&l, "--- mutex"))
        r->sort = SORT_CONTENTION;
    else if (starts(&l, "--- heapz"))
        r->sort = SORT_JAVA_HEAP;
    if (r->sort != SORT_NONE)
        return true;
    while (l.at < l.end && (isalnum((unsigned char)*l.at) || *l.at == '_'))
        l.at++;
    n = (size_t)(l.at - word.at);
    if (n == 0 || n >= sizeof r->what || !take(&l, " profile: total "))
        return false;
    memcpy(r->what, word.at, n);
    r->sort = SORT_COUNTS;
    return true;
}

bool fb_legacy_text_sniff(const void *head, size_t n)
{
    struct reader r = {0};
    const char *text = head;

    return n > 0 && read_head(&r, next_line(&text, text + n));
}

/* ---- records ---- */

static struct record *add_record(struct reader *r)
{
    fb_vec_reserve(&r->records, &r->records_room, r->records_count + 1, sizeof *r->records);
    r->records[r->records_count] = (struct record){.first = r->pcs_count};
    return &r->records[r->records_count++];
}

static void add_pc(struct reader *r, uint64_t pc)
{
    fb_vec_reserve(&r->pcs, &r->pcs_room, r->pcs_count + 1, sizeof *r->pcs);
    r->pcs[r->pcs_count++] = pc;
    r->records[r->records_count - 1].depth++;
}

static bool take_pc(struct line *l, uint64_t *ret)
{
    uint64_t v = 0;
    const char *from;

    (void)take(l, " ");
    if (!take(l, "0x"))
        return false;
    for (from = l->at; l->at < l->end && isxdigit((unsigned char)*l->at); l->at++) {
        int c = tolower((unsigned char)*l->at);

        v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *ret = v;
    return l->at > from;
}

static void take_pcs(struct reader *r, struct line *l)
{
    uint64_t pc;

    while (take_pc(l, &pc))
        add_pc(r, r->is_java || pc == 0 ? pc : pc - 1);
}

/* What a sampled object stands for: those that were passed over, too. */
static void scale(double rate, double *objects, double *bytes)
{
    double factor;

    if (rate <= 1 || *objects == 0 || *bytes == 0)
        return;
    factor = 1 / (1 - exp(-(*bytes / *objects) / rate));
    *objects = trunc(*objects * factor);
    *bytes = trunc(*bytes * factor);
}

static bool read_heap_line(struct reader *r, struct line l)
{
    double v[VALUES_MOST];
    struct record *record;

    if (!take_counts(&l, v))
        return false;
    record = add_record(r);
    record->block_bytes = v[0] > 0 ? (int64_t)(v[1] / v[0]) : v[2] > 0 ? (int64_t)(v[3] / v[2]) : 0;
    scale(r->rate, &v[0], &v[1]);
    scale(r->rate, &v[2], &v[3]);
    memcpy(record->values, v, sizeof v);
    take_pcs(r, &l);
    return true;
}

static bool read_count_line(struct reader *r, struct line l)
{
    double count;

    if (!take_number(&l, &count) || !take(&l, " @"))
        return false;
    add_record(r)->values[0] = count;
    take_pcs(r, &l);
    return true;
}

/* "delay count @ ..." and "bytes objects @ ..." */
static bool read_pair_line(struct reader *r, struct line l)
{
    double v[2];
    struct record *record;

    if (!take_number(&l, &v[0]) || !take_number(&l, &v[1]) || !take(&l, " @"))
        return false;
    record = add_record(r);
    if (r->sort == SORT_JAVA_HEAP) {
        record->block_bytes = v[1] > 0 ? (int64_t)(v[0] / v[1]) : 0;
        scale(JAVA_RATE, &v[1], &v[0]);
        record->values[0] = v[1];
        record->values[1] = v[0];
    } else {
        record->values[0] = v[1] * r->rate;
        record->values[1] =
            r->cycles_per_ns > 0 ? trunc(v[0] * r->rate / r->cycles_per_ns) : v[0] * r->rate;
    }
    take_pcs(r, &l);
    return true;
}

/* "sampling period = 100", "cycles/second = 3201000000", "format = java" */
static bool read_attribute(struct reader *r, struct line l)
{
    double v;

    if (take(&l, "sampling period = ") && take_number(&l, &v) && v > 0)
        r->rate = v;
    else if (take(&l, "cycles/second = ") && take_number(&l, &v) && v > 0)
        r->cycles_per_ns = v / 1e9;
    else if (take(&l, "format = java"))
        r->is_java = true;
    else
        return memchr(l.at, '=', (size_t)(l.end - l.at)) != NULL;
    return true;
}

/* Returns false at the end of the threads. */
static bool read_thread_line(struct reader *r, struct line l)
{
    uint64_t pc;

    if (starts(&l, "--- Memory map"))
        return false;
    if (starts(&l, "--- Thread ") || starts(&l, "--- thread "))
        add_record(r)->values[0] = 1;
    else if (starts(&l, "[same as previous thread]") && r->records_count > 1)
        r->records[r->records_count - 2].values[0]++; /* its own record stays empty */
    else if (take(&l, "PC: ") && take_pc(&l, &pc) && r->records_count > 0)
        add_pc(r, pc);
    else if (starts(&l, "0x") && take_pc(&l, &pc) && r->records_count > 0 && pc > 0)
        add_pc(r, pc - 1);
    return true;
}

static bool read_line(struct reader *r, struct line l)
{
    switch (r->sort) {
    case SORT_HEAP:
        return read_heap_line(r, l);
    case SORT_COUNTS:
        return read_count_line(r, l);
    case SORT_THREADS:
        return read_thread_line(r, l);
    case SORT_CONTENTION:
    case SORT_JAVA_HEAP:
        return read_pair_line(r, l) || (r->records_count == 0 && read_attribute(r, l));
    case SORT_NONE:
        break;
    }
    return false;
}

/* Up to the first line that is none of the records' any more; returns where that is. */
static const char *read_records(struct reader *r, const char *text, const char *end)
{
    while (text < end) {
        const char *from = text;
        struct line l = next_line(&text, end);

        r->line++;
        if (l.at < l.end && *l.at != '#' && !read_line(r, l))
            return from;
    }
    return text;
}

/* ---- to the profile ---- */

static size_t types_of(const struct reader *r, struct fb_value_type *types)
{
    static const struct fb_value_type heap[] = {{"inuse_objects", "count", 0},
                                                {"inuse_space", "bytes", 0},
                                                {"alloc_objects", "count", 0},
                                                {"alloc_space", "bytes", 0}},
                                      plain[] = {{"objects", "count", 0}, {"space", "bytes", 0}},
                                      delay[] = {{"contentions", "count", 0},
                                                 {"delay", "nanoseconds", 0}};
    size_t n = 2;

    if (r->sort == SORT_HEAP && !r->has_all) {
        memcpy(types, plain, sizeof plain);
    } else if (r->sort == SORT_HEAP || r->sort == SORT_JAVA_HEAP) {
        n = r->sort == SORT_HEAP ? 4 : 2;
        memcpy(types, heap, n * sizeof *heap);
    } else if (r->sort == SORT_CONTENTION) {
        memcpy(types, delay, sizeof delay);
        if (r->is_java)
            types[1].unit = "microseconds";
        else if (!(r->cycles_per_ns > 0))
            types[1].unit = "cycles";
    } else {
        n = 1;
        types[0] = (struct fb_value_type){r->sort == SORT_THREADS ? "thread" : r->what, "count", 0};
    }
    for (size_t i = 0; i < n; i++)
        types[i].samples = r->records_count;
    return n;
}

static void put_record(struct reader *r, const struct record *record, size_t type,
                       struct fb_read_report *report)
{
    struct fb_label label = {.number = record->block_bytes};
    double value = record->values[type];
    fb_stack_id stack = FB_STACK_ROOT;

    report->samples_in++;
    if (!(value >= 1 && value < 9e18)) {
        fb_report_loss(report, "records whose value of this type is 0", 1);
        return;
    }
    for (uint32_t k = record->depth; k-- > 0;)
        stack = fb_profile_stack_put(r->p, stack,
                                     fb_places_frame(&r->places, r->pcs[record->first + k]));
    fb_profile_sample_add(r->p, 0, FB_NO_THREAD, stack, (uint64_t)value);
    if (record->block_bytes <= 0)
        return;
    label.key = label.unit = fb_strings_put_z(&r->p->strings, "bytes");
    fb_profile_sample_labels_set(r->p, r->p->samples.count - 1,
                                 fb_profile_labels_put(r->p, &label, 1));
}

static enum fb_status put_records(struct reader *r, const char *asked,
                                  struct fb_read_report *report, struct fb_err *err)
{
    struct fb_value_type types[VALUES_MOST];
    size_t n = types_of(r, types), type;
    enum fb_status status = fb_types_choose(r->name, types, n, asked, n - 1, &type, err);

    if (status != FB_OK)
        return status;
    if (!asked)
        fb_types_note(types, n, type, report);
    r->p->type = fb_strings_put_z(&r->p->strings, types[type].name);
    r->p->unit = fb_strings_put_z(&r->p->strings, types[type].unit);
    r->p->rows_merged = 1;
    r->p->ended = true;
    for (size_t i = 0; i < r->records_count; i++) {
        /* A thread that is "the same as the previous one" has nothing of its own. */
        if (r->sort != SORT_THREADS || r->records[i].depth > 0)
            put_record(r, &r->records[i], type, report);
    }
    return FB_OK;
}

enum fb_status fb_legacy_text_read(struct fb_source *in, const struct fb_read_options *options,
                                   struct fb_profile **ret_p, struct fb_read_report *ret_report,
                                   struct fb_err *err)
{
    struct reader r = {.name = fb_source_name(in), .rate = 1, .line = 1};
    const char *text, *end;
    size_t n;
    enum fb_status status = fb_source_all(in, &text, &n, err);

    if (status != FB_OK)
        return status;
    end = text + n;
    if (n == 0 || !read_head(&r, next_line(&text, end)))
        return fb_fail(err, FB_EFORMAT,
                       "%s: line 1: 'heap profile: ...', 'NAME profile: total N' or '--- threadz' "
                       "was expected",
                       r.name);
    r.p = fb_profile_new();
    r.places.p = r.p;
    text = read_records(&r, text, end);
    fb_places_read(&r.places, text, (size_t)(end - text));
    status = put_records(&r, options->type, ret_report, err);
    if (status == FB_OK && r.records_count == 0)
        status = fb_fail(err, FB_EFORMAT, "%s: line %llu: a record was expected", r.name,
                         (unsigned long long)r.line);
    if (status == FB_OK)
        *ret_p = r.p;
    else
        fb_profile_free(r.p);
    fb_places_done(&r.places);
    free(r.records);
    free(r.pcs);
    return status;
}
