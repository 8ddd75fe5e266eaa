/* test_guard.c - reads of memory that is not there, beside a host with faults of its own.
 *
 * The process-wide side (what sigaction() tells, ends, exec) is tested in real processes:
 * tests/e2e/sampler/faults.sh. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/fault.h"
#include "sampler/real.h"
#include "sampler/signal/cpu.h"
#include "sampler/signal/guard.h"

enum { PAGE = 4096, WORKERS = 3, WORDS = 64, ROUNDS = 1500 };

/* cmocka puts handlers of its own there for every test. */
static struct sigaction fronts[2];

static void front_set(void)
{
    fb_real.sigaction(SIGSEGV, &fronts[0], NULL);
    fb_real.sigaction(SIGBUS, &fronts[1], NULL);
}

/* --- one word ---------------------------------------------------------------- */

static void *page_with(int protection)
{
    void *page = mmap(NULL, PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(page, MAP_FAILED);
    return page;
}

static uint64_t address_of(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

static void *page_past_the_end(void)
{
    char name[] = "/tmp/fb-guard-XXXXXX";
    int fd = mkstemp(name);
    void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

    unlink(name);
    close(fd);
    assert_ptr_not_equal(page, MAP_FAILED);
    return page;
}

static void words_that_are_there_are_read(void **ctx)
{
    unsigned char bytes[24];
    uint64_t word = 0;
    uint64_t expected;

    (void)ctx;
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + 1);
    for (unsigned i = 0; i < 16; i++) {
        memcpy(&expected, bytes + i, 8);
        assert_true(fb_guard_word(address_of(bytes + i), &word));
        assert_true(word == expected);
    }
    assert_true(fb_guard_page(address_of(bytes)));
}

static void words_that_are_not_there_are_said_to_be(void **ctx)
{
    char *gone = page_with(PROT_READ);
    char *forbidden = page_with(PROT_NONE);
    char *past = page_past_the_end();
    const uint64_t places[] = {0,
                               8,
                               address_of(gone) + 80,
                               address_of(forbidden) + 80,
                               address_of(past) + 80, /* SIGBUS */
                               UINT64_C(0x5a5a5a5a5a5a5a58),
                               UINT64_C(0xfffffffffffffff8)};
    uint64_t before = atomic_load(&fb_guard_faults);
    uint64_t word = 77;
    unsigned count = sizeof places / sizeof places[0];

    (void)ctx;
    front_set();
    munmap(gone, PAGE);
    for (unsigned i = 0; i < count; i++) {
        errno = 88;
        assert_false(fb_guard_word(places[i], &word));
        assert_int_equal(errno, 88);
        assert_int_equal(word, 77);
        assert_false(fb_guard_page(places[i]));
        assert_int_equal(errno, 88);
    }
    assert_int_equal(atomic_load(&fb_guard_faults) - before, count);
    munmap(forbidden, PAGE);
    munmap(past, PAGE);
}

/* A fault that begins on a page that is there and ends on one that is not. */
static void a_word_across_the_end_of_memory_is_not_there(void **ctx)
{
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t word;

    (void)ctx;
    front_set();
    munmap(pages + PAGE, PAGE);
    assert_true(fb_guard_word(address_of(pages) + PAGE - 8, &word));
    assert_false(fb_guard_word(address_of(pages) + PAGE - 7, &word));
    munmap(pages, PAGE);
}

static void signals_must_interrupt(void)
{
#if defined(__SANITIZE_THREAD__)
    skip(); /* it delivers them later, with all signals blocked */
#endif
}

/* --- where it may be used ----------------------------------------------------- */

static volatile sig_atomic_t usable = -1;

static void ask(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)info;
    usable = fb_guard_usable(context);
}

static int usable_now(void)
{
    usable = -1;
    raise(SIGUSR1);
    return usable;
}

static void ask_by(int flags)
{
    struct sigaction action = {.sa_sigaction = ask, .sa_flags = SA_SIGINFO | flags};

    fb_real.sigaction(SIGUSR1, &action, NULL);
}

static void mask_only(int how, int signo, sigset_t *ret_before)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, signo);
    pthread_sigmask(how, &set, ret_before);
}

