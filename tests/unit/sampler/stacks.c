/* stacks.c - see stacks.h. */
#include "tests/unit/sampler/stacks.h"

#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)
/* In assembly, because pushing in a C function would belie its call frame information. */
#define TRAP(name, change)                                                                         \
    __asm__(".text\n.globl " name "\n.type " name ", @function\n" name ":\n"                       \
            ".cfi_startproc\n\tpushfq\n.cfi_adjust_cfa_offset 8\n\t" change ", (%rsp)\n"           \
            "\tpopfq\n.cfi_adjust_cfa_offset -8\n\tret\n.cfi_endproc\n.size " name ", . - " name   \
            "\n")
TRAP("stacks_trap_on", "orq $0x100");
TRAP("stacks_trap_off", "andq $~0x100");
__asm__(
    ".text\n.balign 64\n\t.skip 32, 0xcc\n.globl stacks_bare\nstacks_bare:\n\tnop\n\txorl %eax, "
    "%eax\n\tnop\n\tret\n.globl stacks_bare_end\nstacks_bare_end:\n\t.skip 32, 0xcc\n");
/* The next function's record starts right behind the call, and would give another CFA. */
__asm__(
    ".text\n.globl stacks_last_call\n.type stacks_last_call, @function\nstacks_last_call:\n"
    ".cfi_startproc\n\tpushq %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbx, 0\n\tcall *%rdi\n"
    ".cfi_endproc\nstacks_after_last_call:\n.cfi_startproc\n\tpopq %rbx\n\tret\n.cfi_endproc\n");
#endif

static stacks_leaf current_leaf;
static volatile unsigned sink;

__attribute__((noinline)) static unsigned realigned(unsigned depth, stacks_leaf leaf)
{
    _Alignas(64) volatile char big[192];

    big[depth % 192] = 1;
    return stacks_recurse(depth - 1, leaf) + (unsigned)big[depth % 192];
}

__attribute__((noinline)) static unsigned realigned_alloca(unsigned depth, stacks_leaf leaf)
{
    _Alignas(64) volatile char big[128];
    volatile char *p = alloca(depth % 5 * 16 + 16);

    big[depth % 128] = 2;
    p[1] = 3;
    return stacks_recurse(depth - 1, leaf) + (unsigned)big[depth % 128] + (unsigned)p[1];
}

/* Its frame is left by rbp, which the one that it calls has saved in a realigned frame. */
__attribute__((noinline)) static unsigned with_alloca(unsigned depth, stacks_leaf leaf)
{
    char *p = alloca(16 + depth % 7 * 24);

    memset(p, (int)depth, 16);
    return realigned_alloca(depth - 1, leaf) + (unsigned)p[3];
}

__attribute__((noinline)) static unsigned large(unsigned depth, stacks_leaf leaf)
{
    volatile char buffer[9000];

    buffer[depth] = 1;
    return stacks_recurse(depth - 1, leaf) + (unsigned)buffer[depth];
}

__attribute__((noinline)) unsigned stacks_recurse(unsigned depth, stacks_leaf leaf)
{
    if (depth == 0) {
        leaf();
        return sink;
    }
    switch (depth % 5) {
    case 0:
        return with_alloca(depth, leaf) + 1;
    case 1:
        return realigned(depth, leaf) ^ depth;
    case 2:
        return realigned_alloca(depth, leaf) + 3;
    case 3:
        return large(depth, leaf) ^ 5;
    default:
        return stacks_recurse(depth - 1, leaf) + 7;
    }
}

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a;
    int y = *(const int *)b;

    if (x == 3 || y == 3)
        current_leaf();
    return x - y;
}

void stacks_callback(stacks_leaf leaf)
{
    int values[] = {5, 2, 9, 3, 7, 1};

    current_leaf = leaf;
    qsort(values, 6, sizeof values[0], compare);
    sink += (unsigned)values[2];
}

static void on_signal(int sig)
{
    sink += (unsigned)sig;
    current_leaf();
}

__attribute__((noinline)) static void raise_below(unsigned depth)
{
    if (depth == 0)
        raise(SIGUSR1);
    else
        raise_below(depth - 1);
    sink++;
}

void stacks_in_handler(int on_alternate_stack, stacks_leaf leaf)
{
    static char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    stack_t off = {.ss_flags = SS_DISABLE};
    struct sigaction action = {.sa_handler = on_signal};

    current_leaf = leaf;
    if (on_alternate_stack) {
        sigaltstack(&alternate, NULL);
        action.sa_flags = SA_ONSTACK;
    }
    sigaction(SIGUSR1, &action, NULL);
    raise_below(5);
    if (on_alternate_stack)
        sigaltstack(&off, NULL);
}

static ucontext_t main_context;
static ucontext_t own_context;

static void coroutine(void)
{
    stacks_recurse(6, current_leaf);
}

void stacks_coroutine(stacks_leaf leaf)
{
    size_t size = 262144;
    char *stack = malloc(size);

    current_leaf = leaf;
    getcontext(&own_context);
    own_context.uc_stack.ss_sp = stack;
    own_context.uc_stack.ss_size = size;
    own_context.uc_link = &main_context;
    makecontext(&own_context, coroutine, 0);
    swapcontext(&main_context, &own_context);
    free(stack);
}

unsigned stacks_library(void)
{
    char text[256];
    char *copy;

    snprintf(text, sizeof text, "%d %s %g", 42, "text", 3.25);
    copy = strdup(text);
    strncat(text, copy, sizeof text - 1 - strlen(text));
    sink += (unsigned)(strtol(copy, NULL, 10) + (strstr(text, "3.2") != NULL));
    memmove(text + 3, text, 100);
    free(copy);
    sink += (unsigned)getppid();
    return sink;
}
