/* unwind_chain.h - a chain of 200 different functions, compiled twice: with and without frame
 * pointers. */
#ifndef FB_BENCH_UNWIND_CHAIN_H
#define FB_BENCH_UNWIND_CHAIN_H

enum { CHAIN_MAX = 200 };

/* Calls leaf(ctx) below `depth` (1 .. CHAIN_MAX) different functions with frames of different
 * sizes. */
void chain_without_frame_pointers(unsigned depth, void (*leaf)(void *ctx), void *ctx);
void chain_with_frame_pointers(unsigned depth, void (*leaf)(void *ctx), void *ctx);

#endif
