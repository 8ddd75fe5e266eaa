/* test_modules.c - scans, events, code maps and their end, with a plugin that comes and goes. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/image.h"
#include "sampler/modules.h"
#include "sampler/self_read.h"
#include "sampler/signal/code_map.h"
#include "sampler/signal/walk.h"
#include "tests/unit/sampler/all_tables.h"

enum { EVENT_MAX = 256, DEPTH_MAX = 128 };

#define PLUGIN FB_BUILD "/tests/sampler_plugin.so"

typedef unsigned (*plugin_fn)(unsigned depth, void (*leaf)(void));

static struct {
    struct fb_module_event event;
    char path[512];
} events[EVENT_MAX];
static unsigned event_count;

static void on_event(void *ctx, const struct fb_module_event *event)
{
    assert_ptr_equal(ctx, events);
    assert_true(event_count < EVENT_MAX);
    events[event_count].event = *event;
    snprintf(events[event_count].path, sizeof events[0].path, "%s",
             event->loaded ? event->path : "");
    event_count++;
}

/* Scans until nothing is left to do; returns how often. */
static unsigned settle(void)
{
    unsigned scans = 0;

    event_count = 0;
    while (fb_modules_changed()) {
        assert_true(fb_modules_scan(on_event, events));
        assert_true(++scans < 10);
    }
    all_tables_make();
    return scans;
}

static int64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static uint64_t address_of(void *symbol)
{
    return (uint64_t)(uintptr_t)symbol;
}

static plugin_fn plugin_open(void **ret_handle)
{
    union {
        void *object;
        plugin_fn function;
    } symbol;

    *ret_handle = dlopen(PLUGIN, RTLD_NOW);
    assert_non_null(*ret_handle);
    symbol.object = dlsym(*ret_handle, "plugin_call");
    assert_non_null(symbol.object);
    return symbol.function;
}

static const char *path_of_event(uint32_t id)
{
    for (unsigned i = 0; i < event_count; i++)
        if (events[i].event.id == id && events[i].event.loaded)
            return events[i].path;
    return "";
}

