/* test_table.c - compiled tables against libdw's reading of the same section, and against damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dwarf.h>

#include "base/wire.h"
#include "sampler/rows.h"
#include "sampler/table.h"
#include "tests/unit/sampler/elf_file.h"

enum {
    CHECKS_PER_FILE = 20000,
    DAMAGE_BYTES = 4096, /* of libc's section, cut and flipped at every byte */
    DAMAGE_ROUNDS = 60,  /* of the whole section, with many flips each       */
};

/* --- libdw's frame as one of our rules ------------------------------------ */

static bool breg_of(const Dwarf_Op *op, uint64_t *ret_reg, int64_t *ret_off)
{
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        *ret_reg = op->atom - DW_OP_breg0;
        *ret_off = (int64_t)op->number;
        return true;
    }
    if (op->atom == DW_OP_bregx) {
        *ret_reg = op->number;
        *ret_off = (int64_t)op->number2;
        return true;
    }
    return false;
}

static bool fits(int64_t v)
{
    return v >= INT32_MIN && v <= INT32_MAX;
}

static bool oracle_cfa(const struct elf_file *f, Dwarf_Frame *frame, struct fb_rule *rule)
{
    uint64_t sp = f->cfi.machine == FB_MACHINE_X86_64 ? 7 : 31;
    uint64_t fp = f->cfi.machine == FB_MACHINE_X86_64 ? 6 : 29;
    uint64_t reg;
    int64_t off;
    Dwarf_Op *ops;
    size_t n;

    if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n == 0 || !breg_of(&ops[0], &reg, &off))
        return false;
    if (n == 9 && f->cfi.machine == FB_MACHINE_X86_64 && reg == sp && off == 8 &&
        ops[5].atom == DW_OP_ge) {
        rule->cfa = FB_CFA_PLT;
        rule->reg = (uint8_t)(ops[4].atom - DW_OP_lit0);
        rule->cfa_off = 0;
        return true;
    }
    rule->cfa_off = (int32_t)off;
    if (n == 1) {
        rule->cfa = reg == sp ? FB_CFA_SP : reg == fp ? FB_CFA_FP : FB_CFA_REG;
        rule->reg = rule->cfa == FB_CFA_REG ? (uint8_t)reg : 0;
        return fits(off);
    }
    if (ops[1].atom != DW_OP_deref || (reg != sp && reg != fp) || n > 3)
        return false;
    if (n == 3 && ops[2].atom != DW_OP_plus_uconst)
        return false;
    rule->cfa = reg == sp ? FB_CFA_DEREF_SP : FB_CFA_DEREF_FP;
    rule->deref_add = n == 3 ? (int32_t)ops[2].number : 0;
    return true;
}

enum where { WHERE_UNDEFINED, WHERE_SAME, WHERE_AT_CFA, WHERE_AT_FP, WHERE_OTHER };

static enum where oracle_register(const struct elf_file *f, Dwarf_Frame *frame, int reg,
                                  int32_t *ret_off)
{
    Dwarf_Op memory[3];
    Dwarf_Op *ops;
    size_t n;
    uint64_t base;
    int64_t off;

    *ret_off = 0;
    if (dwarf_frame_register(frame, reg, memory, &ops, &n) != 0)
        return WHERE_OTHER;
    if (n == 0)
        return ops == NULL ? WHERE_SAME : WHERE_UNDEFINED;
    if (ops[n - 1].atom == DW_OP_stack_value)
        return WHERE_OTHER;
    if (ops[0].atom == DW_OP_call_frame_cfa && n <= 2) {
        *ret_off = n == 2 ? (int32_t)ops[1].number : 0;
        return WHERE_AT_CFA;
    }
    if (n == 1 && breg_of(&ops[0], &base, &off) &&
        base == (f->cfi.machine == FB_MACHINE_X86_64 ? 6 : 29)) {
        *ret_off = (int32_t)off;
        return WHERE_AT_FP;
    }
    return WHERE_OTHER;
}

