/* modules.c - scans of the loader's list, and the life of tables and code maps. */
#include "sampler/modules.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "sampler/image.h"
#include "sampler/loader_list.h"
#include "sampler/self_read.h"
#include "sampler/signal/code_map.h"
#include "sampler/table.h"

_Static_assert((int)FB_BUILD_ID_MAX == (int)FB_IMAGE_BUILD_ID_MAX, "one limit");

enum {
    SNAPSHOT_TRIES = 16,
    GRACE_SCANS = 2,
    PAUSE_NS = 200000,
    PAUSES_MAX = 500, /* 100 ms */
    PATH_BYTES_MAX = 4096,
};

struct module {
    uint32_t id;
    bool reported; /* to the bank of this process */
    bool seen;     /* in the snapshot being committed */
    uint64_t identity;
    int64_t first_seen_ns; /* by the scan that adopted it */
    int64_t last_seen_ns;  /* set when it is gone */
    struct fb_image image;
    struct fb_table table; /* rows.row_count 0: none */
};

/* What no new reader can reach any more: an unloaded module, or (id 0) a replaced map. */
struct gone {
    struct module module;
    struct fb_pages map;
    uint64_t scan; /* when it was replaced */
    bool quiet;    /* the code map was quiet after that */
};

static struct {
    struct fb_pages live, fresh, gone; /* arrays of module, module, gone */
    uint32_t live_count, fresh_count, gone_count;
    struct fb_loader_list list;
    struct fb_loader_counts counts; /* of the last committed scan */
    struct fb_pages map;
    uint64_t generation;
    uint64_t scan;
    int64_t confirmed_ns; /* when the live modules were last known to be all and alive */
    uint32_t next_id;
    uint32_t raced;
    uint64_t build_ns;
    bool incomplete; /* the last scan left something out */
    bool unsafe;     /* forked while the loader's lock was taken: see modules.h */
} state = {.generation = 1, .next_id = 1};

/* The guard between scans and forks.  Each side says first that it comes and then looks for the
 * other; the scan steps back, so that a fork waits for one critical section at most. */
static _Atomic bool scanner_inside;
static _Atomic unsigned forkers;
static _Thread_local __attribute__((tls_model("initial-exec"))) bool fork_holds;

/* --- the guard between scans and forks ----------------------------------- */

static void sleep_a_little(void)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};

    nanosleep(&pause, NULL);
}

/* False if threads of the host forked all the time: the scan is for later. */
static bool guard_enter(void)
{
    for (unsigned i = 0; i < PAUSES_MAX; i++) {
        atomic_store(&scanner_inside, true);
        if (atomic_load(&forkers) == 0)
            return true;
        atomic_store(&scanner_inside, false);
        sleep_a_little();
    }
    return false;
}

static void guard_leave(void)
{
    atomic_store(&scanner_inside, false);
}

/* Once forkers is not 0, a scan that is seen outside stays there: it only looks in. */
void fb_modules_fork_prepare(void)
{
    atomic_fetch_add(&forkers, 1);
    fork_holds = !atomic_load(&scanner_inside);
    for (unsigned i = 0; i < PAUSES_MAX && !fork_holds; i++) {
        sleep_a_little();
        fork_holds = !atomic_load(&scanner_inside);
    }
    if (!fork_holds)
        atomic_fetch_sub(&forkers, 1);
}

void fb_modules_fork_parent(void)
{
    if (fork_holds)
        atomic_fetch_sub(&forkers, 1);
}

void fb_modules_fork_child(void)
{
    struct module *live = state.live.data;

    state.unsafe = state.unsafe || !fork_holds;
    atomic_store(&forkers, 0);
    atomic_store(&scanner_inside, false);
    fb_code_map_forget_readers();
    state.fresh_count = 0; /* what the parent was compiling */
    for (uint32_t i = 0; i < state.live_count; i++)
        live[i].reported = false;
    state.incomplete = true;
}

/* --- small helpers ------------------------------------------------------- */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static struct module *module_by_identity(const struct fb_pages *pages, uint32_t count,
                                         uint64_t identity)
{
    struct module *modules = pages->data;

    for (uint32_t i = 0; i < count; i++)
        if (modules[i].identity == identity)
            return &modules[i];
    return NULL;
}

static const struct fb_loader_item *item_by_identity(uint64_t identity)
{
    const struct fb_loader_item *items = fb_loader_list_items(&state.list);

    for (uint32_t i = 0; i < state.list.count; i++)
        if (items[i].identity == identity)
            return &items[i];
    return NULL;
}

