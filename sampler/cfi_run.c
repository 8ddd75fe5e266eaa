/* cfi_run.c - runs the program of an FDE and turns each of its rows into a rule.
 *
 * Only the CFA and three columns matter: the frame pointer's, the return
 * address's and, on x86-64, rbx's; what a program says of other registers is read over. */
#include <string.h>

#include "sampler/cfi.h"
#include "sampler/cfi_read.h"

enum { REMEMBER_MAX = 16, X86_64_RBX = 3, NO_REGISTER = -1 };

enum how { HOW_SAME, HOW_AT_CFA, HOW_AT_FP, HOW_UNDEFINED, HOW_OTHER };

struct column {
    enum how how;
    int64_t off;
};

struct state {
    enum fb_cfa_kind cfa; /* NONE, REG (of cfa_reg, sp and fp too), DEREF_SP, DEREF_FP, PLT */
    uint64_t cfa_reg;     /* or the PLT's byte */
    int64_t cfa_off;
    int64_t deref_add;
    struct column fp;
    struct column ra;
    struct column base;
};

struct run {
    const struct fb_cfi *cfi;
    const struct fb_cfi_cie *cie;
    uint64_t fp_reg;
    uint64_t sp_reg;
    uint64_t base_reg;
    struct state now;
    struct state initial; /* what DW_CFA_restore goes back to */
    struct state remembered[REMEMBER_MAX];
    unsigned remembered_count;
    uint64_t pc;
    uint64_t end;
    fb_cfi_row_fn on_row; /* NULL while the initial instructions run */
    void *ctx;
};

/* --- state to rule ------------------------------------------------------- */

static bool fits(int64_t v)
{
    return v >= INT32_MIN && v <= INT32_MAX;
}

static bool cfa_rule(const struct run *run, const struct state *s, struct fb_rule *rule)
{
    rule->cfa = (uint8_t)s->cfa;
    if (s->cfa == FB_CFA_REG && s->cfa_reg == run->sp_reg)
        rule->cfa = FB_CFA_SP;
    else if (s->cfa == FB_CFA_REG && s->cfa_reg == run->fp_reg)
        rule->cfa = FB_CFA_FP;
    else if (s->cfa == FB_CFA_REG || s->cfa == FB_CFA_PLT)
        rule->reg = (uint8_t)s->cfa_reg;
    rule->cfa_off = (int32_t)s->cfa_off;
    rule->deref_add = (int32_t)s->deref_add;
    return s->cfa != FB_CFA_NONE && s->cfa_reg < 256 && fits(s->cfa_off) && fits(s->deref_add);
}

static bool ra_rule(const struct run *run, const struct state *s, struct fb_rule *rule)
{
    if (s->ra.how == HOW_SAME && run->cfi->machine == FB_MACHINE_AARCH64) {
        rule->ra = FB_RA_LR;
        return true;
    }
    rule->ra = FB_RA_AT_CFA;
    rule->ra_off = (int32_t)s->ra.off;
    return s->ra.how == HOW_AT_CFA && fits(s->ra.off);
}

/* A return address above the CFA is glibc's resolver of lazy binding on arm64: the PLT has pushed
 * two words, &PLTGOT[n] and lr, and its CFA is theirs and not the caller's. */
static void pushed_by_plt(const struct run *run, struct fb_rule *rule)
{
    if (run->cfi->machine != FB_MACHINE_AARCH64 || rule->ra != FB_RA_AT_CFA || rule->ra_off != 8 ||
        (rule->cfa != FB_CFA_SP && rule->cfa != FB_CFA_FP))
        return;
    rule->cfa_off += 16;
    rule->ra_off -= 16;
    if (rule->fp == FB_FP_AT_CFA)
        rule->fp_off -= 16;
}

static void fp_rule(const struct state *s, struct fb_rule *rule)
{
    rule->fp = FB_FP_UNKNOWN;
    if (s->fp.how == HOW_SAME)
        rule->fp = FB_FP_SAME;
    else if ((s->fp.how == HOW_AT_CFA || s->fp.how == HOW_AT_FP) && fits(s->fp.off))
        rule->fp = s->fp.how == HOW_AT_CFA ? FB_FP_AT_CFA : FB_FP_AT_FP;
    if (rule->fp == FB_FP_AT_CFA || rule->fp == FB_FP_AT_FP)
        rule->fp_off = (int32_t)s->fp.off;
}

