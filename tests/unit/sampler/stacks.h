/* stacks.h - code whose stacks are hard to unwind, for the tests of the walk.
 *
 * Compiled like a distribution's library: -O2 -fomit-frame-pointer, never
 * sanitized.  Every function ends by calling `leaf` once per turn. */
#ifndef FB_TESTS_SAMPLER_STACKS_H
#define FB_TESTS_SAMPLER_STACKS_H

typedef void (*stacks_leaf)(void);

/* `depth` frames of different sizes, some with alloca, some realigned. */
unsigned stacks_recurse(unsigned depth, stacks_leaf leaf);

/* leaf under qsort's comparator. */
void stacks_callback(stacks_leaf leaf);

/* leaf in a handler of SIGUSR1, on the alternate stack if asked; call sites see it through the
 * signal frame. */
void stacks_in_handler(int on_alternate_stack, stacks_leaf leaf);

/* leaf on a stack of its own that was made with makecontext(). */
void stacks_coroutine(stacks_leaf leaf);

/* From on's return to off's call every instruction of the thread raises SIGTRAP (x86_64). */
void stacks_trap_on(void);
void stacks_trap_off(void);

/* Leaf code without call frame information, as in hand-written assembly and some linkers' PLT
 * entries: does nothing, between these two addresses (x86_64). */
void stacks_bare(void);
void stacks_bare_end(void);

/* Calls leaf with its last instruction: the return address is another function's (x86_64). */
void stacks_last_call(stacks_leaf leaf);

/* Library calls through the PLT, string functions written in assembly, C++-like cleanups. */
unsigned stacks_library(void);

#endif
