/* Perf maps and jitdumps as their writers leave them: half written, written anew, over old code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sampler/jit_files.h"
#include "sampler/writer_jit.h"

enum { FILE_MAX = 64 << 10 };

static struct fb_jit_files files;
static struct fb_jit_codes codes;
static char path[64];
static int fd;

static int begin(void **state)
{
    (void)state;
    fb_jit_files_init(&files);
    files.search_ns = UINT64_MAX; /* none of our own process */
    codes = (struct fb_jit_codes){.count = 0};
    snprintf(path, sizeof path, "/tmp/fb-test-jit-XXXXXX");
    fd = mkstemp(path);
    return fd < 0;
}

static int end(void **state)
{
    (void)state;
    fb_jit_files_rest(&files);
    fb_pages_free(&codes.pages);
    close(fd);
    unlink(path);
    return 0;
}

static void append(const void *bytes, size_t n)
{
    lseek(fd, 0, SEEK_END);
    assert_int_equal(write(fd, bytes, n), (ssize_t)n);
}

static void say(const char *text)
{
    append(text, strlen(text));
}

static bool map_look(uint64_t now)
{
    snprintf(files.map.path, sizeof files.map.path, "%s", path);
    fb_jit_files_rest(&files);
    return fb_jit_files_look(&files, &codes, now);
}

/* The name of the code that held pc at that time. */
static const char *name_at(uint64_t pc, uint64_t time)
{
    static char name[1024];
    bool several;
    const struct fb_jit_code *code = fb_jit_codes_find(&codes, pc, time, &several);
    size_t n = code != NULL ? fb_jit_files_name(&files, code, name, sizeof name - 1) : 0;

    name[n] = '\0';
    return n > 0 ? name : "none";
}

static void a_line_counts_when_it_is_whole(void **state)
{
    (void)state;
    say("1000 40 JS:~one a.js:1:1\n2000 40 JS:~tw");
    assert_true(map_look(10));
    assert_string_equal(name_at(0x1000, 10), "JS:~one a.js:1:1");
    assert_string_equal(name_at(0x103f, 10), "JS:~one a.js:1:1");
    assert_string_equal(name_at(0x1040, 10), "none");
    assert_string_equal(name_at(0x2000, 10), "none");
    assert_false(map_look(20));
    say("o a.js:2:1\r\n");
    assert_true(map_look(30));
    assert_string_equal(name_at(0x2001, 30), "JS:~two a.js:2:1");
}

static void code_over_old_code_is_told_by_time(void **state)
{
    bool several;

    (void)state;
    say("1000 40 old\n3000 10 alone\n");
    assert_true(map_look(100));
    say("0x1010 0x20 new\n");
    assert_true(map_look(200));
    assert_string_equal(name_at(0x1018, 50), "old");
    assert_string_equal(name_at(0x1018, 150), "new");
    assert_string_equal(name_at(0x1018, 500), "new");
    assert_string_equal(name_at(0x1008, 500), "old");
    fb_jit_codes_find(&codes, 0x1018, 500, &several);
    assert_true(several);
    fb_jit_codes_find(&codes, 0x3000, 500, &several);
    assert_false(several);
}

static void a_map_that_is_written_anew_is_read_anew(void **state)
{
    (void)state;
    say("1000 40 one\n2000 40 two\n");
    assert_true(map_look(10));
    assert_int_equal(ftruncate(fd, 0), 0);
    say("1000 40 three\n");
    assert_true(map_look(20));
    assert_string_equal(name_at(0x1000, 20), "three");
    assert_string_equal(name_at(0x2000, 20), "none");
}

static void what_is_no_line_is_passed_over(void **state)
{
    static char longest[40000];

    (void)state;
    memset(longest, 'x', sizeof longest - 1);
    say("\nnonsense\n1000\n1000 40\n1000 40 \n1000 0 empty\n");
    say("fffffffffffffff0 40 beyond\n11111111111111111 40 too long\n 1000 40 indented\n");
    say("5000 10 ");
    say(longest);
    say("\n6000 40 good\n");
    map_look(10);
    assert_string_equal(name_at(0x1000, 10), "none");
    assert_string_equal(name_at(0x6000, 10), "good");
    assert_true(codes.count <= 2);
}

static void a_full_table_forgets_what_was_replaced(void **state)
{
    struct fb_jit_code code = {.end = 0};

    (void)state;
    for (uint64_t i = 0; i < 3 * (uint64_t)FB_JIT_CODES_MAX; i++) {
        code.start = 0x1000 + i % 1000 * 0x100;
        code.end = code.start + 0x40;
        code.name_at = i;
        assert_true(fb_jit_codes_add(&codes, &code));
    }
    fb_jit_codes_settle(&codes);
    assert_true(codes.count <= FB_JIT_CODES_MAX);
    for (uint64_t i = 0; i < 1000; i++) {
        bool several;

        assert_int_equal(fb_jit_codes_find(&codes, 0x1000 + i * 0x100, 0, &several)->name_at % 1000,
                         i);
    }
}

