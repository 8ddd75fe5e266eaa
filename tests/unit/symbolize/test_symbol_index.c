#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbolize/symbol_index.h"

static const struct fb_elf_code code[] = {{0x1000, 0x2000}, {0x3000, 0x3100}};

#define FUNCTION(s, n, ...)                                                                        \
    {                                                                                              \
        .start = s, .size = n, .name = __VA_ARGS__                                                 \
    }

static struct fb_symbol_index build(const struct fb_symbol_candidate *list, size_t n,
                                    const uint64_t *starts, size_t starts_count)
{
    struct fb_symbol_index ix = {0};

    for (size_t i = 0; i < n; i++)
        fb_symbol_index_add(&ix, &list[i]);
    fb_symbol_index_build(&ix, code, 2, starts, starts_count);
    return ix;
}

static void expect(const struct fb_symbol_index *ix, uint64_t address, const char *name)
{
    const struct fb_symbol *s = fb_symbol_index_find(ix, address);

    if (!name && s)
        fail_msg("%#lx is '%s', expected nothing", (unsigned long)address, s->name);
    if (name && (!s || strcmp(s->name, name) != 0))
        fail_msg("%#lx is '%s', expected '%s'", (unsigned long)address, s ? s->name : "", name);
}

static void a_size_is_honoured_at_both_ends(void **state)
{
    const struct fb_symbol_candidate list[] = {FUNCTION(0x1100, 0x10, "f"),
                                               FUNCTION(0x1200, 0x10, "g")};
    struct fb_symbol_index ix = build(list, 2, NULL, 0);

    (void)state;
    expect(&ix, 0x10ff, NULL);
    expect(&ix, 0x1100, "f");
    expect(&ix, 0x110f, "f");
    expect(&ix, 0x1110, NULL);
    expect(&ix, 0x1200, "g");
    expect(&ix, 0x1210, NULL);
    fb_symbol_index_done(&ix);
}

static void a_size_past_the_section_is_cut(void **state)
{
    const struct fb_symbol_candidate list[] = {FUNCTION(0x1ff0, 0x4000, "f"),
                                               FUNCTION(0x30f0, UINT64_MAX, "g"),
                                               FUNCTION(0x2800, 0x10, "data")};
    struct fb_symbol_index ix = build(list, 3, NULL, 0);

    (void)state;
    expect(&ix, 0x1fff, "f");
    expect(&ix, 0x2000, NULL);
    expect(&ix, 0x2800, NULL);
    expect(&ix, 0x30ff, "g");
    expect(&ix, 0x3100, NULL);
    fb_symbol_index_done(&ix);
}

static void a_size_less_neighbour_does_not_swallow_a_gap(void **state)
{
    const struct fb_symbol_candidate list[] = {
        FUNCTION(0x1100, 0x10, "f"),
        FUNCTION(0x1180, 0, "label", .whole_table = true),
        FUNCTION(0x1108, 0, "inside", .whole_table = true),
        FUNCTION(0x1300, 0, "last", .whole_table = true),
        FUNCTION(0x1400, 0, "exported_only"),
    };
    const uint64_t starts[] = {0x1100, 0x11c0, 0x1340};
    struct fb_symbol_index with = build(list, 5, starts, 3), without = build(list, 5, NULL, 0);

    (void)state;
    expect(&with, 0x1108, "f");
    expect(&with, 0x1110, NULL);
    expect(&with, 0x11bf, "label");
    expect(&with, 0x11c0, NULL);
    expect(&with, 0x133f, "last");
    expect(&with, 0x1340, NULL);
    expect(&with, 0x1400, "exported_only");
    expect(&without, 0x11c0, "label");
    expect(&without, 0x1300, "last");
    expect(&without, 0x13ff, "last");
    expect(&without, 0x1400, NULL);
    fb_symbol_index_done(&with);
    fb_symbol_index_done(&without);
}

