/* Every pair of formats: what both can hold arrives, however it travels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "profile/profile.h"

static const int64_t T0 = 1700000000000000000;

enum names { PLAIN, CONTROL, BYTES };

/* ---- profiles with chosen properties ---- */

static uint32_t random_next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static uint32_t put_name(struct fb_profile *p, enum names names, uint32_t i)
{
    static const char *const plain[] = {"main",
                                        "io.netty.Channel.read",
                                        "std::map<int, char>::at",
                                        "a b 7",
                                        "operator<",
                                        "\"quoted\" & <b>",
                                        "x 3 4",
                                        "\xc3\xa9t\xc3\xa9"};
    static const struct {
        const char *text;
        size_t n;
    } control[] = {{"a;b", 3}, {"two\nlines", 9}, {"nul\0byte", 8}, {"esc\033[0m", 7}};
    char *long_name;
    uint32_t id;

    if (i == 19) {
        long_name = fb_alloc(100001);
        memset(long_name, 'n', 100000);
        id = fb_strings_put(&p->strings, long_name, 100000);
        free(long_name);
        return id;
    }
    if (names == CONTROL && i % 3 == 0)
        return fb_strings_put(&p->strings, control[i / 3 % 4].text, control[i / 3 % 4].n);
    if (names == BYTES && i % 3 == 0)
        return fb_strings_put_z(&p->strings, i % 2 ? "\xff\xfe raw" : "cut \xe2\x82");
    return fb_strings_put_z(&p->strings, plain[i % 8]);
}

static fb_frame_id put_frame(struct fb_profile *p, unsigned holds, enum names names, uint32_t i,
                             uint32_t module, const struct fb_frame *outer)
{
    static const enum fb_frame_kind kinds[] = {FB_FRAME_NATIVE, FB_FRAME_NATIVE, FB_FRAME_JIT};
    struct fb_frame f = {.name = put_name(p, names, i)};

    if (holds & FB_HOLDS_KINDS)
        f.kind = kinds[i % 3];
    if ((holds & FB_HOLDS_KERNEL) && i % 7 == 3)
        f.kind = FB_FRAME_KERNEL;
    if ((holds & FB_HOLDS_MODULES) && f.kind == FB_FRAME_NATIVE)
        f.module = module;
    if ((holds & FB_HOLDS_ADDRESSES) && f.module)
        f.address = 0x1000 + i * 16;
    if ((holds & FB_HOLDS_INLINED) && outer && outer->kind == FB_FRAME_NATIVE && i % 5 == 1) {
        f.kind = FB_FRAME_INLINED;
        f.module = outer->module;
        f.address = outer->address;
    }
    if (holds & FB_HOLDS_LINES) {
        f.file = fb_strings_put_z(&p->strings, i % 2 ? "/src/a.c" : "/src/b.c");
        f.line = 1 + i % 50;
    }
    return fb_profile_frame_put(p, &f);
}

static fb_stack_id put_stack(struct fb_profile *p, unsigned holds, enum names names, uint64_t *seed,
                             uint32_t module)
{
    fb_stack_id stack = FB_STACK_ROOT;
    size_t depth = 1 + random_next(seed) % 12;

    for (size_t d = 0; d < depth; d++) {
        const struct fb_frame *outer = stack.n ? &p->frames[p->stacks[stack.n].frame.n] : NULL;

        stack = fb_profile_stack_put(
            p, stack, put_frame(p, holds, names, random_next(seed) % 40, module, outer));
    }
    /* A leaf whose name ends in a number may be taken for one of two counts in folded text. */
    return fb_profile_stack_put(
        p, stack, fb_profile_frame_put(p, &(struct fb_frame){.name = put_name(p, PLAIN, 8)}));
}

