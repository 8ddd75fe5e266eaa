/* The laws of all JSON formats, and of the HTML that async-profiler writes: whatever the bytes are,
 * a reader ends with a profile whose account is whole, or with a sentence; and what is written is
 * read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/vec.h"
#include "tests/unit/profile/build_profile.h"

static const struct {
    const char *file, *format, *type;
} rows[] = {
    {"single.flamebearer.json", "flamebearer", NULL},
    {"double.flamebearer.json", "flamebearer", "right"},
    {"old.flamebearer.json", "flamebearer", NULL},
    {"evented.speedscope.json", "speedscope", NULL},
    {"units.speedscope.json", "speedscope", "bytes"},
    {"nodes.cpuprofile", "cpuprofile", NULL},
    {"nested.cpuprofile", "cpuprofile", NULL},
    {"hits.cpuprofile", "cpuprofile", NULL},
    {"chunks.trace.json", "trace-event", NULL},
    {"chunks.trace.json", "trace-event", "spans"},
    {"spans.trace.json", "trace-event", NULL},
    {"frames.trace.json", "trace-event", NULL},
    {"gecko.firefox.json", "firefox", NULL},
    {"shared.firefox.json", "firefox", NULL},
    {"packed.jfrconv.html", "jfrconv", NULL},
    {"old.jfrconv.html", "jfrconv", NULL},
};

static void load(const char *name, struct fb_buf *bytes)
{
    char *path = fb_format("%s/formats/%s", FB_FIXTURES, name);
    struct fb_err err;

    if (fb_file_read(path, bytes, &err) != FB_OK)
        fail_msg("%s", err.text);
    free(path);
}

static enum fb_status read_bytes(const void *bytes, size_t n, const char *format, const char *type,
                                 struct fb_profile **ret_p, struct fb_read_report *report,
                                 struct fb_err *err)
{
    struct fb_source *s = fb_source_of_bytes(bytes, n, "t");
    struct fb_read_options options = {.type = type};
    enum fb_status r = fb_profile_read(s, format, &options, ret_p, report, err);

    fb_source_close(s);
    return r;
}

/* The account, the ids, or the sentence. */
static bool check(const void *bytes, size_t n, size_t row)
{
    struct fb_read_report report;
    struct fb_profile *p = NULL;
    struct fb_err err = {.text = ""};
    uint64_t losses = 0;

    if (read_bytes(bytes, n, rows[row].format, rows[row].type, &p, &report, &err) != FB_OK) {
        assert_true(strncmp(err.text, "t: ", 3) == 0);
        assert_true(strlen(err.text) > 10);
        return false;
    }
    for (size_t i = 0; i < report.losses_count; i++)
        losses += report.losses[i].count;
    assert_int_equal(report.samples_in, p->samples.count + losses);
    for (size_t i = 0; i < p->samples.count; i++) {
        assert_true(p->samples.stack[i] < p->stacks_count);
        assert_true(p->samples.thread[i] < p->threads_count);
    }
    for (size_t i = 1; i < p->stacks_count; i++) {
        assert_true(p->stacks[i].parent.n < i);
        assert_true(p->stacks[i].frame.n > 0 && p->stacks[i].frame.n < p->frames_count);
    }
    fb_profile_free(p);
    return true;
}

static void every_spelling_is_told_and_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fb_buf bytes = {0};
        struct fb_source *s;
        const struct fb_reader *reader;
        struct fb_err err;

        load(rows[i].file, &bytes);
        s = fb_source_of_bytes(bytes.data, bytes.len, "t");
        assert_int_equal(fb_reader_find(s, NULL, &reader, &err), FB_OK);
        assert_string_equal(reader->name, rows[i].format);
        assert_true(fb_profile_is_marked(bytes.data, bytes.len));
        fb_source_close(s);
        assert_true(check(bytes.data, bytes.len, i));
        fb_buf_done(&bytes);
    }
}

