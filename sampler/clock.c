/* clock.c - the table of clocks, and what they share.  See clock.h. */
#include "sampler/clock.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "sampler/clock_row.h"
#include "sampler/say.h"
#include "sampler/signal/handler.h"
#include "sampler/text.h"
#include "sampler/threads.h"

/* By enum fb_clock. */
static const struct fb_clock_row *const rows[FB_CLOCK_COUNT] = {
    [FB_CLOCK_CPU] = &fb_clock_cpu,
    [FB_CLOCK_ITIMER] = &fb_clock_itimer,
    [FB_CLOCK_PERF] = &fb_clock_perf,
    [FB_CLOCK_WALL] = &fb_clock_wall,
};

enum { STOP_LOOKS = 1000 };

struct fb_clock_shared fb_clock_shared;

static const struct fb_clock_row *row = &fb_clock_cpu; /* until init */
static struct fb_clock_facts facts;
static void (*helper_wake)(void);
static _Atomic bool in_turn;
static _Atomic uint32_t version;                    /* of what tune() goes by        */
static _Atomic int64_t timers_left = INT64_MAX / 2; /* before a quarter only is free */

static void say_once(const struct fb_config *config, const char *lack, const char *why,
                     const char *instead)
{
    char line[256];
    struct fb_text t = {.data = line, .cap = sizeof line};

    if (!config->root || why == NULL || strcmp(why, "yes") == 0)
        return;
    fb_text_str(&t, "the clock '");
    fb_text_str(&t, rows[config->clock]->name);
    fb_text_str(&t, lack);
    fb_text_str(&t, why);
    fb_text_str(&t, instead);
    fb_say_plain(line);
}

void fb_clock_init(const struct fb_config *config, void (*wake)(void))
{
    helper_wake = wake;
    facts = (struct fb_clock_facts){.got = config->clock};
    fb_clock_shared.interval_ns = config->interval_ns;
    atomic_store(&fb_clock_shared.scale, 1);
    atomic_store(&fb_handler_scale, 1);
    row = rows[config->clock];
    if (row->probe != NULL && !row->probe(&facts)) {
        facts.got = FB_CLOCK_CPU;
        facts.kernel = NULL;
        row = rows[FB_CLOCK_CPU];
    }
    say_once(config, "' is not to be had (", facts.why, "); 'cpu' is used");
    say_once(config, "' shows no frames of the kernel (", facts.kernel, ")");
}

const struct fb_clock_facts *fb_clock_facts(void)
{
    return &facts;
}

uint32_t fb_clock_fallbacks(void)
{
    return atomic_load(&fb_clock_shared.fallbacks);
}

void fb_clock_wake(void)
{
    if (helper_wake != NULL)
        helper_wake();
}

const char *fb_clock_name(enum fb_clock clock)
{
    return rows[clock]->name;
}

bool fb_clock_find(const char *name, enum fb_clock *ret_clock)
{
    for (unsigned i = 0; i < FB_CLOCK_COUNT; i++)
        if (strcmp(rows[i]->name, name) == 0) {
            *ret_clock = (enum fb_clock)i;
            return true;
        }
    return false;
}

uint64_t fb_clock_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool fb_clock_thread_cpu(int32_t tid, uint64_t *ret_ns)
{
    struct timespec t;

    if (clock_gettime(fb_clock_id(tid), &t) != 0)
        return false;
    *ret_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return true;
}

uint64_t fb_clock_period(void)
{
    return fb_clock_shared.interval_ns * atomic_load(&fb_clock_shared.scale);
}

/* splitmix64 of what differs between threads and starts. */
uint64_t fb_clock_random(const struct fb_task *t, uint64_t limit_ns)
{
    uint64_t x = fb_clock_now() ^ (uint64_t)t->tid << 40 ^ (uint64_t)t->id << 20;

    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return 1 + (x ^ x >> 31) % limit_ns;
}

void fb_clock_due_from_now(struct fb_task *t, uint64_t first_ns)
{
    uint64_t cpu_ns = 0;

    fb_clock_thread_cpu(t->tid, &cpu_ns);
    t->due_before = atomic_load(&t->weight) + atomic_load(&t->kept);
    t->first_tick_ns = cpu_ns + first_ns;
}

bool fb_clock_timer_take(void)
{
    if (atomic_fetch_sub(&timers_left, 1) > 0)
        return true;
    atomic_fetch_add(&timers_left, 1);
    return false;
}

void fb_clock_timer_give(void)
{
    atomic_fetch_add(&timers_left, 1);
}

/* Brings the thread's clock up to date.  The thread at its start and the helper at a change may
 * meet here: one of them does it, and sees what the other wanted. */