/* Weights are microseconds, which all formats of times can tell, where is_time. */
static struct fb_profile *make_profile(unsigned holds, enum names names, bool is_time,
                                       uint64_t seed)
{
    struct fb_profile *p = fb_profile_new();
    struct fb_module m = {.start = 0x400000, .end = 0x500000, .unload_ns = INT64_MAX};
    uint32_t module = FB_NO_MODULE, threads[3] = {0}, labels = 0;

    p->run_id = p->writer_id = 7;
    p->ended = true;
    if (holds & FB_HOLDS_MODULES) {
        m.path = fb_strings_put_z(&p->strings, "/usr/bin/server");
        m.build_id = fb_strings_put_z(&p->strings, "00ff10ab");
        module = fb_profile_module_add(p, &m);
    }
    for (uint32_t t = 0; t < 3 && (holds & FB_HOLDS_THREADS); t++) {
        char name[16];

        (void)snprintf(name, sizeof name, "worker-%u", t);
        threads[t] = fb_profile_thread_add(p, 100 + t, fb_strings_put_z(&p->strings, name));
    }
    if (is_time)
        p->unit = fb_strings_put_z(&p->strings, "nanoseconds");
    p->has_times = holds & FB_HOLDS_TIMES;
    p->rows_merged = !p->has_times;
    for (size_t i = 0; i < 30; i++) {
        fb_stack_id stack = put_stack(p, holds, names, &seed, module);

        fb_profile_sample_add(p, p->has_times ? T0 + (int64_t)i * 5000000 : 0, threads[i % 3],
                              stack, (1 + random_next(&seed) % 1000) * (is_time ? 1000 : 1));
        if (holds & FB_HOLDS_LABELS) {
            struct fb_label label = {.key = fb_strings_put_z(&p->strings, "route"),
                                     .text = fb_strings_put_z(&p->strings, i % 2 ? "/a" : "/b")};

            labels = fb_profile_labels_put(p, &label, 1);
            fb_profile_sample_labels_set(p, i, labels);
        }
    }
    fb_profile_span_update(p);
    return p;
}

/* ---- what a profile says, as text ---- */

struct row {
    char *text;
    uint64_t weight;
};

static int by_text(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return strcmp(x->text, y->text);
}

static void add_bytes(struct fb_buf *out, const struct fb_string *s)
{
    for (size_t i = 0; i < s->len; i++) {
        if (s->text[i] == '\0')
            fb_buf_puts(out, "<NUL>");
        else
            fb_buf_putc(out, s->text[i]);
    }
}

static void add_frame(struct fb_buf *out, const struct fb_profile *p, const struct fb_frame *f,
                      unsigned holds, bool with_names)
{
    fb_buf_puts(out, " / ");
    if (with_names)
        add_bytes(out, &p->strings.items[f->name]);
    if ((holds & FB_HOLDS_INLINED) && f->kind == FB_FRAME_INLINED)
        fb_buf_puts(out, " [inlined]");
    if ((holds & FB_HOLDS_KERNEL) && f->kind == FB_FRAME_KERNEL)
        fb_buf_puts(out, " [kernel]");
    if ((holds & FB_HOLDS_KINDS) && f->kind == FB_FRAME_JIT)
        fb_buf_puts(out, " [jit]");
    if (holds & FB_HOLDS_LINES)
        fb_buf_printf(out, " %s:%u", fb_profile_text(p, f->file), f->line);
    if ((holds & FB_HOLDS_MODULES) && f->module) {
        fb_buf_puts(out, " in ");
        fb_module_short_name(fb_profile_text(p, p->modules[f->module].path), out);
    }
    if (holds & FB_HOLDS_ADDRESSES)
        fb_buf_printf(
            out, " at %llx",
            (unsigned long long)(f->address ? f->address + p->modules[f->module].bias : 0));
}

static char *row_text(const struct fb_profile *p, size_t i, unsigned holds, bool with_names)
{
    const struct fb_thread *t = &p->threads[p->samples.thread[i]];
    const struct fb_label_set *set = &p->label_sets[fb_profile_sample_labels(p, i)];
    struct fb_buf out = {0};

    if (holds & FB_HOLDS_TIMES)
        fb_buf_printf(&out, "%lld ", (long long)(p->samples.time_ns[i] - p->samples.time_ns[0]));
    if (holds & FB_HOLDS_THREADS)
        fb_buf_printf(&out, "%s %u ", fb_profile_text(p, t->name), t->tid);
    for (uint32_t k = 0; k < set->count && (holds & FB_HOLDS_LABELS); k++)
        fb_buf_printf(&out, "%s=%s ", fb_profile_text(p, p->label_items[set->first + k].key),
                      fb_profile_text(p, p->label_items[set->first + k].text));
    for (uint32_t s = p->samples.stack[i]; s != 0; s = p->stacks[s].parent.n)
        add_frame(&out, p, &p->frames[p->stacks[s].frame.n], holds, with_names);
    return fb_buf_take(&out);
}