static void a_file_may_be_cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fb_buf bytes = {0};

        load(rows[i].file, &bytes);
        for (size_t n = 0; n < bytes.len; n++) {
            char *exact = fb_alloc(n ? n : 1); /* the sanitizer sees a read behind it */

            memcpy(exact, bytes.data, n);
            (void)check(exact, n, i);
            free(exact);
        }
        fb_buf_done(&bytes);
    }
}

static void any_byte_may_be_wrong(void **state)
{
    static const char wrong[] = {'\0', '"', '9', '-', '[', '}', ',', '\\', 'e', '\xff'};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fb_buf bytes = {0};

        load(rows[i].file, &bytes);
        for (size_t at = 0; at < bytes.len; at++) {
            char old = bytes.data[at];

            bytes.data[at] = wrong[at % sizeof wrong];
            (void)check(bytes.data, bytes.len, i);
            bytes.data[at] = (char)(old ^ 1);
            (void)check(bytes.data, bytes.len, i);
            bytes.data[at] = old;
        }
        fb_buf_done(&bytes);
    }
}

/* ---- names ---- */

static void any_name_comes_back(void **state)
{
    static const char *const formats[] = {"flamebearer", "speedscope", "firefox", "cpuprofile"};
    char *text = fb_alloc(100001);
    const struct fb_string names[] = {
        {"a;b\nc", 5},
        {"\"q\\\" <script>&", 14},
        {"nul\0in", 6},
        {"\x01\x1f\x7f\t", 4},
        {"\xc3\xa9\xf0\x9f\x98\x80 \xe2\x80\xa8", 10},
        {"(root)", 6},
        {text, 100000},
    };

    (void)state;
    memset(text, 'x', 100000);
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        struct fb_profile *p = fb_profile_new(), *q = NULL;
        struct fb_buf out = {0};
        struct fb_read_report report;
        struct fb_err err;
        const struct fb_writer *writer;
        fb_stack_id stack = FB_STACK_ROOT;

        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            struct fb_frame frame = {.name =
                                         fb_strings_put(&p->strings, names[i].text, names[i].len)};

            stack = fb_profile_stack_put(p, stack, fb_profile_frame_put(p, &frame));
        }
        fb_profile_sample_add(p, 0, FB_NO_THREAD, stack, 7);
        assert_int_equal(fb_writer_find(formats[f], "", &writer, &err), FB_OK);
        writer->write(p, NULL, &out);
        if (read_bytes(out.data, out.len, formats[f], NULL, &q, &report, &err) != FB_OK)
            fail_msg("%s", err.text);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            assert_int_not_equal(fb_strings_find(&q->strings, names[i].text, names[i].len),
                                 UINT32_MAX);
        assert_int_equal(q->samples.count, 1);
        for (size_t i = 0, at = q->samples.stack[0]; i < sizeof names / sizeof *names; i++) {
            assert_true(at > 0);
            at = q->stacks[at].parent.n;
        }
        fb_buf_done(&out);
        fb_profile_free(p);
        fb_profile_free(q);
    }
    free(text);
}

static void bytes_that_are_no_utf8_are_replaced(void **state)
{
    struct fb_profile *p = fb_profile_new(), *q = NULL;
    struct fb_frame frame = {.name = fb_strings_put(&p->strings, "a\xff\xc3(", 4)};
    struct fb_buf out = {0};
    struct fb_read_report report;
    struct fb_err err;
    const struct fb_writer *writer;

    (void)state;
    fb_profile_sample_add(
        p, 0, 0, fb_profile_stack_put(p, FB_STACK_ROOT, fb_profile_frame_put(p, &frame)), 1);
    assert_int_equal(fb_writer_find("speedscope", "", &writer, &err), FB_OK);
    writer->write(p, NULL, &out);
    assert_int_equal(read_bytes(out.data, out.len, NULL, NULL, &q, &report, &err), FB_OK);
    assert_int_not_equal(fb_strings_find(&q->strings, "a\xef\xbf\xbd\xef\xbf\xbd(", 8), UINT32_MAX);
    fb_buf_done(&out);
    fb_profile_free(p);
    fb_profile_free(q);
}