static size_t dump_take(char *bytes)
{
    FILE *f = fopen(FB_FIXTURES "/jit/small.dump", "rb");
    size_t n;

    assert_non_null(f);
    n = fread(bytes, 1, FILE_MAX, f);
    fclose(f);
    return n;
}

static void dump_look(void)
{
    snprintf(files.dump.path, sizeof files.dump.path, "%s", path);
    fb_jit_files_rest(&files);
    fb_jit_files_look(&files, &codes, 100);
}

static void a_dump_has_times_moves_and_lines(void **state)
{
    static char bytes[FILE_MAX];
    const struct fb_jit_code *code;
    char file[64];
    uint32_t line;
    bool several;

    (void)state;
    append(bytes, dump_take(bytes));
    dump_look();
    assert_string_equal(name_at(0x1004, 9000), "JS:~first a.js:10:1");
    assert_string_equal(name_at(0x2004, 3000), "JS:*second b.js:1:1");
    assert_string_equal(name_at(0x3004, 4000), "JS:*second b.js:1:1");
    assert_string_equal(name_at(0x2004, 5000), "Builtin:Third");
    code = fb_jit_codes_find(&codes, 0x1004, 9000, &several);
    assert_true(fb_jit_files_line(&files, code, 0x1004, file, sizeof file, &line));
    assert_string_equal(file, "a.js");
    assert_int_equal(line, 10);
    assert_true(fb_jit_files_line(&files, code, 0x1020, file, sizeof file, &line));
    assert_string_equal(file, "a.js");
    assert_int_equal(line, 12);
    code = fb_jit_codes_find(&codes, 0x3004, 9000, &several);
    assert_false(fb_jit_files_line(&files, code, 0x3004, file, sizeof file, &line));
}

/* Byte by byte: at each length what is whole is there, and at the end all of it. */
static void a_dump_may_end_at_every_byte(void **state)
{
    static char bytes[FILE_MAX];
    size_t n = dump_take(bytes);
    uint32_t before = 0;

    (void)state;
    for (size_t i = 0; i < n; i++) {
        append(bytes + i, 1);
        dump_look();
        assert_true(codes.count == before || codes.count == before + 1);
        before = codes.count;
    }
    assert_int_equal(before, 4);
    assert_string_equal(name_at(0x2004, 5000), "Builtin:Third");
}

static void a_dump_of_another_machine_is_refused(void **state)
{
    static char bytes[FILE_MAX];
    size_t n = dump_take(bytes);

    (void)state;
    for (int i = 0; i < 2; i++) {
        char moved = bytes[i];

        bytes[i] = bytes[3 - i];
        bytes[3 - i] = moved;
    }
    append(bytes, n);
    dump_look();
    assert_int_equal(codes.count, 0);
    assert_true(files.refused);
}

static void half_a_header_is_not_refused(void **state)
{
    static char bytes[FILE_MAX];
    size_t n = dump_take(bytes);

    (void)state;
    append(bytes, 39);
    dump_look();
    assert_false(files.refused);
    append(bytes + 39, n - 39);
    dump_look();
    assert_false(files.refused);
    assert_true(codes.count > 0);
}

static void names_of_scripts_have_a_tier(void **state)
{
    static const struct {
        const char *name;
        bool script;
        enum fb_frame_tier tier;
    } cases[] = {{"JS:~f a.js:1:1", true, FB_FRAME_TIER_INTERPRETED},
                 {"JS:^f a.js:1:1", true, FB_FRAME_TIER_C1},
                 {"LazyCompile:*f a.js:1", true, FB_FRAME_TIER_C2},
                 {"Function:f", true, FB_FRAME_TIER_UNKNOWN},
                 {"JS:", false, FB_FRAME_TIER_UNKNOWN},
                 {"Builtin:LoadIC", false, FB_FRAME_TIER_UNKNOWN},
                 {"RegExp:JS:*", false, FB_FRAME_TIER_UNKNOWN}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum fb_frame_tier tier;

        assert_int_equal(fb_writer_jit_is_script(cases[i].name, strlen(cases[i].name), &tier),
                         cases[i].script);
        assert_int_equal(tier, cases[i].tier);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_line_counts_when_it_is_whole, begin, end),
        cmocka_unit_test_setup_teardown(code_over_old_code_is_told_by_time, begin, end),
        cmocka_unit_test_setup_teardown(a_map_that_is_written_anew_is_read_anew, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_line_is_passed_over, begin, end),
        cmocka_unit_test_setup_teardown(a_full_table_forgets_what_was_replaced, begin, end),
        cmocka_unit_test_setup_teardown(a_dump_has_times_moves_and_lines, begin, end),
        cmocka_unit_test_setup_teardown(a_dump_may_end_at_every_byte, begin, end),
        cmocka_unit_test_setup_teardown(a_dump_of_another_machine_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(half_a_header_is_not_refused, begin, end),
        cmocka_unit_test(names_of_scripts_have_a_tier),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
