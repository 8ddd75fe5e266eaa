/* unwind_chain.c - see unwind_chain.h; CHAIN_ENTRY names the variant being compiled. */
#include "bench/unwind_chain.h"

typedef void (*leaf_fn)(void *ctx);

#define LINK(n, next)                                                                              \
    __attribute__((noinline)) static unsigned link_##n(unsigned depth, leaf_fn leaf, void *ctx)    \
    {                                                                                              \
        volatile char room[8 + (n) % 9 * 24];                                                      \
                                                                                                   \
        room[(n) % 8] = (char)depth;                                                               \
        if (depth <= 1)                                                                            \
            leaf(ctx);                                                                             \
        else                                                                                       \
            next(depth - 1, leaf, ctx);                                                            \
        return (unsigned)room[(n) % 8];                                                            \
    }

static unsigned link_end(unsigned depth, leaf_fn leaf, void *ctx)
{
    leaf(ctx);
    return depth;
}

#define LINK_10(h, n)                                                                              \
    LINK(h##9, n)                                                                                  \
    LINK(h##8, link_##h##9)                                                                        \
    LINK(h##7, link_##h##8)                                                                        \
    LINK(h##6, link_##h##7)                                                                        \
    LINK(h##5, link_##h##6)                                                                        \
    LINK(h##4, link_##h##5)                                                                        \
    LINK(h##3, link_##h##4)                                                                        \
    LINK(h##2, link_##h##3)                                                                        \
    LINK(h##1, link_##h##2)                                                                        \
    LINK(h##0, link_##h##1)

/* The first digits are decimal and start with 1, so that none is read as octal. */
LINK_10(129, link_end)
LINK_10(128, link_1290)
LINK_10(127, link_1280)
LINK_10(126, link_1270)
LINK_10(125, link_1260)
LINK_10(124, link_1250)
LINK_10(123, link_1240)
LINK_10(122, link_1230)
LINK_10(121, link_1220)
LINK_10(120, link_1210)
LINK_10(119, link_1200)
LINK_10(118, link_1190)
LINK_10(117, link_1180)
LINK_10(116, link_1170)
LINK_10(115, link_1160)
LINK_10(114, link_1150)
LINK_10(113, link_1140)
LINK_10(112, link_1130)
LINK_10(111, link_1120)
LINK_10(110, link_1110)

void CHAIN_ENTRY(unsigned depth, leaf_fn leaf, void *ctx)
{
    link_1100(depth, leaf, ctx);
}