/* ---- what formats hold comes back ---- */

static void firefox_keeps_times_threads_kinds_and_the_interval(void **state)
{
    struct fb_profile *p = build_profile(500), *q = NULL;
    struct fb_buf out = {0}, one = {0}, two = {0};
    struct fb_read_report report;
    struct fb_err err;
    const struct fb_writer *firefox, *folded;

    (void)state;
    assert_int_equal(fb_writer_find("firefox", "", &firefox, &err), FB_OK);
    assert_int_equal(fb_writer_find("folded", "", &folded, &err), FB_OK);
    firefox->write(p, NULL, &out);
    if (read_bytes(out.data, out.len, NULL, NULL, &q, &report, &err) != FB_OK)
        fail_msg("%s", err.text);
    folded->write(p, NULL, &one);
    folded->write(q, NULL, &two);
    assert_string_equal(one.data, two.data);
    assert_true(q->has_times);
    assert_int_equal(q->interval_ns, p->interval_ns);
    assert_int_equal(q->samples.count, 500);
    assert_int_equal(q->threads_count, 3);
    assert_int_equal(q->threads[1].tid, 101);
    for (size_t i = 0, k; i < 500; i++) { /* by thread there, by time here */
        k = i < 250 ? 2 * i : 2 * (i - 250) + 1;
        assert_true(q->samples.time_ns[i] == p->samples.time_ns[k]);
        assert_true(q->samples.weight[i] == p->samples.weight[k]);
    }
    fb_buf_done(&out);
    fb_buf_done(&one);
    fb_buf_done(&two);
    fb_profile_free(p);
    fb_profile_free(q);
}

static void no_time_and_no_interval_are_made_up(void **state)
{
    static const char folded[] = "a;b 2\na 1\n";
    static const char *const formats[] = {"flamebearer", "speedscope", "firefox"};
    struct fb_read_report report;
    struct fb_err err;

    (void)state;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        struct fb_profile *p = NULL, *q = NULL;
        struct fb_buf out = {0};
        const struct fb_writer *writer;

        assert_int_equal(read_bytes(folded, sizeof folded - 1, "folded", NULL, &p, &report, &err),
                         FB_OK);
        assert_int_equal(fb_writer_find(formats[f], "", &writer, &err), FB_OK);
        writer->write(p, NULL, &out);
        assert_int_equal(read_bytes(out.data, out.len, NULL, NULL, &q, &report, &err), FB_OK);
        assert_false(q->has_times);
        assert_int_equal(q->interval_ns, 0);
        assert_string_equal(fb_profile_text(q, q->unit), "samples");
        assert_int_equal(fb_profile_weight(q), 3);
        fb_buf_done(&out);
        fb_profile_free(p);
        fb_profile_free(q);
    }
}

/* ---- test data of other tools ---- */

static char *corpus(const char *name)
{
    const char *shared = getenv("FB_SHARED");

    return shared ? fb_format("%s/corpus/%s", shared, name)
                  : fb_format("%s/../../shared/corpus/%s", FB_FIXTURES, name);
}

static bool corpus_read(const char *name, struct fb_buf *bytes)
{
    char *path = corpus(name);
    struct fb_err err;
    bool is_there = fb_file_read(path, bytes, &err) == FB_OK;

    if (!is_there)
        print_message("SKIPPED: no test data of other tools (set FB_SHARED)\n");
    free(path);
    return is_there;
}

/* From `"levels":` to `]]`, without blanks. */
static void levels_of(const struct fb_buf *json, struct fb_buf *out)
{
    const char *at = strstr(json->data, "\"levels\"");

    for (; at && *at; at++) {
        if (*at != ' ' && *at != '\n')
            fb_buf_putc(out, *at);
        if (out->len > 2 && strcmp(out->data + out->len - 2, "]]") == 0)
            return;
    }
}

