#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/memory.h"
#include "sampler/pages.h"

enum { MIB = 1 << 20 };

static void only_touched_pages_of_a_large_region_count(void **state)
{
    size_t before = fb_memory_touched();
    char *p = fb_memory_map(32 * MIB);

    (void)state;
    assert_non_null(p);
    assert_true(fb_memory_touched() - before < MIB / 4);
    memset(p + 20 * MIB, 1, 3 * MIB);
    assert_true(fb_memory_touched() - before >= 3 * MIB);
    assert_true(fb_memory_touched() - before < 6 * MIB); /* a huge page more at each end */
    fb_memory_unmap(p, 32 * MIB);
    assert_int_equal(fb_memory_touched(), before);
}

static void a_small_region_counts_whole(void **state)
{
    size_t before = fb_memory_touched();
    void *p = fb_memory_map(FB_MEMORY_SPARSE / 2);

    (void)state;
    assert_int_equal(fb_memory_touched() - before, FB_MEMORY_SPARSE / 2);
    fb_memory_unmap(p, FB_MEMORY_SPARSE / 2);
    assert_int_equal(fb_memory_touched(), before);
}

static void regions_beyond_the_table_count_whole(void **state)
{
    void *p[200];
    size_t before = fb_memory_touched();

    (void)state;
    for (int i = 0; i < 200; i++)
        p[i] = fb_memory_map(MIB);
    assert_true(fb_memory_touched() - before >= 100 * MIB);
    assert_true(fb_memory_touched() - before < 199 * MIB);
    for (int i = 0; i < 200; i++)
        fb_memory_unmap(p[i], MIB);
    assert_int_equal(fb_memory_touched(), before);
}

static void memory_that_grows_is_followed(void **state)
{
    size_t before = fb_memory_touched();
    struct fb_pages pages = {0};

    (void)state;
    for (size_t size = 1000; size < 8 * (size_t)MIB; size *= 2) {
        assert_true(fb_pages_reserve(&pages, size));
        memset(pages.data, 1, pages.size);
        assert_int_equal(fb_memory_touched() - before, pages.size);
    }
    fb_pages_free(&pages);
    assert_int_equal(fb_memory_touched(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_touched_pages_of_a_large_region_count),
        cmocka_unit_test(a_small_region_counts_whole),
        cmocka_unit_test(regions_beyond_the_table_count_whole),
        cmocka_unit_test(memory_that_grows_is_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
