#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "sampler/signal/ring.h"

enum { PAGE = 4096, WORDS = PAGE / 8 };

static _Alignas(8) unsigned char memory[2 * PAGE];
static struct perf_event_mmap_page *const control = (void *)memory;
static uint64_t *const data = (void *)(memory + PAGE);

static int fresh(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    return 0;
}

static void word_put(uint64_t w)
{
    data[control->data_head / 8 % WORDS] = w;
    control->data_head += 8;
}

/* A sample whose addresses are first, first + 1 ... behind the kernel's mark. */
static void sample_put(uint64_t count, uint64_t first)
{
    word_put((2 + count) * 8 << 48 | PERF_RECORD_SAMPLE);
    word_put(count);
    for (uint64_t i = 0; i < count; i++)
        word_put(i == 0 ? (uint64_t)PERF_CONTEXT_KERNEL : first + i - 1);
}

static void samples_come_in_their_order_without_context_marks(void **state)
{
    struct fb_ring_cursor at;
    uint64_t pcs[8];

    (void)state;
    sample_put(3, 100);
    sample_put(0, 0);
    word_put(UINT64_C(24) << 48 | PERF_RECORD_LOST);
    word_put(1);
    word_put(2);
    sample_put(2, 200);
    assert_int_equal(fb_ring_begin(memory, PAGE, &at), 3);
    assert_int_equal(fb_ring_next(&at, pcs, 8), 2);
    assert_int_equal(pcs[1], 101);
    assert_int_equal(fb_ring_next(&at, pcs, 8), 0);
    assert_int_equal(fb_ring_next(&at, pcs, 8), 1);
    assert_int_equal(pcs[0], 200);
    assert_int_equal(fb_ring_next(&at, pcs, 8), 0);
    fb_ring_end(&at);
    assert_int_equal(control->data_tail, control->data_head);
    assert_int_equal(fb_ring_begin(memory, PAGE, &at), 0);
}

static void records_go_round_the_end(void **state)
{
    struct fb_ring_cursor at;
    uint64_t pcs[200];

    (void)state;
    for (int i = 0; i < 50; i++) {
        sample_put(120, (uint64_t)i << 8);
        assert_int_equal(fb_ring_begin(memory, PAGE, &at), 1);
        assert_int_equal(fb_ring_next(&at, pcs, 127), 119);
        assert_int_equal(pcs[118], ((uint64_t)i << 8) + 118);
        fb_ring_end(&at);
    }
}

static void what_is_skipped_is_not_read(void **state)
{
    struct fb_ring_cursor at;
    uint64_t pcs[8];

    (void)state;
    sample_put(2, 100);
    sample_put(2, 200);
    assert_int_equal(fb_ring_begin(memory, PAGE, &at), 2);
    fb_ring_skip(&at);
    assert_int_equal(fb_ring_next(&at, pcs, 8), 1);
    assert_int_equal(pcs[0], 200);
}

static void no_more_than_max_is_given(void **state)
{
    struct fb_ring_cursor at;
    uint64_t pcs[3] = {0, 0, 77};

    (void)state;
    sample_put(100, 1);
    fb_ring_begin(memory, PAGE, &at);
    assert_int_equal(fb_ring_next(&at, pcs, 2), 2);
    assert_int_equal(pcs[2], 77);
}

static void nonsense_ends_the_reading(void **state)
{
    struct fb_ring_cursor at;
    uint64_t pcs[8];

    (void)state;
    word_put(PERF_RECORD_SAMPLE); /* of no size */
    assert_int_equal(fb_ring_begin(memory, PAGE, &at), 0);
    fresh(NULL);
    word_put(UINT64_C(0xfff8) << 48 | PERF_RECORD_SAMPLE); /* longer than what is there */
    assert_int_equal(fb_ring_begin(memory, PAGE, &at), 0);
    fresh(NULL);
    word_put(UINT64_C(16) << 48 | PERF_RECORD_SAMPLE);
    word_put(1000); /* addresses, in two words */
    assert_int_equal(fb_ring_begin(memory, PAGE, &at), 1);
    assert_int_equal(fb_ring_next(&at, pcs, 8), 0);
    fb_ring_end(&at);
    assert_int_equal(control->data_tail, control->data_head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(samples_come_in_their_order_without_context_marks, fresh),
        cmocka_unit_test_setup(records_go_round_the_end, fresh),
        cmocka_unit_test_setup(what_is_skipped_is_not_read, fresh),
        cmocka_unit_test_setup(no_more_than_max_is_given, fresh),
        cmocka_unit_test_setup(nonsense_ends_the_reading, fresh),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
