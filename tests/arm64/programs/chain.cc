/* chain.cc - a stack that is known: every sample of it must be that stack.
 *
 *     chain SECONDS NAME [plain|lazy]
 *
 * chain_1() calls chain_2() and so on, each with another shape of frame, down to a leaf.  A timer
 * interrupts it some thousand times a second, wherever it is, in two threads at once, and the walk
 * is ours, as it is shipped.  Afterwards the functions of each sample are named: outside all of
 * them is main() or the thread's start, then chain_1, chain_2 ... in order and without a hole, and
 * nothing but the C library's functions between and below them.  What is built with return
 * addresses that are signed has no other oracle: libunwind crashes on it.
 *
 * NAME is printed before the counts.  "plain": nothing is sampled here.  "lazy": run with
 * LD_BIND_NOT, most samples are in the C library's resolver, in which two instructions have wrong
 * call frame information: 2 % may be wrong.  Exits 1 if a sample is wrong, 0 if all are right. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __ARM_FEATURE_SVE
#include <arm_sve.h>
#endif

#include "chain_sample.h"

#define STEP __attribute__((noinline, noclone, used))

/* After the call, so that it is none in tail position. */
static volatile unsigned sink;
#define DONE(x) (sink = sink + (unsigned)(x))

extern "C" {
unsigned chain_1(unsigned turn);
unsigned chain_2(unsigned turn);
unsigned chain_3(unsigned turn);
unsigned chain_4(unsigned turn, unsigned (*next)(const char *, ...));
unsigned chain_5(const char *what, ...);
int chain_6(const void *a, const void *b);
void chain_7(int sig);
unsigned chain_8(unsigned turn);
unsigned chain_9(unsigned turn, double x);
unsigned chain_10(unsigned turn);
unsigned chain_11(unsigned turn);
}

enum { STEPS = 11, BIG = 70000, SAMPLES_MIN = 300 };

/* The frame is larger than one instruction's immediate. */
STEP unsigned chain_2(unsigned turn)
{
    volatile char big[BIG];

    big[turn % BIG] = (char)turn;
    DONE(chain_3(turn));
    return (unsigned)big[turn % BIG];
}

/* sp moves while it runs: the CFA is by x29. */
STEP unsigned chain_3(unsigned turn)
{
    volatile char *some = static_cast<char *>(__builtin_alloca(16 + turn % 1000));

    some[turn % 16] = 1;
    DONE(chain_4(turn, chain_5));
    return (unsigned)some[turn % 16];
}

/* Many saved registers. */
STEP unsigned chain_4(unsigned turn, unsigned (*next)(const char *, ...))
{
    unsigned a = turn * 3, b = turn * 5, c = turn * 7, d = turn * 11, e = turn * 13, f = turn * 17;

    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    DONE(next("six numbers", a, b, c, d, e, f));
    return a ^ b ^ c ^ d ^ e ^ f;
}

/* Variadic, and through the C library to the next. */
STEP unsigned chain_5(const char *what, ...)
{
    unsigned numbers[2] = {0, 0};
    va_list list;

    va_start(list, what);
    numbers[0] = va_arg(list, unsigned);
    numbers[1] = va_arg(list, unsigned);
    va_end(list);
    qsort(numbers, 2, sizeof numbers[0], chain_6);
    return numbers[0];
}

/* Through a signal frame to the next. */
STEP int chain_6(const void *a, const void *b)
{
    raise(SIGUSR1);
    return *static_cast<const unsigned *>(a) < *static_cast<const unsigned *>(b) ? -1 : 1;
}

STEP void chain_7(int sig)
{
    alignas(64) volatile char aligned[128];

    aligned[sig] = 1;
    DONE(chain_8((unsigned)aligned[sig]));
}

STEP static unsigned fail(unsigned turn)
{
    if (turn % 2 == 0)
        throw turn;
    return turn;
}

/* Leaves by an exception, and comes back. */
STEP unsigned chain_8(unsigned turn)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < 2; i++) {
        try {
            sum += fail(i);
        } catch (unsigned thrown) {
            sum += thrown;
        }
    }
    DONE(chain_9(turn, 0.5));
    return sum;
}

/* Saves floating-point registers too. */
STEP unsigned chain_9(unsigned turn, double x)
{
    register double kept __asm__("d8") = x;
    unsigned sum = 0;

    __asm__ volatile("" : "+w"(kept));
    for (unsigned i = 0; i < 30; i++)
        sum += chain_10(turn + i);
    __asm__ volatile("" : "+w"(kept));
    return sum + (unsigned)kept;
}

#ifdef __ARM_FEATURE_SVE
/* Its frame is a multiple of the vector's length: no rule of ours can say it. */
STEP unsigned chain_10(unsigned turn)
{
    svuint32_t kept = svdup_u32(turn);
    unsigned sum = chain_11(turn);

    return sum + svlastb_u32(svptrue_b32(), svadd_n_u32_x(svptrue_b32(), kept, sum));
}
#else
STEP unsigned chain_10(unsigned turn)
{
    unsigned sum = chain_11(turn);

    DONE(getppid());
    return sum;
}
#endif

/* A leaf: its return address stays in the link register. */
STEP unsigned chain_11(unsigned turn)
{
    for (unsigned i = 0; i < 300; i++) {
        turn = turn * 1664525u + 1013904223u;
        __asm__ volatile("" : "+r"(turn));
    }
    return turn;
}

STEP unsigned chain_1(unsigned turn)
{
    DONE(chain_2(turn));
    return turn;
}

