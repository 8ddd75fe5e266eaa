#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>

#include "sampler/memory.h"
#include "sampler/signal/pool.h"

static void *memory;

static int fresh_pool(void **state)
{
    (void)state;
    memory = fb_memory_map(FB_POOL_BYTES);
    fb_pool_init(memory);
    return memory == NULL;
}

static int drop_pool(void **state)
{
    (void)state;
    fb_memory_unmap(memory, FB_POOL_BYTES);
    return 0;
}

static void every_segment_is_given_out_once_and_then_none(void **state)
{
    static struct fb_segment *taken[FB_SEGMENT_COUNT];

    (void)state;
    for (int i = 0; i < FB_SEGMENT_COUNT; i++) {
        taken[i] = fb_pool_take();
        assert_non_null(taken[i]);
        assert_int_equal(taken[i]->used, 0);
        taken[i]->used = 1; /* would show up again */
    }
    assert_null(fb_pool_take());
    fb_pool_give(taken[7]);
    assert_ptr_equal(fb_pool_take(), taken[7]);
    assert_null(fb_pool_take());
}

static void the_last_one_given_is_the_first_taken(void **state)
{
    struct fb_segment *a = fb_pool_take();
    struct fb_segment *b = fb_pool_take();

    (void)state;
    fb_pool_give(a);
    fb_pool_give(b);
    assert_ptr_equal(fb_pool_take(), b);
    assert_ptr_equal(fb_pool_take(), a);
}

static void full_segments_come_back_newest_first_and_once(void **state)
{
    struct fb_segment *a = fb_pool_take();
    struct fb_segment *b = fb_pool_take();
    struct fb_segment *list;

    (void)state;
    fb_pool_push_full(a);
    fb_pool_push_full(b);
    list = fb_pool_take_full();
    assert_ptr_equal(list, b);
    assert_ptr_equal(fb_pool_next(list), a);
    assert_null(fb_pool_next(a));
    assert_null(fb_pool_take_full());
    fb_pool_link(a, b);
    assert_ptr_equal(fb_pool_next(a), b);
}

/* Four threads take, mark as theirs, look again, and hand over; one drains: nobody may ever see
 * another's mark, and every segment that was handed over arrives. */
enum { WORKERS = 4, ROUNDS = 20000 };

static _Atomic int clashes;
static _Atomic uint32_t handed_over;

static void *work(void *ctx)
{
    uint32_t mark = (uint32_t)(uintptr_t)ctx;

    for (int i = 0; i < ROUNDS; i++) {
        struct fb_segment *segment = fb_pool_take();

        if (segment == NULL)
            continue;
        clashes += segment->used != 0;
        segment->used = mark;
        for (volatile int spin = 0; spin < 20; spin++)
            ;
        clashes += segment->used != mark;
        handed_over++;
        fb_pool_push_full(segment);
    }
    return NULL;
}

static uint32_t drain(void)
{
    uint32_t n = 0;
    struct fb_segment *next;

    for (struct fb_segment *s = fb_pool_take_full(); s != NULL; s = next) {
        next = fb_pool_next(s);
        n++;
        fb_pool_give(s);
    }
    return n;
}

static void owners_never_meet(void **state)
{
    pthread_t thread[WORKERS];
    uint32_t drained = 0;

    (void)state;
    clashes = 0;
    handed_over = 0;
    for (uintptr_t i = 0; i < WORKERS; i++)
        pthread_create(&thread[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 2000; i++)
        drained += drain();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(thread[i], NULL);
    drained += drain();
    assert_int_equal(clashes, 0);
    assert_int_equal(drained, handed_over);
}

#define POOL_TEST(name) cmocka_unit_test_setup_teardown(name, fresh_pool, drop_pool)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POOL_TEST(every_segment_is_given_out_once_and_then_none),
        POOL_TEST(the_last_one_given_is_the_first_taken),
        POOL_TEST(full_segments_come_back_newest_first_and_once),
        POOL_TEST(owners_never_meet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
