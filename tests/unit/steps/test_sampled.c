/* Sums over spans of samples are those of a scan of all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "steps/steps.h"

enum { SAMPLES = 2000, QUESTIONS = 3000 };

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static struct fb_sampled_sum scan(const struct fb_profile *p, int64_t from, int64_t to)
{
    struct fb_sampled_sum sum = {0};

    for (size_t i = 0; i < p->samples.count; i++)
        if (p->samples.time_ns[i] >= from && p->samples.time_ns[i] < to) {
            sum.count++;
            sum.weight += p->samples.weight[i];
        }
    return sum;
}

static void assert_like_a_scan(const struct fb_profile *p, uint64_t *seed)
{
    struct fb_sampled *s = fb_sampled_new(p);
    const int64_t *times = p->samples.time_ns;

    assert_int_equal(fb_sampled_all(s).count, p->samples.count);
    for (int i = 0; i < QUESTIONS && p->samples.count > 0; i++) {
        /* at the very times of samples and one beside them */
        int64_t from = times[next(seed) % p->samples.count] - (int64_t)(next(seed) % 2);
        int64_t to = times[next(seed) % p->samples.count] + (int64_t)(next(seed) % 2);
        struct fb_sampled_sum sum = fb_sampled_between(s, from, to), all = scan(p, from, to);

        assert_int_equal(sum.count, all.count);
        assert_int_equal(sum.weight, all.weight);
    }
    fb_sampled_free(s);
}

static struct fb_profile *profile_of(int64_t (*time)(uint64_t *seed, size_t i), size_t count)
{
    struct fb_profile *p = fb_profile_new();
    uint64_t seed = 7;

    p->has_times = true;
    for (size_t i = 0; i < count; i++) {
        int64_t t = time(&seed, i);

        fb_profile_sample_add(p, t, FB_NO_THREAD, (fb_stack_id){0}, next(&seed) % 5);
    }
    return p;
}

static int64_t rising(uint64_t *seed, size_t i)
{
    return 1000 * (int64_t)i + (int64_t)(next(seed) % 1000);
}

static int64_t of_threads(uint64_t *seed, size_t i)
{
    return 1000 * (int64_t)(i % 100) + (int64_t)(next(seed) % 20);
}

static int64_t in_bursts(uint64_t *seed, size_t i)
{
    return i == 0 ? 1 : 1000000000000 + (int64_t)(next(seed) % 50);
}

static int64_t at_the_ends_of_time(uint64_t *seed, size_t i)
{
    return i % 3 == 0   ? INT64_MIN + 1 + (int64_t)(next(seed) % 9)
           : i % 3 == 1 ? INT64_MAX - 1 - (int64_t)(next(seed) % 9)
                        : (int64_t)next(seed);
}

static int64_t at_once(uint64_t *seed, size_t i)
{
    (void)seed;
    (void)i;
    return 42;
}

static void sums_are_those_of_a_scan(void **state)
{
    int64_t (*const times[])(uint64_t *, size_t) = {rising, of_threads, in_bursts,
                                                    at_the_ends_of_time, at_once};

    (void)state;
    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        uint64_t seed = 3 + k;
        struct fb_profile *p = profile_of(times[k], SAMPLES);

        assert_like_a_scan(p, &seed);
        fb_profile_free(p);
    }
}

static void no_samples_have_no_weight(void **state)
{
    struct fb_profile *p = fb_profile_new();
    struct fb_sampled *s = fb_sampled_new(p);

    (void)state;
    assert_int_equal(fb_sampled_all(s).count, 0);
    assert_int_equal(fb_sampled_between(s, INT64_MIN, INT64_MAX).count, 0);
    assert_int_equal(fb_sampled_between(s, 5, 5).weight, 0);
    fb_sampled_free(s);
    fb_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_a_scan),
        cmocka_unit_test(no_samples_have_no_weight),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