static void base_rule(const struct state *s, struct fb_rule *rule)
{
    rule->base_off = FB_BASE_UNKNOWN;
    if (s->base.how == HOW_SAME)
        rule->base_off = FB_BASE_SAME;
    else if (s->base.how == HOW_AT_CFA && s->base.off > INT16_MIN && s->base.off <= INT16_MAX)
        rule->base_off = (int16_t)s->base.off;
}

static struct fb_rule rule_of(const struct run *run)
{
    static const struct fb_rule none = {.cfa = FB_CFA_NONE};
    struct fb_rule rule = {.cfa = FB_CFA_NONE};

    if (run->cie->signal_frame)
        return (struct fb_rule){.cfa = FB_CFA_SIGNAL};
    if (run->now.ra.how == HOW_UNDEFINED)
        return (struct fb_rule){.cfa = FB_CFA_END};
    if (!cfa_rule(run, &run->now, &rule) || !ra_rule(run, &run->now, &rule))
        return none;
    fp_rule(&run->now, &rule);
    base_rule(&run->now, &rule);
    pushed_by_plt(run, &rule);
    return rule;
}

static void row_emit(const struct run *run)
{
    struct fb_rule rule = rule_of(run);

    if (run->on_row != NULL)
        run->on_row(run->ctx, run->pc, &rule);
}

/* --- instructions -------------------------------------------------------- */

/* The rows of this state end at `to`. */
static bool pc_move(struct run *run, uint64_t to)
{
    if (to < run->pc || to > run->end)
        return false;
    if (to > run->pc)
        row_emit(run);
    run->pc = to;
    return true;
}

static bool pc_advance(struct run *run, uint64_t delta)
{
    uint64_t step = delta * run->cie->code_align; /* delta < 2^32, code_align <= 256 */

    return step <= run->end - run->pc && pc_move(run, run->pc + step);
}

static struct column *column_of(struct run *run, struct state *state, uint64_t reg)
{
    if (reg == run->fp_reg)
        return &state->fp;
    if (reg == run->base_reg)
        return &state->base;
    return reg == run->cie->return_register ? &state->ra : NULL;
}

static void column_set(struct run *run, uint64_t reg, enum how how, int64_t off)
{
    struct column *column = column_of(run, &run->now, reg);

    if (column != NULL)
        *column = (struct column){.how = how, .off = off};
}

static void column_restore(struct run *run, uint64_t reg)
{
    struct column *column = column_of(run, &run->now, reg);

    if (column != NULL)
        *column = *column_of(run, &run->initial, reg);
}

/* v * data_align; a product that wraps is nonsense that no rule can hold either. */
static int64_t factored(const struct run *run, int64_t v)
{
    int64_t product;

    return __builtin_mul_overflow(v, run->cie->data_align, &product) ? INT64_MAX : product;
}

static void cfa_set(struct run *run, uint64_t reg, int64_t off)
{
    run->now.cfa = FB_CFA_REG;
    run->now.cfa_reg = reg;
    run->now.cfa_off = off;
    run->now.deref_add = 0;
}

/* DW_OP_breg7 8; breg16 0; lit15; and; lit<N>; ge; lit3; shl; plus: a PLT entry of 16 bytes that
 * pushes its index N bytes in. */
static bool plt_match(const uint8_t *op, size_t n, uint8_t *ret_byte)
{
    static const uint8_t want[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0, 0x2a, 0x33, 0x24, 0x22};

    if (n != sizeof want || memcmp(op, want, 6) != 0 || memcmp(op + 7, want + 7, 4) != 0 ||
        op[6] < 0x30 || op[6] > 0x3f)
        return false;
    *ret_byte = (uint8_t)(op[6] - 0x30);
    return true;
}

