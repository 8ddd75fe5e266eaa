/* writer_threads.c - see writer_threads.h. */
#include "sampler/writer_threads.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampler/clock.h"
#include "sampler/jvm/threads.h"
#include "sampler/signal/handler.h"
#include "sampler/text.h"
#include "sampler/threads.h"
#include "sampler/unfinished.h"

enum {
    NAME_AGE_NS = 900000000, /* a flush each second finds it old */
    LOOK_NS = 40000,         /* CPU time a flush for looks at threads */
    LOOKS_AT_ONCE = 16,
};

/* /proc/self/task/<tid>/<file> */
static ssize_t task_read(int32_t tid, const char *file, char *buffer, size_t cap)
{
    char path[64];
    struct fb_text t = {.data = path, .cap = sizeof path};

    fb_text_str(&t, "/proc/self/task/");
    fb_text_dec(&t, (uint64_t)tid);
    fb_text_str(&t, "/");
    fb_text_str(&t, file);
    return fb_file_glance(path, buffer, cap);
}

bool fb_writer_blocks_signal(int32_t tid)
{
    char text[4096];
    const char *at;
    uint64_t mask = 0;

    if (task_read(tid, "status", text, sizeof text) < 0)
        return false;
    at = strstr(text, "\nSigBlk:\t");
    if (at == NULL)
        return false;
    for (at += 9; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'); at++)
        mask = mask << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
    return (mask >> (SIGPROF - 1) & 1) != 0;
}

/* It used CPU for several ticks and no signal came: is the signal blocked?  Once a thread.  Not at
 * the end, where we block it ourselves (preload.c). */
static void silence_look(const struct fb_writer *w, struct fb_task *t)
{
    uint64_t count = atomic_load(&t->handler_count);

    if (count != t->checked_count) {
        t->checked_count = count;
        t->checked_cpu_ns = t->cpu_ns;
        return;
    }
    if (t->blocked || !t->running || t->cpu_ns - t->checked_cpu_ns < 4 * w->config->interval_ns)
        return;
    t->checked_cpu_ns = t->cpu_ns;
    if (!fb_writer_blocks_signal(t->tid))
        return;
    t->blocked = true;
    atomic_fetch_add(&fb_handler_losses[FB_LOSS_SIGNAL_BLOCKED], 1);
}

static void stack_look(struct fb_task *t)
{
    uintptr_t hint = atomic_load(&t->stack_hint);
    struct fb_map map;

    if (t->stack.top != 0 || hint == 0)
        return;
    atomic_store(&t->stack_hint, 0);
    if (!fb_maps_find(hint, &map))
        return;
    fb_task_stack_set(t, (uintptr_t)map.start, (uintptr_t)map.end);
}

static void thread_look(struct fb_writer *w, struct fb_task *t, bool last)
{
    uint64_t cpu_ns;

    if (!fb_clock_thread_cpu(t->tid, &cpu_ns)) {
        if (t->adopted)
            fb_thread_bury(t);
        return;
    }
    t->cpu_ns = cpu_ns;
    if (!last)
        silence_look(w, t);
    stack_look(t);
}

/* The number behind a name of /proc/<pid>/status. */
static bool status_number(const char *text, const char *name, const char **ret_after,
                          uint64_t *ret_value)
{
    const char *at = strstr(text, name);

    if (at == NULL)
        return false;
    *ret_value = fb_text_number(at + strlen(name), ret_after);
    return true;
}

/* "SigQ:\t12/96365": signals queued by the user's processes, timers included, and their limit. */
void fb_writer_status_look(struct fb_writer *w)
{
    char text[4096];
    const char *after;
    ssize_t n;
    uint64_t value;

    if (w->quiet)
        return;
    if (w->status_fd >= 0) {
        n = pread(w->status_fd, text, sizeof text - 1, 0);
        text[n > 0 ? n : 0] = '\0';
    } else if (fb_file_read("/proc/self/status", text, sizeof text) < 0) {
        return;
    }
    if (status_number(text, "\nSeccomp:\t", &after, &value)) {
        w->quiet = w->sandbox >= 0 && w->sandbox != (int)value;
        w->sandbox = (int)value;
    }
    if (status_number(text, "\nSigQ:\t", &after, &value) && *after == '/')
        fb_clock_pending_set(value, fb_text_number(after + 1, &after));
}

/* The exit status of a zombie: the 52nd field, state (at `state`) being the 3rd. */
static int status_of_zombie(const char *state)
{
    const char *after;

    for (int i = 3; i < 52 && state != NULL; i++) {
        state = strchr(state, ' ');
        state += state != NULL;
    }
    return state == NULL ? 0 : (int)(fb_text_number(state, &after) >> 8 & 0xff);
}

/* The last thread left by a way that no wrapper sees: the process is a helper and a zombie. */
static void leader_look(struct fb_writer *w)
{
    char text[1024];
    const char *at;
    uint64_t cpu_ns = 0;
    uint64_t before = w->leader_cpu_ns;

    if (fb_threads_live() != 1)
        return;
    if (fb_clock_thread_cpu(getpid(), &cpu_ns))
        w->leader_cpu_ns = cpu_ns;
    if (cpu_ns != before ||
        fb_kept_read(&w->leader_file, w->counters.keep, "/proc/self/stat", text, sizeof text) < 0)
        return; /* it ran since */
    at = strrchr(text, ')');
    if (at == NULL || at[1] != ' ' || at[2] != 'Z')
        return;
    w->leader_status = status_of_zombie(at + 2);
    for (uint32_t i = 0; i < fb_threads_end(); i++)
        if (atomic_load(&fb_threads_slot(i)->state) == FB_THREAD_LIVE &&
            fb_threads_slot(i)->tid == getpid())
            fb_thread_bury(fb_threads_slot(i));
}

static uint64_t own_cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A thread's clock costs 0.2 us, and ten times that in a process whose threads are mostly cold: as
 * many as the time allows. */
static void living_look(struct fb_writer *w, bool last)
{
    uint32_t end = fb_threads_end();
    uint64_t until_ns = own_cpu_now() + LOOK_NS;
    uint32_t looked = 0;

    w->name_budget = FB_NAMES_CHECKED;
    leader_look(w);
    fb_threads_adopt((int32_t)syscall(SYS_gettid));
    for (uint32_t i = 0; i < end; i++) {
        struct fb_task *t = fb_threads_slot((w->next_checked + i) % end);

        if (atomic_load_explicit(&t->state, memory_order_acquire) != FB_THREAD_LIVE)
            continue;
        thread_look(w, t, last);
        if (++looked % LOOKS_AT_ONCE == 0 && own_cpu_now() >= until_ns) {
            w->next_checked = (w->next_checked + i + 1) % end;
            return;
        }
    }
}

void fb_writer_threads_look(struct fb_writer *w, bool last)
{
    uint32_t end = fb_threads_end();

    if (!w->quiet)
        living_look(w, last);
    for (uint32_t i = 0; i < end; i++) {
        struct fb_task *t = fb_threads_slot(i);

        if (atomic_load_explicit(&t->state, memory_order_acquire) == FB_THREAD_EXITED) {
            t->drained = true;
            w->any_drained = true;
        }
    }
}

void fb_writer_threads_free(struct fb_writer *w)
{
    uint32_t end = w->any_drained ? fb_threads_end() : 0;

    w->any_drained = false;
    for (uint32_t i = 0; i < end; i++) {
        struct fb_task *t = fb_threads_slot(i);

        if (!t->drained)
            continue;
        t->drained = false;
        w->exited_cpu_ns += t->cpu_ns;
        w->exited_handler_ns += atomic_load(&t->handler_ns);
        w->exited_handler_count += atomic_load(&t->handler_count);
        w->exited_weight += atomic_load(&t->weight);
        w->exited_overrun += atomic_load(&t->overrun);
        atomic_store_explicit(&t->state, FB_THREAD_FREE, memory_order_release);
    }
}

/* The comm of a living thread, or what one that left said. */
static void name_read(const struct fb_writer *w, const struct fb_task *t, char name[FB_THREAD_NAME])
{
    char text[FB_THREAD_NAME + 1];
    ssize_t n = -1;

    if (!w->quiet && atomic_load_explicit(&t->state, memory_order_acquire) == FB_THREAD_LIVE)
        n = task_read(t->tid, "comm", text, sizeof text);
    if (n > 0) {
        if (text[n - 1] == '\n')
            n--;
        if (n > FB_THREAD_NAME - 1)
            n = FB_THREAD_NAME - 1;
        memcpy(name, text, (size_t)n);
        name[n] = '\0';
    } else {
        memcpy(name, t->exit_name, FB_THREAD_NAME);
    }
}

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 0x811c9dc5u;

    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * 0x01000193u;
    return hash;
}

