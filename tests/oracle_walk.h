/* oracle_walk.h - the stack of an interrupted thread as libunwind steps it: what the tests of our
 * unwinder compare with.  Define UNW_LOCAL_ONLY and include <libunwind.h> before. */
#ifndef FB_TESTS_ORACLE_WALK_H
#define FB_TESTS_ORACLE_WALK_H

#include <stdint.h>

/* The pcs, innermost first; returns how many, `max` at most. */
static inline unsigned oracle_walk(void *uc, uint64_t *ret_pcs, unsigned max)
{
    unw_cursor_t cursor;
    unw_word_t pc;
    unsigned n = 0;

    if (unw_init_local2(&cursor, uc, UNW_INIT_SIGNAL_FRAME) != 0)
        return 0;
    do {
        if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0 || pc == 0)
            break;
        ret_pcs[n++] = pc;
    } while (n < max && unw_step(&cursor) > 0);
    return n;
}

#endif