/* --- what was sampled ------------------------------------------------------ */

static const void *const steps[STEPS] = {
    (const void *)chain_1, (const void *)chain_2,  (const void *)chain_3, (const void *)chain_4,
    (const void *)chain_5, (const void *)chain_6,  (const void *)chain_7, (const void *)chain_8,
    (const void *)chain_9, (const void *)chain_10, (const void *)chain_11};

/* Which step the code at pc belongs to, from 1; 0: none, and *ret_name says what it is. */
static unsigned step_of(uint64_t pc, const char **ret_name)
{
    const ElfW(Sym) *sym = nullptr;
    Dl_info info;

    *ret_name = "?";
    if (dladdr1((void *)(uintptr_t)pc, &info, (void **)&sym, RTLD_DL_SYMENT) == 0)
        return 0;
    *ret_name = info.dli_sname != nullptr ? info.dli_sname : info.dli_fname;
    for (unsigned i = 0; i < STEPS; i++)
        if (info.dli_saddr == steps[i] && sym != nullptr &&
            pc - (uint64_t)(uintptr_t)info.dli_saddr < sym->st_size)
            return i + 1;
    return 0;
}

/* NULL if the sample is what the program did, else what is wrong with it. */
static const char *sample_fault(const struct chain_sample *s, unsigned *ret_deepest)
{
    unsigned last = 0;
    const char *name;

    if (s->stop != CHAIN_ROOT)
        return "it does not reach the root";
    for (unsigned i = s->depth; i-- > 0;) {
        /* A return address may be the first one behind its function; the interrupted pc may be
         * the first of one. */
        unsigned step = step_of(i == 0 ? s->pcs[0] : s->pcs[i] - 1, &name);

        if (step == 0 && i > 0)
            step = step_of(s->pcs[i], &name) == last + 1 ? last + 1 : 0;
        if (step != 0 && step != last + 1)
            return "a step of the chain is missing, or is there twice";
        if (step != 0)
            last = step;
    }
    *ret_deepest = last;
    return nullptr;
}

/* libgcc takes a stack down by writing over the registers that its own function has saved, the
 * return address too: until it returns by them no call frame information is right there. */
static bool is_rewritten(const struct chain_sample *s)
{
    const char *name;

    for (unsigned i = 0; i < s->depth && i < 3; i++) {
        step_of(s->pcs[i], &name);
        if (strcmp(name, "_Unwind_RaiseException") == 0 || strcmp(name, "_Unwind_Resume") == 0)
            return true;
    }
    return false;
}

static void sample_print(const struct chain_sample *s, const char *fault)
{
    const char *name;

    printf("wrong: %s (stop %u):", fault, s->stop);
    for (unsigned i = 0; i < s->depth && i < 40; i++) {
        step_of(s->pcs[i] - (i > 0), &name);
        printf(" %lx %s", (unsigned long)s->pcs[i], name);
    }
    printf("\n");
}

static double seconds;
static bool plain;
static bool lazy;

static double clock_read(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* For `seconds` of CPU time, and on a slow machine until there are enough samples. */
static void *run(void *)
{
    double end = clock_read(CLOCK_THREAD_CPUTIME_ID) + seconds;
    double give_up = clock_read(CLOCK_MONOTONIC) + 30;
    unsigned turn = 0;
    unsigned count;

    if (!plain)
        chain_thread_begin();
    do {
        for (unsigned i = 0; i < 50; i++)
            chain_1(turn++);
        chain_samples(&count);
    } while (clock_read(CLOCK_THREAD_CPUTIME_ID) < end ||
             (!plain && count < SAMPLES_MIN && clock_read(CLOCK_MONOTONIC) < give_up));
    if (!plain)
        chain_thread_end();
    return nullptr;
}

int main(int argc, char **argv)
{
    struct sigaction action = {};
    unsigned deepest[STEPS + 1] = {};
    unsigned wrong = 0;
    unsigned rewritten = 0;
    unsigned count;
    pthread_t other;
    const struct chain_sample *samples;

    if (argc < 3 || (seconds = atof(argv[1])) <= 0)
        return 2;
    plain = argc > 3 && strcmp(argv[3], "plain") == 0;
    lazy = argc > 3 && strcmp(argv[3], "lazy") == 0;
    if (!plain && !chain_begin())
        return 2;
    action.sa_handler = chain_7;
    sigaction(SIGUSR1, &action, nullptr);
    pthread_create(&other, nullptr, run, nullptr);
    run(nullptr);
    pthread_join(other, nullptr);
    if (plain)
        return 0;
    samples = chain_samples(&count);
    for (unsigned i = 0; i < count; i++) {
        unsigned deep = 0;
        const char *fault = sample_fault(&samples[i], &deep);

        if (fault == nullptr)
            deepest[deep]++;
        else if (is_rewritten(&samples[i]))
            rewritten++;
        else if (wrong++ < 5)
            sample_print(&samples[i], fault);
    }
    printf("%s: %u samples, %u wrong, %u while an exception unwinds; at the leaf %u, at each step "
           "above it",
           argv[2], count, wrong, rewritten, deepest[STEPS]);
    for (unsigned i = 1; i < STEPS; i++)
        printf(" %u", deepest[i]);
    printf("\n");
    return wrong * 50 <= (lazy ? count : 0) && rewritten * 50 < count && count >= SAMPLES_MIN &&
                   (lazy || deepest[STEPS] > 0) /* lazy: the resolver takes it all */
               ? 0
               : 1;
}
