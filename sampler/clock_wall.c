/* clock_wall.c - the clock `wall`: what every thread is doing, whether it runs or waits.
 *
 * The helper thread ticks.  At a tick it looks at the threads, each at a
 * bounded cost, and a look that comes after n ticks has their weight:
 *
 *   its CPU time has not moved since it was found waiting    the same stack again, without a signal
 *   the kernel says that it waits where it did before        the same, if that was verified lately
 *   anything else                                            a signal, whose handler takes the
 * stack
 *
 * so that a thread that waits is interrupted once for each place where it waits,
 * and once in TRUSTED_LOOKS looks while it comes back to one; its call returns
 * EINTR where the kernel does not restart it (docs/clocks.md).  What the kernel
 * says is /proc/self/task/TID/syscall: the call, its first argument, sp and pc.
 *
 * A signal that finds the thread where the kernel said it waits makes a sample
 * that is parked; one that is taken LATE_NS after it was sent, a sample of a
 * thread that waited for a CPU meanwhile.  Only one signal is on its way to a
 * thread; ticks that come meanwhile go with it.
 *
 * The samples of a waiting thread that needed no signal are written once a
 * flush, with the time of the flush. */
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler/clock_parked.h"
#include "sampler/clock_row.h"
#include "sampler/memory.h"
#include "sampler/signal/handler.h"
#include "sampler/text.h"
#include "sampler/threads.h"
#include "sampler/writer_threads.h"

enum {
    SITES = 4, /* places where a thread waits that are told apart without a signal */
    NOWHERE = 0xff,
    TRUSTED_LOOKS = 100,
    LOOK_COST = 1, /* of the budget of a tick: a look at the CPU time */
    ASK_COST = 6,  /* ... and one at what the kernel says             */
    BUDGET = 64,
    BLOCKED_LOOKS = 20, /* a signal is on its way for so long: is it blocked? */
};

struct site {
    uint64_t sp;
    uint64_t pc;
    uint64_t call;   /* number and first argument, mixed */
    uint32_t stack;  /* of the bank; 0: not known yet   */
    uint32_t weight; /* not written yet                 */
    uint8_t looks;   /* since it was verified           */
    uint8_t turn;    /* differs from the place's before */
    bool known;      /* a record of it was made         */
};

struct watch {
    uint32_t id; /* of the thread */
    uint32_t sent;
    uint32_t waited; /* looks since the last signal was sent */
    uint8_t current; /* site where it was found waiting, cpu_ns then; or NOWHERE */
    uint8_t asked;   /* site of the last signal, until that is taken; or NOWHERE */
    uint64_t tick;   /* the last one that is accounted for */
    uint64_t cpu_ns;
    struct site sites[SITES];
};

static struct watch *watches; /* by slot; the helper's */
static _Atomic uint64_t ticks;
static uint64_t next_ns;
static uint32_t next_slot;

static bool probe(struct fb_clock_facts *facts)
{
    watches = fb_memory_map(FB_THREAD_SLOTS * sizeof *watches);
    facts->why = "no memory";
    if (watches == NULL)
        return false;
    facts->why = NULL;
    return true;
}

static bool arm(struct fb_task *t)
{
    atomic_store(&t->owed, 0);
    atomic_store(&t->taken, 0);
    t->first_tick_ns = atomic_load(&ticks); /* here a number of ticks */
    return true;
}

static void process_tune(void)
{
    next_ns = 0;
    fb_clock_wake();
}

static void fork_child(void)
{
    /* The parent writes what is its own. */
    madvise(watches, FB_THREAD_SLOTS * sizeof *watches, MADV_DONTNEED);
    atomic_store(&ticks, 0);
    next_ns = 0;
}

static bool hex_next(const char **at, uint64_t *ret_value)
{
    const char *s = *at;
    uint64_t v = 0;

    while (*s == ' ')
        s++;
    if (s[0] != '0' || s[1] != 'x')
        return false;
    for (s += 2;; s++) {
        if (*s >= '0' && *s <= '9')
            v = v << 4 | (uint64_t)(*s - '0');
        else if (*s >= 'a' && *s <= 'f')
            v = v << 4 | (uint64_t)(*s - 'a' + 10);
        else
            break;
    }
    *at = s;
    *ret_value = v;
    return true;
}