/* Sorted, equal rows summed; *ret_count rows. */
static struct row *rows_of(const struct fb_profile *p, unsigned holds, bool with_names,
                           size_t *ret_count)
{
    struct row *rows = fb_alloc_array(p->samples.count + 1, sizeof *rows);
    size_t n = 0;

    for (size_t i = 0; i < p->samples.count; i++)
        rows[i] = (struct row){row_text(p, i, holds, with_names), p->samples.weight[i]};
    qsort(rows, p->samples.count, sizeof *rows, by_text);
    for (size_t i = 0; i < p->samples.count; i++) {
        if (n > 0 && strcmp(rows[n - 1].text, rows[i].text) == 0) {
            rows[n - 1].weight += rows[i].weight;
            free(rows[i].text);
        } else {
            rows[n++] = rows[i];
        }
    }
    *ret_count = n;
    return rows;
}

static void rows_free(struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(rows[i].text);
    free(rows);
}

static void compare(const struct fb_profile *p, const struct fb_profile *q, unsigned holds,
                    bool with_names, const char *way)
{
    size_t n, m;
    struct row *a = rows_of(p, holds, with_names, &n), *b = rows_of(q, holds, with_names, &m);

    for (size_t i = 0; i < n && i < m; i++) {
        if (strcmp(a[i].text, b[i].text) != 0 || a[i].weight != b[i].weight)
            fail_msg("%s: row %zu\n%llu %.300s\n%llu %.300s", way, i,
                     (unsigned long long)a[i].weight, a[i].text, (unsigned long long)b[i].weight,
                     b[i].text);
    }
    if (n != m)
        fail_msg("%s: %zu rows became %zu", way, n, m);
    if (holds & FB_HOLDS_UNIT)
        assert_string_equal(fb_profile_text(p, p->unit), fb_profile_text(q, q->unit));
    rows_free(a, n);
    rows_free(b, m);
}

/* ---- the journeys ---- */

/* There are formats that are only written, or that write only a part of a journey. */
static bool can_be_read(const char *name)
{
    for (const struct fb_reader *r = fb_readers; r->name; r++) {
        if (strcmp(r->name, name) == 0)
            return true;
    }
    return false;
}

static struct fb_profile *travel(const struct fb_profile *p, const struct fb_writer *w)
{
    struct fb_read_report report;
    struct fb_profile *q = NULL;
    struct fb_buf out = {0};
    struct fb_err err;

    w->write(p, NULL, &out);
    if (fb_profile_decode(out.data ? out.data : "", out.len, w->name, w->name, &q, &report, &err) !=
        FB_OK)
        fail_msg("%s", err.text);
    fb_buf_done(&out);
    return q;
}

/* Some hold times and nothing else. */
static bool is_time(const struct fb_writer *w)
{
    return (w->holds & FB_HOLDS_UNIT) || strcmp(w->name, "cpuprofile") == 0;
}

static void all_pairs(enum names names, unsigned names_bit)
{
    for (const struct fb_writer *a = fb_writers; a->name; a++) {
        for (const struct fb_writer *b = fb_writers; b->name; b++) {
            unsigned holds = a->holds & b->holds;
            bool with_names = names_bit == 0 || (holds & names_bit);
            struct fb_profile *p, *q, *r;
            char *way;

            if (!can_be_read(a->name) || !can_be_read(b->name))
                continue;
            /* What has no unit any more is microseconds there. */
            if (strcmp(b->name, "cpuprofile") == 0 && !(a->holds & FB_HOLDS_UNIT))
                continue;
            way = fb_format("%s, then %s", a->name, b->name);
            p = make_profile(holds, names, is_time(a) || is_time(b),
                             1 + (uint64_t)(a - fb_writers) * 31);
            q = travel(p, a);
            compare(p, q, holds, with_names, a->name);
            r = travel(q, b);
            compare(p, r, holds, with_names, way);
            assert_int_equal(fb_profile_weight(r), fb_profile_weight(p));
            fb_profile_free(r);
            fb_profile_free(q);
            fb_profile_free(p);
            free(way);
        }
    }
}

static void what_both_can_hold_arrives(void **state)
{
    (void)state;
    all_pairs(PLAIN, 0);
}

static void control_bytes_arrive_where_both_hold_them(void **state)
{
    (void)state;
    all_pairs(CONTROL, FB_HOLDS_NAMES);
}

static void bytes_that_are_no_utf8_arrive_where_both_hold_them(void **state)
{
    (void)state;
    all_pairs(BYTES, FB_HOLDS_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_both_can_hold_arrives),
        cmocka_unit_test(control_bytes_arrive_where_both_hold_them),
        cmocka_unit_test(bytes_that_are_no_utf8_arrive_where_both_hold_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
