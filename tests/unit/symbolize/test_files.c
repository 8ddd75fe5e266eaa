#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/vdso.h"
#include "tests/unit/symbolize/fixture.h"

#define LAZY BUILT "shapes-lazy.so"

static void expect_refusal(const char *debug_dir, const char *path, const char *id,
                           const char *reason)
{
    struct fb_symbols *s = NULL;
    const struct fb_elf_places places = {.debug_dir = debug_dir};
    struct fb_err err = {0};

    assert_int_not_equal(fb_symbols_open(&places, path, id, &s, &err), FB_OK);
    assert_null(s);
    if (!strstr(err.text, reason))
        fail_msg("'%s' does not say '%s'", err.text, reason);
}

static void the_symbols_of_a_whole_file_are_read(void **state)
{
    struct fb_symbols *s = open_symbols(NULL, LAZY, BUILD_ID);
    uint64_t sized = nm_address(LAZY, "shape_sized"), label = nm_address(LAZY, "shape_label");
    uint64_t last = nm_address(LAZY, "shape_last");

    (void)state;
    assert_true(fb_symbols_whole(s));
    expect_name(s, nm_address(LAZY, "shape_hidden"), "shape_hidden");
    expect_name(s, nm_address(LAZY, "__shape_area"), "shape_area");
    expect_name(s, nm_address(LAZY, "_ZN5shape4sideEi"), "shape::side(int)");
    expect_name(s, nm_address(LAZY, "_ZN5shape4edge17h0123456789abcdefE"), "shape::edge");
    expect_name(s, nm_address(LAZY, "shape_kind"), "choose_kind");
    expect_name(s, sized, "shape_sized");
    expect_name(s, label - 1, NULL);
    expect_name(s, label, "shape_label");
    expect_name(s, last - 1, NULL);
    expect_name(s, last, "shape_last");
    expect_name(s, 0, NULL);
    expect_name(s, UINT64_MAX, NULL);
    fb_symbols_free(s);
}

static void a_stripped_file_knows_its_exports_only(void **state)
{
    struct fb_symbols *s = open_symbols(NULL, BUILT "split/stripped.so", BUILD_ID);

    (void)state;
    assert_false(fb_symbols_whole(s));
    expect_name(s, nm_address(LAZY, "shape_area"), "shape_area");
    expect_name(s, nm_address(LAZY, "shape_kind"), "shape_kind.resolver");
    expect_name(s, nm_address(LAZY, "shape_hidden"), NULL);
    fb_symbols_free(s);
}

static void a_debug_file_is_found_by_build_id(void **state)
{
    struct fb_symbols *s = open_symbols(FIXTURE_DEBUG, BUILT "split/stripped.so", BUILD_ID);
    const char *file;
    uint32_t line;

    (void)state;
    assert_true(fb_symbols_whole(s));
    expect_name(s, nm_address(LAZY, "shape_hidden"), "shape_hidden");
    assert_true(fb_symbols_line(s, nm_address(LAZY, "shape_hidden"), &file, &line));
    assert_non_null(strstr(file, "shapes.c"));
    fb_symbols_free(s);
}

static void a_debug_file_stands_in_for_a_missing_file(void **state)
{
    struct fb_symbols *s = open_symbols(FIXTURE_DEBUG, "/nowhere/shapes.so", BUILD_ID);

    (void)state;
    expect_name(s, nm_address(LAZY, "shape_hidden"), "shape_hidden");
    fb_symbols_free(s);
}

static void a_debug_link_is_followed_without_build_id(void **state)
{
    struct fb_symbols *s = open_symbols(NULL, BUILT "split/linked/linked.so", "");

    (void)state;
    expect_name(s, nm_address(LAZY, "shape_hidden"), "shape_hidden");
    fb_symbols_free(s);
}

static void a_debug_link_with_another_checksum_is_not(void **state)
{
    struct fb_symbols *s = open_symbols(NULL, BUILT "split/linked/wrong.so", "");

    (void)state;
    assert_false(fb_symbols_whole(s));
    expect_name(s, nm_address(LAZY, "shape_hidden"), NULL);
    fb_symbols_free(s);
}

static void minidebuginfo_is_unpacked(void **state)
{
    struct fb_symbols *s = open_symbols(NULL, BUILT "split/minidebug.so", BUILD_ID);

    (void)state;
    assert_true(fb_symbols_whole(s));
    expect_name(s, nm_address(LAZY, "shape_hidden"), "shape_hidden");
    expect_name(s, nm_address(LAZY, "shape_area"), "shape_area");
    fb_symbols_free(s);
}