static bool counts_now(struct fb_loader_counts *ret_counts)
{
    if (!guard_enter())
        return false;
    *ret_counts = fb_loader_counts_get();
    guard_leave();
    return true;
}

static bool snapshot_take(void)
{
    bool ok;

    if (!guard_enter())
        return false;
    ok = fb_loader_list_take(&state.list);
    guard_leave();
    return ok;
}

/* --- compiling what is new ----------------------------------------------- */

static void module_build(const struct fb_loader_item *item, const struct fb_self_read *reader,
                         struct module *m)
{
    const ElfW(Phdr) *phdrs = fb_loader_list_phdrs(&state.list, item);
    struct fb_pages copy = {0};
    struct fb_cfi cfi = {0};
    uint64_t trampoline;

    m->identity = item->identity;
    if (!fb_image_locate(phdrs, item->phdr_count, item->bias, &m->image))
        return;
    fb_image_build_id_read(&m->image, phdrs, item->phdr_count, reader);
    trampoline = fb_image_trampoline_find(&m->image, reader);
    if (fb_image_eh_frame_read(&m->image, phdrs, item->phdr_count, reader, &copy, &cfi) ||
        trampoline != 0)
        fb_table_build(&cfi, m->image.text_start, m->image.text_end, trampoline, &m->table);
    fb_pages_free(&copy);
}

static bool fresh_add(const struct module *m)
{
    bool ok;

    if (!guard_enter())
        return false;
    ok = fb_pages_reserve(&state.fresh, (state.fresh_count + 1) * sizeof *m);
    if (ok)
        ((struct module *)state.fresh.data)[state.fresh_count++] = *m;
    guard_leave();
    return ok;
}

/* Builds every module of the snapshot that is not there yet.  False if a module was unloaded
 * since the snapshot: what was read last may have been something else, and is thrown away. */
static bool fresh_build(const struct fb_self_read *reader)
{
    const struct fb_loader_item *items = fb_loader_list_items(&state.list);

    for (uint32_t i = 0; i < state.list.count; i++) {
        struct fb_loader_counts counts;
        struct module m = {0};

        if (module_by_identity(&state.live, state.live_count, items[i].identity) != NULL ||
            module_by_identity(&state.fresh, state.fresh_count, items[i].identity) != NULL)
            continue;
        module_build(&items[i], reader, &m);
        if (!counts_now(&counts) || counts.subs != state.list.counts.subs) {
            fb_table_free(&m.table);
            state.raced++;
            return false;
        }
        if (!fresh_add(&m)) {
            fb_table_free(&m.table);
            return false; /* short of memory, or forks without end */
        }
    }
    return true;
}

/* --- the end of what is gone --------------------------------------------- */

static void gone_collect(void)
{
    struct gone *gone = state.gone.data;
    bool quiet = fb_code_map_quiet();
    uint32_t kept = 0;

    if (!guard_enter())
        return;
    for (uint32_t i = 0; i < state.gone_count; i++) {
        gone[i].quiet = gone[i].quiet || quiet;
        if (gone[i].quiet && state.scan - gone[i].scan >= GRACE_SCANS) {
            fb_table_free(&gone[i].module.table);
            fb_pages_free(&gone[i].map);
        } else {
            gone[kept++] = gone[i];
        }
    }
    state.gone_count = kept;
    guard_leave();
}

/* --- committing a snapshot ----------------------------------------------- */

static void map_insert(struct fb_code_map *map, const struct module *m)
{
    uint32_t at = map->count;

    if (m->image.text_end <= m->image.text_start)
        return;
    for (; at > 0 && map->modules[at - 1].start > m->image.text_start; at--)
        map->modules[at] = map->modules[at - 1];
    map->modules[at] = (struct fb_code_module){.start = m->image.text_start,
                                               .end = m->image.text_end,
                                               .bias = m->image.bias,
                                               .id = m->id,
                                               .rows = m->table.rows};
    map->count++;
}

/* The map of all live modules; their text is disjoint, the loader sees to it, and if a hole of
 * one holds another, the outer one ends there. */
static void map_fill(struct fb_code_map *map)
{
    const struct module *live = state.live.data;

    map->generation = ++state.generation;
    for (uint32_t i = 0; i < state.live_count; i++)
        map_insert(map, &live[i]);
    for (uint32_t i = 1; i < map->count; i++)
        if (map->modules[i - 1].end > map->modules[i].start)
            map->modules[i - 1].end = map->modules[i].start;
}

