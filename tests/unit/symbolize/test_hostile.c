#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/symbolize/fixture.h"

static const struct fb_elf_places nowhere;

static struct fb_buf whole(const char *path)
{
    struct fb_buf bytes = {0};
    struct fb_err err;

    if (fb_file_read(path, &bytes, &err) != FB_OK)
        fail_msg("%s", err.text);
    return bytes;
}

/* Opens n bytes as a file and asks for a name and a line every few bytes of code; returns how many
 * addresses had both.  Nothing but survival is expected. */
static size_t survive(const void *bytes, size_t n, uint64_t step)
{
    struct fb_symbols *s;
    struct fb_err err;
    void *copy = fb_alloc(n);
    size_t answers = 0;

    memcpy(copy, bytes, n);
    if (fb_symbols_open_memory(copy, n, "hostile", &s, &err) != FB_OK) {
        assert_int_equal(err.status, FB_EFORMAT);
        return 0;
    }
    for (uint64_t at = 0; at < 0x1800; at += step) {
        const struct fb_symbol *symbol = fb_symbols_find(s, at);
        struct fb_buf name = {0};
        const char *file;
        uint32_t line;

        if (symbol) {
            assert_true(symbol->start <= at && at < symbol->end);
            fb_symbol_name(symbol, &name);
            fb_buf_done(&name);
        }
        if (fb_symbols_line(s, at, &file, &line)) {
            assert_true(line > 0 && strlen(file) > 0);
            answers += symbol != NULL;
        }
    }
    fb_symbols_free(s);
    return answers;
}

static void a_file_cut_at_every_byte_does_no_harm(void **state)
{
    struct fb_buf file = whole(BUILT "shapes-small.so");

    (void)state;
    assert_in_range(survive(file.data, file.len, 5), 20, 10000);
    for (size_t n = 0; n < file.len; n++)
        survive(file.data, n, 97);
    fb_buf_done(&file);
}

static void a_file_with_any_byte_flipped_does_no_harm(void **state)
{
    struct fb_buf file = whole(BUILT "shapes-small.so");
    unsigned seed = 11;

    (void)state;
    for (size_t at = 0; at < file.len; at++) {
        char was = file.data[at];

        file.data[at] = (char)~was;
        survive(file.data, file.len, 97);
        file.data[at] = (char)(was ^ (1 << rand_r(&seed) % 8));
        survive(file.data, file.len, 97);
        file.data[at] = was;
    }
    fb_buf_done(&file);
}

static void aarch64_code_with_any_byte_flipped_does_no_harm(void **state)
{
    struct fb_buf file = whole(KEPT "aarch64-bti.so");

    (void)state;
    for (size_t at = 0; at < file.len; at++) {
        char was = file.data[at];

        file.data[at] = (char)(was ^ 0x55);
        survive(file.data, file.len, 41);
        file.data[at] = was;
    }
    fb_buf_done(&file);
}

/* Where the packed symbols are in the file. */
static void find_minidebug(const struct fb_buf *file, size_t *ret_at, size_t *ret_n)
{
    static const char magic[] = "\xfd"
                                "7zXZ";
    const char *xz = memmem(file->data, file->len, magic, 6);

    assert_non_null(xz);
    *ret_at = (size_t)(xz - file->data);
    xz = memmem(xz, file->len - *ret_at, "YZ", 2);
    assert_non_null(xz);
    *ret_n = (size_t)(xz - file->data) + 2 - *ret_at;
}

static void damaged_minidebuginfo_does_no_harm(void **state)
{
    struct fb_buf file = whole(BUILT "split/minidebug.so");
    int fd = memfd_create("minidebug", MFD_CLOEXEC);
    char *path = fb_format("/proc/self/fd/%d", fd);
    uint64_t area = nm_address(BUILT "shapes-lazy.so", "shape_area");
    size_t from, n, opened = 0;

    (void)state;
    assert_true(fd >= 0);
    find_minidebug(&file, &from, &n);
    for (size_t at = from; at < from + n; at++) {
        struct fb_symbols *s;
        struct fb_err err;

        file.data[at] = (char)~file.data[at];
        assert_int_equal(pwrite(fd, file.data, file.len, 0), file.len);
        file.data[at] = (char)~file.data[at];
        if (fb_symbols_open(&nowhere, path, BUILD_ID, &s, &err) != FB_OK)
            fail_msg("%s", err.text);
        expect_name(s, area, "shape_area");
        fb_symbols_free(s);
        opened++;
    }
    assert_in_range(opened, 500, 100000);
    close(fd);
    free(path);
    fb_buf_done(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_cut_at_every_byte_does_no_harm),
        cmocka_unit_test(a_file_with_any_byte_flipped_does_no_harm),
        cmocka_unit_test(aarch64_code_with_any_byte_flipped_does_no_harm),
        cmocka_unit_test(damaged_minidebuginfo_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
