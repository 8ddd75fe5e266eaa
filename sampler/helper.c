/* helper.c - see helper.h. */
#include "sampler/helper.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampler/clock.h"
#include "sampler/jvm/start.h"
#include "sampler/real.h"
#include "sampler/signal/code_map.h"
#include "sampler/signal/handler.h"
#include "sampler/signal/keep.h"
#include "sampler/threads.h"
#include "sampler/writer_threads.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Of <linux/futex.h>, which musl's compiler does not see. */
enum { WAIT_PRIVATE = 0 | 128, WAKE_PRIVATE = 1 | 128 };

enum {
    STACK_BYTES = 256 << 10,
    UNSHARE = 2, /* CLOSE_RANGE_UNSHARE */
    PERIOD_NS = 1000000000,
    SHORT_LIFE_NS = 20000000,
    SHORT_CPU_NS = 4000000,
    GONE_LOOKS = 1000,
};

static struct fb_writer writer;
static _Atomic uint32_t asked;   /* futex: grows with every question        */
static _Atomic uint32_t done;    /* futex: the last question that was served */
static _Atomic uint32_t reasons; /* 1 << enum fb_flush of what is asked    */
static _Atomic bool resumed;
static _Atomic bool running;
static _Atomic uint32_t ready;   /* futex: a new thread has its own table, or cannot */
static _Atomic uint32_t pausing; /* enum pause */
static int pause_socket[2];      /* [1]: where the helper sends the bank's descriptor */
static int kept_fd = -1;         /* the bank's descriptor for a new thread, in the host's table */
static bool own_table;
static pthread_t helper_thread;
static _Atomic int32_t helper_tid;
static uint64_t next_flush_ns; /* the helper's, from one thread to the next */
static uint64_t next_turn_ns;  /* of the clock */
static uint64_t start_ns;
static uint64_t start_cpu_ns; /* of the process: exec does not set it back */
static bool young;            /* may still be one of a script's thousand short children */

enum pause { PAUSE_NONE, PAUSE_ASKED, PAUSE_TAKEN };

/* Among the reasons, above those of enum fb_flush. */
enum { PAUSE_BIT = 1 << 8, QUIET_BIT = 1 << 9 };

static void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};

    syscall(SYS_futex, word, WAIT_PRIVATE, value, &t, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
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

/* Sends the bank's descriptor to the host's table, through a socket that is borrowed from there. */
static void descriptor_hand_over(void)
{
    char data = 0;
    char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(16))) = {0};
    struct iovec part = {&data, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    int to = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, pause_socket[1], 0);

    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &writer.sink.fd, sizeof(int));
    if (to >= 0)
        sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    /* The table ends with this thread. */
}

/* False: the host has given up waiting. */
static bool pause_take(void)
{
    uint32_t expected = PAUSE_ASKED;

    if (!atomic_compare_exchange_strong(&pausing, &expected, PAUSE_TAKEN))
        return false;
    if (own_table && writer.sink.fd >= 0)
        descriptor_hand_over();
    return true;
}

static uint64_t cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The first look at modules costs as much as a short process: it waits for a tick, or for CPU time
 * that promises one, or for a second of life. */
static bool too_short_yet(void)
{
    if (!young)
        return false;
    young = fb_clock_now() - start_ns < PERIOD_NS && cpu_now() - start_cpu_ns < SHORT_CPU_NS &&
            !atomic_load_explicit(&fb_handler_ticked, memory_order_relaxed);
    return young;
}

/* CPU time promised a tick that has not come, so there is no bank yet: what the process does until
 * the next second would have no first row of counters to be compared with. */
static bool first_row_waits(void)
{
    return writer.sink.fd < 0 && !writer.sink.refused && fb_clock_now() - start_ns < PERIOD_NS;
}

/* Walks wait: for rows, and in memory for few of them. */
static void bell_answer(void)
{
    fb_writer_tables_make(&writer);
    if (fb_keep_free_count() < FB_KEEP_FEW)
        fb_writer_flush(&writer, FB_FLUSH_SECOND);
}