/* The whole name of a Java thread, in text; else comm. */
static const char *whole_name(const struct fb_task *t, const char *comm, struct fb_text *text)
{
    bool lives = atomic_load_explicit(&t->state, memory_order_acquire) == FB_THREAD_LIVE;

    return lives && fb_jvm_thread_name(t->tid, comm, text) ? text->data : comm;
}

void fb_writer_thread_name(struct fb_writer *w, uint32_t slot, uint32_t id, uint64_t time_ns)
{
    struct fb_task *t = fb_threads_slot(slot);
    char name[FB_THREAD_NAME];
    char buffer[FB_JVM_THREAD_NAME];
    struct fb_text text = {.data = buffer, .cap = sizeof buffer};
    const char *whole;
    uint64_t now;
    bool first = t->named_ns == 0;

    if (t->id != id || (!first && (w->name_budget == 0 || w->quiet)))
        return;
    now = fb_clock_now();
    if (!first && now - (uint64_t)t->named_ns < NAME_AGE_NS)
        return;
    if (!first)
        w->name_budget--;
    t->named_ns = (int64_t)now;
    name_read(w, t, name);
    whole = w->quiet ? name : whole_name(t, name, &text);
    /* A moving object may hide the whole name for once: no renaming. */
    if (!first && strcmp(name, t->name) == 0 && (whole == name || hash_of(whole) == t->name_hash))
        return;
    memcpy(t->name, name, sizeof name);
    t->name_hash = hash_of(whole);
    fb_wire_put_varint(&w->threads.body, t->id);
    fb_wire_put_varint(&w->threads.body, (uint64_t)t->tid);
    fb_wire_put_signed(&w->threads.body, (int64_t)(first ? time_ns : now));
    fb_wire_put_blob(&w->threads.body, whole, strlen(whole));
    w->threads.count++;
}

