/* test_lazy.c - rows made by blocks are those made at once; damage; and walks that wait for them.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/image.h"
#include "sampler/lazy.h"
#include "sampler/memory.h"
#include "sampler/modules.h"
#include "sampler/signal/walk.h"
#include "sampler/table.h"
#include "tests/unit/sampler/all_tables.h"
#include "tests/unit/sampler/stacks.h"

enum {
    DEPTH_MAX = 300,
    ROOM = 1024,
    SAMPLES_MAX = 64,
    DAMAGE_ROUNDS = 400,
    DAMAGE_BLOCKS = 6,
};

static bool always(void *ctx)
{
    (void)ctx;
    return true;
}

static bool never(void *ctx)
{
    (void)ctx;
    return false;
}

/* --- blocks against whole tables ------------------------------------------ */

struct counts {
    unsigned modules;
    unsigned pcs;
    unsigned same;
};

static bool same_rule(const struct fb_rule *a, const struct fb_rule *b)
{
    return a->cfa == b->cfa && a->fp == b->fp && a->ra == b->ra && a->reg == b->reg &&
           a->cfa_off == b->cfa_off && a->fp_off == b->fp_off && a->ra_off == b->ra_off &&
           a->deref_add == b->deref_add;
}

static void blocks_want_all(struct fb_code_module *module)
{
    for (uint64_t pc = module->start; pc < module->end; pc += 1u << FB_BLOCK_SHIFT)
        assert_int_equal(fb_code_module_rule(module, pc)->cfa, FB_CFA_PENDING);
}

/* Padding of less than a gap may be either's: blocks do not look over their border. */
static void rows_compare(const struct fb_code_module *module, const struct fb_table *table,
                         struct counts *counts)
{
    static const struct fb_rule none = {.cfa = FB_CFA_NONE};

    for (uint32_t i = 0; i < table->rows.row_count; i++) {
        uint32_t at = table->rows.pcs[i];
        const struct fb_rule *whole = fb_rows_find(&table->rows, at);
        const struct fb_rule *block = fb_code_module_rule(module, module->start + at);

        counts->pcs++;
        counts->same += same_rule(whole != NULL ? whole : &none, block);
    }
}

static int on_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct counts *counts = ctx;
    struct fb_self_read reader;
    struct fb_rows_build build = {.base = 0};
    struct fb_image image;
    struct fb_pages copy;
    struct fb_cfi cfi;
    struct fb_table table;
    uint64_t address;
    uint64_t room;
    struct fb_lazy *lazy;

    (void)size;
    fb_self_read_open(&reader);
    if (!fb_image_locate(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, &image) ||
        !fb_image_eh_frame_find(&image, info->dlpi_phdr, info->dlpi_phnum, &reader, &address,
                                &room) ||
        !fb_image_eh_frame_read(&image, info->dlpi_phdr, info->dlpi_phnum, &reader, &copy, &cfi) ||
        !fb_table_build(&cfi, image.text_start, image.text_end, 0, &table)) {
        fb_self_read_close(&reader);
        return 0;
    }
    lazy = fb_lazy_new(&image, address, room, &reader);
    assert_non_null(lazy);
    {
        struct fb_code_module module = {
            .start = image.text_start, .end = image.text_end, .blocks = fb_lazy_blocks(lazy)};
        size_t touched = fb_memory_touched();

        blocks_want_all(&module);
        assert_true(fb_lazy_wanted(lazy));
        while (fb_lazy_make(lazy, &reader, &build, always, NULL) == FB_LAZY_WANTS_FILE)
            fb_lazy_file_give(lazy, NULL);
        assert_false(fb_lazy_wanted(lazy));
        fb_rows_done(&build);
        /* Each part of the search table and of the records was read, and noted, once. */
        assert_true(fb_memory_touched() - touched <=
                    image.eh_hdr_size + room + fb_lazy_bytes(lazy));
        assert_int_equal(fb_lazy_block_count(lazy), fb_lazy_blocks(lazy)->count);
        rows_compare(&module, &table, counts);
    }
    counts->modules++;
    fb_lazy_free(lazy);
    fb_rows_done(&build);
    fb_table_free(&table);
    fb_pages_free(&copy);
    fb_self_read_close(&reader);
    return 0;
}

static void blocks_say_what_whole_tables_say(void **ctx)
{
    struct counts counts = {0};

    (void)ctx;
    dl_iterate_phdr(on_module, &counts);
    print_message("%u modules, %u rows, %u the same\n", counts.modules, counts.pcs, counts.same);
    assert_true(counts.modules >= 3);
    assert_true(counts.pcs > 20000);
    assert_int_equal(counts.same, counts.pcs);
}

/* --- damage ---------------------------------------------------------------- */

struct libc {
    struct fb_image image;
    uint64_t address;
    uint64_t room;
};

