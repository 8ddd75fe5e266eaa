/* test_jvm_lines.c - byte code to lines, over tables that javac makes and over any bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "sampler/jvm/lines.h"
#include "sampler/jvm/signal/names.h"
#include "sampler/jvm/signal/vm.h"
#include "sampler/signal/guard.h"
#include "tests/unit/sampler/fake_metaspace.h"

static struct fb_jvm_layout layout;
static struct fake_method *method;
static uint8_t *table; /* of lines */
static uint32_t id;

static int fresh(void **state)
{
    void *memory = mmap(NULL, FB_JVM_NAMES_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    (void)state;
    layout = fake_layout();
    fb_jvm_names_init(memory, &layout);
    method = fake_method_make("a/B", "c", "()V");
    method->constant->flags = 1;
    method->constant->code_size = 13;
    table = method->constant->code + 13;
    id = fb_jvm_method_name(fake_address(method));
    fb_guard_set(true);
    fb_jvm_thread_open = true;
    return memory == MAP_FAILED || id < FB_JVM_NAME_FIRST;
}

static int clear(void **state)
{
    (void)state;
    fake_method_free(method);
    return munmap(fb_jvm_names.entries, FB_JVM_NAMES_BYTES);
}

/* A number in the JVM's packing: below 192 a byte, else low bytes first. */
static size_t pack(uint8_t *to, int32_t value, unsigned excluded)
{
    uint32_t left = (uint32_t)value << 1 ^ (uint32_t)(value >> 31);
    size_t n = 0;

    while (left >= 192 - excluded && n < 4) {
        uint32_t low = 192 - excluded + (left - (192 - excluded)) % 64;

        to[n++] = (uint8_t)(low + excluded);
        left = (left - low) / 64;
    }
    to[n++] = (uint8_t)(left + excluded);
    return n;
}

static void a_bci_has_the_line_of_the_entry_before_it(void **state)
{
    (void)state;
    for (int release = 17; release <= 21; release += 4) {
        unsigned excluded = release >= 20;
        size_t n = 0;

        layout.release = release;
        table[n++] = 255; /* bci 0, line 1000 */
        n += pack(table + n, 0, excluded);
        n += pack(table + n, 1000, excluded);
        table[n++] = 4 << 3 | 2; /* bci 4, line 1002 */
        table[n++] = 255;        /* bci 9, line 990 */
        n += pack(table + n, 5, excluded);
        n += pack(table + n, -12, excluded);
        table[n++] = 255; /* bci 3000, line 60000 */
        n += pack(table + n, 2991, excluded);
        n += pack(table + n, 59010, excluded);
        table[n] = 0;
        assert_int_equal(fb_jvm_line(id, 0), 1000);
        assert_int_equal(fb_jvm_line(id, 3), 1000);
        assert_int_equal(fb_jvm_line(id, 4), 1002);
        assert_int_equal(fb_jvm_line(id, 8), 1002);
        assert_int_equal(fb_jvm_line(id, 9), 990);
        assert_int_equal(fb_jvm_line(id, 2999), 990);
        assert_int_equal(fb_jvm_line(id, 3000), 60000);
        assert_int_equal(fb_jvm_line(id, -1), 0);
    }
}

static void a_method_without_lines_or_that_is_another_now_has_none(void **state)
{
    uint16_t name_index = method->constant->name_index;

    (void)state;
    table[0] = 1 << 3 | 5;
    table[1] = 0;
    assert_int_equal(fb_jvm_line(id, 1), 5);
    assert_int_equal(fb_jvm_line(FB_JVM_NAME_FULL, 1), 0);
    fb_jvm_thread_open = false; /* a load that fails would kill */
    assert_int_equal(fb_jvm_line(id, 1), 0);
    fb_jvm_thread_open = true;
    fb_guard_set(false);
    assert_int_equal(fb_jvm_line(id, 1), 0);
    fb_guard_set(true);
    method->constant->flags = 2;
    assert_int_equal(fb_jvm_line(id, 1), 0);
    method->constant->flags = 1;
    method->constant->name_index = method->constant->signature_index;
    assert_int_equal(fb_jvm_line(id, 1), 0);
    method->constant->name_index = name_index;
    assert_int_equal(fb_jvm_line(id, 1), 5);
}

static void a_class_may_say_what_its_file_is(void **state)
{
    struct fake_pool *pool = method->constant->pool;
    char text[8];

    (void)state;
    assert_int_equal(fb_jvm_source(id, text, sizeof text), 0);
    pool->slots[7] = fake_symbol_make("B.java");
    pool->source_file = 7;
    assert_int_equal(fb_jvm_source(id, text, sizeof text), 6);
    assert_memory_equal(text, "B.java", 6);
    assert_int_equal(fb_jvm_source(id, text, 3), 3);
    assert_int_equal(fb_jvm_source(FB_JVM_NAME_FULL, text, 3), 0);
    method->constant->name_index = method->constant->signature_index;
    assert_int_equal(fb_jvm_source(id, text, sizeof text), 0);
}

/* Cut, and made of any bytes: a line of 16 bits or none, and never past the method's end. */
static void any_bytes_are_a_table(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        for (unsigned i = 0; i < FAKE_LINES_MAX; i++) {
            seed = seed * 1664525 + 1013904223;
            table[i] = seed >> 28 == 0 ? 255 : (uint8_t)(seed >> 24);
        }
        method->constant->words = (int32_t)(sizeof *method->constant / 8 - seed % 8);
        layout.release = seed & 1 << 20 ? 17 : 25;
        assert_true(fb_jvm_line(id, (int32_t)(seed >> 8 & 0xffff)) <= UINT16_MAX);
    }
    memset(table, 8, FAKE_LINES_MAX + FAKE_CODE_MAX - 13); /* without an end */
    method->constant->words = sizeof *method->constant / 8;
    assert_int_equal(fb_jvm_line(id, 65000), 0);
}

#define LINES_TEST(name) cmocka_unit_test_setup_teardown(name, fresh, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LINES_TEST(a_bci_has_the_line_of_the_entry_before_it),
        LINES_TEST(a_method_without_lines_or_that_is_another_now_has_none),
        LINES_TEST(a_class_may_say_what_its_file_is),
        LINES_TEST(any_bytes_are_a_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
