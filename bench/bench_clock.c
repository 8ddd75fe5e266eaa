/* bench_clock.c - is the clock right, and what does it cost?
 *
 * Weights: threads that spend a known CPU time, in one piece or in bursts of
 * 0.4 ms; Σ weights x interval must be within 3 % of it with cpu and perf.
 * Bias: work with a known 60/30/10 split in 0.4 ms rounds with sleeps between,
 * fixed or random.  CPU timers expire on the kernel's tick, so work that is
 * locked to the tick is misread; the true shares stand beside the measured ones.
 * Cost: the sampler's own handler and helper time, as the bank says it, of the
 * host's CPU time (start and end included, which 2 s do not spread thin).
 *
 * The program runs itself as the host: bench_clock work KIND SECONDS. */
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profile/profile.h"

enum { PHASES = 3, THREADS_MAX = 16 };

static const char bank_path[] = "/tmp/fb-bench-clock.fbank";

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the host ---- */

/* Each phase has a section, and so an address range, of its own. */
#define PHASE(name)                                                                                \
    extern char __start_phase_##name[], __stop_phase_##name[];                                     \
    __attribute__((noinline, section("phase_" #name))) static void run_##name(uint64_t ns)         \
    {                                                                                              \
        uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;                                     \
        uint64_t x = end | 1;                                                                      \
                                                                                                   \
        while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)                                            \
            for (int i = 0; i < 200; i++) {                                                        \
                x ^= x << 13;                                                                      \
                x ^= x >> 7;                                                                       \
                x ^= x << 17;                                                                      \
                __asm__ volatile("" : "+r"(x));                                                    \
            }                                                                                      \
    }

PHASE(a)
PHASE(b)
PHASE(c)

static uint64_t spent[PHASES];

static void timed(int phase, void (*run)(uint64_t ns), uint64_t ns)
{
    uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    run(ns);
    spent[phase] += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void rounds(const char *kind, double seconds)
{
    uint64_t end = (uint64_t)(seconds * 1e9);

    srand48(1);
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
        struct timespec nap = {0, 3400000};

        if (strcmp(kind, "random") == 0)
            nap.tv_nsec = (long)(850000 + drand48() * 5100000);
        if (strcmp(kind, "bursts") == 0)
            nap.tv_nsec = (long)(500000 + drand48() * 1000000);
        if (strcmp(kind, "busy") != 0)
            nanosleep(&nap, NULL);
        timed(0, run_a, 240000);
        timed(1, run_b, 120000);
        timed(2, run_c, 40000);
    }
}

static int print_range(struct dl_phdr_info *info, size_t size, void *unused)
{
    char *const at[PHASES][2] = {{__start_phase_a, __stop_phase_a},
                                 {__start_phase_b, __stop_phase_b},
                                 {__start_phase_c, __stop_phase_c}};

    (void)size;
    (void)unused;
    for (int i = 0; i < PHASES; i++)
        printf("%llu %llu %llu\n", (unsigned long long)((uintptr_t)at[i][0] - info->dlpi_addr),
               (unsigned long long)((uintptr_t)at[i][1] - info->dlpi_addr),
               (unsigned long long)spent[i]);
    return 1; /* the program itself comes first */
}

static _Atomic uint64_t threads_ns; /* CPU time of those that burnt */

static void *burn(void *seconds)
{
    run_a((uint64_t)(*(double *)seconds * 1e9));
    atomic_fetch_add(&threads_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
    return NULL;
}

/* Prints its ranges and times, then the CPU time of the process. */
static int host(const char *kind, double seconds)
{
    int threads = atoi(kind);
    pthread_t thread[THREADS_MAX];

    for (int i = 0; i < threads && i < THREADS_MAX; i++)
        pthread_create(&thread[i], NULL, burn, &seconds);
    for (int i = 0; i < threads && i < THREADS_MAX; i++)
        pthread_join(thread[i], NULL);
    if (threads == 0)
        rounds(kind, seconds);
    dl_iterate_phdr(print_range, NULL);
    printf("%llu %llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID),
           (unsigned long long)(threads_ns + clock_ns(CLOCK_THREAD_CPUTIME_ID)));
    return 0;
}

/* ---- the measurement ---- */

struct result {
    uint64_t low[PHASES], high[PHASES], spent[PHASES];
    uint64_t cpu_ns;
    uint64_t threads_ns; /* without the sampler's own thread */
};

static bool result_read(FILE *in, struct result *r)
{
    unsigned long long v[3];

    for (int i = 0; i < PHASES; i++) {
        if (fscanf(in, "%llu %llu %llu", &v[0], &v[1], &v[2]) != 3)
            return false;
        r->low[i] = v[0];
        r->high[i] = v[1];
        r->spent[i] = v[2];
    }
    if (fscanf(in, "%llu %llu", &v[0], &v[1]) != 2)
        return false;
    r->cpu_ns = v[0];
    r->threads_ns = v[1];
    return true;
}

/* Runs the host under the sampler. */
static bool run_host(const char *self, const char *kind, const char *seconds, const char *clock,
                     const char *hz, struct result *r)
{
    int ends[2];
    FILE *in;
    pid_t pid;
    bool ok;

    unlink(bank_path);
    if (pipe(ends) != 0 || (pid = fork()) < 0)
        return false;
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("LD_PRELOAD", FB_PRELOAD, 1);
        setenv("FLAMEBANK_OUT", bank_path, 1);
        setenv("FLAMEBANK_CLOCK", clock, 1);
        setenv("FLAMEBANK_HZ", hz, 1);
        execl(self, self, "work", kind, seconds, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    in = fdopen(ends[0], "r");
    ok = in != NULL && result_read(in, r);
    if (in != NULL)
        fclose(in);
    return waitpid(pid, NULL, 0) == pid && ok;
}

/* The phase whose range holds a frame of the stack, innermost first; PHASES if none does. */
static int phase_of(const struct fb_profile *p, uint32_t stack, const struct result *r)
{
    for (; stack != 0; stack = p->stacks[stack].parent.n) {
        uint64_t address = p->frames[p->stacks[stack].frame.n].address;

        for (int i = 0; i < PHASES; i++)
            if (address >= r->low[i] && address < r->high[i])
                return i;
    }
    return PHASES;
}

static double counter_last(const struct fb_profile *p, const char *name)
{
    const struct fb_counter *c = fb_profile_counter_find(p, name);

    return c != NULL && p->counters.rows > 0 ? (double)c->values[p->counters.rows - 1] : 0;
}

static struct fb_profile *bank_take(void)
{
    struct fb_bank_damage damage;
    struct fb_profile *p;
    struct fb_err err;

    if (fb_bank_read(bank_path, &p, &damage, &err) != FB_OK) {
        fprintf(stderr, "bench_clock: %s\n", err.text);
        exit(1);
    }
    unlink(bank_path);
    return p;
}

/* Σ weight x interval against the CPU time that the host says it spent; bursts too. */
static void weights(const char *self, const char *clock, const char *hz, const char *kind,
                    const char *seconds)
{
    struct result r;
    struct fb_profile *p;
    double ratio;

    if (!run_host(self, kind, seconds, clock, hz, &r))
        exit(1);
    p = bank_take();
    ratio = (double)fb_profile_weight(p) * (double)p->interval_ns / (double)r.threads_ns;
    printf("%-7s %5s Hz %-9s %6.3f%s", clock, hz, kind, ratio,
           ratio > 0.97 && ratio < 1.03 ? "\n" : "  over 3 % off\n");
    fb_profile_free(p);
}

static void bias(const char *self, const char *clock, const char *hz, const char *kind)
{
    static const char seconds[] = "1.5"; /* asleep nine tenths of the time: 15 s */
    uint64_t weight[PHASES + 1] = {0};
    struct result r;
    struct fb_profile *p;
    double sum = 0;
    double truth = 0;
    double own;

    if (!run_host(self, kind, seconds, clock, hz, &r))
        exit(1);
    p = bank_take();
    for (size_t i = 0; i < p->samples.count; i++) {
        weight[phase_of(p, p->samples.stack[i], &r)] += p->samples.weight[i];
        sum += (double)p->samples.weight[i];
    }
    for (int i = 0; i < PHASES; i++)
        truth += (double)r.spent[i];
    own = counter_last(p, "sampler.handler_ns") + counter_last(p, "sampler.writer_ns");
    printf("%-7s %5s Hz %-7s", clock, hz, kind);
    for (int i = 0; i < PHASES; i++)
        printf("  %4.1f/%4.1f", 100 * (double)r.spent[i] / truth,
               100 * (double)weight[i] / (sum - (double)weight[PHASES]));
    printf("   elsewhere %4.1f %%", 100 * (double)weight[PHASES] / sum);
    printf("   own %.2f %%, handler %.1f us\n", 100 * own / (double)r.cpu_ns,
           counter_last(p, "sampler.handler_ns") / counter_last(p, "sampler.handler_count") / 1e3);
    fb_profile_free(p);
}

int main(int argc, char **argv)
{
    static const char *const clocks[] = {"cpu", "itimer", "perf", "wall"};
    static const char *const rates[] = {"99", "250", "1000"};
    static const char *const kinds[] = {"fixed", "random", "busy"};

    if (argc == 4 && strcmp(argv[1], "work") == 0)
        return host(argv[2], atof(argv[3]));
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("weight x interval / CPU time of the threads (1 and 8 threads, bursts of 0.4 ms):");
    for (size_t c = 0; c < 3; c++)
        for (size_t h = 0; h < 3; h++) {
            weights(argv[0], clocks[c], rates[h], "1", "3");
            weights(argv[0], clocks[c], rates[h], "8", "0.75");
            weights(argv[0], clocks[c], rates[h], "bursts", "1");
        }
    puts("true/measured % of phase a, b, c:");
    for (size_t c = 0; c < 4; c++)
        for (size_t k = 0; k < 3; k++)
            bias(argv[0], clocks[c], "99", kinds[k]);
    return 0;
}