static int find_libc(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct libc *libc = ctx;
    struct fb_self_read reader;
    int found;

    (void)size;
    if (strstr(info->dlpi_name, "libc.so") == NULL)
        return 0;
    fb_self_read_open(&reader);
    found = fb_image_locate(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, &libc->image) &&
            fb_image_eh_frame_find(&libc->image, info->dlpi_phdr, info->dlpi_phnum, &reader,
                                   &libc->address, &libc->room);
    fb_self_read_close(&reader);
    return found;
}

/* The header and the frames of libc, moved to bytes; addresses go with them. */
static size_t copy_make(const struct libc *libc, uint8_t **ret_bytes, struct fb_image *ret_image,
                        uint64_t *ret_frame)
{
    uint64_t low = libc->image.eh_hdr < libc->address ? libc->image.eh_hdr : libc->address;
    uint64_t high = libc->address + libc->room;
    uint64_t shift;

    *ret_bytes = malloc(high - low);
    memcpy(*ret_bytes, (const void *)(uintptr_t)low, high - low);
    shift = (uint64_t)(uintptr_t)*ret_bytes - low;
    *ret_image = libc->image;
    ret_image->eh_hdr += shift;
    ret_image->text_start += shift;
    ret_image->text_end += shift;
    *ret_frame = libc->address + shift;
    return high - low;
}

static unsigned rows_sound(const struct fb_code_blocks *blocks)
{
    unsigned made = 0;

    for (uint32_t b = 0; b < blocks->count; b++) {
        const struct fb_rows *rows = atomic_load(&blocks->rows[b]);

        for (uint32_t i = 0; rows != NULL && i < rows->row_count; i++) {
            assert_true(i == 0 || rows->pcs[i] > rows->pcs[i - 1]);
            assert_true(rows->pcs[i] < 1u << FB_BLOCK_SHIFT);
            assert_in_range(rows->rules[rows->index[i]].cfa, FB_CFA_NONE, FB_CFA_SIGNAL);
        }
        made += rows != NULL;
    }
    return made;
}

