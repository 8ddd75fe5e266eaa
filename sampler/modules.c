/* modules.c - scans of the loader's list, and the life of tables and code maps. */
#include "sampler/modules.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "sampler/image.h"
#include "sampler/lazy.h"
#include "sampler/loader_list.h"
#include "sampler/mapped.h"
#include "sampler/rows.h"
#include "sampler/scan_guard.h"
#include "sampler/self_read.h"
#include "sampler/signal/code_map.h"
#include "sampler/table.h"

_Static_assert((int)FB_BUILD_ID_MAX == (int)FB_IMAGE_BUILD_ID_MAX, "one limit");

enum {
    SNAPSHOT_TRIES = 16,
    GRACE_SCANS = 2,
    PATH_BYTES_MAX = 4096,
    UNKNOWN_NS = 1000000000, /* unknown code is looked into that often at most */
    MAPS_WAIT_S_MAX = 64,    /* and in vain ever more rarely, down to this     */
    MAKE_ROUNDS = 8,
};

struct module {
    uint32_t id;
    bool reported; /* to the bank of this process */
    bool seen;     /* in the snapshot being committed */
    uint64_t identity;
    int64_t first_seen_ns; /* by the scan that adopted it */
    int64_t last_seen_ns;  /* set when it is gone */
    bool mapped;           /* not shown by the loader */
    struct fb_image image;
    struct fb_lazy *lazy;  /* NULL: table, or none    */
    struct fb_table table; /* rows.row_count 0: none  */
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
    struct fb_mapped mapped; /* found by the scan at hand              */
    bool maps_wanted;        /* the next scan looks into the maps      */
    int64_t unknown_ns;      /* when unknown code was last heard of    */
    int64_t maps_ns;         /* when the maps were last looked at      */
    int64_t maps_wait_s;     /* before a look for unknown code alone   */
    uint32_t compressed;
    struct fb_rows_build scratch;
    struct fb_self_read reader; /* while own_table, open from the first scan on */
    bool reader_open;
    bool own_table;
    bool sealed;
    bool incomplete; /* the last scan left something out */
    bool unsafe;     /* forked while the loader's lock was taken: see modules.h */
} state = {.generation = 1, .next_id = 1};