/* True if all of them were. */
static bool live_mark_seen(void)
{
    struct module *live = state.live.data;
    bool all = true;

    for (uint32_t i = 0; i < state.live_count; i++) {
        live[i].seen = item_by_identity(live[i].identity) != NULL;
        all = all && live[i].seen;
    }
    return all;
}

/* Moves the unseen from live to gone. */
static void live_sweep(void)
{
    struct module *live = state.live.data;
    struct gone *gone = state.gone.data;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < state.live_count; i++) {
        if (live[i].seen) {
            live[kept++] = live[i];
            continue;
        }
        live[i].last_seen_ns = state.confirmed_ns;
        gone[state.gone_count++] = (struct gone){.module = live[i], .scan = state.scan};
    }
    state.live_count = kept;
}

/* Adds the fresh ones that are still loaded. */
static void fresh_adopt(void)
{
    struct module *live = state.live.data;
    struct module *fresh = state.fresh.data;

    for (uint32_t i = 0; i < state.fresh_count; i++) {
        if (item_by_identity(fresh[i].identity) == NULL) {
            fb_table_free(&fresh[i].table);
            continue;
        }
        fresh[i].id = state.next_id++;
        live[state.live_count++] = fresh[i];
    }
    state.fresh_count = 0;
}

/* Memory for all that lists_change() may do. */
static bool lists_reserve(uint32_t live_most)
{
    return fb_pages_reserve(&state.live, live_most * sizeof(struct module)) &&
           fb_pages_reserve(&state.gone,
                            (state.gone_count + state.live_count + 1) * sizeof(struct gone));
}

static void lists_change(struct fb_pages map)
{
    struct fb_pages old = state.map;

    live_sweep();
    fresh_adopt();
    map_fill(map.data);
    fb_code_map_publish(map.data);
    state.map = map;
    if (old.data != NULL)
        ((struct gone *)state.gone.data)[state.gone_count++] =
            (struct gone){.map = old, .scan = state.scan};
}

static void first_seen_set(int64_t now)
{
    struct module *live = state.live.data;

    for (uint32_t i = 0; i < state.live_count; i++)
        if (live[i].first_seen_ns == 0)
            live[i].first_seen_ns = now;
}

/* Makes the snapshot the truth.  What a forked child inherits changes inside the guard only,
 * where no fork can fall: mremap() moves the lists. */
static bool commit(bool complete)
{
    uint32_t most = state.live_count + state.fresh_count;
    struct fb_pages map = {0};
    bool same = live_mark_seen() && state.fresh_count == 0 && state.map.data != NULL;
    bool ok = same ||
              fb_pages_map(&map, sizeof(struct fb_code_map) + most * sizeof(struct fb_code_module));

    if (!ok || !guard_enter()) {
        fb_pages_free(&map);
        return false;
    }
    ok = same || lists_reserve(most);
    if (ok && !same)
        lists_change(map);
    if (ok) {
        state.counts = state.list.counts;
        state.incomplete = !complete;
        state.confirmed_ns = clock_ns(CLOCK_MONOTONIC);
        first_seen_set(state.confirmed_ns);
    }
    guard_leave();
    if (!ok)
        fb_pages_free(&map);
    return ok;
}

/* --- events -------------------------------------------------------------- */

static bool is_main(const struct fb_loader_item *item)
{
    const ElfW(Phdr) *phdrs = fb_loader_list_phdrs(&state.list, item);

    for (uint32_t i = 0; i < item->phdr_count; i++)
        if (phdrs[i].p_type == PT_PHDR)
            return item->bias + phdrs[i].p_vaddr == getauxval(AT_PHDR);
    return fb_loader_list_name(&state.list, item)[0] == 0;
}

/* The file of a module, absolute where that can be known. */
static const char *path_of(const struct fb_loader_item *item, const struct module *m,
                           char buffer[2 * PATH_BYTES_MAX])
{
    const char *name = fb_loader_list_name(&state.list, item);
    uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
    ssize_t n;
    size_t length;

    if (vdso != 0 && vdso >= m->image.start && vdso < m->image.end)
        return "[vdso]";
    if (is_main(item)) {
        n = readlink("/proc/self/exe", buffer, PATH_BYTES_MAX - 1);
        if (n > 0) {
            buffer[n] = 0;
            return buffer;
        }
    }
    if (name[0] == '/' || name[0] == 0 || getcwd(buffer, PATH_BYTES_MAX) == NULL)
        return name;
    length = strlen(buffer);
    buffer[length++] = '/';
    memcpy(buffer + length, name, strlen(name) + 1);
    return access(buffer, F_OK) == 0 ? buffer : name; /* the host may have changed its folder */
}

