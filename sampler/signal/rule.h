/* rule.h - how one frame is left: the compiled unwind rule and the rows that lead to it.
 *
 * Context: signal (read); written by sampler/table.c in normal context and
 * immutable afterwards.
 *
 * The rows of a module are two parallel arrays, sorted by pc: row i holds for
 * code offsets [pcs[i], pcs[i + 1]), offsets being relative to the start of the
 * module's code.  Its rule is rules[index[i]]; equal rules are stored once.
 * pages[k] is the number of rows that start below k << FB_ROWS_PAGE_SHIFT, so
 * that a lookup searches one page's rows only.
 *
 * A rule is applied to (pc, sp, fp) of a frame and yields those of its caller:
 *     cfa = as `cfa` says        the caller's sp
 *     pc  = as `ra` says         the return address
 *     fp  = as `fp` says         rbp or x29
 *     base register              as `base_off` says */
#ifndef FB_SAMPLER_SIGNAL_RULE_H
#define FB_SAMPLER_SIGNAL_RULE_H

#include <stddef.h>
#include <stdint.h>

enum { FB_ROWS_PAGE_SHIFT = 10 };

enum fb_cfa_kind {
    FB_CFA_NONE = 0,     /* no row, or one that these rules cannot express           */
    FB_CFA_SP = 1,       /* sp + cfa_off                                             */
    FB_CFA_FP = 2,       /* fp + cfa_off                                             */
    FB_CFA_REG = 3,      /* register `reg` + cfa_off: where all registers are known, or
                          * the base register, which is followed                     */
    FB_CFA_DEREF_SP = 4, /* *(sp + cfa_off) + deref_add                              */
    FB_CFA_DEREF_FP = 5, /* *(fp + cfa_off) + deref_add                              */
    FB_CFA_PLT = 6,      /* sp + 8, 8 more from byte `reg` of a 16-byte PLT entry on */
    FB_CFA_END = 7,      /* the outermost frame: its return address is undefined     */
    FB_CFA_SIGNAL = 8,   /* a signal trampoline: all registers are in its ucontext   */
    FB_CFA_PENDING = 9,  /* not compiled yet: never in a table, see code_map.h       */
};

enum fb_fp_kind {
    FB_FP_SAME = 0,    /* the frame leaves it alone          */
    FB_FP_AT_CFA = 1,  /* saved at cfa + fp_off              */
    FB_FP_AT_FP = 2,   /* saved at fp + fp_off (fp before)   */
    FB_FP_UNKNOWN = 3, /* lost: no later rule may use it     */
};

enum fb_ra_kind {
    FB_RA_AT_CFA = 0, /* saved at cfa + ra_off                                      */
    FB_RA_LR = 1,     /* still in the link register: where all registers are known  */
};

/* The base register (cpu.h) is followed for code that aligns its stack and keeps the way back in
 * it: the lazy binding of x86-64 does, under all that it calls. */
enum { FB_BASE_SAME = 0, FB_BASE_UNKNOWN = INT16_MIN };

struct fb_rule {
    int32_t cfa_off;
    int32_t deref_add;
    int32_t fp_off;
    int32_t ra_off;
    uint8_t cfa;      /* enum fb_cfa_kind */
    uint8_t fp;       /* enum fb_fp_kind  */
    uint8_t ra;       /* enum fb_ra_kind  */
    uint8_t reg;      /* DWARF register number, or the PLT's byte */
    int16_t base_off; /* saved at cfa + base_off, FB_BASE_SAME or _UNKNOWN */
    uint16_t zero;    /* rules are compared as bytes */
};

struct fb_rows {
    const uint32_t *pcs;
    const uint16_t *index;
    const uint32_t *pages;
    const struct fb_rule *rules;
    uint32_t row_count;
    uint32_t page_count; /* pages[] has page_count + 1 entries */
};

/* The rule for a code offset, NULL before the first row.  At most 32 steps. */
static inline const struct fb_rule *fb_rows_find(const struct fb_rows *rows, uint32_t offset)
{
    uint32_t page = offset >> FB_ROWS_PAGE_SHIFT;
    uint32_t low;
    uint32_t high;

    if (rows->row_count == 0)
        return NULL;
    if (page >= rows->page_count)
        page = rows->page_count; /* behind the last row's page: the last row */
    low = rows->pages[page];
    high = page < rows->page_count ? rows->pages[page + 1] : rows->row_count;
    /* The answer is the last row that starts at or before offset: in [low - 1, high). */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (rows->pcs[middle] <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &rows->rules[rows->index[low - 1]] : NULL;
}

#endif
