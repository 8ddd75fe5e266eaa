/* clock_parked.h - between the clock `wall` and the writer: samples of threads that wait, which no
 * handler took.
 *
 * Context: the helper thread alone.
 *
 *     fb_clock_parked_stack(slot, thread, site, stack);   a parked record has got its stack's id
 *     fb_clock_parked_each(each, ctx);                    at a flush, once records are samples
 *     fb_clock_parked_forget(each, ctx);                  stacks' ids are not valid any more
 *
 * With other clocks they do nothing. */
#ifndef FB_SAMPLER_CLOCK_PARKED_H
#define FB_SAMPLER_CLOCK_PARKED_H

#include <stdbool.h>
#include <stdint.h>

/* Where a thread waits, as /proc/self/task/TID/syscall says it. */
struct fb_parked {
    uint64_t sp;
    uint64_t pc;
    uint64_t call; /* number and first argument, mixed */
};

/* False: the thread does not wait in a system call. */
bool fb_clock_parked_parse(const char *text, struct fb_parked *ret_parked);

/* site: as the record has it. */
void fb_clock_parked_stack(uint32_t slot, uint32_t thread, unsigned site, uint32_t stack);

/* `weight` ticks of `thread` in the stack; 0: which one it was is not known, they are lost. */
typedef void fb_clock_parked_fn(void *ctx, uint32_t thread, uint32_t stack, uint32_t weight);
void fb_clock_parked_each(fb_clock_parked_fn *each, void *ctx);

void fb_clock_parked_forget(fb_clock_parked_fn *each, void *ctx);

#endif