/* False: libdw knows no frame at pc. */
static bool oracle_rule(const struct elf_file *f, uint64_t pc, struct fb_rule *ret_rule)
{
    bool x86 = f->cfi.machine == FB_MACHINE_X86_64;
    Dwarf_Frame *frame;
    struct fb_rule rule = {0};
    enum where ra;
    enum where fp;
    bool signal = false;

    memset(ret_rule, 0, sizeof *ret_rule);
    if (dwarf_cfi_addrframe(f->oracle, pc, &frame) != 0)
        return false;
    dwarf_frame_info(frame, NULL, NULL, &signal);
    ra = oracle_register(f, frame, x86 ? 16 : 30, &rule.ra_off);
    fp = oracle_register(f, frame, x86 ? 6 : 29, &rule.fp_off);
    if (signal)
        ret_rule->cfa = FB_CFA_SIGNAL;
    else if (ra == WHERE_UNDEFINED)
        ret_rule->cfa = FB_CFA_END;
    if (signal || ra == WHERE_UNDEFINED) {
        free(frame);
        return true;
    }
    rule.ra = ra == WHERE_SAME ? FB_RA_LR : FB_RA_AT_CFA;
    rule.fp = fp == WHERE_SAME     ? FB_FP_SAME
              : fp == WHERE_AT_CFA ? FB_FP_AT_CFA
              : fp == WHERE_AT_FP  ? FB_FP_AT_FP
                                   : FB_FP_UNKNOWN;
    if (oracle_cfa(f, frame, &rule) && (ra == WHERE_AT_CFA || (ra == WHERE_SAME && !x86)))
        *ret_rule = rule;
    if (!x86 && ret_rule->ra == FB_RA_AT_CFA && ret_rule->ra_off == 8) {
        /* glibc's resolver, whose CFA is 16 bytes too low (tests/arm64 shows it). */
        ret_rule->cfa_off += 16;
        ret_rule->ra_off -= 16;
        ret_rule->fp_off -= ret_rule->fp == FB_FP_AT_CFA ? 16 : 0;
    }
    free(frame);
    return true;
}

/* --- comparing ------------------------------------------------------------ */

static bool same_rule(const struct fb_rule *a, const struct fb_rule *b)
{
    return a->cfa == b->cfa && a->fp == b->fp && a->ra == b->ra && a->reg == b->reg &&
           (a->cfa == FB_CFA_PLT || a->cfa_off == b->cfa_off) && a->fp_off == b->fp_off &&
           a->ra_off == b->ra_off && a->deref_add == b->deref_add;
}

/* Whether pc is padding: behind an FDE by less than what the table calls a gap. */
static bool is_padding(const struct elf_file *f, uint64_t pc)
{
    struct fb_rule ignored;

    for (uint64_t back = 1; back < FB_ROWS_GAP; back++)
        if (oracle_rule(f, pc - back, &ignored))
            return true;
    return false;
}

struct tally {
    unsigned checked;
    unsigned same;
    unsigned without_rule;
};

static void check_pc(const struct elf_file *f, const struct fb_table *table, uint64_t pc,
                     struct tally *tally)
{
    static const struct fb_rule none = {0};
    const struct fb_rule *ours = fb_rows_find(&table->rows, (uint32_t)(pc - f->text_start));
    struct fb_rule theirs;
    bool covered = oracle_rule(f, pc, &theirs);

    if (ours == NULL)
        ours = &none;
    tally->checked++;
    if (same_rule(ours, &theirs) || (!covered && is_padding(f, pc)))
        tally->same++;
    else
        print_error("pc %lx: ours cfa %d%+d*%+d fp %d%+d ra %d%+d reg %d, libdw cfa %d%+d*%+d fp "
                    "%d%+d ra %d%+d reg %d\n",
                    pc, ours->cfa, ours->cfa_off, ours->deref_add, ours->fp, ours->fp_off, ours->ra,
                    ours->ra_off, ours->reg, theirs.cfa, theirs.cfa_off, theirs.deref_add,
                    theirs.fp, theirs.fp_off, theirs.ra, theirs.ra_off, theirs.reg);
    if (covered && ours->cfa == FB_CFA_NONE)
        tally->without_rule++;
}

/* Both ends of rows spread over the table, and pcs spread over the text. */
static void check_file(const char *path, bool required)
{
    struct elf_file f;
    struct fb_table table;
    struct tally tally = {0};
    uint32_t stride;
    bool there = elf_file_open(&f, path);

    if (!there && !required)
        print_message("%s: not here, not checked\n", path);
    if (required)
        assert_true(there);
    if (!there) {
        elf_file_close(&f);
        return;
    }
    assert_true(fb_table_build(&f.cfi, f.text_start, f.text_end, 0, &table));
    assert_int_equal(table.bad_count, 0);
    stride = table.rows.row_count / (CHECKS_PER_FILE / 4) + 1;
    for (uint32_t i = 0; i + 1 < table.rows.row_count; i += stride) {
        check_pc(&f, &table, f.text_start + table.rows.pcs[i], &tally);
        check_pc(&f, &table, f.text_start + table.rows.pcs[i + 1] - 1, &tally);
    }
    for (uint64_t i = 0; i < CHECKS_PER_FILE / 2; i++)
        check_pc(&f, &table,
                 f.text_start + (f.text_end - f.text_start) / (CHECKS_PER_FILE / 2) * i + i % 13,
                 &tally);
    print_message("%s: %u rows, %u rules, %u FDEs; %u pcs checked, %u the same, %u inexpressible\n",
                  path, table.rows.row_count, table.rule_count, table.fde_count, tally.checked,
                  tally.same, tally.without_rule);
    assert_int_equal(tally.same, tally.checked);
    assert_true(tally.without_rule * 200 < tally.checked);
    fb_table_free(&table);
    elf_file_close(&f);
}

