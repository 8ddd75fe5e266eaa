#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <time.h>

#include "sampler/clock.h"
#include "sampler/counters.h"

static char scratch[64 << 10];

struct source {
    int calls;
    int slow; /* the first so many calls are kept from running for 10 ms */
    uint64_t last_ns;
};

static void own_read(void *ctx, struct fb_counters_own *ret_own)
{
    struct source *s = ctx;
    const struct timespec held = {0, 10000000};

    s->last_ns = fb_clock_now();
    if (s->calls++ < s->slow)
        nanosleep(&held, NULL);
    *ret_own = (struct fb_counters_own){.threads = 1};
}

static void begin(struct fb_counter_row *c)
{
    struct source s = {0};
    struct fb_config config = {.clock = FB_CLOCK_CPU, .interval_ns = 10000000};

    fb_clock_init(&config, NULL);
    memset(c, 0, sizeof *c);
    fb_counters_thread_begin(c, false);
    fb_counters_init(c, scratch, sizeof scratch);
    fb_counters_read(c, own_read, &s, false);
    assert_true(c->fresh[FB_COUNTER_PROCESS_CPU] && c->fresh[FB_COUNTER_NODE_BUSY]);
}

static void a_row_that_was_held_up_is_read_anew(void **state)
{
    struct fb_counter_row c;
    struct source s = {.slow = 1};

    (void)state;
    begin(&c);
    fb_counters_read(&c, own_read, &s, false);
    assert_true(s.calls >= 2);
    assert_true((uint64_t)c.time_ns >= s.last_ns); /* the time is that of the values */
}

static void a_row_that_is_always_held_up_comes_all_the_same(void **state)
{
    struct fb_counter_row c;
    struct source s = {.slow = 1000};

    (void)state;
    begin(&c);
    fb_counters_read(&c, own_read, &s, false);
    assert_int_equal(s.calls, 3);
}

static void what_is_dear_is_read_as_often_as_its_allowance_lets_it(void **state)
{
    struct fb_counter_row c;
    struct source s = {0};
    unsigned rows = 0;

    (void)state;
    begin(&c);
    c.process.cost_ns = 350000; /* 0.1 ms a row */
    do {
        fb_counters_read(&c, own_read, &s, false);
        rows++;
        assert_true(c.fresh[FB_COUNTER_CGROUP_CPU] == c.readable[FB_COUNTER_CGROUP_CPU]);
        assert_true(c.fresh[FB_COUNTER_WEIGHT]);
    } while (!c.fresh[FB_COUNTER_PROCESS_CPU]);
    assert_int_equal(rows, 4);
    c.process.cost_ns = 700000;
    fb_counters_read(&c, own_read, &s, true);
    assert_true(c.fresh[FB_COUNTER_PROCESS_CPU]); /* a whole row has it */
}

static void however_dear_it_is_there_is_a_longest_gap(void **state)
{
    struct fb_counter_row c;
    struct source s = {0};
    unsigned rows = 0;

    (void)state;
    begin(&c);
    c.node.cost_ns = UINT64_C(1000000000000);
    do {
        fb_counters_read(&c, own_read, &s, false);
        rows++;
    } while (!c.fresh[FB_COUNTER_NODE_BUSY] && rows < 100);
    assert_int_equal(rows, FB_COUNTERS_SKIPPED + 1);
}

static void a_level_between_two_readings_is_the_last_one(void **state)
{
    struct fb_counter_row c;
    struct source s = {0};
    int64_t before;

    (void)state;
    begin(&c);
    before = c.value[FB_COUNTER_PROCESS_RSS];
    c.memory.cost_ns = UINT64_C(1000000000);
    c.own_memory.cost_ns = UINT64_C(1000000000);
    fb_counters_read(&c, own_read, &s, false);
    assert_true(c.fresh[FB_COUNTER_PROCESS_RSS] && c.fresh[FB_COUNTER_OWN_RSS]);
    assert_int_equal(c.value[FB_COUNTER_PROCESS_RSS], before);
}

static void a_row_has_columns_for_what_was_read(void **state)
{
    struct fb_counter_row c;
    struct source s = {0};
    uint8_t bytes[4096];
    struct fb_wire_out out = {.data = bytes, .cap = sizeof bytes};
    struct fb_wire_in in = {.data = bytes};
    uint64_t columns;

    (void)state;
    begin(&c);
    c.process.cost_ns = UINT64_C(1000000000);
    fb_counters_read(&c, own_read, &s, false);
    fb_counters_put_row(&c, &out);
    in.len = out.len;
    assert_int_equal(fb_wire_get_signed(&in), c.time_ns);
    assert_int_equal(fb_wire_get_varint(&in), 1);
    columns = fb_wire_get_varint(&in);
    (void)fb_wire_get_signed(&in);
    for (uint64_t i = 0; i < columns; i++) {
        uint64_t id = fb_wire_get_varint(&in);

        assert_true(id >= 1 && id <= FB_COUNTER_COUNT && c.fresh[id - 1]);
        assert_int_equal(fb_wire_get_signed(&in), c.value[id - 1]);
        assert_int_not_equal(id - 1, FB_COUNTER_PROCESS_CPU);
    }
    assert_true(!in.bad && in.pos == in.len);
}

/* Each CPU has its names; what a reading costs is not paid again in every row. */
static void every_tenth_reading_of_the_node_has_its_cpus(void **state)
{
    struct fb_counter_row c;
    struct source s = {0};
    static uint8_t bytes[1 << 16];
    struct fb_chunk chunk;
    unsigned rows = 0;

    (void)state;
    begin(&c);
    assert_true(c.fresh[FB_COUNTER_CPU_FIRST] && c.readable[FB_COUNTER_CPU_FIRST + 2]);
    assert_true(c.fresh[FB_COUNTER_WALL_OFFSET]);
    fb_chunk_begin(&chunk, bytes, sizeof bytes);
    fb_counters_put_defs(&c, &chunk);
    assert_non_null(memmem(bytes, sizeof bytes, "node.cpu0.softirq_ns", 20));
    do {
        c.value[FB_COUNTER_CPU_FIRST] = -1; /* grown, whatever it is */
        c.node.cost_ns = 0;
        fb_counters_read(&c, own_read, &s, false);
        assert_false(c.fresh[FB_COUNTER_WALL_OFFSET]); /* nobody sets the clock */
        rows++;
    } while (!c.fresh[FB_COUNTER_CPU_FIRST] && rows < 100);
    assert_int_equal(rows, FB_COUNTERS_SKIPPED);
    fb_counters_read(&c, own_read, &s, true);
    assert_true(c.fresh[FB_COUNTER_CPU_FIRST] && c.fresh[FB_COUNTER_WALL_OFFSET]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tenth_reading_of_the_node_has_its_cpus),
        cmocka_unit_test(a_row_that_was_held_up_is_read_anew),
        cmocka_unit_test(a_row_that_is_always_held_up_comes_all_the_same),
        cmocka_unit_test(what_is_dear_is_read_as_often_as_its_allowance_lets_it),
        cmocka_unit_test(however_dear_it_is_there_is_a_longest_gap),
        cmocka_unit_test(a_level_between_two_readings_is_the_last_one),
        cmocka_unit_test(a_row_has_columns_for_what_was_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