/* The CFA as an expression: the PLT's, or DW_OP_breg<sp|fp> off; deref; plus_uconst add. */
static void cfa_expression(struct run *run, const uint8_t *op, size_t n)
{
    struct fb_wire_in in = {.data = op, .len = n};
    uint8_t plt_byte;
    uint64_t reg;

    run->now.cfa = FB_CFA_NONE;
    run->now.cfa_reg = 0;
    run->now.cfa_off = 0;
    run->now.deref_add = 0;
    if (run->cfi->machine == FB_MACHINE_X86_64 && plt_match(op, n, &plt_byte)) {
        run->now.cfa = FB_CFA_PLT;
        run->now.cfa_reg = plt_byte;
        return;
    }
    reg = (uint64_t)fb_wire_get_u8(&in) - 0x70;
    run->now.cfa_off = fb_cfi_read_sleb(&in);
    if (fb_wire_get_u8(&in) != 0x06 || (reg != run->sp_reg && reg != run->fp_reg))
        return;
    if (fb_wire_left(&in) > 0) {
        if (fb_wire_get_u8(&in) != 0x23)
            return;
        run->now.deref_add = (int64_t)fb_cfi_read_uleb(&in);
    }
    if (!in.bad && fb_wire_left(&in) == 0)
        run->now.cfa = reg == run->sp_reg ? FB_CFA_DEREF_SP : FB_CFA_DEREF_FP;
}

/* A register that is saved where an expression says: fp at fp + off is the one of stack
 * realignment; nothing else is followed. */
static void column_expression(struct run *run, uint64_t reg, const uint8_t *op, size_t n)
{
    struct fb_wire_in in = {.data = op, .len = n};
    uint64_t base = (uint64_t)fb_wire_get_u8(&in) - 0x70;
    int64_t off = fb_cfi_read_sleb(&in);

    if (reg == run->fp_reg && base == run->fp_reg && !in.bad && fb_wire_left(&in) == 0)
        column_set(run, reg, HOW_AT_FP, off);
    else
        column_set(run, reg, HOW_OTHER, 0);
}

static const uint8_t *block_read(struct fb_wire_in *in, size_t *ret_n)
{
    *ret_n = (size_t)fb_cfi_read_uleb(in);
    return fb_wire_get_bytes(in, *ret_n);
}

/* DW_CFA_set_loc and DW_CFA_advance_loc1, 2, 4. */
static bool step_pc(struct run *run, struct fb_wire_in *in, uint8_t op)
{
    uint64_t to;

    if (op == 0x01) {
        to = fb_cfi_read_pointer(run->cfi, in, run->cie->pointer_encoding) +
             (run->cfi->debug ? run->cfi->bias : 0);
        return !in->bad && pc_move(run, to);
    }
    to = fb_wire_get_le(in, op == 0x02 ? 1 : op == 0x03 ? 2 : 4);
    return !in->bad && pc_advance(run, to);
}

/* The definitions of the CFA. */
static bool step_cfa(struct run *run, struct fb_wire_in *in, uint8_t op)
{
    const uint8_t *block;
    uint64_t reg = run->now.cfa_reg;
    size_t n;

    if (op == 0x0f) { /* def_cfa_expression */
        block = block_read(in, &n);
        if (block != NULL)
            cfa_expression(run, block, n);
        return block != NULL;
    }
    if (op == 0x0c || op == 0x0d || op == 0x12) /* def_cfa, def_cfa_register, def_cfa_sf */
        reg = fb_cfi_read_uleb(in);
    else if (run->now.cfa != FB_CFA_REG)
        return false; /* def_cfa_offset without a register */
    if (op == 0x0d)
        cfa_set(run, reg, run->now.cfa_off);
    else if (op == 0x12 || op == 0x13)
        cfa_set(run, reg, factored(run, fb_cfi_read_sleb(in)));
    else
        cfa_set(run, reg, (int64_t)fb_cfi_read_uleb(in));
    return !in->bad;
}

