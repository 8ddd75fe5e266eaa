/* test_found.c - code that the loader's list or .eh_frame does not show. */
#include <dlfcn.h>
#include <fcntl.h>
#include <iconv.h>
#include <link.h>
#include <netdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/modules.h"
#include "sampler/signal/code_map.h"
#include "sampler/signal/walk.h"
#include "tests/unit/sampler/all_tables.h"

enum { DEPTH_MAX = 128 };

#define PLUGIN     FB_BUILD "/tests/sampler_plugin.so"
#define DEBUG      FB_BUILD "/tests/sampler_plugin_debug.so"
#define COMPRESSED FB_BUILD "/tests/sampler_plugin_compressed.so"

typedef unsigned (*plugin_fn)(unsigned depth, void (*leaf)(void));

static struct fb_walk_range own_stack;
static struct fb_walk_cache cache;
static uint64_t pcs[DEPTH_MAX];
static unsigned depth;
static enum fb_walk_stop stop;
static char last_path[512];
static unsigned loads;

static void on_event(void *ctx, const struct fb_module_event *event)
{
    (void)ctx;
    if (!event->loaded)
        return;
    loads++;
    snprintf(last_path, sizeof last_path, "%s", event->path);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    depth = fb_walk_stack(context, &own_stack, &cache, pcs, DEPTH_MAX, &stop);
}

static void leaf(void)
{
    raise(SIGUSR2);
}

static int set_up(void **ctx)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    pthread_attr_t attr;
    void *low;
    size_t size;

    (void)ctx;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    own_stack = (struct fb_walk_range){(uintptr_t)low, (uintptr_t)low + size};
    return sigaction(SIGUSR2, &action, NULL);
}

static plugin_fn function_of(void *object)
{
    union {
        void *object;
        plugin_fn function;
    } symbol = {.object = object};

    return symbol.function;
}

static void look(void)
{
    loads = 0;
    for (unsigned i = 0; fb_modules_changed() && i < 10; i++)
        assert_true(fb_modules_scan(on_event, NULL));
}

/* Frames of a function of the plugin: without rows they are skipped, since below them rbp is still
 * that of the test. */
static unsigned frames_of(plugin_fn call)
{
    uint64_t start = (uint64_t)(uintptr_t)call;
    unsigned count = 0;

    for (unsigned i = 0; i < depth; i++)
        count += pcs[i] > start && pcs[i] < start + 128;
    return stop == FB_WALK_ROOT ? count : 0;
}

/* As the helper does it, until the walk has all that it asks for. */
static void call_until_whole(plugin_fn call, unsigned times, unsigned frames)
{
    struct timespec pause = {.tv_nsec = 110000000};

    for (unsigned i = 0; i < times; i++) {
        call(4, leaf);
        if (frames_of(call) == frames)
            return;
        look();
        fb_modules_tables_make();
        if (stop != FB_WALK_NO_TABLE)
            nanosleep(&pause, NULL); /* unknown code is looked into once a second */
    }
}

static void check_found(plugin_fn call, const char *path)
{
    struct fb_module_ref ref;

    assert_int_equal(frames_of(call), 5);
    assert_string_equal(last_path, path);
    assert_true(fb_modules_find((uint64_t)(uintptr_t)call, INT64_MAX, &ref));
}

/* --- .debug_frame ---------------------------------------------------------- */

static void code_with_debug_frame_alone_is_walked(void **ctx)
{
    void *handle = dlopen(DEBUG, RTLD_NOW);
    plugin_fn call;
    plugin_fn by_hand;

    (void)ctx;
    assert_non_null(handle);
    call = function_of(dlsym(handle, "plugin_call"));
    by_hand = function_of(dlsym(handle, "plugin_by_hand"));
    look();
    call_until_whole(call, 24, 5);
    check_found(call, DEBUG);
#if defined(__x86_64__)
    call_until_whole(by_hand, 24, 1);
    assert_int_equal(frames_of(by_hand), 1);
#endif
    (void)by_hand;
    dlclose(handle);
    look();
}