void fb_modules_fork_child(void)
{
    struct module *live = state.live.data;

    state.unsafe = state.unsafe || !fb_scan_guard_child();
    state.sealed = false;
    fb_code_map_forget_readers();
    state.fresh_count = 0;                             /* what the parent was compiling */
    state.scratch = (struct fb_rows_build){.base = 0}; /* it may have been on the move */
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

static void reader_open(void)
{
    if (state.reader_open)
        return;
    fb_self_read_open(&state.reader);
    state.reader_open = state.own_table && state.reader.mem >= 0;
    fb_rows_reserve(&state.scratch, 1 << FB_BLOCK_SHIFT, FB_LAZY_RULES_MAX);
}

static void reader_close(void)
{
    if (!state.reader_open)
        fb_self_read_close(&state.reader);
}

static bool counts_now(struct fb_loader_counts *ret_counts)
{
    if (!fb_scan_guard_enter())
        return false;
    *ret_counts = fb_loader_counts_get();
    fb_scan_guard_leave();
    return true;
}

static bool snapshot_take(void)
{
    bool ok;

    if (!fb_scan_guard_enter())
        return false;
    ok = fb_loader_list_take(&state.list);
    fb_scan_guard_leave();
    return ok;
}

/* Adds what the loader does not show.  The maps are read outside of the guard, since that takes
 * long. */
static bool snapshot_add_mapped(const struct fb_self_read *reader)
{
    bool ok = true;

    fb_mapped_find(&state.list, reader, &state.mapped);
    if (state.mapped.count == 0)
        return true;
    if (!fb_scan_guard_enter())
        return false;
    for (uint32_t i = 0; i < state.mapped.count && ok; i++) {
        const struct fb_mapped_image *m = &state.mapped.images[i];

        ok = fb_loader_list_add(&state.list, m->bias, m->phdrs, m->phdr_count, m->path);
    }
    fb_scan_guard_leave();
    return ok;
}

static bool any_mapped(void)
{
    const struct module *live = state.live.data;

    for (uint32_t i = 0; i < state.live_count; i++)
        if (live[i].mapped)
            return true;
    return false;
}

/* How many of the list the loader showed. */
static uint32_t shown_count(void)
{
    return state.list.count - state.mapped.count;
}

/* --- compiling what is new ----------------------------------------------- */

/* All rows at once: for a trampoline without records, and search tables of another form. */
static void module_build_whole(const struct fb_loader_item *item, const ElfW(Phdr) * phdrs,
                               const struct fb_self_read *reader, uint64_t trampoline,
                               struct module *m)
{
    struct fb_pages copy = {0};
    struct fb_cfi cfi = {0};

    if (fb_image_eh_frame_read(&m->image, phdrs, item->phdr_count, reader, &copy, &cfi) ||
        trampoline != 0)
        fb_table_build(&cfi, m->image.text_start, m->image.text_end, trampoline, &m->table);
    fb_pages_free(&copy);
}

static void module_build(const struct fb_loader_item *item, const struct fb_self_read *reader,
                         struct module *m)
{
    const ElfW(Phdr) *phdrs = fb_loader_list_phdrs(&state.list, item);
    uint64_t address = 0;
    uint64_t room = 0;
    uint64_t trampoline;

    m->identity = item->identity;
    m->mapped = (uint32_t)(item - fb_loader_list_items(&state.list)) >= shown_count();
    if (!fb_image_locate(phdrs, item->phdr_count, item->bias, &m->image))
        return;
    fb_image_build_id_read(&m->image, phdrs, item->phdr_count, reader);
    trampoline = fb_image_trampoline_find(&m->image, reader);
    if (trampoline == 0) {
        if (!fb_image_eh_frame_find(&m->image, phdrs, item->phdr_count, reader, &address, &room))
            room = 0;
        m->lazy = fb_lazy_new(&m->image, address, room, reader);
    }
    if (m->lazy == NULL)
        module_build_whole(item, phdrs, reader, trampoline, m);
}

static void module_drop(struct module *m)
{
    fb_table_free(&m->table);
    fb_lazy_free(m->lazy);
    m->lazy = NULL;
}

static bool fresh_add(const struct module *m)
{
    bool ok;

    if (!fb_scan_guard_enter())
        return false;
    ok = fb_pages_reserve(&state.fresh, (state.fresh_count + 1) * sizeof *m);
    if (ok)
        ((struct module *)state.fresh.data)[state.fresh_count++] = *m;
    fb_scan_guard_leave();
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
            module_drop(&m);
            state.raced++;
            return false;
        }
        if (!fresh_add(&m)) {
            module_drop(&m);
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

    if (!fb_scan_guard_enter())
        return;
    for (uint32_t i = 0; i < state.gone_count; i++) {
        gone[i].quiet = gone[i].quiet || quiet;
        if (gone[i].quiet && state.scan - gone[i].scan >= GRACE_SCANS) {
            module_drop(&gone[i].module);
            fb_pages_free(&gone[i].map);
        } else {
            gone[kept++] = gone[i];
        }
    }
    state.gone_count = kept;
    fb_scan_guard_leave();
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
    if (m->lazy != NULL)
        map->modules[at].blocks = fb_lazy_blocks(m->lazy);
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
            module_drop(&fresh[i]);
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

    if (!ok || !fb_scan_guard_enter()) {
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
    fb_scan_guard_leave();
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

/* --- rows that walks have asked for --------------------------------------- */

/* Of the module with this identity: what was read was its own. */
static bool still_there(void *ctx)
{
    const struct module *m = ctx;
    struct fb_loader_counts counts;
    bool there;

    if (m->mapped)
        return true; /* nobody tells when it goes; its rows are checked by every walk */
    if (!fb_scan_guard_enter())
        return false;
    counts = fb_loader_counts_get();
    there = counts.subs == state.counts.subs || fb_loader_list_holds(m->image.bias, m->identity);
    fb_scan_guard_leave();
    return there;
}

/* What the module's file has, and is not mapped. */
static void file_give(struct module *m)
{
    const struct fb_loader_item *item = item_by_identity(m->identity);
    enum fb_file_found found = FB_FILE_NONE;
    struct fb_file_frame frame;
    char path[2 * PATH_BYTES_MAX];

    if (item != NULL && !state.sealed) {
        const ElfW(Phdr) *phdrs = fb_loader_list_phdrs(&state.list, item);
        const char *name = path_of(item, m, path);

        if (!fb_lazy_has_frames(m->lazy))
            found =
                fb_file_frame_read(name, &m->image, phdrs, item->phdr_count, ".eh_frame", &frame);
        if (found != FB_FILE_READ)
            found = fb_file_frame_read(name, &m->image, phdrs, item->phdr_count, ".debug_frame",
                                       &frame);
    }
    state.compressed += found == FB_FILE_COMPRESSED;
    fb_lazy_file_give(m->lazy, found == FB_FILE_READ ? &frame : NULL);
}

static bool module_tables_make(struct module *m, const struct fb_self_read *reader)
{
    enum fb_lazy_made made = FB_LAZY_WANTS_FILE;
    bool any = false;

    for (int i = 0; i < MAKE_ROUNDS && made == FB_LAZY_WANTS_FILE; i++) {
        made = fb_lazy_make(m->lazy, reader, &state.scratch, still_there, m);
        if (made == FB_LAZY_WANTS_FILE)
            file_give(m);
        any = any || made == FB_LAZY_MADE;
    }
    return any;
}

bool fb_modules_tables_make(void)
{
    struct module *live = state.live.data;
    int64_t cpu = 0;
    bool any = false;
    bool open = false;

    if (state.unsafe || (state.sealed && !state.reader_open))
        return false;
    for (uint32_t i = 0; i < state.live_count; i++) {
        if (live[i].lazy == NULL || !fb_lazy_wanted(live[i].lazy))
            continue;
        if (!open && !state.sealed) {
            cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
            reader_open();
        }
        open = true;
        any |= module_tables_make(&live[i], &state.reader);
    }
    if (open && !state.sealed) {
        reader_close();
        state.build_ns += (uint64_t)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
    }
    return any;
}

void fb_modules_thread_begin(bool own_table)
{
    /* Descriptors of a thread before this one went with its table. */
    state.reader_open = false;
    state.own_table = own_table;
}

void fb_modules_seal(void)
{
    state.sealed = true;
}

/* --- the public functions ------------------------------------------------ */

/* Unknown code was met, and it is time to look into the maps for it. */
static bool unknown_is_due(int64_t now)
{
    if (now - state.unknown_ns < UNKNOWN_NS || !fb_code_map_unknown_take())
        return false;
    state.unknown_ns = now;
    return now - state.maps_ns >= state.maps_wait_s * 1000000000;
}

bool fb_modules_changed(void)
{
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    struct fb_loader_counts counts;

    if (state.unsafe)
        return false;
    if (unknown_is_due(now))
        state.maps_wanted = true;
    if (state.scan == 0 || state.incomplete || state.maps_wanted)
        return true;
    if (!counts_now(&counts))
        return false;
    if (counts.adds != state.counts.adds || counts.subs != state.counts.subs) {
        state.maps_wait_s = 0; /* who loads may have mapped as well */
        return true;
    }
    state.confirmed_ns = now;
    return state.gone_count > 0;
}

/* The next look for unknown code is soon if this one found something new, else twice as far. */
static void maps_looked(void)
{
    const struct module *live = state.live.data;
    bool found = false;

    for (uint32_t i = 0; i < state.live_count; i++)
        found = found || (live[i].mapped && !live[i].reported);
    state.maps_wanted = false;
    state.maps_ns = state.confirmed_ns;
    state.maps_wait_s = found || state.maps_wait_s == 0 ? 1 : 2 * state.maps_wait_s;
    if (state.maps_wait_s > MAPS_WAIT_S_MAX)
        state.maps_wait_s = MAPS_WAIT_S_MAX;
}

bool fb_modules_scan(fb_modules_event_fn on_event, void *ctx)
{
    int64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    bool maps = state.scan > 0 && (state.maps_wanted || any_mapped());
    bool complete = false;
    bool taken = true;

    if (state.unsafe || state.sealed)
        return false;
    reader_open();
    state.scan++;
    gone_collect();
    for (unsigned i = 0; i < SNAPSHOT_TRIES && taken && !complete; i++) {
        state.mapped.count = 0;
        taken = snapshot_take() && (!maps || snapshot_add_mapped(&state.reader));
        complete = taken && fresh_build(&state.reader);
    }
    reader_close();
    if (!taken || !commit(complete))
        return false;
    if (maps)
        maps_looked();
    report_all(on_event, ctx);
    state.build_ns += (uint64_t)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
    return true;
}

static const struct module *module_by_id(uint32_t id)
{
    const struct module *live = state.live.data;

    for (uint32_t i = 0; i < state.live_count; i++)
        if (live[i].id == id)
            return &live[i];
    return NULL;
}

static int64_t first_seen(uint32_t id)
{
    const struct module *m = module_by_id(id);

    return m != NULL ? m->first_seen_ns : 0;
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

bool fb_modules_file_open(uint32_t id, struct fb_module_file *ret_file)
{
    const struct module *m = state.sealed ? NULL : module_by_id(id);
    const struct fb_loader_item *item = m != NULL ? item_by_identity(m->identity) : NULL;
    char buffer[2 * PATH_BYTES_MAX];
    const char *path;

    if (item == NULL)
        return false;
    path = path_of(item, m, buffer);
    reader_open();
    if (strcmp(path, "[vdso]") == 0
            ? fb_module_file_open_memory(&state.reader, &m->image, ret_file)
            : fb_module_file_open(path, &m->image, fb_loader_list_phdrs(&state.list, item),
                                  item->phdr_count, ret_file))
        return true;
    reader_close();
    return false;
}

void fb_modules_file_close(struct fb_module_file *file)
{
    fb_module_file_close(file);
    reader_close();
}

static uint64_t module_bytes(const struct module *m)
{
    return m->table.pages.size + (m->lazy != NULL ? fb_lazy_bytes(m->lazy) : 0);
}

void fb_modules_stats_get(struct fb_modules_stats *ret_stats)
{
    const struct module *live = state.live.data;
    const struct gone *gone = state.gone.data;
    struct fb_modules_stats stats = {.live = state.live_count,
                                     .retired = state.gone_count,
                                     .build_ns = state.build_ns,
                                     .compressed = state.compressed,
                                     .raced = state.raced};

    for (uint32_t i = 0; i < state.live_count; i++) {
        stats.table_bytes += module_bytes(&live[i]);
        stats.mapped += live[i].mapped;
        stats.blocks += live[i].lazy != NULL ? fb_lazy_block_count(live[i].lazy) : 0;
        if (live[i].lazy != NULL ? !fb_lazy_has_frames(live[i].lazy)
                                 : live[i].table.rows.row_count == 0)
            stats.without_table++;
    }
    for (uint32_t i = 0; i < state.gone_count; i++)
        stats.table_bytes += module_bytes(&gone[i].module);
    *ret_stats = stats;
}
