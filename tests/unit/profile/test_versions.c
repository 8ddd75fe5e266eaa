#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile.h"

static void check_bank(const char *path)
{
    struct fb_bank_damage damage;
    struct fb_profile *p;
    struct fb_err err;

    if (fb_bank_read(path, &p, &damage, &err) != FB_OK)
        fail_msg("%s", err.text);
    assert_false(fb_bank_is_damaged(&damage));
    assert_false(damage.torn_tail);
    assert_true(p->ended);
    assert_int_equal(p->samples.count, 500);
    assert_int_equal(fb_profile_weight(p), 500);
    assert_int_equal(p->marks_count, 2);
    assert_true(p->marks[1].offered == 2000);
    assert_int_equal(p->interval_ns, 20000000);
    assert_string_equal(fb_profile_text(p, p->threads[1].name), "worker");
    assert_int_equal(p->samples.time_ns[0], 1700000000000000000);
    assert_non_null(fb_profile_counter_find(p, "process.cpu_ns"));
    fb_profile_free(p);
}

static void a_bank_of_version_1_0_is_read(void **state)
{
    (void)state;
    check_bank(FB_FIXTURES "/banks/v1.0.fbank");
}

static void a_bank_of_version_1_1_is_read(void **state)
{
    (void)state;
    check_bank(FB_FIXTURES "/banks/v1.1.fbank");
}

static void a_bank_of_version_1_2_is_read(void **state)
{
    struct fb_bank_damage damage;
    struct fb_profile *p;
    struct fb_err err;
    const struct fb_frame *f;

    (void)state;
    if (fb_bank_read(FB_FIXTURES "/banks/v1.2.fbank", &p, &damage, &err) != FB_OK)
        fail_msg("%s", err.text);
    assert_false(fb_bank_is_damaged(&damage));
    assert_true(p->ended);
    assert_int_equal(p->samples.count, 500);
    assert_int_equal(p->frames_count, 5);
    f = &p->frames[4];
    assert_int_equal(f->kind, FB_FRAME_JAVA);
    assert_int_equal(f->tier, FB_TIER_C1);
    assert_int_equal(f->line, 12);
    assert_string_equal(fb_profile_text(p, f->name), "a.B.c");
    assert_string_equal(fb_profile_text(p, f->signature), "(I)V");
    fb_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bank_of_version_1_0_is_read),
        cmocka_unit_test(a_bank_of_version_1_1_is_read),
        cmocka_unit_test(a_bank_of_version_1_2_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