static void a_replaced_file_is_refused(void **state)
{
    (void)state;
    expect_refusal(NULL, BUILT "shapes-other.so", BUILD_ID, "another file");
    expect_refusal(NULL, BUILT "split/linked/linked.so", BUILD_ID, "another file");
    expect_refusal(FIXTURE_DEBUG, BUILT "shapes-other.so", OTHER_ID "0", "another file");
    expect_refusal(NULL, LAZY " (deleted)", "", "replaced or deleted");
    expect_refusal(NULL, "/nowhere/x.so", BUILD_ID, "/nowhere/x.so");
    expect_refusal(NULL, "relative.so", BUILD_ID, "no file");
    expect_refusal(NULL, "", "", "no file");
}

static void a_deleted_file_that_is_still_the_same_is_taken(void **state)
{
    struct fb_symbols *s = open_symbols(NULL, LAZY " (deleted)", BUILD_ID);

    (void)state;
    expect_name(s, nm_address(LAZY, "shape_area"), "shape_area");
    fb_symbols_free(s);
}

/* The id is a path in the making. */
static void a_build_id_cannot_leave_the_debug_directory(void **state)
{
    (void)state;
    expect_refusal(FIXTURE_DEBUG, "/nowhere/x.so", "../../../../etc/passwd", "/nowhere");
    expect_refusal(FIXTURE_DEBUG, "/nowhere/x.so", "0", "/nowhere");
}

static void what_is_no_library_is_refused(void **state)
{
    char fifo[] = "/tmp/fb-symbols-XXXXXX";

    (void)state;
    expect_refusal(NULL, KEPT "shapes.c", "", "no ELF file");
    expect_refusal(NULL, "/tmp", "", "no regular file");
    assert_non_null(mkdtemp(fifo));
    assert_int_equal(rmdir(fifo), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    expect_refusal(NULL, fifo, "", "no regular file");
    unlink(fifo);
}

/* The build ID of the vDSO that dl_iterate_phdr() reports, as the sampler banks it. */
static int find_vdso_id(struct dl_phdr_info *info, size_t size, void *ret_id)
{
    (void)size;
    if (info->dlpi_addr != getauxval(AT_SYSINFO_EHDR))
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const uint8_t *note = (const uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        const uint8_t *end = note + info->dlpi_phdr[i].p_memsz;

        while (info->dlpi_phdr[i].p_type == PT_NOTE && end - note >= 12) {
            const ElfW(Nhdr) *header = (const void *)note;
            const uint8_t *id = note + sizeof *header + (header->n_namesz + 3) / 4 * 4;

            if (header->n_type == NT_GNU_BUILD_ID)
                for (size_t j = 0; j < header->n_descsz && j < 32; j++)
                    sprintf((char *)ret_id + 2 * j, "%02x", id[j]);
            note = id + (header->n_descsz + 3) / 4 * 4;
        }
    }
    return 1;
}

static void the_vdso_is_ours_where_the_build_id_is(void **state)
{
    struct fb_elf_file *vdso = NULL;
    struct fb_err err = {0};
    struct fb_symbols *s;
    char id[65] = "";
    bool found = false;

    (void)state;
    dl_iterate_phdr(find_vdso_id, id);
    assert_int_not_equal(fb_vdso_open("", &vdso, &err), FB_OK);
    assert_int_not_equal(fb_vdso_open(OTHER_ID, &vdso, &err), FB_OK);
    assert_non_null(strstr(err.text, "ffffffffffffffff"));
    assert_null(vdso);
    s = open_symbols(NULL, "[vdso]", id);
    for (uint64_t at = 0; at < 0x4000 && !found; at++) {
        const struct fb_symbol *symbol = fb_symbols_find(s, at);

        found = symbol && strstr(symbol->name, "clock_gettime");
    }
    assert_true(found);
    fb_symbols_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_symbols_of_a_whole_file_are_read),
        cmocka_unit_test(a_stripped_file_knows_its_exports_only),
        cmocka_unit_test(a_debug_file_is_found_by_build_id),
        cmocka_unit_test(a_debug_file_stands_in_for_a_missing_file),
        cmocka_unit_test(a_debug_link_is_followed_without_build_id),
        cmocka_unit_test(a_debug_link_with_another_checksum_is_not),
        cmocka_unit_test(minidebuginfo_is_unpacked),
        cmocka_unit_test(a_replaced_file_is_refused),
        cmocka_unit_test(a_deleted_file_that_is_still_the_same_is_taken),
        cmocka_unit_test(a_build_id_cannot_leave_the_debug_directory),
        cmocka_unit_test(what_is_no_library_is_refused),
        cmocka_unit_test(the_vdso_is_ours_where_the_build_id_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
