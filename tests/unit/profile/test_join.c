/* Profiles put together: every sample of every part, at its part's time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "profile/profile.h"

static struct fb_profile *read_text(const char *text)
{
    struct fb_source *in = fb_source_of_bytes(text, strlen(text), "text");
    struct fb_read_report report;
    struct fb_profile *p = NULL;
    struct fb_err err = {0};

    if (fb_profile_read(in, "folded", &(struct fb_read_options){0}, &p, &report, &err) != FB_OK)
        fail_msg("%s", err.text);
    fb_source_close(in);
    return p;
}

static void parts_keep_their_samples_under_their_time(void **state)
{
    static const char *const parts[] = {"main;read 3\nmain;write_[k] 4\n", "main;read 5\nmain 6\n"};
    struct fb_profile *all = fb_profile_new();
    struct fb_err err = {0};
    uint64_t weight[2] = {0};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fb_profile *p = read_text(parts[i]);

        assert_int_equal(fb_profile_join(all, p, 1000 + (int64_t)i * 1000, 100, &err), FB_OK);
        fb_profile_free(p);
    }
    for (size_t i = 0; i < all->samples.count; i++)
        weight[all->samples.time_ns[i] == 2000] += all->samples.weight[i];
    assert_true(weight[0] == 7 && weight[1] == 11);
    assert_true(all->has_times && all->grain_ns == 100);
    assert_true(all->first_ns == 1000 && all->last_ns == 2000);
    assert_int_equal(all->stacks_count - 1, 3); /* main, main;read, main;write */
    assert_int_equal(all->frames_count - 1, 3);
    fb_profile_free(all);
}

static void different_kinds_are_not_put_together(void **state)
{
    struct fb_profile *all = fb_profile_new(), *a = read_text("main 1\n"),
                      *b = read_text("main 1\n");
    struct fb_err err = {0};

    (void)state;
    assert_int_equal(fb_profile_join(all, a, 1000, 100, &err), FB_OK);
    b->interval_ns = a->interval_ns + 5;
    assert_int_equal(fb_profile_join(all, b, 2000, 100, &err), FB_EFORMAT);
    b->has_times = true;
    assert_int_equal(fb_profile_join(all, b, 2000, 100, &err), FB_EUNSUPPORTED);
    assert_int_equal(all->samples.count, 1);
    fb_profile_free(a);
    fb_profile_free(b);
    fb_profile_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_keep_their_samples_under_their_time),
        cmocka_unit_test(different_kinds_are_not_put_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
