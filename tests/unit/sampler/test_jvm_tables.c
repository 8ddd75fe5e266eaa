/* test_jvm_tables.c - tables as libjvm exports them, from variables that this program exports. */
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/jvm/layout.h"
#include "sampler/jvm/tables.h"

#define EXPORTED __attribute__((visibility("default")))

struct struct_entry {
    const char *type;
    const char *field;
    const char *type_text;
    int32_t is_static;
    uint64_t offset;
    void *address;
};

struct type_entry {
    const char *name;
    const char *super;
    int32_t flags[3];
    uint64_t size;
};

struct constant_entry {
    const char *name;
    int64_t value;
};

static int32_t release = 25;
static struct struct_entry structs[] = {
    {"CodeBlob", "_size", "int", 0, 24, NULL},
    {"CodeBlob", "_name", "const char*", 0, 8, NULL},
    {"Abstract_VM_Version", "_vm_major_version", "int", 1, 0, &release},
    {"", NULL, NULL, 0, 0, NULL},
};
static struct type_entry types[] = {{"CodeBlob", NULL, {0, 0, 0}, 64}, {NULL, NULL, {0}, 0}};
static struct constant_entry ints[] = {{"frame::entry_frame_call_wrapper_offset", 0xfffffffa},
                                       {NULL, 0}};
static struct constant_entry longs[] = {{"markWord::lock_bits", 2}, {NULL, 0}};

#define WORD(name, value)                                                                          \
    extern EXPORTED uint64_t name;                                                                 \
    EXPORTED uint64_t name = value
#define ADDRESS(name, value)                                                                       \
    extern EXPORTED void *name;                                                                    \
    EXPORTED void *name = value

ADDRESS(gHotSpotVMStructs, structs);
WORD(gHotSpotVMStructEntryArrayStride, sizeof(struct struct_entry));
WORD(gHotSpotVMStructEntryTypeNameOffset, offsetof(struct struct_entry, type));
WORD(gHotSpotVMStructEntryFieldNameOffset, offsetof(struct struct_entry, field));
WORD(gHotSpotVMStructEntryIsStaticOffset, offsetof(struct struct_entry, is_static));
WORD(gHotSpotVMStructEntryOffsetOffset, offsetof(struct struct_entry, offset));
WORD(gHotSpotVMStructEntryAddressOffset, offsetof(struct struct_entry, address));
ADDRESS(gHotSpotVMTypes, types);
WORD(gHotSpotVMTypeEntryArrayStride, sizeof(struct type_entry));
WORD(gHotSpotVMTypeEntryTypeNameOffset, offsetof(struct type_entry, name));
WORD(gHotSpotVMTypeEntrySizeOffset, offsetof(struct type_entry, size));
ADDRESS(gHotSpotVMIntConstants, ints);
WORD(gHotSpotVMIntConstantEntryArrayStride, sizeof(struct constant_entry));
WORD(gHotSpotVMIntConstantEntryNameOffset, offsetof(struct constant_entry, name));
WORD(gHotSpotVMIntConstantEntryValueOffset, offsetof(struct constant_entry, value));
ADDRESS(gHotSpotVMLongConstants, longs);
WORD(gHotSpotVMLongConstantEntryArrayStride, sizeof(struct constant_entry));
WORD(gHotSpotVMLongConstantEntryNameOffset, offsetof(struct constant_entry, name));
WORD(gHotSpotVMLongConstantEntryValueOffset, offsetof(struct constant_entry, value));

static struct fb_self_read reader;
static struct fb_jvm_tables tables;
static const char *why;

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static bool read_tables(void)
{
    return fb_jvm_tables_read(&reader, (uint64_t)(uintptr_t)__ehdr_start, &tables, &why);
}

static void what_is_exported_is_found(void **ctx)
{
    struct fb_jvm_field field;
    uint64_t size;
    int64_t value;

    (void)ctx;
    assert_true(read_tables());
    assert_true(fb_jvm_tables_field(&tables, "CodeBlob", "_size", &field));
    assert_false(field.is_static);
    assert_int_equal(field.offset, 24);
    assert_true(fb_jvm_tables_field(&tables, "Abstract_VM_Version", "_vm_major_version", &field));
    assert_true(field.is_static && field.address == (uint64_t)(uintptr_t)&release);
    assert_true(fb_jvm_tables_size(&tables, "CodeBlob", &size));
    assert_int_equal(size, 64);
    assert_true(fb_jvm_tables_constant(&tables, "frame::entry_frame_call_wrapper_offset", &value));
    assert_int_equal(value, -6);
    assert_true(fb_jvm_tables_constant(&tables, "markWord::lock_bits", &value));
    assert_int_equal(value, 2);
    assert_false(fb_jvm_tables_field(&tables, "CodeBlob", "_kind", &field));
    assert_false(fb_jvm_tables_field(&tables, "nmethod", "_size", &field));
    assert_false(fb_jvm_tables_size(&tables, "nmethod", &size));
    assert_false(fb_jvm_tables_constant(&tables, "CodeBlob", &value));
    fb_jvm_tables_free(&tables);
}

