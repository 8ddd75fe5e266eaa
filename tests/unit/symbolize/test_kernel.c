#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbolize/kernel.h"

static const char kallsyms[] = "ffffffff82000000 T _stext\nffffffff82000000 T _text\n"
                               "ffffffff82000000 T startup_64\n0000000000001000 A fixed_percpu\n"
                               "ffffffff82000100 t do_syscall_64\nffffffff82000200 D a_variable\n"
                               "ffffffffc0000000 t nf_hook\t[nf_conntrack]\n";
static const char notes[] = "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\x12\x34\xab\xcd";

static struct fb_profile *kernel_profile(const char *build_id)
{
    struct fb_profile *p = fb_profile_new();
    struct fb_module m = {.path = fb_strings_put_z(&p->strings, "[kernel.kallsyms]"),
                          .build_id = fb_strings_put_z(&p->strings, build_id),
                          .offset = 0xffffffff81000000}; /* _text of another boot */
    uint32_t module = fb_profile_module_add(p, &m);
    static const uint64_t addresses[] = {0xffffffff81000010, 0xffffffff81000150,
                                         0xffffffff81000250};

    for (size_t i = 0; i < 3; i++)
        (void)fb_profile_frame_put(
            p,
            &(struct fb_frame){.kind = FB_FRAME_KERNEL, .module = module, .address = addresses[i]});
    return p;
}

static void addresses_are_named_by_the_running_kernel(void **state)
{
    struct fb_buf symbols = {.data = (char *)(uintptr_t)kallsyms, .len = sizeof kallsyms - 1};
    struct fb_buf ids = {.data = (char *)(uintptr_t)notes, .len = sizeof notes - 1};
    struct fb_profile *p = kernel_profile("1234abcd");
    struct fb_err err;
    size_t named;

    (void)state;
    assert_int_equal(fb_kernel_name_frames_from(p, &symbols, &ids, &named, &err), FB_OK);
    assert_int_equal(named, 3);
    assert_string_equal(fb_profile_text(p, p->frames[1].name), "startup_64");
    assert_string_equal(fb_profile_text(p, p->frames[2].name), "do_syscall_64");
    assert_string_equal(fb_profile_text(p, p->frames[3].name), "do_syscall_64");
    fb_profile_free(p);
}

static void another_kernel_or_hidden_addresses_name_nothing(void **state)
{
    struct fb_buf symbols = {.data = (char *)(uintptr_t)kallsyms, .len = sizeof kallsyms - 1};
    struct fb_buf hidden = {.data = (char *)(uintptr_t) "0000000000000000 T _text\n", .len = 25};
    struct fb_buf ids = {.data = (char *)(uintptr_t)notes, .len = sizeof notes - 1};
    struct fb_profile *p = kernel_profile("1234abce");
    struct fb_err err;
    size_t named;

    (void)state;
    assert_int_equal(fb_kernel_name_frames_from(p, &symbols, &ids, &named, &err), FB_ENOTFOUND);
    assert_non_null(strstr(err.text, "build ID 1234abce"));
    fb_profile_free(p);
    p = kernel_profile("1234abcd");
    assert_int_equal(fb_kernel_name_frames_from(p, &hidden, &ids, &named, &err), FB_ENOTFOUND);
    for (size_t cut = 0; cut < ids.len; cut++) {
        struct fb_buf part = {.data = ids.data, .len = cut};

        assert_int_equal(fb_kernel_name_frames_from(p, &symbols, &part, &named, &err),
                         FB_ENOTFOUND);
    }
    assert_int_equal(p->frames[1].name, 0);
    fb_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_named_by_the_running_kernel),
        cmocka_unit_test(another_kernel_or_hidden_addresses_name_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