static void it_is_not_used_where_a_fault_would_kill(void **ctx)
{
    static const int deadly[] = {SIGSEGV, SIGBUS};
    sigset_t before;
    sigset_t during;

    (void)ctx;
    signals_must_interrupt();
    ask_by(0);
    assert_int_equal(usable_now(), 1);
    for (int i = 0; i < 2; i++) {
        mask_only(SIG_BLOCK, deadly[i], &before);
        assert_int_equal(usable_now(), 0);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        assert_int_equal(usable_now(), 1);
    }
    /* sigsuspend() has a mask in force that the signal's context does not show. */
    mask_only(SIG_BLOCK, SIGUSR1, &before);
    raise(SIGUSR1);
    sigfillset(&during);
    sigdelset(&during, SIGUSR1);
    usable = -1;
    sigsuspend(&during);
    assert_int_equal(usable, 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    fb_guard_set(false);
    assert_int_equal(usable_now(), 0);
    fb_guard_set(true);
}

static void it_is_not_used_beside_an_alternate_stack_that_may_be_in_use(void **ctx)
{
    static char memory[128 << 10];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    stack_t before;

    (void)ctx;
    signals_must_interrupt();
    assert_int_equal(sigaltstack(&stack, &before), 0);
    ask_by(0);
    assert_int_equal(usable_now(), 1);
    fb_guard_alternate_set(true);
    assert_int_equal(usable_now(), 0); /* a fault's frame would go to the alternate stack */
    ask_by(SA_ONSTACK);
    assert_int_equal(usable_now(), 1); /* we are on it, with room below */
    stack.ss_size = 14 << 10;
    assert_int_equal(sigaltstack(&stack, NULL), 0);
    assert_int_equal(usable_now(), 0); /* with little */
    fb_guard_alternate_set(false);
    assert_int_equal(sigaltstack(&before, NULL), 0);
}

/* --- injected faults under signals -------------------------------------------- */

struct worker {
    pthread_t thread;
    _Atomic pid_t tid;
    _Atomic uint64_t ticks;
    _Atomic uint64_t reads;
    _Atomic uint64_t failed;
    _Atomic uint64_t unusable;
    uint64_t own_faults;
};

static struct worker workers[WORKERS];
static _Atomic bool over;
static _Atomic uint64_t host_faults;
static _Thread_local sigjmp_buf way_out;

static void on_tick(int signo, siginfo_t *info, void *context)
{
    struct worker *w = info->si_value.sival_ptr;
    uint64_t from = fb_cpu_sp(&((ucontext_t *)context)->uc_mcontext) & ~UINT64_C(7);
    uint64_t word;

    (void)signo;
    if (info->si_code != SI_QUEUE)
        return;
    atomic_fetch_add(&w->ticks, 1);
    if (!fb_guard_usable(context)) {
        atomic_fetch_add(&w->unusable, 1);
        return;
    }
    for (unsigned i = 0; i < WORDS; i++) {
        atomic_fetch_add(&w->reads, 1);
        if (!fb_guard_word(from + 8 * i, &word))
            atomic_fetch_add(&w->failed, 1);
    }
}

/* The host's own handler, as it set it by sigaction(). */
static void on_host_fault(int signo)
{
    (void)signo;
    atomic_fetch_add(&host_faults, 1);
    siglongjmp(way_out, 1);
}

/* Busy in the heap, and with faults of its own. */
static void *work(void *arg)
{
    volatile int *volatile nowhere = (volatile int *)16;
    struct worker *w = arg;
    volatile char room[8 * WORDS + 1024];

    room[0] = room[sizeof room - 1] = 1;
    atomic_store(&w->tid, (pid_t)syscall(SYS_gettid));
    while (!atomic_load(&over)) {
        for (int i = 0; i < 20; i++)
            free(malloc((size_t)i * 100 + 1));
        if (sigsetjmp(way_out, 1) == 0)
            *nowhere = room[0];
        w->own_faults++;
    }
    return NULL;
}

static void signal_send(struct worker *w)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    info.si_value.sival_ptr = w;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), atomic_load(&w->tid), SIGPROF, &info);
}