static void the_first_scan_reports_everything_with_paths_and_build_ids(void **ctx)
{
    char exe[512] = {0};
    struct fb_module_ref ref;
    bool vdso = false;
    struct fb_modules_stats stats;

    (void)ctx;
    assert_true(fb_modules_changed());
    assert_false(fb_modules_find(address_of(dlsym(RTLD_DEFAULT, "getpid")), now_ns(), &ref));
    settle();
    assert_true(event_count >= 3);
    for (unsigned i = 0; i < event_count; i++) {
        assert_true(events[i].event.loaded);
        assert_int_equal(events[i].event.id, i + 1);
        assert_true(events[i].event.end > events[i].event.start);
        vdso = vdso || strcmp(events[i].path, "[vdso]") == 0;
    }
    assert_true(vdso);
    assert_true(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
    assert_true(fb_modules_find(address_of((void *)(uintptr_t)on_event), now_ns(), &ref));
    assert_string_equal(path_of_event(ref.id), exe);
    assert_true(fb_modules_find(address_of(dlsym(RTLD_DEFAULT, "getpid")), now_ns(), &ref));
    assert_non_null(strstr(path_of_event(ref.id), "libc.so.6"));
    assert_true(events[ref.id - 1].event.build_id_size >= 16);
    fb_modules_stats_get(&stats);
    assert_int_equal(stats.live, event_count);
    assert_int_equal(stats.retired, 0);
    assert_int_equal(stats.without_table, 0);
}

static void nothing_new_means_no_scan_and_no_event(void **ctx)
{
    (void)ctx;
    settle();
    assert_false(fb_modules_changed());
    event_count = 0;
    assert_true(fb_modules_scan(on_event, events));
    assert_int_equal(event_count, 0);
    assert_false(fb_modules_changed());
}

static void a_plugin_is_found_while_loaded_and_shortly_after(void **ctx)
{
    struct fb_module_ref ref;
    struct fb_module_ref after;
    void *handle;
    uint64_t pc;
    int64_t used_ns;

    (void)ctx;
    settle();
    pc = address_of((void *)(uintptr_t)plugin_open(&handle));
    assert_true(fb_modules_changed());
    assert_int_equal(settle(), 3); /* the load, and two more until the old map has gone */
    assert_int_equal(event_count, 1);
    assert_string_equal(events[0].path, PLUGIN);
    assert_true(pc >= events[0].event.start && pc < events[0].event.end);
    assert_true(fb_modules_find(pc, now_ns(), &ref));
    assert_int_equal(ref.id, events[0].event.id);
    used_ns = now_ns();
    assert_false(fb_modules_changed());
    dlclose(handle);
    assert_true(fb_modules_scan(on_event, events));
    assert_int_equal(event_count, 2);
    assert_false(events[1].event.loaded);
    assert_int_equal(events[1].event.id, ref.id);
    assert_true(fb_modules_find(pc, used_ns, &after));
    assert_int_equal(after.id, ref.id);
    assert_int_equal(after.bias, ref.bias);
    settle();
    assert_false(fb_modules_find(pc, used_ns, &after));
}

static bool file_copy(const char *from, const char *to)
{
    static char bytes[1 << 20];
    FILE *in = fopen(from, "r");
    FILE *out = fopen(to, "w");
    size_t n = in != NULL ? fread(bytes, 1, sizeof bytes, in) : 0;
    bool ok = out != NULL && n > 0 && n < sizeof bytes && fwrite(bytes, 1, n, out) == n;

    if (in != NULL)
        fclose(in);
    return out != NULL && fclose(out) == 0 && ok;
}

enum { FILLERS_MAX = 4096, FILLER_BYTES = 4096 };

static void *fillers[FILLERS_MAX];

/* So that the next library goes where the one at pc has been: the kernel takes the highest hole. */
static void holes_above_fill(uint64_t pc)
{
    for (unsigned i = 0; i < FILLERS_MAX; i++) {
        fillers[i] = mmap(NULL, FILLER_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if ((uintptr_t)fillers[i] < pc)
            break;
    }
}

static void holes_free(void)
{
    for (unsigned i = 0; i < FILLERS_MAX && fillers[i] != NULL; i++) {
        munmap(fillers[i], FILLER_BYTES);
        fillers[i] = NULL;
    }
}

static void a_reused_range_is_nobodys_between_two_looks(void **ctx)
{
    const char *copy = FB_BUILD "/tests/sampler_plugin_copy.so";
    struct fb_module_ref first;
    struct fb_module_ref second;
    int64_t time[3];
    void *handle;
    uint64_t pc;

    (void)ctx;
    assert_true(file_copy(PLUGIN, copy));
    settle();
    pc = address_of((void *)(uintptr_t)plugin_open(&handle));
    settle();
    assert_false(fb_modules_changed());
    time[0] = now_ns();
    assert_false(fb_modules_changed()); /* all are still there */
    holes_above_fill(pc);
    dlclose(handle);
    handle = dlopen(copy, RTLD_NOW);
    assert_non_null(handle);
    holes_free();
    time[1] = now_ns();
    if (address_of(dlsym(handle, "plugin_call")) != pc) {
        dlclose(handle);
        settle();
        skip(); /* the loader took another range: not the case of this test */
    }
    assert_true(fb_modules_scan(on_event, events));
    time[2] = now_ns();
    assert_true(fb_modules_find(pc, time[0] - 1, &first));
    assert_true(first.timed);
    assert_false(fb_modules_find(pc, time[1], &second));
    assert_true(fb_modules_find(pc, time[2], &second));
    assert_true(second.timed);
    assert_true(second.id > first.id);
    settle();
    assert_true(fb_modules_find(pc, time[2], &second));
    assert_false(second.timed);
    dlclose(handle);
    settle();
}

static void ids_are_not_reused(void **ctx)
{
    void *handle;
    uint32_t last = 0;

    (void)ctx;
    for (unsigned i = 0; i < 3; i++) {
        plugin_open(&handle);
        settle();
        assert_int_equal(event_count, 1);
        assert_true(events[0].event.id > last);
        last = events[0].event.id;
        dlclose(handle);
        settle();
        assert_int_equal(event_count, 1);
        assert_false(events[0].event.loaded);
    }
}

static void a_replaced_map_outlives_its_last_reader(void **ctx)
{
    const struct fb_code_map *held;
    const struct fb_code_module *module;
    struct fb_modules_stats stats;
    void *handle;
    uint64_t pc;

    (void)ctx;
    pc = address_of((void *)(uintptr_t)plugin_open(&handle));
    settle();
    held = fb_code_map_enter();
    module = fb_code_map_find(held, pc);
    assert_non_null(module);
    dlclose(handle);
    event_count = 0;
    for (unsigned i = 0; i < 6; i++)
        assert_true(fb_modules_scan(on_event, events));
    fb_modules_stats_get(&stats);
    assert_int_equal(stats.retired, 2); /* the plugin and the map */
    assert_true(fb_modules_changed());
    assert_int_equal(fb_code_module_rule(module, pc)->cfa, FB_CFA_SP);
    fb_code_map_leave();
    settle();
    fb_modules_stats_get(&stats);
    assert_int_equal(stats.retired, 0);
}

/* --- walking while it comes and goes -------------------------------------- */

static struct fb_walk_range own_stack;
static struct fb_walk_cache cache;
static _Atomic unsigned through_plugin;
static _Atomic bool churn_over;
static uint64_t plugin_pc;

static void on_tick(int sig, siginfo_t *info, void *context)
{
    static uint64_t pcs[DEPTH_MAX];
    enum fb_walk_stop stop;
    unsigned n = fb_walk_stack(context, &own_stack, &cache, pcs, DEPTH_MAX, &stop);

    (void)sig;
    (void)info;
    for (unsigned i = 0; i < n; i++)
        if (stop == FB_WALK_ROOT && pcs[i] >= plugin_pc && pcs[i] < plugin_pc + 256) {
            through_plugin++;
            break;
        }
}

static void tick_leaf(void)
{
    raise(SIGPROF);
}

static void *churn(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 1500; i++) {
        void *handle = dlopen(PLUGIN, RTLD_NOW);

        if (handle != NULL)
            dlclose(handle);
    }
    atomic_store(&churn_over, true);
    return NULL;
}

static void set_own_stack(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;

    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    own_stack = (struct fb_walk_range){(uintptr_t)low, (uintptr_t)low + size};
}

static void *scan_forever(void *arg)
{
    (void)arg;
    event_count = 0;
    while (!atomic_load(&churn_over)) {
        event_count = 0;
        fb_modules_scan(on_event, events);
        fb_modules_tables_make();
    }
    return NULL;
}

static void walks_through_a_plugin_survive_scans_and_churn(void **ctx)
{
    struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    pthread_t churner;
    pthread_t scanner;
    plugin_fn call;
    void *handle;

    (void)ctx;
    set_own_stack();
    call = plugin_open(&handle);
    plugin_pc = address_of((void *)(uintptr_t)call);
    settle();
    sigaction(SIGPROF, &action, NULL);
    call(5, tick_leaf);
    assert_int_equal(through_plugin, 1);
    dlclose(handle);
    assert_int_equal(pthread_create(&churner, NULL, churn, NULL), 0);
    assert_int_equal(pthread_create(&scanner, NULL, scan_forever, NULL), 0);
    for (unsigned i = 0; !atomic_load(&churn_over) || i < 100; i++) {
        handle = dlopen(PLUGIN, RTLD_NOW);
        if (handle != NULL) {
            plugin_fn again;

            *(void **)&again = dlsym(handle, "plugin_call");
            again(3, tick_leaf);
            dlclose(handle);
        }
    }
    pthread_join(churner, NULL);
    pthread_join(scanner, NULL);
    atomic_store(&churn_over, false);
    plugin_pc = 0;
    settle();
}

/* --- fork ----------------------------------------------------------------- */

static int child_checks(void)
{
    struct fb_module_ref ref;

    event_count = 0;
    if (!fb_modules_changed())
        return 1;
    if (!fb_modules_scan(on_event, events))
        return 2;
    if (!fb_modules_find(address_of((void *)(uintptr_t)on_event), now_ns(), &ref))
        return 3;
    for (unsigned i = 0; i < event_count; i++)
        if (events[i].event.loaded && events[i].event.id == ref.id)
            return 0;
    return 4;
}

static void a_child_of_fork_reports_all_modules_again(void **ctx)
{
    pthread_t scanner;
    int status = -1;

    (void)ctx;
    settle();
    assert_int_equal(pthread_create(&scanner, NULL, scan_forever, NULL), 0);
    for (unsigned i = 0; i < 50; i++) {
        pid_t pid;

        fb_modules_fork_prepare();
        pid = fork();
        if (pid == 0) {
            fb_modules_fork_child();
            alarm(20); /* a lock that the child inherited */
            _exit(child_checks());
        }
        fb_modules_fork_parent();
        assert_true(pid > 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    atomic_store(&churn_over, true);
    pthread_join(scanner, NULL);
    atomic_store(&churn_over, false);
}

/* --- memory that goes away ------------------------------------------------ */

static void check_reader(const struct fb_self_read *reader)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = 40 * page;
    uint8_t *from = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *to = calloc(1, size);

    assert_ptr_not_equal(from, MAP_FAILED);
    for (size_t i = 0; i < size; i++)
        from[i] = (uint8_t)(i * 7 + i / page);
    assert_int_equal(fb_self_read(reader, address_of(from), to, size), size);
    assert_memory_equal(from, to, size);
    munmap(from + 20 * page, page);
    assert_int_equal(fb_self_read(reader, address_of(from) + 5, to, size - 5), 20 * page - 5);
    assert_int_equal(fb_self_read(reader, address_of(from) + 20 * page, to, page), 0);
    munmap(from, 20 * page);
    munmap(from + 21 * page, size - 21 * page);
    free(to);
}

static void reading_ourselves_stops_at_an_unmapped_page(void **ctx)
{
    struct fb_self_read reader;

    (void)ctx;
    fb_self_read_open(&reader);
    assert_true(reader.mem >= 0);
    check_reader(&reader);
    fb_self_read_close(&reader);
}

static void reading_ourselves_through_a_pipe_does_the_same(void **ctx)
{
    struct fb_self_read reader;

    (void)ctx;
    assert_true(fb_self_read_open_pipe(&reader));
    assert_int_equal(reader.mem, -1);
    check_reader(&reader);
    close(reader.pipe[1]); /* the host closes it, and its number is used for something else */
    assert_int_equal(dup2(STDERR_FILENO, reader.pipe[1]), reader.pipe[1]);
    assert_int_equal(fb_self_read(&reader, address_of(&reader), &(char){0}, 1), 0);
    fb_self_read_close(&reader);
}

static void reading_ourselves_works_without_a_free_descriptor(void **ctx)
{
    struct fb_self_read reader;
    struct rlimit before;
    struct rlimit none;

    (void)ctx;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    fb_self_read_open(&reader);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(reader.mem, -1);
    assert_int_equal(reader.pipe[0], -1);
    check_reader(&reader);
    fb_self_read_close(&reader);
}

static void an_image_without_segments_is_refused(void **ctx)
{
    ElfW(Phdr) phdrs[2] = {{.p_type = PT_NOTE, .p_vaddr = 16, .p_memsz = 32},
                           {.p_type = PT_LOAD, .p_vaddr = UINT64_MAX - 4, .p_memsz = 4096}};
    struct fb_image image;

    (void)ctx;
    assert_false(fb_image_locate(phdrs, 2, 0, &image));
    assert_false(fb_image_locate(NULL, 0, 0, &image));
}

#if defined(__SANITIZE_THREAD__)
/* The loader's own locks are not seen from outside. */
const char *__tsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:ld-linux-x86-64.so.2\n";
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_scan_reports_everything_with_paths_and_build_ids),
        cmocka_unit_test(nothing_new_means_no_scan_and_no_event),
        cmocka_unit_test(a_plugin_is_found_while_loaded_and_shortly_after),
        cmocka_unit_test(a_reused_range_is_nobodys_between_two_looks),
        cmocka_unit_test(ids_are_not_reused),
        cmocka_unit_test(a_replaced_map_outlives_its_last_reader),
        cmocka_unit_test(walks_through_a_plugin_survive_scans_and_churn),
        cmocka_unit_test(a_child_of_fork_reports_all_modules_again),
        cmocka_unit_test(reading_ourselves_stops_at_an_unmapped_page),
        cmocka_unit_test(reading_ourselves_through_a_pipe_does_the_same),
        cmocka_unit_test(reading_ourselves_works_without_a_free_descriptor),
        cmocka_unit_test(an_image_without_segments_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