static void tune(struct fb_task *t)
{
    uint32_t now;

    while (row->thread_tune != NULL && (now = atomic_load(&version)) != atomic_load(&t->tuned) &&
           !atomic_exchange(&t->tuning, true)) {
        row->thread_tune(t);
        atomic_store(&t->tuned, now);
        atomic_store(&t->tuning, false);
    }
}

bool fb_clock_thread_arm(struct fb_task *t)
{
    t->timer = -1;
    t->running = false;
    if (row->thread_arm == NULL)
        return true;
    if (!row->thread_arm(t)) {
        atomic_fetch_add(&fb_handler_losses[FB_LOSS_NO_TIMER], 1);
        return false;
    }
    atomic_store(&t->tuned, atomic_load(&version) - 1);
    tune(t);
    return true;
}

void fb_clock_thread_disarm(struct fb_task *t)
{
    if (row->thread_disarm != NULL)
        row->thread_disarm(t);
}

uint32_t fb_clock_thread_missed(const struct fb_task *t)
{
    uint64_t received = atomic_load(&t->weight) + atomic_load(&t->kept) - t->due_before;
    uint32_t scale = row->weighs_cpu ? 1 : atomic_load(&fb_clock_shared.scale);
    uint64_t due;

    if (!t->running || t->cpu_ns < t->first_tick_ns)
        return 0;
    due = 1 + (t->cpu_ns - t->first_tick_ns) / (fb_clock_shared.interval_ns * scale);
    due *= scale;
    if (due <= received)
        return 0;
    return due - received < UINT32_MAX ? (uint32_t)(due - received) : UINT32_MAX;
}

bool fb_clock_misses_the_kernel(void)
{
    return facts.kernel != NULL && !facts.kernel_seen;
}

static void process_tune(void)
{
    if (row->process_tune != NULL)
        row->process_tune();
}

void fb_clock_process_start(void)
{
    atomic_store(&fb_clock_shared.process_on, true);
    process_tune();
    if (fb_clock_helper_wants())
        fb_clock_wake();
}

void fb_clock_process_stop(void)
{
    const struct timespec little = {0, 50000};

    atomic_store(&fb_clock_shared.process_on, false);
    /* A signal that the helper sends now would meet the next program. */
    for (int i = 0; i < STOP_LOOKS && atomic_load(&in_turn); i++)
        nanosleep(&little, NULL);
    process_tune();
}

void fb_clock_fork_child(void)
{
    atomic_store(&in_turn, false);
    atomic_store(&fb_clock_shared.wanted, 0);
    atomic_store(&fb_clock_shared.fallbacks, 0);
    if (row->fork_child != NULL)
        row->fork_child();
}

uint64_t fb_clock_helper_turn(bool quiet)
{
    uint64_t next_ns = UINT64_MAX;

    if (row->helper_turn == NULL)
        return next_ns;
    atomic_store(&in_turn, true);
    if (atomic_load(&fb_clock_shared.process_on))
        next_ns = row->helper_turn(quiet);
    atomic_store(&in_turn, false);
    return next_ns;
}

bool fb_clock_helper_wants(void)
{
    return atomic_load(&fb_clock_shared.wanted) > 0;
}

static void all_tune(void)
{
    uint32_t end = fb_threads_end();

    atomic_fetch_add(&version, 1);
    process_tune();
    if (row->thread_tune == NULL)
        return;
    for (uint32_t i = 0; i < end; i++)
        if (atomic_load(&fb_threads_slot(i)->state) == FB_THREAD_LIVE)
            tune(fb_threads_slot(i));
}

void fb_clock_pause(void)
{
    if (!atomic_exchange(&fb_clock_shared.paused, true))
        all_tune();
}

void fb_clock_resume(void)
{
    if (atomic_exchange(&fb_clock_shared.paused, false))
        all_tune();
}

bool fb_clock_is_paused(void)
{
    return atomic_load(&fb_clock_shared.paused);
}

void fb_clock_rate_set(uint64_t interval_ns)
{
    uint64_t scale = (interval_ns + fb_clock_shared.interval_ns / 2) / fb_clock_shared.interval_ns;

    if (scale < 1)
        scale = 1;
    if (scale > FB_CLOCK_SCALE_MAX)
        scale = FB_CLOCK_SCALE_MAX;
    if (atomic_exchange(&fb_clock_shared.scale, (uint32_t)scale) == scale)
        return;
    atomic_store(&fb_handler_scale, (uint32_t)scale);
    all_tune();
}

uint64_t fb_clock_interval(void)
{
    return fb_clock_period();
}

void fb_clock_pending_set(uint64_t used, uint64_t limit)
{
    uint64_t allowed = limit - limit / 4;

    if (limit > INT64_MAX || used > INT64_MAX)
        return;
    atomic_store(&timers_left, (int64_t)allowed - (int64_t)used);
}