/* When to wake up if nothing is asked. */
static uint64_t next_ns(void)
{
    uint64_t next = next_turn_ns < next_flush_ns ? next_turn_ns : next_flush_ns;
    uint64_t jvm = fb_jvm_next_ns();

    return jvm != 0 && jvm < next ? jvm : next;
}

/* Returns the bits of what was asked. */
static uint32_t serve(uint32_t *served)
{
    uint32_t question = question_wait(*served, next_ns());
    uint32_t bits = atomic_exchange(&reasons, 0);

    if (fb_clock_helper_wants())
        fb_writer_status_look(&writer);
    next_turn_ns = fb_clock_helper_turn(writer.quiet);
    if (atomic_exchange(&resumed, false))
        fb_writer_resume(&writer);
    if (bits != 0)
        fb_writer_flush(&writer, strongest(bits));
    else if (question != *served || fb_jvm_due(fb_clock_now()))
        bell_answer();
    if (bits & QUIET_BIT)
        writer.quiet = true;
    if (fb_clock_now() >= next_flush_ns && too_short_yet()) {
        next_flush_ns = fb_clock_now() + SHORT_LIFE_NS;
    } else if (fb_clock_now() >= next_flush_ns) {
        fb_writer_flush(&writer, FB_FLUSH_SECOND);
        while (next_flush_ns <= fb_clock_now())
            next_flush_ns += first_row_waits() ? SHORT_LIFE_NS : PERIOD_NS;
    }
    *served = question;
    if ((bits & PAUSE_BIT) == 0 || !pause_take())
        bits &= ~(uint32_t)PAUSE_BIT;
    atomic_store(&done, question);
    futex_wake(&done);
    return bits;
}

/* A table of our own with nothing of the host's in it (an end of its pipes would keep the other end
 * waiting) but the bank that a thread before us left.  Where the kernel is too old the table stays
 * shared, and sink.c looks before it writes. */
static void table_unshare(void)
{
    unsigned keep = kept_fd >= 0 ? (unsigned)kept_fd : 0;

    if (kept_fd > 0) {
        own_table = syscall(SYS_close_range, 0u, keep - 1, (unsigned)UNSHARE) == 0;
        if (own_table)
            syscall(SYS_close_range, keep + 1, ~0u, 0u);
    } else {
        own_table = syscall(SYS_close_range, 0u, ~0u, (unsigned)UNSHARE) == 0;
    }
    fb_writer_thread_begin(&writer, own_table);
    atomic_store(&ready, 1);
    futex_wake(&ready);
}

static void *helper_main(void *unused)
{
    uint32_t served = atomic_load(&done);

    atomic_store(&helper_tid, (int32_t)syscall(SYS_gettid));
    prctl(PR_SET_NAME, "flamebank");
    table_unshare();
    do {
        if (serve(&served) & PAUSE_BIT) {
            fb_counters_thread_end(&writer.counters);
            return unused;
        }
    } while (fb_threads_live() > 0 || fb_threads_adopted() > 0);
    fb_writer_flush(&writer, FB_FLUSH_EXIT);
    atomic_store(&running, false);
    atomic_fetch_add(&done, 1);
    futex_wake(&done);
    /* The status of a process is its last thread's. */
    if (writer.leader_status != 0)
        syscall(SYS_exit, writer.leader_status);
    return unused;
}

static bool thread_start(size_t stack_bytes)
{
    pthread_attr_t attr;
    int r;

    if (pthread_attr_init(&attr) != 0)
        return false;
    if (stack_bytes > 0)
        pthread_attr_setstacksize(&attr, stack_bytes);
    r = fb_real.pthread_create(&helper_thread, &attr, helper_main, NULL);
    pthread_attr_destroy(&attr);
    return r == 0;
}