/* The definitions of one register. */
static bool step_register(struct run *run, struct fb_wire_in *in, uint8_t op)
{
    uint64_t reg = fb_cfi_read_uleb(in);
    const uint8_t *block;
    size_t n;

    switch (op) {
    case 0x05: /* offset_extended */
        column_set(run, reg, HOW_AT_CFA, factored(run, (int64_t)fb_cfi_read_uleb(in)));
        break;
    case 0x11: /* offset_extended_sf */
        column_set(run, reg, HOW_AT_CFA, factored(run, fb_cfi_read_sleb(in)));
        break;
    case 0x06: /* restore_extended */
        column_restore(run, reg);
        break;
    case 0x07: /* undefined */
        column_set(run, reg, HOW_UNDEFINED, 0);
        break;
    case 0x08: /* same_value */
        column_set(run, reg, HOW_SAME, 0);
        break;
    case 0x09: /* register */
        column_set(run, reg, fb_cfi_read_uleb(in) == reg ? HOW_SAME : HOW_OTHER, 0);
        break;
    case 0x10: /* expression */
        block = block_read(in, &n);
        if (block != NULL)
            column_expression(run, reg, block, n);
        break;
    case 0x16: /* val_expression */
        block_read(in, &n);
        column_set(run, reg, HOW_OTHER, 0);
        break;
    default: /* 0x14, 0x15: val_offset, val_offset_sf */
        fb_cfi_read_uleb(in);
        column_set(run, reg, HOW_OTHER, 0);
        break;
    }
    return !in->bad;
}

static bool step_rare(struct run *run, struct fb_wire_in *in, uint8_t op)
{
    switch (op) {
    case 0x00: /* nop */
    case 0x2d: /* GNU_window_save, on aarch64 negate_ra_state: codes are always stripped */
        return true;
    case 0x2c: /* negate_ra_state_with_pc */
        return run->cfi->machine == FB_MACHINE_AARCH64;
    case 0x0a: /* remember_state */
        if (run->remembered_count == REMEMBER_MAX)
            return false;
        run->remembered[run->remembered_count++] = run->now;
        return true;
    case 0x0b: /* restore_state */
        if (run->remembered_count == 0)
            return false;
        run->now = run->remembered[--run->remembered_count];
        return true;
    case 0x2e: /* GNU_args_size */
        fb_cfi_read_uleb(in);
        return !in->bad;
    default:
        return false;
    }
}

static bool step(struct run *run, struct fb_wire_in *in)
{
    uint8_t op = fb_wire_get_u8(in);
    uint8_t low = op & 0x3f;

    switch (op >> 6) {
    case 1: /* advance_loc */
        return pc_advance(run, low);
    case 2: /* offset */
        column_set(run, low, HOW_AT_CFA, factored(run, (int64_t)fb_cfi_read_uleb(in)));
        return !in->bad;
    case 3: /* restore */
        column_restore(run, low);
        return true;
    default:
        break;
    }
    if (op >= 0x01 && op <= 0x04)
        return step_pc(run, in, op);
    if ((op >= 0x0c && op <= 0x0f) || op == 0x12 || op == 0x13)
        return step_cfa(run, in, op);
    if ((op >= 0x05 && op <= 0x09) || op == 0x10 || op == 0x11 || (op >= 0x14 && op <= 0x16))
        return step_register(run, in, op);
    return step_rare(run, in, op);
}

static bool program_run(struct run *run, size_t from, size_t to)
{
    struct fb_wire_in in = {.data = run->cfi->bytes, .len = to, .pos = from};

    while (fb_wire_left(&in) > 0)
        if (!step(run, &in))
            return false;
    return true;
}

void fb_cfi_run(struct fb_cfi *cfi, const struct fb_cfi_fde *fde, fb_cfi_row_fn on_row, void *ctx)
{
    bool arm = cfi->machine == FB_MACHINE_AARCH64;
    struct run run = {.cfi = cfi,
                      .cie = &cfi->cie,
                      .fp_reg = arm ? 29 : 6,
                      .sp_reg = arm ? 31 : 7,
                      .base_reg = arm ? (uint64_t)NO_REGISTER : X86_64_RBX,
                      .pc = fde->start,
                      .end = fde->end};
    bool good = fb_cfi_cie_get(cfi, fde->cie) && program_run(&run, cfi->cie.program, cfi->cie.end);

    run.initial = run.now;
    run.pc = fde->start;
    run.on_row = on_row;
    run.ctx = ctx;
    if (!good || !program_run(&run, fde->program, fde->program_end))
        run.now = (struct state){.cfa = FB_CFA_NONE};
    if (run.pc < run.end)
        row_emit(&run);
}