#if defined(__x86_64__)
#define LIBRARIES "/lib/x86_64-linux-gnu/"
#else
#define LIBRARIES "/lib/aarch64-linux-gnu/"
#endif

static void tables_of_libc_and_the_loader_say_what_libdw_says(void **ctx)
{
    (void)ctx;
    check_file(LIBRARIES "libc.so.6", true);
    check_file("/proc/self/exe", true);
    check_file("/lib64/ld-linux-x86-64.so.2", false);
}

static void tables_of_other_programs_say_what_libdw_says(void **ctx)
{
    static const char *const paths[] = {
        LIBRARIES "libstdc++.so.6", LIBRARIES "libcrypto.so.3",
        LIBRARIES "libunwind.so.8", LIBRARIES "libgcc_s.so.1",
        "/usr/bin/python3",         "/usr/bin/perl",
        "/usr/sbin/nginx",          "/usr/lib/gcc/x86_64-linux-gnu/12/cc1"};

    (void)ctx;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        check_file(paths[i], false);
}

static void tables_of_aarch64_files_say_what_libdw_says(void **ctx)
{
    (void)ctx;
    check_file("/usr/aarch64-linux-gnu/lib/libc.so.6", false);
    check_file("/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1", false);
    check_file("/usr/aarch64-linux-gnu/lib/libstdc++.so.6", false);
}

/* --- damage --------------------------------------------------------------- */

static void check_sound(const struct fb_table *table, size_t section_size)
{
    const struct fb_rows *rows = &table->rows;

    assert_in_range(rows->row_count, 1, section_size);
    for (uint32_t i = 0; i < rows->row_count; i++) {
        assert_true(i == 0 || rows->pcs[i] > rows->pcs[i - 1]);
        assert_true(rows->index[i] < table->rule_count);
    }
    for (uint32_t i = 0; i < rows->page_count; i++)
        assert_true(rows->pages[i] <= rows->pages[i + 1]);
    assert_int_equal(rows->pages[rows->page_count], rows->row_count);
    for (uint64_t offset = 0; offset < UINT32_MAX; offset += 0x7ffffff)
        fb_rows_find(rows, (uint32_t)offset);
}

/* Builds from an exact heap copy, so that a read behind the end is seen by the sanitizer. */
static void build_copy(const struct elf_file *f, const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    struct fb_cfi cfi = f->cfi;
    struct fb_table table;

    memcpy(copy, bytes, size);
    cfi.bytes = copy;
    cfi.size = size;
    if (fb_table_build(&cfi, f->text_start, f->text_end, 0, &table)) {
        check_sound(&table, size);
        fb_table_free(&table);
    }
    free(copy);
}

static void a_section_cut_at_every_byte_is_read_safely(void **ctx)
{
    struct elf_file f;

    (void)ctx;
    assert_true(elf_file_open(&f, LIBRARIES "libc.so.6"));
    for (size_t size = 0; size <= DAMAGE_BYTES; size++)
        build_copy(&f, f.cfi.bytes, size);
    elf_file_close(&f);
}

