/* A library that uses CPU time in a function of a name of its own, which is not exported.
 * -DBURN=name */
#include <time.h>

volatile unsigned long burn_sink;

static __attribute__((noinline)) void BURN(long ms);
void burn(long ms);

static inline __attribute__((always_inline)) void spin_inlined(void)
{
    for (int i = 0; i < 20000; i++)
        burn_sink += (unsigned long)i * burn_sink;
}

static void BURN(long ms)
{
    struct timespec t;
    long until;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    until = t.tv_sec * 1000 + t.tv_nsec / 1000000 + ms;
    do {
        spin_inlined();
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < until);
}

void burn(long ms)
{
    BURN(ms);
    burn_sink++;
}
