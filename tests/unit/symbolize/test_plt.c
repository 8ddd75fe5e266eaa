#include "tests/unit/symbolize/fixture.h"

/* Every "ADDRESS <f@plt>:" of objdump is our "f@plt", over all bytes of the entry. */
static void check_against_objdump(const char *path, size_t at_least)
{
    char *command = fb_format("objdump -d '%s'", path), line[400], name[300];
    struct fb_symbols *s = open_symbols(NULL, path, "");
    FILE *out = popen(command, "r");
    unsigned long address;
    size_t entries = 0;

    assert_non_null(out);
    while (fgets(line, sizeof line, out)) {
        char *end;

        if (sscanf(line, "%lx <%299[^>]>:", &address, name) != 2 || !(end = strstr(name, "@plt")) ||
            end[4] != 0 || name[0] == '*')
            continue;
        expect_name(s, address, name);
        expect_name(s, address + 5, name);
        assert_int_equal(fb_symbols_find(s, address)->kind, FB_SYMBOL_STUB);
        entries++;
    }
    pclose(out);
    free(command);
    assert_in_range(entries, at_least, 1000);
    fb_symbols_free(s);
}

static void lazily_bound_entries_are_named(void **state)
{
    (void)state;
    check_against_objdump(BUILT "shapes-lazy.so", 6);
}

static void entries_bound_at_start_are_named(void **state)
{
    (void)state;
    check_against_objdump(BUILT "shapes-now.so", 6);
}

static void a_stripped_library_has_them_too(void **state)
{
    (void)state;
    check_against_objdump(BUILT "split/stripped.so", 6);
}

#ifdef __x86_64__
static void second_plt_and_plt_got_are_named(void **state)
{
    (void)state;
    check_against_objdump(BUILT "shapes-ibt.so", 6);
    check_against_objdump(BUILT "shapes-noibt.so", 6);
}

/* With IBT the first PLT only pushes the number of the relocation: .plt + 16 is number 0, which is
 * also the first entry of .plt.sec. */
static void entries_that_push_a_number_are_named(void **state)
{
    struct fb_symbols *s = open_symbols(NULL, BUILT "shapes-ibt.so", "");
    const struct fb_symbol *first = NULL, *second = NULL;

    (void)state;
    for (uint64_t at = 0x1000; at < 0x1200 && !second; at += 16) {
        const struct fb_symbol *stub = fb_symbols_find(s, at);

        if (stub && stub->kind == FB_SYMBOL_STUB && !first)
            first = stub;
        else if (stub && stub->kind == FB_SYMBOL_STUB && strcmp(stub->name, first->name) == 0)
            second = stub;
    }
    assert_non_null(second);
    assert_true(second->start > first->start);
    fb_symbols_free(s);
}
#endif

/* objdump calls it *ABS*+ADDRESS@plt: the relocation has the resolver's address and no name. */
static void the_entry_of_a_local_ifunc_is_named(void **state)
{
    struct fb_symbols *s = open_symbols(NULL, BUILT "shapes-lazy.so", "");
    char line[400], expected[64];
    unsigned long address = 0, resolver = nm_address(BUILT "shapes-lazy.so", "choose_inner");
    FILE *out = popen("objdump -d '" BUILT "shapes-lazy.so'", "r");

    (void)state;
    assert_non_null(out);
    snprintf(expected, sizeof expected, "<*ABS*+%#lx@plt>:", resolver);
    while (fgets(line, sizeof line, out))
        if (strstr(line, expected))
            address = strtoul(line, NULL, 16);
    pclose(out);
    assert_int_not_equal(address, 0);
    expect_name(s, address, "shape_inner@plt");
    expect_name(s, resolver, "choose_inner");
    fb_symbols_free(s);
}

#ifdef __x86_64__
/* Entries of 8 bytes, from an address that is no multiple of 16. */
static void a_static_program_has_entries_of_8_bytes(void **state)
{
    struct fb_symbols *s = open_symbols(NULL, BUILT "shapes-static", "");
    uint64_t resolver = nm_address(BUILT "shapes-static", "choose_first");
    size_t found = 0;

    (void)state;
    assert_int_not_equal(resolver, 0);
    for (uint64_t at = 0x400000; at < 0x403000; at += 8) {
        const struct fb_symbol *symbol = fb_symbols_find(s, at);

        if (symbol && symbol->kind == FB_SYMBOL_STUB) {
            assert_int_equal(symbol->end - symbol->start, 8);
            found += strcmp(symbol->name, "first") == 0 || strcmp(symbol->name, "second") == 0;
        }
    }
    assert_int_equal(found, 2);
    fb_symbols_free(s);
}
#endif

/* What aarch64.sh printed when the two files were made. */
static void aarch64_entries_are_named(void **state)
{
    struct fb_symbols *plt = open_symbols(NULL, KEPT "aarch64-plt.so", "");
    struct fb_symbols *bti = open_symbols(NULL, KEPT "aarch64-bti.so", "");

    (void)state;
    expect_name(plt, 0x2f0, NULL);
    expect_name(plt, 0x310, "second@plt");
    expect_name(plt, 0x31c, "second@plt");
    expect_name(plt, 0x320, "third@plt");
    expect_name(plt, 0x33c, "first@plt");
    expect_name(plt, 0x340, "shape_calls");
    expect_name(bti, 0x39c, NULL);
    expect_name(bti, 0x3a0, "second@plt");
    expect_name(bti, 0x3b0, "second@plt");
    expect_name(bti, 0x3b8, "third@plt");
    expect_name(bti, 0x3d0, "first@plt");
    expect_name(bti, 0x3e8, "shape_calls");
    fb_symbols_free(plt);
    fb_symbols_free(bti);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lazily_bound_entries_are_named),
        cmocka_unit_test(entries_bound_at_start_are_named),
        cmocka_unit_test(a_stripped_library_has_them_too),
#ifdef __x86_64__
        cmocka_unit_test(second_plt_and_plt_got_are_named),
        cmocka_unit_test(entries_that_push_a_number_are_named),
        cmocka_unit_test(a_static_program_has_entries_of_8_bytes),
#endif
        cmocka_unit_test(the_entry_of_a_local_ifunc_is_named),
        cmocka_unit_test(aarch64_entries_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
