#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/profile/hostile.h"

struct shape {
    unsigned width;
    bool big_endian;
};

static void put_words(struct fb_buf *out, struct shape shape, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (unsigned k = 0; k < shape.width; k++) {
            unsigned at = shape.big_endian ? shape.width - 1 - k : k;

            fb_buf_putc(out, (char)(words[i] >> (8 * at)));
        }
    }
}

static const char maps[] = "build=/x\n"
                           "00400000-00500000 r-xp 00001000 00:00 7   /bin/prog name\n"
                           "00500000-00600000 rw-p 00101000 00:00 7   /bin/prog name\n"
                           "7f000000-7f001000: /lib/brief.so\n";

/* Two stacks, a signal's frame 0x400999 behind each leaf, and a leaf that is there twice. */
static void put_file(struct fb_buf *out, struct shape shape, uint64_t version, const char *tail)
{
    const uint64_t words[] = {0,        3,        version,  10000, 0, 3,        3,
                              0x400100, 0x400999, 0x400201, 2,     5, 0x7f0010, 0x400999,
                              0x7f0010, 0x400201, 0x1,      0,     1, 0};

    put_words(out, shape, words, sizeof words / sizeof words[0]);
    fb_buf_puts(out, tail);
}

static struct fb_profile *read_file(const struct fb_buf *file, const char *type)
{
    struct fb_read_report report;
    struct fb_profile *p = NULL;
    struct fb_err err;

    if (!read_bytes(file->data, file->len, NULL, type, &p, &report, &err))
        fail_msg("%s", err.text);
    return p;
}

static const struct fb_frame *frame_of(const struct fb_profile *p, uint32_t stack)
{
    return &p->frames[p->stacks[stack].frame.n];
}

static void words_of_all_shapes_are_the_same_profile(void **state)
{
    static const struct shape shapes[] = {{8, false}, {8, true}, {4, false}, {4, true}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct fb_buf file = {0};
        struct fb_profile *p;
        const struct fb_frame *f;

        put_file(&file, shapes[i], 0, maps);
        p = read_file(&file, NULL);
        assert_int_equal(p->samples.count, 2);
        assert_int_equal(fb_profile_weight(p), 5);
        assert_int_equal(p->interval_ns, 10000000);
        f = frame_of(p, p->samples.stack[0]);
        assert_int_equal(f->address, 0x1100); /* the leaf as it is, an offset in the file */
        assert_string_equal(fb_profile_text(p, p->modules[f->module].path), "/bin/prog name");
        f = frame_of(p, p->stacks[p->samples.stack[0]].parent.n);
        assert_int_equal(f->address, 0x1200); /* a caller inside of its call */
        f = frame_of(p, p->samples.stack[1]);
        assert_int_equal(f->address, 0x7f0010); /* no map, and no second copy of it */
        f = frame_of(p, p->stacks[p->samples.stack[1]].parent.n);
        assert_int_equal(f->address, 0x1200);
        fb_profile_free(p);
        p = read_file(&file, "cpu");
        assert_int_equal(fb_profile_weight(p), 50000000);
        fb_profile_free(p);
        fb_buf_done(&file);
    }
}

static void javas_addresses_have_names(void **state)
{
    struct fb_buf file = {0};
    struct fb_profile *p;
    const struct fb_frame *f;

    (void)state;
    put_file(&file, (struct shape){8, false}, 1,
             " 0x0400100 com.example.f (Source.java:06)\n 0x00400201 GC\n");
    p = read_file(&file, NULL);
    f = frame_of(p, p->samples.stack[0]);
    assert_string_equal(fb_profile_text(p, f->name), "com.example.f");
    assert_string_equal(fb_profile_text(p, f->file), "Source.java");
    assert_int_equal(f->line, 6);
    f = frame_of(p, p->stacks[p->stacks[p->samples.stack[0]].parent.n].parent.n);
    assert_string_equal(fb_profile_text(p, f->name), "GC");
    fb_profile_free(p);
    fb_buf_done(&file);
}

static void hostile_files_are_a_sentence_or_a_profile(void **state)
{
    struct fb_buf file = {0};

    (void)state;
    put_file(&file, (struct shape){4, true}, 0, maps);
    put_file(&file, (struct shape){4, true}, 0, " 0x0400100 com.example.f (Source.java:06)\n");
    be_hostile(file.data, file.len, "gperftools", NULL);
    fb_buf_done(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_all_shapes_are_the_same_profile),
        cmocka_unit_test(javas_addresses_have_names),
        cmocka_unit_test(hostile_files_are_a_sentence_or_a_profile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