/* With every signal blocked from its first instruction on. */
static bool thread_start_blocked(void)
{
    sigset_t all;
    sigset_t before;
    bool ok;

    atomic_store(&pausing, PAUSE_NONE);
    atomic_store(&ready, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    /* A host with much static thread-local data needs more than our size. */
    ok = thread_start(STACK_BYTES) || thread_start(0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    atomic_store(&running, ok);
    return ok;
}

bool fb_helper_start(const struct fb_config *config, const struct fb_manifest *manifest,
                     uint64_t run_id)
{
    if (!fb_writer_init(&writer, config, manifest, run_id))
        return false;
    atomic_store(&asked, 0);
    atomic_store(&done, 0);
    atomic_store(&reasons, 0);
    atomic_store(&resumed, false);
    atomic_store(&running, true);
    fb_code_map_bell_set(&asked);
    kept_fd = -1;
    /* Modules first: at once, but a process that is not the run's first may be a short one. */
    young = !config->root;
    start_ns = fb_clock_now();
    start_cpu_ns = cpu_now();
    next_flush_ns = start_ns + (young ? SHORT_LIFE_NS : 0);
    next_turn_ns = 0; /* at once */
    return thread_start_blocked();
}

static bool ask(uint32_t bits, unsigned timeout_ms)
{
    uint64_t end = fb_clock_now() + timeout_ms * UINT64_C(1000000);
    uint32_t question;
    uint32_t served;

    if (!atomic_load(&running))
        return false;
    atomic_fetch_or(&reasons, bits);
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

bool fb_helper_ask(enum fb_flush why, unsigned timeout_ms)
{
    return ask(1u << why, timeout_ms);
}

static int descriptor_receive(void)
{
    char data;
    char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(16)));
    struct iovec part = {&data, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    int fd = -1;

    if (recvmsg(pause_socket[0], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) == 1 &&
        CMSG_FIRSTHDR(&message) != NULL)
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

/* A thread that can be joined is still one of the kernel's for some microseconds, in which
 * unshare() finds that the process has two. */
static void thread_gone_wait(void)
{
    const struct timespec little = {0, 20000};

    pthread_join(helper_thread, NULL);
    for (int i = 0; i < GONE_LOOKS && syscall(SYS_tgkill, getpid(), helper_tid, 0) == 0; i++)
        nanosleep(&little, NULL);
}

static bool end_thread(enum fb_flush why, unsigned timeout_ms)
{
    uint32_t expected = PAUSE_NONE;

    if (!atomic_load(&running) || !atomic_compare_exchange_strong(&pausing, &expected, PAUSE_ASKED))
        return false;
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pause_socket) != 0)
        pause_socket[0] = pause_socket[1] = -1;
    expected = PAUSE_ASKED;
    if (!ask(PAUSE_BIT | 1u << why, timeout_ms) &&
        atomic_compare_exchange_strong(&pausing, &expected, PAUSE_NONE)) {
        close(pause_socket[0]);
        close(pause_socket[1]);
        return false;
    }
    thread_gone_wait();
    kept_fd = own_table ? descriptor_receive() : -1;
    if (own_table)
        writer.sink.fd = kept_fd;
    close(pause_socket[0]);
    close(pause_socket[1]);
    return true;
}

bool fb_helper_pause(unsigned timeout_ms)
{
    return end_thread(FB_FLUSH_OPEN, timeout_ms);
}

void fb_helper_unpause(void)
{
    uint64_t end = fb_clock_now() + PERIOD_NS / 5;

    if (thread_start_blocked())
        while (atomic_load(&ready) == 0 && fb_clock_now() < end)
            futex_wait(&ready, 0, PERIOD_NS / 5);
    if (kept_fd >= 0 && (own_table || !atomic_load(&running)))
        close(kept_fd);
    kept_fd = -1;
}

void fb_helper_quiet(unsigned timeout_ms)
{
    ask(1u << FB_FLUSH_OPEN, timeout_ms);
    ask(QUIET_BIT, timeout_ms);
}

void fb_helper_stop(unsigned timeout_ms)
{
    if (!end_thread(FB_FLUSH_EXIT, timeout_ms))
        return;
    atomic_store(&running, false);
    if (writer.sink.fd >= 0)
        close(writer.sink.fd);
    writer.sink.fd = kept_fd = -1;
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

bool fb_helper_has_bank(void)
{
    return writer.sink.fd >= 0;
}

uint64_t fb_helper_writer_id(void)
{
    return writer.sink.writer_id;
}