static void storm(uint32_t every)
{
    const struct timespec pause = {.tv_nsec = 50000};
    sigset_t before;

    memset(workers, 0, sizeof workers);
    atomic_store(&over, false);
    atomic_store(&host_faults, 0);
    atomic_store(&fb_guard_injected, 0);
    atomic_store(&fb_guard_faults, 0);
    atomic_store(&fb_guard_inject_every, every);
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        while (atomic_load(&workers[i].tid) == 0)
            nanosleep(&pause, NULL);
    }
    mask_only(SIG_BLOCK, SIGPROF, &before);
    for (int round = 0; round < ROUNDS; round++) {
        signal_send(&workers[round % WORKERS]);
        nanosleep(&pause, NULL);
    }
    atomic_store(&over, true);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    atomic_store(&fb_guard_inject_every, 0);
}

static void injected_faults_are_recovered_and_counted_under_signals(void **ctx)
{
    static const uint32_t rates[] = {10, 100, 1000};
    struct sigaction tick = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction mine = {.sa_handler = on_host_fault};
    struct sigaction before;

    (void)ctx;
    signals_must_interrupt();
    front_set();
    fb_real.sigaction(SIGPROF, &tick, NULL);
    assert_int_equal(fb_fault_action(SIGSEGV, &mine, &before, fb_real.sigaction), 0);
    for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct worker sum = {0};

        storm(rates[i]);
        for (int k = 0; k < WORKERS; k++) {
            sum.ticks += workers[k].ticks;
            sum.reads += workers[k].reads;
            sum.failed += workers[k].failed;
            sum.unusable += workers[k].unusable;
            sum.own_faults += workers[k].own_faults;
        }
        print_message("1 of %u: %zu ticks (%zu in the host's handler), %zu reads, %zu faults, "
                      "%zu of the host's own\n",
                      rates[i], (size_t)sum.ticks, (size_t)sum.unusable, (size_t)sum.reads,
                      (size_t)sum.failed, (size_t)sum.own_faults);
        assert_true(sum.ticks > ROUNDS / 10);
        assert_int_equal(sum.reads, (sum.ticks - sum.unusable) * WORDS);
        assert_int_equal(sum.failed, atomic_load(&fb_guard_injected));
        assert_int_equal(sum.failed, atomic_load(&fb_guard_faults));
        assert_true(sum.failed >= sum.reads / rates[i]);
        assert_true(sum.failed <= sum.reads / rates[i] + 1);
        assert_int_equal(sum.own_faults, atomic_load(&host_faults));
        assert_true(sum.own_faults > 0);
    }
    assert_int_equal(fb_fault_action(SIGSEGV, &before, NULL, fb_real.sigaction), 0);
}

/* --- what is found out later -------------------------------------------------- */

static void a_handler_set_past_us_ends_the_use_of_the_guard(void **ctx)
{
    struct sigaction mine = {.sa_handler = on_host_fault};

    (void)ctx;
    front_set();
    assert_true(fb_fault_watch());
    assert_int_equal(fb_real.sigaction(SIGBUS, &mine, NULL), 0);
    assert_false(fb_fault_watch());
    assert_false(fb_guard_stands());
    assert_true(fb_fault_watch()); /* said once */
}

static int group_set_up(void **ctx)
{
    (void)ctx;
    fb_real_find();
    fb_fault_start();
    if (!fb_fault_need() || !fb_fault_need())
        return 1;
    fb_real.sigaction(SIGSEGV, NULL, &fronts[0]);
    return fb_real.sigaction(SIGBUS, NULL, &fronts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_are_there_are_read),
        cmocka_unit_test(words_that_are_not_there_are_said_to_be),
        cmocka_unit_test(a_word_across_the_end_of_memory_is_not_there),
        cmocka_unit_test(it_is_not_used_where_a_fault_would_kill),
        cmocka_unit_test(it_is_not_used_beside_an_alternate_stack_that_may_be_in_use),
        cmocka_unit_test(injected_faults_are_recovered_and_counted_under_signals),
        cmocka_unit_test(a_handler_set_past_us_ends_the_use_of_the_guard),
    };

    return cmocka_run_group_tests(tests, group_set_up, NULL);
}