static void a_flamebearer_comes_back_with_its_levels_also_through_folded_text(void **state)
{
    struct fb_buf bytes = {0}, folded = {0}, again = {0}, direct = {0}, want = {0}, got = {0};
    struct fb_profile *p = NULL, *q = NULL;
    struct fb_read_report report;
    struct fb_err err;
    const struct fb_writer *flamebearer, *text;

    (void)state;
    if (!corpus_read("pyroscope/flamebearer-convert/profile.json", &bytes))
        skip();
    assert_int_equal(fb_writer_find("flamebearer", "", &flamebearer, &err), FB_OK);
    assert_int_equal(fb_writer_find("folded", "", &text, &err), FB_OK);
    assert_int_equal(read_bytes(bytes.data, bytes.len, NULL, NULL, &p, &report, &err), FB_OK);
    flamebearer->write(p, NULL, &direct);
    text->write(p, NULL, &folded);
    assert_int_equal(read_bytes(folded.data, folded.len, "folded", NULL, &q, &report, &err), FB_OK);
    flamebearer->write(q, NULL, &again);
    levels_of(&bytes, &want);
    levels_of(&direct, &got);
    assert_string_equal(got.data, want.data);
    got.len = 0;
    levels_of(&again, &got);
    assert_string_equal(got.data, want.data);
    fb_buf_done(&bytes);
    fb_buf_done(&folded);
    fb_buf_done(&again);
    fb_buf_done(&direct);
    fb_buf_done(&want);
    fb_buf_done(&got);
    fb_profile_free(p);
    fb_profile_free(q);
}

/* Self times in microseconds as speedscope's recorded results have them. */
static void self_times_are_those_that_speedscope_recorded(void **state)
{
    static const struct {
        const char *file, *name;
        uint64_t self_us;
    } want[] = {
        {"Chrome/65/simple.cpuprofile", "d", 33285},
        {"Chrome/65/simple.cpuprofile", "(anonymous)", 1060},
        {"node/10.11.0/example.cpuprofile", "d", 33202},
        {"Chrome/69/simple.json", "beta", 7552},
        {"Chrome/69/simple.json", "gamma", 20018},
        {"Chrome/69/simple.json", "(garbage collector)", 646},
        {"Chrome/116/Trace-20230603T221323.json", "gamma", 8593},
        {"Chrome/116/Trace-20230603T221323.json", "delta", 8169},
        {"Chrome/141/no-arg-data.json", "(program)", 53210},
        {"Chrome/141/no-arg-data.json", "a", 521},
        {"Firefox/61/recursion.json", "gamma", 9955},
        {"Firefox/61/recursion.json", "main", 1194},
    };

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        char *name = fb_format("speedscope/profiles/%s", want[i].file);
        struct fb_buf bytes = {0};
        struct fb_profile *p = NULL;
        struct fb_read_report report;
        struct fb_read_options options = {0};
        struct fb_err err;
        struct fb_source *s;
        uint64_t self = 0;

        if (!corpus_read(name, &bytes)) {
            free(name);
            skip();
        }
        free(name);
        if (strncmp(want[i].file, "Firefox", 7) == 0)
            options.weight = FB_WEIGHT_PERIOD;
        s = fb_source_of_bytes(bytes.data, bytes.len, want[i].file);
        if (fb_profile_read(s, NULL, &options, &p, &report, &err) != FB_OK)
            fail_msg("%s", err.text);
        for (size_t k = 0; k < p->samples.count; k++) {
            uint32_t frame = p->stacks[p->samples.stack[k]].frame.n;

            if (strcmp(fb_profile_text(p, p->frames[frame].name), want[i].name) == 0)
                self += p->samples.weight[k];
        }
        if ((self + 500) / 1000 != want[i].self_us)
            fail_msg("%s: %s has %llu us, %llu wanted", want[i].file, want[i].name,
                     (unsigned long long)self / 1000, (unsigned long long)want[i].self_us);
        fb_source_close(s);
        fb_profile_free(p);
        fb_buf_done(&bytes);
    }
}