static void a_section_flipped_at_every_byte_is_read_safely(void **ctx)
{
    struct elf_file f;
    uint8_t bytes[DAMAGE_BYTES];

    (void)ctx;
    assert_true(elf_file_open(&f, LIBRARIES "libc.so.6"));
    memcpy(bytes, f.cfi.bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        uint8_t flip = (uint8_t)(1u << i % 8);

        bytes[i] ^= flip;
        build_copy(&f, bytes, sizeof bytes);
        bytes[i] ^= flip ^ 0xff;
        build_copy(&f, bytes, sizeof bytes);
        bytes[i] ^= 0xff;
    }
    elf_file_close(&f);
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void a_section_full_of_random_flips_is_read_safely(void **ctx)
{
    struct elf_file f;
    uint64_t seed = 20240717;
    uint8_t *bytes;

    (void)ctx;
    assert_true(elf_file_open(&f, LIBRARIES "libc.so.6"));
    bytes = malloc(f.cfi.size);
    for (unsigned round = 0; round < DAMAGE_ROUNDS; round++) {
        uint64_t flips = UINT64_C(1) << round % 14;

        memcpy(bytes, f.cfi.bytes, f.cfi.size);
        for (uint64_t i = 0; i < flips; i++)
            bytes[random_next(&seed) % f.cfi.size] ^= (uint8_t)random_next(&seed);
        build_copy(&f, bytes, f.cfi.size);
    }
    free(bytes);
    elf_file_close(&f);
}

/* --- sections made by hand ------------------------------------------------ */

enum { TEXT = 0x100000, SECTION = 0x200000 };

struct maker {
    uint8_t bytes[2048];
    struct fb_wire_out out;
};

static void make_begin(struct maker *m)
{
    static const uint8_t cie[] = {/* id */ 0, 0,    0,    0,    /* version */ 1,
                                  'z',        'R',  0,    1,    0x78,
                                  16,         1,    0x1b, 0x0c, 7,
                                  8,          0x90, 1,    0,    0};

    m->out = (struct fb_wire_out){.data = m->bytes, .cap = sizeof m->bytes};
    fb_wire_put_le(&m->out, sizeof cie, 4);
    fb_wire_put_bytes(&m->out, cie, sizeof cie);
}

static void make_fde(struct maker *m, uint32_t start, uint32_t size, const uint8_t *program,
                     size_t n)
{
    size_t at = m->out.len;

    fb_wire_put_le(&m->out, 4 + 4 + 4 + 1 + n, 4);
    fb_wire_put_le(&m->out, at + 4, 4);
    fb_wire_put_le(&m->out, (uint32_t)(TEXT + start) - (uint32_t)(SECTION + at + 8), 4);
    fb_wire_put_le(&m->out, size, 4);
    fb_wire_put_u8(&m->out, 0);
    fb_wire_put_bytes(&m->out, program, n);
}

static bool make_end(struct maker *m, struct fb_table *table)
{
    struct fb_cfi cfi = {.bytes = m->bytes, .address = SECTION, .machine = FB_MACHINE_X86_64};

    fb_wire_put_le(&m->out, 0, 4);
    assert_false(m->out.overflow);
    cfi.size = m->out.len;
    return fb_table_build(&cfi, TEXT, TEXT + 0x10000, 0, table);
}

static const struct fb_rule *rule_at(const struct fb_table *table, uint32_t offset)
{
    static const struct fb_rule none = {0};
    const struct fb_rule *rule = fb_rows_find(&table->rows, offset);

    return rule != NULL ? rule : &none;
}

static void functions_out_of_order_and_overlapping_give_sorted_rows(void **ctx)
{
    static const uint8_t push[] = {0x41, 0x0e, 16};  /* from byte 1 on: cfa = sp + 16  */
    static const uint8_t wide[] = {0x41, 0x0e, 200}; /* a varint that does not end     */
    struct fb_table table;
    struct maker m;

    (void)ctx;
    make_begin(&m);
    make_fde(&m, 0x300, 0x40, push, sizeof push);
    make_fde(&m, 0x100, 0x400, push, sizeof push); /* the first one cuts it short */
    make_fde(&m, 0x700, 0x20, wide, sizeof wide);
    assert_true(make_end(&m, &table));
    check_sound(&table, m.out.len);
    assert_int_equal(rule_at(&table, 0xff)->cfa, FB_CFA_NONE);
    assert_int_equal(rule_at(&table, 0x100)->cfa_off, 8);
    assert_int_equal(rule_at(&table, 0x2ff)->cfa_off, 16);
    assert_int_equal(rule_at(&table, 0x300)->cfa_off, 8);
    assert_int_equal(rule_at(&table, 0x33f)->cfa_off, 16);
    assert_int_equal(rule_at(&table, 0x340)->cfa, FB_CFA_NONE);
    assert_int_equal(rule_at(&table, 0x700)->cfa_off, 8);
    assert_int_equal(rule_at(&table, 0x701)->cfa, FB_CFA_NONE);
    assert_int_equal(rule_at(&table, 0x9000)->cfa, FB_CFA_NONE);
    fb_table_free(&table);
}

static void every_kind_of_rule_is_compiled(void **ctx)
{
    static const uint8_t deref[] = {0x0f, 5, 0x77, 40, 0x06, 0x23, 8}; /* *(rsp + 40) + 8 */
    static const uint8_t drap[] = {0x0c, 10, 0, 0x10, 6, 2, 0x76, 0};  /* r10; rbp at *(rbp) */
    static const uint8_t end[] = {0x07, 16};
    static const uint8_t lost[] = {0x07, 6, 0x0a, 0x0e, 99, 0x41, 0x0b};
    static const uint8_t odd[] = {0x0f, 2, 0x77, 8}; /* cfa = rsp + 8 as an expression */
    struct fb_table table;
    struct maker m;

    (void)ctx;
    make_begin(&m);
    make_fde(&m, 0x000, 0x20, deref, sizeof deref);
    make_fde(&m, 0x100, 0x20, drap, sizeof drap);
    make_fde(&m, 0x200, 0x20, end, sizeof end);
    make_fde(&m, 0x300, 0x20, lost, sizeof lost);
    make_fde(&m, 0x400, 0x20, odd, sizeof odd);
    assert_true(make_end(&m, &table));
    assert_int_equal(rule_at(&table, 0)->cfa, FB_CFA_DEREF_SP);
    assert_int_equal(rule_at(&table, 0)->cfa_off, 40);
    assert_int_equal(rule_at(&table, 0)->deref_add, 8);
    assert_int_equal(rule_at(&table, 0x110)->cfa, FB_CFA_REG);
    assert_int_equal(rule_at(&table, 0x110)->reg, 10);
    assert_int_equal(rule_at(&table, 0x110)->fp, FB_FP_AT_FP);
    assert_int_equal(rule_at(&table, 0x200)->cfa, FB_CFA_END);
    assert_int_equal(rule_at(&table, 0x300)->fp, FB_FP_UNKNOWN);
    assert_int_equal(rule_at(&table, 0x300)->cfa_off, 99);
    assert_int_equal(rule_at(&table, 0x301)->cfa_off, 8);
    assert_int_equal(rule_at(&table, 0x410)->cfa, FB_CFA_NONE);
    fb_table_free(&table);
}

static void a_section_without_usable_records_is_no_table(void **ctx)
{
    static const uint8_t itself[] = {12, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    struct fb_cfi cfi = {.bytes = itself, .size = sizeof itself, .address = SECTION};
    struct fb_table table;
    struct maker m;

    (void)ctx;
    assert_false(fb_table_build(&cfi, TEXT, TEXT + 0x1000, 0, &table));
    assert_int_equal(cfi.bad_records, 1);
    make_begin(&m);
    make_fde(&m, 0x20000, 0x20, NULL, 0); /* outside the text */
    assert_false(make_end(&m, &table));
}

static void a_trampoline_without_records_is_a_signal_frame(void **ctx)
{
    static const uint8_t code[] = {0x1f, 0x20, 0x03, 0xd5, 0x68, 0x11, 0x80, 0xd2,
                                   0x01, 0x00, 0x00, 0xd4, 0xc0, 0x03, 0x5f, 0xd6};
    struct fb_cfi none = {.machine = FB_MACHINE_AARCH64};
    struct fb_table table;

    (void)ctx;
    assert_int_equal(fb_table_trampoline_search(code, sizeof code), 4);
    assert_int_equal(fb_table_trampoline_search(code, 11), 11);
    assert_int_equal(fb_table_trampoline_search(code + 8, 8), 8);
    assert_true(fb_table_build(&none, TEXT, TEXT + 0x1000, TEXT + 0x104, &table));
    assert_int_equal(rule_at(&table, 0xff)->cfa, FB_CFA_NONE);
    assert_int_equal(rule_at(&table, 0x103)->cfa, FB_CFA_SIGNAL);
    assert_int_equal(rule_at(&table, 0x10b)->cfa, FB_CFA_SIGNAL);
    assert_int_equal(rule_at(&table, 0x10c)->cfa, FB_CFA_NONE);
    fb_table_free(&table);
    assert_false(fb_table_build(&none, TEXT, TEXT + 0x1000, TEXT + 2, &table));
    assert_false(fb_table_build(&none, TEXT, TEXT + 0x1000, TEXT + 0xffc, &table));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_libc_and_the_loader_say_what_libdw_says),
        cmocka_unit_test(tables_of_other_programs_say_what_libdw_says),
        cmocka_unit_test(tables_of_aarch64_files_say_what_libdw_says),
        cmocka_unit_test(a_section_cut_at_every_byte_is_read_safely),
        cmocka_unit_test(a_section_flipped_at_every_byte_is_read_safely),
        cmocka_unit_test(a_section_full_of_random_flips_is_read_safely),
        cmocka_unit_test(functions_out_of_order_and_overlapping_give_sorted_rows),
        cmocka_unit_test(every_kind_of_rule_is_compiled),
        cmocka_unit_test(a_section_without_usable_records_is_no_table),
        cmocka_unit_test(a_trampoline_without_records_is_a_signal_frame),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