bool fb_clock_parked_parse(const char *text, struct fb_parked *ret_parked)
{
    const char *at;
    uint64_t call = fb_text_number(text, &at);
    uint64_t argument = 0;
    uint64_t value;
    unsigned values = 0;

    if (at == text)
        return false; /* "running", or "-1 sp pc" outside of a call */
    ret_parked->sp = ret_parked->pc = 0;
    while (hex_next(&at, &value)) {
        if (values++ == 0)
            argument = value;
        ret_parked->sp = ret_parked->pc;
        ret_parked->pc = value;
    }
    ret_parked->call = call * 0x9e3779b97f4a7c15u ^ argument;
    return values == 8;
}

/* What the kernel says: does the thread wait, and where? */
static bool ask(int32_t tid, struct fb_parked *ret_parked)
{
    char path[64];
    char text[256];
    struct fb_text t = {.data = path, .cap = sizeof path};

    fb_text_str(&t, "/proc/self/task/");
    fb_text_dec(&t, (uint64_t)tid);
    fb_text_str(&t, "/syscall");
    return fb_file_glance(path, text, sizeof text) > 0 && fb_clock_parked_parse(text, ret_parked);
}

/* The site of that place; a new one takes the place of one that has nothing to write. */
static uint8_t site_of(struct watch *w, const struct fb_parked *p)
{
    uint8_t least = NOWHERE;

    for (uint8_t i = 0; i < SITES; i++) {
        struct site *s = &w->sites[i];

        if (s->sp == p->sp && s->pc == p->pc && s->call == p->call)
            return i;
        if (s->weight == 0 && (least == NOWHERE || s->looks > w->sites[least].looks))
            least = i;
    }
    if (least != NOWHERE)
        w->sites[least] =
            (struct site){.sp = p->sp,
                          .pc = p->pc,
                          .call = p->call,
                          .turn = (uint8_t)((w->sites[least].turn + 1) % FB_HANDLER_TURNS)};
    return least;
}

static void send(struct fb_task *t, struct watch *w, uint32_t weight, uint8_t site)
{
    siginfo_t info;

    t->parked_sp = site != NOWHERE ? w->sites[site].sp : 0;
    t->parked_pc = site != NOWHERE ? w->sites[site].pc : 0;
    t->parked_site = site != NOWHERE ? (uint8_t)(site + SITES * w->sites[site].turn) : NOWHERE;
    atomic_store(&t->parked_found, NOWHERE);
    t->sent_ns = fb_clock_now();
    w->asked = site;
    w->current = NOWHERE;
    w->waited = 0;
    atomic_fetch_add(&t->owed, weight);
    memset(&info, 0, sizeof info);
    info.si_signo = SIGPROF;
    info.si_code = FB_HANDLER_CALL;
    info.si_value.sival_ptr = t;
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), t->tid, SIGPROF, &info) == 0)
        w->sent++;
    else
        atomic_store(&t->owed, 0); /* it has gone */
}

/* A signal is on its way. */
static void wait_for_it(struct fb_task *t, struct watch *w, uint32_t weight, uint64_t moved_ns)
{
    if (t->blocked)
        return;
    atomic_fetch_add(&t->owed, weight);
    if (++w->waited % BLOCKED_LOOKS != 0)
        return;
    if (fb_writer_blocks_signal(t->tid)) {
        t->blocked = true;
        atomic_store(&t->owed, 0);
        atomic_fetch_add(&fb_handler_losses[FB_LOSS_SIGNAL_BLOCKED], 1);
    } else if (moved_ns > 0) {
        w->sent = atomic_load(&t->taken); /* the host waited for signals and was not given it */
    }
}

/* The last signal is taken. */
static void answer_take(struct fb_task *t, struct watch *w)
{
    t->blocked = false;
    if (w->asked != NOWHERE && atomic_load(&t->parked_found) == t->parked_site) {
        w->sites[w->asked].known = true;
        w->sites[w->asked].looks = 0;
    }
    w->asked = NOWHERE;
}

/* Its thread has moved since the last look, or was never seen waiting. */
static void look_closer(struct fb_task *t, struct watch *w, uint32_t weight)
{
    struct fb_parked parked;
    struct site *s;
    uint8_t site;

    if (!ask(t->tid, &parked)) {
        send(t, w, weight, NOWHERE);
        return;
    }
    site = site_of(w, &parked);
    s = site != NOWHERE ? &w->sites[site] : NULL;
    if (s == NULL || !s->known || s->looks >= TRUSTED_LOOKS) {
        send(t, w, weight, site);
        return;
    }
    s->looks++;
    s->weight += weight;
    w->current = site;
}