static void report_loaded(struct module *m, fb_modules_event_fn on_event, void *ctx)
{
    const struct fb_loader_item *item = item_by_identity(m->identity);
    char path[2 * PATH_BYTES_MAX];
    struct fb_module_event event = {.id = m->id,
                                    .loaded = true,
                                    .time_ns = state.confirmed_ns,
                                    .start = m->image.start,
                                    .end = m->image.end,
                                    .bias = m->image.bias,
                                    .build_id = m->image.build_id,
                                    .build_id_size = m->image.build_id_size};

    event.path = item != NULL ? path_of(item, m, path) : "";
    m->reported = true;
    on_event(ctx, &event);
}

static void report_all(fb_modules_event_fn on_event, void *ctx)
{
    struct module *live = state.live.data;
    const struct gone *gone = state.gone.data;

    for (uint32_t i = 0; i < state.gone_count; i++) {
        struct fb_module_event event = {.id = gone[i].module.id, .time_ns = state.confirmed_ns};

        if (gone[i].scan == state.scan && gone[i].module.reported)
            on_event(ctx, &event);
    }
    for (uint32_t i = 0; i < state.live_count; i++)
        if (!live[i].reported)
            report_loaded(&live[i], on_event, ctx);
}

/* --- the public functions ------------------------------------------------ */

bool fb_modules_changed(void)
{
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    struct fb_loader_counts counts;

    if (state.unsafe)
        return false;
    if (state.scan == 0 || state.incomplete)
        return true;
    if (!counts_now(&counts))
        return false;
    if (counts.adds != state.counts.adds || counts.subs != state.counts.subs)
        return true;
    state.confirmed_ns = now;
    return state.gone_count > 0;
}

bool fb_modules_scan(fb_modules_event_fn on_event, void *ctx)
{
    struct fb_self_read reader;
    int64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    bool complete = false;
    bool taken = true;

    if (state.unsafe)
        return false;
    fb_self_read_open(&reader);
    state.scan++;
    gone_collect();
    for (unsigned i = 0; i < SNAPSHOT_TRIES && taken && !complete; i++) {
        taken = snapshot_take();
        complete = taken && fresh_build(&reader);
    }
    fb_self_read_close(&reader);
    if (!taken || !commit(complete))
        return false;
    report_all(on_event, ctx);
    state.build_ns += (uint64_t)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
    return true;
}

static int64_t first_seen(uint32_t id)
{
    const struct module *live = state.live.data;

    for (uint32_t i = 0; i < state.live_count; i++)
        if (live[i].id == id)
            return live[i].first_seen_ns;
    return 0;
}

bool fb_modules_find(uint64_t pc, int64_t time_ns, struct fb_module_ref *ret_ref)
{
    const struct gone *gone = state.gone.data;
    const struct fb_code_module *now =
        state.map.data != NULL ? fb_code_map_find(state.map.data, pc) : NULL;
    const struct module *before = NULL;

    ret_ref->timed = false;
    for (uint32_t i = 0; i < state.gone_count; i++) {
        const struct module *m = &gone[i].module;

        if (m->id == 0 || pc < m->image.text_start || pc >= m->image.text_end)
            continue;
        ret_ref->timed = true;
        if ((now == NULL || time_ns <= m->last_seen_ns) && (before == NULL || m->id > before->id))
            before = m;
    }
    if (before != NULL) {
        ret_ref->id = before->id;
        ret_ref->bias = before->image.bias;
        return true;
    }
    if (now == NULL || (ret_ref->timed && time_ns < first_seen(now->id)))
        return false;
    ret_ref->id = now->id;
    ret_ref->bias = now->bias;
    return true;
}

void fb_modules_stats_get(struct fb_modules_stats *ret_stats)
{
    const struct module *live = state.live.data;
    const struct gone *gone = state.gone.data;
    struct fb_modules_stats stats = {.live = state.live_count,
                                     .retired = state.gone_count,
                                     .build_ns = state.build_ns,
                                     .raced = state.raced};

    for (uint32_t i = 0; i < state.live_count; i++) {
        stats.table_bytes += live[i].table.pages.size;
        if (live[i].table.rows.row_count == 0)
            stats.without_table++;
    }
    for (uint32_t i = 0; i < state.gone_count; i++)
        stats.table_bytes += gone[i].module.table.pages.size;
    *ret_stats = stats;
}
