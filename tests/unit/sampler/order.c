/* order.c - what changes hands without a lock, by threads that really run at once.
 *
 *     order SECONDS
 *
 * Segments go round as in the sampler: three threads take them, fill them and hand them over, by
 * the full list or by the exchange of a task's segment; one writer takes them back.  Code maps are
 * published and, when the map was quiet afterwards, overwritten, under three readers.  Everything
 * that is handed over is written with plain stores, so that a missing order of memory is a wrong
 * word here, where the CPU reorders (arm64), and a report of ThreadSanitizer's everywhere.  Exits 1
 * if something was wrong, or nothing was done. */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sampler/signal/code_map.h"
#include "sampler/signal/pool.h"

enum { TAKERS = 3, READERS = 3, MAPS = 4, MODULES = 8, RECORD = 64, WORDS = RECORD / 8 };

static _Atomic bool over;
static _Atomic uint64_t wrong;
static _Atomic uint64_t handed;  /* records that takers have written */
static _Atomic uint64_t drained; /* records that the writer has read */
static _Atomic uint64_t reads;
static uint64_t published;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check(bool good)
{
    if (!good)
        atomic_fetch_add(&wrong, 1);
}

/* --- segments -------------------------------------------------------------- */

/* As in struct fb_task: the taker appends to it, the writer may take it at any time. */
static _Atomic(struct fb_segment *) slots[TAKERS];

static void record_write(struct fb_segment *s, uint64_t value)
{
    uint64_t *words = (uint64_t *)(void *)(s->data + s->used);

    for (unsigned i = 0; i < WORDS; i++)
        words[i] = value + i;
    s->used += RECORD;
}

static void segment_read(struct fb_segment *s)
{
    check(s->used <= sizeof s->data && s->used % RECORD == 0);
    for (uint32_t at = 0; at < s->used; at += RECORD) {
        uint64_t *words = (uint64_t *)(void *)(s->data + at);

        for (unsigned i = 0; i < WORDS; i++)
            check(words[i] == words[0] + i);
        atomic_fetch_add_explicit(&drained, 1, memory_order_relaxed);
    }
    for (uint32_t at = 0; at < s->used; at++)
        s->data[at] = 0xee;
    fb_pool_give(s);
}

/* As handler.c does it. */
static void *taker(void *arg)
{
    _Atomic(struct fb_segment *) *slot = arg;
    uint64_t value = (uint64_t)(slot - slots) << 56;

    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        struct fb_segment *s = atomic_exchange(slot, NULL);

        if (s != NULL && s->used > 10 * RECORD) {
            fb_pool_push_full(s);
            s = NULL;
        }
        if (s == NULL)
            s = fb_pool_take();
        if (s == NULL) {
            sched_yield();
            continue;
        }
        record_write(s, value += WORDS);
        atomic_fetch_add_explicit(&handed, 1, memory_order_relaxed);
        atomic_store_explicit(slot, s, memory_order_release);
    }
    return NULL;
}

static void writer_pass(void)
{
    struct fb_segment *next;

    for (struct fb_segment *s = fb_pool_take_full(); s != NULL; s = next) {
        next = fb_pool_next(s);
        segment_read(s);
    }
    for (unsigned i = 0; i < TAKERS; i++) {
        struct fb_segment *s = atomic_exchange(&slots[i], NULL);

        if (s != NULL)
            segment_read(s);
    }
}

static void *writer(void *arg)
{
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        writer_pass();
        sched_yield();
    }
    return arg;
}

/* --- code maps --------------------------------------------------------------- */

static void *reader(void *arg)
{
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        const struct fb_code_map *map = fb_code_map_enter();
        uint64_t generation = map->generation;

        check(generation != UINT64_MAX);
        for (uint32_t i = 0; i < map->count; i++)
            check(map->modules[i].start == generation + i && map->modules[i].bias == generation);
        fb_code_map_leave();
        atomic_fetch_add_explicit(&reads, 1, memory_order_relaxed);
        sched_yield();
    }
    return arg;
}

static void map_write(struct fb_code_map *map, uint64_t generation)
{
    map->generation = generation;
    map->count = generation == UINT64_MAX ? 0 : MODULES;
    for (uint32_t i = 0; i < MODULES; i++) {
        map->modules[i].start = generation + i;
        map->modules[i].end = generation + i + 1;
        map->modules[i].bias = generation;
    }
}

static void *publisher(void *arg)
{
    static struct fb_code_map *maps[MAPS];

    for (unsigned i = 0; i < MAPS; i++) {
        maps[i] = calloc(1, sizeof *maps[i] + MODULES * sizeof maps[i]->modules[0]);
        if (maps[i] == NULL)
            abort();
    }
    for (uint64_t n = 2; !atomic_load_explicit(&over, memory_order_relaxed); n++) {
        map_write(maps[n % MAPS], n * 100);
        fb_code_map_publish(maps[n % MAPS]);
        while (!fb_code_map_quiet())
            if (atomic_load_explicit(&over, memory_order_relaxed))
                return arg;
        /* All but the current one are nobody's now. */
        map_write(maps[(n + MAPS - 1) % MAPS], UINT64_MAX);
        published++;
        sched_yield();
    }
    return arg;
}

int main(int argc, char **argv)
{
    double seconds = argc == 2 ? atof(argv[1]) : 0;
    void *memory = aligned_alloc(4096, FB_POOL_BYTES);
    pthread_t threads[TAKERS + READERS + 2];
    unsigned count = 0;
    struct timespec pause = {.tv_nsec = 10000000};

    if (seconds <= 0 || memory == NULL)
        return 2;
    fb_pool_init(memory);
    for (unsigned i = 0; i < TAKERS; i++)
        pthread_create(&threads[count++], NULL, taker, &slots[i]);
    for (unsigned i = 0; i < READERS; i++)
        pthread_create(&threads[count++], NULL, reader, NULL);
    pthread_create(&threads[count++], NULL, writer, NULL);
    pthread_create(&threads[count++], NULL, publisher, NULL);
    for (double end = now() + seconds; now() < end;)
        nanosleep(&pause, NULL);
    atomic_store(&over, true);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    writer_pass();
    printf("order: %" PRIu64 " records handed over, %" PRIu64 " taken, %" PRIu64
           " maps under %" PRIu64 " reads, %" PRIu64 " wrong\n",
           handed, drained, published, reads, wrong);
    free(memory);
    return wrong == 0 && handed == drained && handed > 0 && published > 0 && reads > 0 ? 0 : 1;
}