static void the_inner_of_two_has_the_common_part(void **state)
{
    const struct fb_symbol_candidate list[] = {
        FUNCTION(0x1100, 0x100, "outer"), FUNCTION(0x1140, 0x20, "inner"),
        FUNCTION(0x1150, 0x8, "innermost"), FUNCTION(0x11f0, 0x20, "crossing")};
    struct fb_symbol_index ix = build(list, 4, NULL, 0);

    (void)state;
    expect(&ix, 0x113f, "outer");
    expect(&ix, 0x1140, "inner");
    expect(&ix, 0x1157, "innermost");
    expect(&ix, 0x1158, "inner");
    expect(&ix, 0x1160, "outer");
    expect(&ix, 0x11f0, "crossing");
    expect(&ix, 0x120f, "crossing");
    expect(&ix, 0x1210, NULL);
    fb_symbol_index_done(&ix);
}

/* Each row beats the next at the same address, whatever order they come in. */
static void the_best_of_several_names_is_chosen(void **state)
{
    static const struct fb_symbol_candidate ranks[] = {
        FUNCTION(0x1100, 8, "write@@GLIBC_2.2.5", .weak = true),
        FUNCTION(0x1100, 8, "writes", .weak = true),
        FUNCTION(0x1100, 8, "writf0", .weak = true),
        FUNCTION(0x1100, 8, "__write"),
        FUNCTION(0x1100, 8, "__writ", .weak = true),
        FUNCTION(0x1100, 8, "do_write", .local = true),
        FUNCTION(0x1100, 8, "__GI___write", .local = true),
        {.start = 0x1100, .size = 8, .name = "ifunc", .kind = FB_SYMBOL_RESOLVER},
        {.start = 0x1100, .size = 8, .name = "w", .kind = FB_SYMBOL_LABEL},
        FUNCTION(0x1100, 0, "a", .whole_table = true),
    };
    size_t n = sizeof ranks / sizeof ranks[0];

    (void)state;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            struct fb_symbol_candidate pair[] = {ranks[j], ranks[i]};
            struct fb_symbol_index ix = build(pair, 2, NULL, 0);

            expect(&ix, 0x1104, ranks[i].name);
            fb_symbol_index_done(&ix);
        }
    }
}

/* The slow way: of the sized symbols that cover the address, the last start, the largest of the
 * sizes there, the first name by rank (names are made so that rank is the order of bytes). */
static const char *slow_find(const struct fb_symbol_candidate *list, size_t n, uint64_t address)
{
    const struct fb_symbol_candidate *best = NULL;

    for (size_t i = 0; i < n; i++) {
        uint64_t size = 0;

        for (size_t j = 0; j < n; j++)
            if (list[j].start == list[i].start && list[j].size > size)
                size = list[j].size;
        if (list[i].start > address || address - list[i].start >= size)
            continue;
        if (!best || list[i].start > best->start ||
            (list[i].start == best->start && strcmp(list[i].name, best->name) < 0))
            best = &list[i];
    }
    return best && address < 0x2000 ? best->name : NULL;
}

static void the_index_agrees_with_a_scan(void **state)
{
    struct fb_symbol_candidate list[60];
    char names[60][8];
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < 40; round++) {
        struct fb_symbol_index ix;

        for (size_t i = 0; i < 60; i++) {
            snprintf(names[i], sizeof names[i], "s%02zu", i);
            list[i] = (struct fb_symbol_candidate)FUNCTION(
                0x1f00 + (uint64_t)rand_r(&seed) % 256, 1 + (uint64_t)rand_r(&seed) % 40, names[i]);
        }
        ix = build(list, 60, NULL, 0);
        for (uint64_t at = 0x1f00; at < 0x2040; at++)
            expect(&ix, at, slow_find(list, 60, at));
        for (size_t i = 1; i < ix.count; i++)
            assert_true(ix.items[i - 1].end <= ix.items[i].start);
        fb_symbol_index_done(&ix);
    }
}

static void an_empty_index_finds_nothing(void **state)
{
    struct fb_symbol_index ix = build(NULL, 0, NULL, 0);

    (void)state;
    expect(&ix, 0x1100, NULL);
    fb_symbol_index_done(&ix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_is_honoured_at_both_ends),
        cmocka_unit_test(a_size_past_the_section_is_cut),
        cmocka_unit_test(a_size_less_neighbour_does_not_swallow_a_gap),
        cmocka_unit_test(the_inner_of_two_has_the_common_part),
        cmocka_unit_test(the_best_of_several_names_is_chosen),
        cmocka_unit_test(the_index_agrees_with_a_scan),
        cmocka_unit_test(an_empty_index_finds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