static void a_compressed_debug_frame_is_counted_and_left(void **ctx)
{
    void *handle = dlopen(COMPRESSED, RTLD_NOW);
    struct fb_modules_stats stats;
    plugin_fn call;

    (void)ctx;
    assert_non_null(handle);
    look();
    fb_modules_stats_get(&stats);
    assert_int_equal(stats.compressed, 0);
    call = function_of(dlsym(handle, "plugin_call"));
    call_until_whole(call, 8, 5);
    assert_int_not_equal(frames_of(call), 5);
    fb_modules_stats_get(&stats);
    assert_int_equal(stats.compressed, 1);
    dlclose(handle);
    look();
}

/* --- what the loader does not show ----------------------------------------- */

static uint32_t mapped_count(void)
{
    struct fb_modules_stats stats;

    fb_modules_stats_get(&stats);
    return stats.mapped;
}

static void libraries_of_another_namespace_are_found_and_forgotten(void **ctx)
{
    void *handle = dlmopen(LM_ID_NEWLM, PLUGIN, RTLD_NOW);
    plugin_fn call;

    (void)ctx;
    if (handle == NULL)
        skip(); /* a sanitizer's runtime does not like it */
    call = function_of(dlsym(handle, "plugin_call"));
    look();
    assert_int_equal(mapped_count(), 0);
    call_until_whole(call, 24, 5);
    assert_int_equal(frames_of(call), 5);
    assert_true(mapped_count() >= 1);
    dlclose(handle);
    look();
    assert_int_equal(mapped_count(), 0);
}

/* The segments of a file where there is room, without a loader. */
static uint8_t *map_by_hand(const char *path, size_t *ret_size)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) phdrs[16];
    size_t size = 0;
    uint8_t *base;
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &header, sizeof header, 0), sizeof header);
    assert_true(header.e_phnum <= 16);
    assert_true(pread(fd, phdrs, header.e_phnum * sizeof phdrs[0], (off_t)header.e_phoff) > 0);
    for (unsigned i = 0; i < header.e_phnum; i++)
        if (phdrs[i].p_type == PT_LOAD)
            size = phdrs[i].p_vaddr + phdrs[i].p_memsz;
    base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(base, MAP_FAILED);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        size_t in_page = phdrs[i].p_vaddr % 4096;
        int rights = PROT_READ | (phdrs[i].p_flags & PF_X ? PROT_EXEC : 0);

        if (phdrs[i].p_type == PT_LOAD && (phdrs[i].p_flags & PF_W) == 0)
            assert_ptr_not_equal(mmap(base + phdrs[i].p_vaddr - in_page,
                                      phdrs[i].p_filesz + in_page, rights, MAP_PRIVATE | MAP_FIXED,
                                      fd, (off_t)(phdrs[i].p_offset - in_page)),
                                 MAP_FAILED);
    }
    close(fd);
    *ret_size = size;
    return base;
}

static void a_file_mapped_by_hand_is_found(void **ctx)
{
    void *handle = dlopen(PLUGIN, RTLD_NOW);
    struct link_map *link;
    plugin_fn call;
    uint8_t *base;
    size_t size;

    (void)ctx;
    assert_non_null(handle);
    assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &link), 0);
    base = map_by_hand(PLUGIN, &size);
    /* Its code is position independent and calls itself directly. */
    call = function_of(base + ((uintptr_t)dlsym(handle, "plugin_call") - link->l_addr));
    look();
    call_until_whole(call, 24, 5);
    check_found(call, PLUGIN);
    assert_int_equal(mapped_count(), 1);
    munmap(base, size);
    dlclose(handle);
    look();
    assert_int_equal(mapped_count(), 0);
}

/* --- what the C library loads by itself ------------------------------------ */

static void libraries_of_iconv_and_name_services_are_seen(void **ctx)
{
    struct addrinfo *info;
    iconv_t convert;

    (void)ctx;
    look();
    convert = iconv_open("UTF-8", "EUC-JP");
    if (convert == (iconv_t)-1)
        skip();
    look();
    assert_true(loads >= 1);
    assert_non_null(strstr(last_path, "gconv/"));
    iconv_close(convert);
    if (getaddrinfo("localhost", "80", NULL, &info) == 0)
        freeaddrinfo(info);
    look();
    assert_false(fb_modules_changed());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_with_debug_frame_alone_is_walked),
        cmocka_unit_test(a_compressed_debug_frame_is_counted_and_left),
        cmocka_unit_test(libraries_of_another_namespace_are_found_and_forgotten),
        cmocka_unit_test(a_file_mapped_by_hand_is_found),
        cmocka_unit_test(libraries_of_iconv_and_name_services_are_seen),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