uint32_t fb_writer_thread_virtual(struct fb_writer *w, uint32_t slot, uint32_t id, uint64_t time_ns)
{
    static const char behind[] = " (virtual)";
    struct fb_task *t = fb_threads_slot(slot);
    char name[FB_THREAD_NAME];
    char buffer[FB_JVM_THREAD_NAME + sizeof behind];
    struct fb_text text = {.data = buffer, .cap = FB_JVM_THREAD_NAME};

    if (t->id != id)
        return id; /* it has left, and its slot is another's */
    if (t->virtual_id != 0 && t->virtual_hash == t->name_hash)
        return t->virtual_id;
    if (t->virtual_id == 0)
        t->virtual_id = fb_threads_id_take();
    t->virtual_hash = t->name_hash;
    name_read(w, t, name);
    buffer[0] = '\0';
    if (w->quiet || whole_name(t, name, &text) == name) {
        text.len = 0;
        fb_text_str(&text, name);
    }
    text.cap = sizeof buffer;
    fb_text_str(&text, behind);
    fb_wire_put_varint(&w->threads.body, t->virtual_id);
    fb_wire_put_varint(&w->threads.body, (uint64_t)t->tid);
    fb_wire_put_signed(&w->threads.body, (int64_t)time_ns);
    fb_wire_put_blob(&w->threads.body, buffer, text.len);
    w->threads.count++;
    return t->virtual_id;
}

void fb_writer_threads_forget_names(void)
{
    uint32_t end = fb_threads_end();

    for (uint32_t i = 0; i < end; i++) {
        fb_threads_slot(i)->named_ns = 0;
        fb_threads_slot(i)->virtual_hash = ~fb_threads_slot(i)->name_hash;
    }
}

void fb_writer_own(const struct fb_writer *w, struct fb_counters_own *ret_own)
{
    struct fb_counters_own own = {
        .threads_cpu_ns = w->exited_cpu_ns + fb_threads_silent_cpu(),
        .handler_ns = w->exited_handler_ns,
        .handler_count = w->exited_handler_count,
        .weight = w->exited_weight,
        .overrun = w->exited_overrun,
        .bytes = w->sink.bytes,
        .signals = atomic_load(&fb_handler_counts[FB_COUNT_SIGNALS]),
        .foreign = atomic_load(&fb_handler_counts[FB_COUNT_FOREIGN]),
        .strays = atomic_load(&fb_handler_counts[FB_COUNT_STRAYS]),
        .kept = atomic_load(&fb_handler_counts[FB_COUNT_KEPT]),
    };
    uint32_t end = fb_threads_end();

    fb_unfinished_counts(own.walk_stops, &own.walks_finished);
    for (uint32_t i = 0; i < end; i++) {
        struct fb_task *t = fb_threads_slot(i);
        uint32_t state = atomic_load_explicit(&t->state, memory_order_acquire);

        if (state != FB_THREAD_LIVE && state != FB_THREAD_EXITED)
            continue;
        own.threads += state == FB_THREAD_LIVE;
        own.threads_cpu_ns += t->cpu_ns;
        own.handler_ns += atomic_load(&t->handler_ns);
        own.handler_count += atomic_load(&t->handler_count);
        own.weight += atomic_load(&t->weight);
        own.overrun += atomic_load(&t->overrun);
    }
    *ret_own = own;
}
