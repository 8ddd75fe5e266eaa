/* shapes.c - stacks of many shapes, for each way to compile: recursion, callbacks, frames of odd
 * sizes, aligned frames, tail calls, and library code under all of them. */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile unsigned sink;
static jmp_buf back;

static unsigned mix(unsigned x)
{
    for (int i = 0; i < 40; i++)
        x = x * 1664525u + 1013904223u;
    return x;
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a;
    unsigned y = *(const unsigned *)b;

    sink += mix(x);
    return (x > y) - (x < y);
}

__attribute__((noinline)) static unsigned sorted(unsigned n)
{
    unsigned v[64];

    for (unsigned i = 0; i < 64; i++)
        v[i] = mix(n + i);
    qsort(v, 64, sizeof v[0], compare);
    return v[n % 64];
}

__attribute__((noinline)) static unsigned aligned(unsigned n)
{
    _Alignas(64) volatile unsigned v[16];

    for (unsigned i = 0; i < 16; i++)
        v[i] = mix(n + i);
    return v[n % 16] + sorted(n);
}

__attribute__((noinline)) static unsigned printed(unsigned n)
{
    char text[256];
    char *copy;
    unsigned r;

    snprintf(text, sizeof text, "%u %s %g %lx", n, "text", (double)n / 3, (unsigned long)mix(n));
    copy = strdup(text);
    r = (unsigned)strtoul(copy, NULL, 10) + (unsigned)strlen(copy);
    free(copy);
    return r;
}

__attribute__((noinline)) static unsigned sized(unsigned n)
{
    volatile char *room = alloca(n % 300 + 8);

    room[n % 8] = (char)n;
    return (n & 1 ? aligned(n) : printed(n)) + (unsigned)room[n % 8];
}

__attribute__((noinline)) static unsigned last_call(unsigned n)
{
    return sized(n + 1);
}

__attribute__((noinline)) static unsigned recurse(unsigned depth, unsigned n)
{
    if (depth == 0)
        return last_call(n);
    if (n % 97 == 0 && depth == 1)
        longjmp(back, 1);
    return recurse(depth - 1, n) * 3 + mix(n);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
    volatile unsigned n = 0;

    while ((double)clock() / CLOCKS_PER_SEC < seconds) {
        if (setjmp(back) == 0)
            for (unsigned i = 0; i < 100; i++)
                sink += recurse(i % 40, n++);
        else
            n++;
    }
    return 0;
}