/* Returns what it took of the budget. */
static unsigned look(struct fb_task *t, struct watch *w)
{
    uint64_t now = atomic_load(&ticks);
    uint32_t weight;
    uint64_t cpu_ns;
    uint64_t moved_ns;

    if (w->id != t->id) {
        memset(w, 0, sizeof *w);
        w->id = t->id;
        w->current = w->asked = NOWHERE;
        w->tick = t->first_tick_ns < now ? t->first_tick_ns : now;
        w->sent = atomic_load(&t->taken);
    }
    weight = (uint32_t)(now - w->tick) * atomic_load(&fb_clock_shared.scale);
    if (weight == 0 || !fb_clock_thread_cpu(t->tid, &cpu_ns))
        return LOOK_COST;
    w->tick = now;
    moved_ns = cpu_ns - w->cpu_ns;
    w->cpu_ns = cpu_ns;
    if (atomic_load(&t->taken) != w->sent) {
        wait_for_it(t, w, weight, moved_ns);
        return LOOK_COST;
    }
    answer_take(t, w);
    weight += atomic_exchange(&t->owed, 0);
    if (moved_ns == 0 && w->current != NOWHERE) {
        w->sites[w->current].weight += weight;
        return LOOK_COST;
    }
    w->current = NOWHERE;
    /* It has done hardly anything else than run: there is nothing to ask. */
    if (moved_ns >= weight * fb_clock_shared.interval_ns / 10 * 9) {
        send(t, w, weight, NOWHERE);
        return LOOK_COST * 2;
    }
    look_closer(t, w, weight);
    return ASK_COST;
}

static void threads_look(void)
{
    uint32_t end = fb_threads_end();
    unsigned budget = BUDGET;
    uint32_t i;

    for (i = 0; i < end && budget > 0; i++) {
        uint32_t slot = (next_slot + i) % end;
        struct fb_task *t = fb_threads_slot(slot);
        unsigned cost;

        if (atomic_load_explicit(&t->state, memory_order_acquire) != FB_THREAD_LIVE)
            continue;
        cost = look(t, &watches[slot]);
        budget -= cost < budget ? cost : budget;
    }
    if (end > 0)
        next_slot = (next_slot + i) % end;
}

static uint64_t helper_turn(bool quiet)
{
    uint64_t period_ns = fb_clock_period();
    uint64_t now = fb_clock_now();
    const struct fb_task nobody = {.tid = 0};
    uint64_t n;

    if (quiet || atomic_load(&fb_clock_shared.paused))
        return UINT64_MAX;
    if (next_ns == 0)
        next_ns = now + fb_clock_random(&nobody, period_ns);
    if (now < next_ns)
        return next_ns;
    n = 1 + (now - next_ns) / period_ns;
    next_ns += n * period_ns;
    atomic_fetch_add(&ticks, n);
    threads_look();
    return next_ns;
}

void fb_clock_parked_stack(uint32_t slot, uint32_t thread, unsigned site, uint32_t stack)
{
    struct site *s;

    if (watches == NULL || watches[slot].id != thread)
        return;
    s = &watches[slot].sites[site % SITES];
    if (s->turn == site / SITES)
        s->stack = stack;
}

/* A site whose record never became a sample is not known: the thread is asked for it anew. */
static void site_give(struct watch *w, struct site *s, fb_clock_parked_fn *each, void *ctx)
{
    uint32_t weight = s->weight;

    if (weight == 0)
        return;
    s->weight = 0; /* first: the callback may forget all */
    if (s->stack == 0) {
        s->known = false;
        w->current = NOWHERE;
    }
    each(ctx, w->id, s->stack, weight);
}

void fb_clock_parked_forget(fb_clock_parked_fn *each, void *ctx)
{
    for (uint32_t i = 0; watches != NULL && i < fb_threads_end(); i++)
        for (unsigned s = 0; s < SITES; s++) {
            watches[i].sites[s].stack = 0;
            site_give(&watches[i], &watches[i].sites[s], each, ctx);
            watches[i].sites[s] = (struct site){.sp = 0};
        }
}

void fb_clock_parked_each(fb_clock_parked_fn *each, void *ctx)
{
    uint32_t end = fb_threads_end();

    for (uint32_t i = 0; watches != NULL && i < end; i++)
        for (unsigned s = 0; s < SITES; s++)
            site_give(&watches[i], &watches[i].sites[s], each, ctx);
}

const struct fb_clock_row fb_clock_wall = {
    .name = "wall",
    .what = "time of every thread, whether it runs or waits",
    .thread_arm = arm,
    .process_tune = process_tune,
    .probe = probe,
    .fork_child = fork_child,
    .helper_turn = helper_turn,
};
