/* helper.c - see helper.h. */
#include "sampler/helper.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampler/clock.h"
#include "sampler/real.h"
#include "sampler/threads.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum {
    STACK_BYTES = 256 << 10,
    UNSHARE = 2, /* CLOSE_RANGE_UNSHARE */
    PERIOD_NS = 1000000000,
};

static struct fb_writer writer;
static _Atomic uint32_t asked;   /* futex: grows with every question        */
static _Atomic uint32_t done;    /* futex: the last question that was served */
static _Atomic uint32_t reasons; /* 1 << enum fb_flush of what is asked    */
static _Atomic bool resumed;
static _Atomic bool running;

static void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &t, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static enum fb_flush strongest(uint32_t bits)
{
    for (unsigned why = FB_FLUSH_EXIT; why > FB_FLUSH_SECOND; why--)
        if (bits & 1u << why)
            return (enum fb_flush)why;
    return FB_FLUSH_SECOND;
}

/* Sleeps until next_ns or a question; returns the number of the last question. */
static uint32_t question_wait(uint32_t served, uint64_t next_ns)
{
    uint32_t question;

    while ((question = atomic_load(&asked)) == served) {
        uint64_t now = fb_clock_now();

        if (now >= next_ns)
            break;
        futex_wait(&asked, served, next_ns - now);
    }
    return question;
}

static void serve(uint32_t *served, uint64_t *next_ns)
{
    uint32_t question = question_wait(*served, *next_ns);
    uint32_t bits = atomic_exchange(&reasons, 0);

    if (atomic_exchange(&resumed, false))
        fb_writer_resume(&writer);
    if (bits != 0 || fb_clock_now() >= *next_ns)
        fb_writer_flush(&writer, strongest(bits));
    while (*next_ns <= fb_clock_now())
        *next_ns += PERIOD_NS;
    *served = question;
    atomic_store(&done, question);
    futex_wake(&done);
}

static void *helper_main(void *unused)
{
    uint32_t served = 0;
    uint64_t next_ns = fb_clock_now(); /* at once: modules first */

    prctl(PR_SET_NAME, "flamebank");
    /* Nothing of the host's stays open here: an end of its pipes in our table would keep the other
     * end waiting.  Where the kernel is too old the table stays shared, and sink.c looks before it
     * writes. */
    syscall(SYS_close_range, 0u, ~0u, (unsigned)UNSHARE);
    do
        serve(&served, &next_ns);
    while (fb_threads_live() > 0 || fb_threads_adopted() > 0);
    fb_writer_flush(&writer, FB_FLUSH_EXIT);
    atomic_store(&running, false);
    atomic_fetch_add(&done, 1);
    futex_wake(&done);
    return unused;
}

static bool thread_start(size_t stack_bytes)
{
    pthread_attr_t attr;
    pthread_t thread;
    int r;

    if (pthread_attr_init(&attr) != 0)
        return false;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (stack_bytes > 0)
        pthread_attr_setstacksize(&attr, stack_bytes);
    r = fb_real.pthread_create(&thread, &attr, helper_main, NULL);
    pthread_attr_destroy(&attr);
    return r == 0;
}

bool fb_helper_start(const struct fb_config *config, const struct fb_manifest *manifest,
                     uint64_t run_id)
{
    sigset_t all;
    sigset_t before;
    bool ok;

    if (!fb_writer_init(&writer, config, manifest, run_id))
        return false;
    atomic_store(&asked, 0);
    atomic_store(&done, 0);
    atomic_store(&reasons, 0);
    atomic_store(&resumed, false);
    atomic_store(&running, true);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    /* A host with much static thread-local data needs more than our size. */
    ok = thread_start(STACK_BYTES) || thread_start(0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    atomic_store(&running, ok);
    return ok;
}

bool fb_helper_ask(enum fb_flush why, unsigned timeout_ms)
{
    uint64_t end = fb_clock_now() + timeout_ms * UINT64_C(1000000);
    uint32_t question;
    uint32_t served;

    if (!atomic_load(&running))
        return false;
    atomic_fetch_or(&reasons, 1u << why);
    question = atomic_fetch_add(&asked, 1) + 1;
    futex_wake(&asked);
    while (served = atomic_load(&done), (int32_t)(served - question) < 0) {
        uint64_t now = fb_clock_now();

        if (now >= end || !atomic_load(&running))
            return false;
        futex_wait(&done, served, end - now);
    }
    return true;
}

void fb_helper_wake(void)
{
    atomic_fetch_add(&asked, 1);
    futex_wake(&asked);
}

void fb_helper_resume(void)
{
    atomic_store(&resumed, true);
}

uint64_t fb_helper_writer_id(void)
{
    return writer.sink.writer_id;
}