static unsigned blocks_try(const struct fb_image *image, uint64_t frame, uint64_t room,
                           const struct fb_self_read *reader, struct fb_rows_build *build)
{
    struct fb_lazy *lazy = fb_lazy_new(image, frame, room, reader);
    struct fb_code_module module = {.start = image->text_start, .end = image->text_end};
    unsigned made = 0;

    if (lazy == NULL)
        return 0;
    module.blocks = fb_lazy_blocks(lazy);
    for (unsigned b = 0; b < DAMAGE_BLOCKS && b < module.blocks->count; b++)
        fb_code_module_rule(&module, module.start + ((uint64_t)b << FB_BLOCK_SHIFT));
    while (fb_lazy_make(lazy, reader, build, always, NULL) == FB_LAZY_WANTS_FILE)
        fb_lazy_file_give(lazy, NULL);
    made = rows_sound(module.blocks);
    fb_lazy_free(lazy);
    return made;
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void damaged_search_tables_and_records_are_read_safely(void **ctx)
{
    struct fb_rows_build build = {.base = 0};
    struct fb_self_read reader;
    struct libc libc = {.address = 0};
    uint64_t seed = 20250711;
    struct fb_image image;
    uint64_t frame;
    uint8_t *bytes;
    size_t size;

    (void)ctx;
    if (!dl_iterate_phdr(find_libc, &libc))
        skip();
    fb_self_read_open(&reader);
    size = copy_make(&libc, &bytes, &image, &frame);
    assert_int_equal(blocks_try(&image, frame, libc.room, &reader, &build), DAMAGE_BLOCKS);
    for (unsigned round = 0; round < DAMAGE_ROUNDS; round++) {
        uint64_t flips = UINT64_C(1) << round % 14;
        size_t within = round % 2 == 0 ? size : 4096; /* often in the search table */

        for (uint64_t i = 0; i < flips; i++)
            bytes[random_next(&seed) % within] ^= (uint8_t)random_next(&seed);
        blocks_try(&image, frame, round % 3 == 0 ? libc.room / 2 : libc.room, &reader, &build);
        if (round % 8 == 7) {
            free(bytes);
            copy_make(&libc, &bytes, &image, &frame);
        }
    }
    free(bytes);
    fb_rows_done(&build);
    fb_self_read_close(&reader);
}

static void what_is_not_still_there_is_not_shown(void **ctx)
{
    struct fb_rows_build build = {.base = 0};
    struct fb_code_module module = {.id = 0};
    struct fb_self_read reader;
    struct libc libc = {.address = 0};
    struct fb_lazy *lazy;

    (void)ctx;
    if (!dl_iterate_phdr(find_libc, &libc))
        skip();
    fb_self_read_open(&reader);
    lazy = fb_lazy_new(&libc.image, libc.address, libc.room, &reader);
    module.start = libc.image.text_start;
    module.end = libc.image.text_end;
    module.blocks = fb_lazy_blocks(lazy);
    fb_lazy_file_give(lazy, NULL);
    fb_code_module_rule(&module, module.start);
    assert_int_equal(fb_lazy_make(lazy, &reader, &build, never, NULL), FB_LAZY_NOTHING);
    assert_int_equal(fb_code_module_rule(&module, module.start)->cfa, FB_CFA_PENDING);
    assert_int_equal(fb_lazy_make(lazy, &reader, &build, always, NULL), FB_LAZY_MADE);
    assert_int_not_equal(fb_code_module_rule(&module, module.start)->cfa, FB_CFA_PENDING);
    fb_lazy_free(lazy);
    fb_rows_done(&build);
    fb_self_read_close(&reader);
}

/* --- walks that wait for rows ----------------------------------------------- */

static struct fb_walk_range own_stack;
static struct fb_walk_cache cache;
static struct sample {
    uint64_t pcs[DEPTH_MAX];
    uint64_t words[ROOM];
    unsigned depth;
    unsigned kept;
    enum fb_walk_stop stop;
    uint64_t later[DEPTH_MAX]; /* the same stack, when there are rows */
    unsigned later_depth;
    enum fb_walk_stop later_stop;
} samples[SAMPLES_MAX];
static unsigned sample_count;
static bool rows_are_made;

/* Twice the same stacks: first without rows, then with them. */
static void on_signal(int sig, siginfo_t *info, void *context)
{
    struct sample *s = &samples[sample_count++];
    struct fb_walk_rest rest;

    (void)sig;
    (void)info;
    if (rows_are_made) {
        s->later_depth =
            fb_walk_stack(context, &own_stack, &cache, s->later, DEPTH_MAX, &s->later_stop);
        return;
    }
    s->depth = fb_walk_stack_rest(context, &own_stack, &cache, s->pcs, DEPTH_MAX, &s->stop, &rest);
    if (s->stop == FB_WALK_NO_TABLE)
        s->kept = fb_walk_keep(&rest, s->words, ROOM);
}

static void leaf(void)
{
    raise(SIGUSR2);
}

static void no_event(void *ctx, const struct fb_module_event *event)
{
    (void)ctx;
    (void)event;
}

static void stacks_walk(void)
{
    sample_count = 0;
    stacks_recurse(9, leaf);
    stacks_callback(leaf);
    stacks_in_handler(0, leaf);
    stacks_recurse(60, leaf); /* deeper than what is kept */
}

/* Goes on until all of it is known; returns whether that is so. */
static bool sample_finish(struct sample *s)
{
    struct fb_walk_cache own = {.generation = 0};
    unsigned depth = s->depth;

    do {
        fb_modules_tables_make();
        s->depth = fb_walk_resume(s->words, s->kept, &own, s->pcs, depth, DEPTH_MAX, &s->stop);
    } while (s->stop == FB_WALK_NO_TABLE && fb_modules_tables_make());
    return s->stop != FB_WALK_NO_TABLE;
}

static void walks_kept_without_rows_end_as_walks_with_them(void **ctx)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    pthread_attr_t attr;
    unsigned finished = 0;
    unsigned first;
    void *low;
    size_t size;

    (void)ctx;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    own_stack = (struct fb_walk_range){(uintptr_t)low, (uintptr_t)low + size};
    sigaction(SIGUSR2, &action, NULL);
    stacks_walk(); /* there is no code map at all */
    assert_int_equal(samples[0].depth, 1);
    assert_int_equal(samples[0].stop, FB_WALK_NO_TABLE);
    assert_true(samples[0].kept > 50);
    assert_true(fb_modules_scan(no_event, NULL));
    first = sample_count;
    for (unsigned i = 0; i < first; i++)
        finished += sample_finish(&samples[i]);
    rows_are_made = true;
    all_tables_make();
    stacks_walk();
    assert_int_equal(sample_count, first);
    for (unsigned i = 0; i < first; i++) {
        unsigned other = 0;

        for (unsigned k = 0; k < samples[i].depth; k++)
            other += samples[i].pcs[k] != samples[i].later[k];
        /* The call of stacks_walk() is another the second time. */
        assert_in_range(other, 0, 1);
        if (samples[i].stop == FB_WALK_ROOT)
            assert_int_equal(samples[i].depth, samples[i].later_depth);
    }
    print_message("%u of %u walks were finished\n", finished, first);
    assert_true(finished < first);
    assert_true(finished * 2 > first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_kept_without_rows_end_as_walks_with_them),
        cmocka_unit_test(blocks_say_what_whole_tables_say),
        cmocka_unit_test(what_is_not_still_there_is_not_shown),
        cmocka_unit_test(damaged_search_tables_and_records_are_read_safely),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