/* Whatever a variable holds, there is an answer, and it is put right again. */
static void refused(uint64_t *variable, uint64_t value)
{
    uint64_t before = *variable;

    *variable = value;
    why = NULL;
    assert_false(read_tables());
    assert_non_null(why);
    *variable = before;
}

static void impossible_variables_are_refused(void **ctx)
{
    uint64_t *const offsets[] = {
        &gHotSpotVMStructEntryTypeNameOffset,  &gHotSpotVMStructEntryFieldNameOffset,
        &gHotSpotVMStructEntryIsStaticOffset,  &gHotSpotVMStructEntryOffsetOffset,
        &gHotSpotVMStructEntryAddressOffset,   &gHotSpotVMTypeEntryTypeNameOffset,
        &gHotSpotVMTypeEntrySizeOffset,        &gHotSpotVMIntConstantEntryNameOffset,
        &gHotSpotVMIntConstantEntryValueOffset};
    static const uint64_t wrong[] = {255, 4096, UINT64_MAX};

    (void)ctx;
    for (unsigned i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
        for (unsigned w = 0; w < sizeof wrong / sizeof wrong[0]; w++)
            refused(offsets[i], wrong[w]);
    refused(&gHotSpotVMStructEntryArrayStride, 0);
    refused(&gHotSpotVMStructEntryArrayStride, UINT64_MAX);
    refused((uint64_t *)(void *)&gHotSpotVMStructs, 0);
    refused((uint64_t *)(void *)&gHotSpotVMTypes, 8);
    refused((uint64_t *)(void *)&gHotSpotVMLongConstants, UINT64_MAX - 7);
    assert_true(read_tables());
    fb_jvm_tables_free(&tables);
}

/* An entry that is none ends its table, as the empty one does. */
static void names_that_are_none_end_a_table(void **ctx)
{
    static const char *const none[] = {
        (const char *)8, "a\nb", "",
        "a type with a name of more than one hundred and twenty seven "
        "letters, which is more than any that HotSpot has ever had in "
        "its tables"};
    struct fb_jvm_field field;

    (void)ctx;
    for (unsigned i = 0; i < sizeof none / sizeof none[0]; i++) {
        const char *before = structs[1].field;

        structs[1].field = none[i];
        assert_true(read_tables());
        assert_true(fb_jvm_tables_field(&tables, "CodeBlob", "_size", &field));
        assert_false(
            fb_jvm_tables_field(&tables, "Abstract_VM_Version", "_vm_major_version", &field));
        fb_jvm_tables_free(&tables);
        structs[1].field = before;
    }
}

static void what_is_no_library_is_refused(void **ctx)
{
    static uint8_t image[4096];

    (void)ctx;
    memcpy(image, __ehdr_start, sizeof(ElfW(Ehdr)) + 64);
    for (size_t i = 0; i < sizeof(ElfW(Ehdr)); i++) {
        image[i] ^= 0x5a;
        assert_false(fb_jvm_tables_read(&reader, (uint64_t)(uintptr_t)image, &tables, &why));
        image[i] ^= 0x5a;
    }
    assert_false(fb_jvm_tables_read(&reader, 8, &tables, &why));
    assert_false(fb_jvm_tables_read(&reader, UINT64_MAX - 100, &tables, &why));
}

/* What these tables lack is named; what they say is held to what can be. */
static void a_layout_names_what_it_lacks(void **ctx)
{
    struct fb_jvm_layout layout;

    (void)ctx;
    assert_true(read_tables());
    assert_false(fb_jvm_layout_fill(&tables, &reader, &layout, &why));
    assert_string_equal(why, "does not say where CodeCache::_heaps is");
    fb_jvm_tables_free(&tables);
    structs[0].offset = 62; /* four bytes of a type of 64 */
    assert_true(read_tables());
    assert_false(fb_jvm_layout_fill(&tables, &reader, &layout, &why));
    assert_string_equal(why, "says of CodeBlob::_size what cannot be");
    fb_jvm_tables_free(&tables);
    structs[0].offset = 24;
    release = 8;
    assert_true(read_tables());
    assert_false(fb_jvm_layout_fill(&tables, &reader, &layout, &why));
    assert_string_equal(why, "is of a release that is not known");
    fb_jvm_tables_free(&tables);
    release = 25;
}

static int group_set_up(void **ctx)
{
    (void)ctx;
    fb_self_read_open(&reader);
    return 0;
}

static int group_tear_down(void **ctx)
{
    (void)ctx;
    fb_self_read_close(&reader);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_exported_is_found),
        cmocka_unit_test(impossible_variables_are_refused),
        cmocka_unit_test(names_that_are_none_end_a_table),
        cmocka_unit_test(what_is_no_library_is_refused),
        cmocka_unit_test(a_layout_names_what_it_lacks),
    };

    return cmocka_run_group_tests(tests, group_set_up, group_tear_down);
}