/* Weights and times that 64 bits do not hold are refused: they are not 0, and do not wrap. */
static void numbers_out_of_range_are_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":[{\"type\":\"sampled\",\"name\":"
         "\"p\","
         "\"unit\":\"bytes\",\"samples\":[[0],[0]],\"weights\":[1e300,1]}]}",
         "t: the weights add up to more than 9e18"},
        {"{\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":[{\"type\":\"sampled\",\"name\":"
         "\"p\","
         "\"unit\":\"bytes\",\"samples\":[[0],[0]],\"weights\":[5e18,5e18]}]}",
         "t: the weights add up to more than 9e18"},
        {"{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"a\"}}],\"samples\":[1,1,1],"
         "\"timeDeltas\":[1,1e18,1e18]}",
         "t: sample 0 is at 1e+18 us, a time within 4.6e+15 us was expected"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fb_read_report report;
        struct fb_profile *p;
        struct fb_err err;

        assert_int_not_equal(
            read_bytes(cases[i].text, strlen(cases[i].text), NULL, NULL, &p, &report, &err), FB_OK);
        assert_string_equal(err.text, cases[i].why);
    }
}

/* DevTools put metadata with whole source maps before the events. */
static void a_key_that_tells_may_stand_behind_a_large_one(void **state)
{
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;
    struct fb_buf text = {0};

    (void)state;
    fb_buf_puts(&text, "{\"metadata\":{\"map\":\"");
    for (size_t i = 0; i < 300 * 1024; i++)
        fb_buf_puts(&text, i % 1000 == 7 ? ";" : "x 1");
    fb_buf_puts(&text, "\"},\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":10}]}");
    if (read_bytes(text.data, text.len, NULL, NULL, &p, &report, &err) != FB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(fb_profile_weight(p), 10000);
    fb_profile_free(p);
    text.len = 700 * 1024; /* and what has none is no folded text for its ';' */
    assert_int_equal(read_bytes(text.data, text.len, NULL, NULL, &p, &report, &err), FB_EFORMAT);
    assert_non_null(strstr(err.text, "no known profile format"));
    fb_buf_done(&text);
}

/* A trace has the end of a profile that began before it. */
static void a_cpu_profile_without_nodes_is_a_loss_beside_a_whole_one(void **state)
{
    static const char text[] =
        "[{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"id\":1,\"pid\":1,\"args\":{\"data\":{"
        "\"cpuProfile\":"
        "{\"samples\":[2,2]},\"timeDeltas\":[1,1]}}},"
        "{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"id\":2,\"pid\":1,\"args\":{\"data\":{"
        "\"cpuProfile\":"
        "{\"nodes\":[{\"id\":2,\"callFrame\":{\"functionName\":\"a\"}}],\"samples\":[2,2]},"
        "\"timeDeltas\":[1,1]}}}]";
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;

    (void)state;
    if (read_bytes(text, sizeof text - 1, NULL, NULL, &p, &report, &err) != FB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(p->samples.count, 2);
    assert_int_equal(report.samples_in, 4);
    assert_int_equal(report.losses_count, 1);
    assert_string_equal(report.losses[0].what, "samples of a profile without its nodes");
    fb_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_is_told_and_read),
        cmocka_unit_test(a_file_may_be_cut_at_every_byte),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(any_name_comes_back),
        cmocka_unit_test(bytes_that_are_no_utf8_are_replaced),
        cmocka_unit_test(firefox_keeps_times_threads_kinds_and_the_interval),
        cmocka_unit_test(no_time_and_no_interval_are_made_up),
        cmocka_unit_test(a_flamebearer_comes_back_with_its_levels_also_through_folded_text),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(a_key_that_tells_may_stand_behind_a_large_one),
        cmocka_unit_test(a_cpu_profile_without_nodes_is_a_loss_beside_a_whole_one),
        cmocka_unit_test(self_times_are_those_that_speedscope_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
