/* start.c - see start.h. */
#include "sampler/jvm/start.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler/fault.h"
#include "sampler/jvm/chunks.h"
#include "sampler/jvm/continuation.h"
#include "sampler/jvm/flags.h"
#include "sampler/jvm/layout.h"
#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/signal/code.h"
#include "sampler/jvm/signal/memo.h"
#include "sampler/jvm/signal/names.h"
#include "sampler/jvm/signal/vm.h"
#include "sampler/jvm/stubs.h"
#include "sampler/jvm/tables.h"
#include "sampler/memory.h"
#include "sampler/say.h"
#include "sampler/self_read.h"
#include "sampler/text.h"

enum {
    PATH_MAX_BYTES = 512,
    WHY_BYTES = 320,
    CODE_BYTES_MAX_LOG2 = 32,
    SEGMENT_LOG2_MAX = 16,
    CODELETS_MAX = 4096,
    NAME_BYTES = 32,
    THREADS_MIN = 2,           /* with the second one the interpreter is whole */
    RELOCATION_NS = 400000000, /* by then the loader has made its addresses */
    PATIENCE_NS = 1000000000,  /* and what is wrong then stays so */
};

/* A JVM that is not ready after so long is looked at once a second. */
static const uint64_t slow_ns = 5000000000;

static struct {
    enum fb_jvm_state state;
    uint32_t module; /* the library's id */
    uint64_t start;
    uint64_t bias;
    bool laid_out;     /* fb_jvm.layout is filled                           */
    bool launcher;     /* the program has the JVM's launcher                */
    uint64_t since_ns; /* when what is waited for was first waited for      */
    uint64_t next_ns;
    char path[PATH_MAX_BYTES];
    char why[WHY_BYTES];
} jvm;

/* --- reading --------------------------------------------------------------------- */

static bool get(const struct fb_self_read *r, uint64_t address, void *to, size_t size)
{
    return fb_self_read(r, address, to, size) == size;
}

static bool get_64(const struct fb_self_read *r, uint64_t object, int32_t offset, uint64_t *ret)
{
    return offset >= 0 && get(r, object + (uint32_t)offset, ret, sizeof *ret);
}

static bool get_32(const struct fb_self_read *r, uint64_t object, int32_t offset, uint32_t *ret)
{
    return offset >= 0 && get(r, object + (uint32_t)offset, ret, sizeof *ret);
}

/* --- what the tables do not prove ------------------------------------------------ */

enum ready { NOT_YET, READY, WRONG };

static const char *wrong_text;

static enum ready wrong(const char *text)
{
    wrong_text = text;
    return WRONG;
}

static bool in_code(const struct fb_jvm *vm, uint64_t pc)
{
    return pc >= vm->code_low && pc < vm->code_high;
}

static enum ready heap_read(const struct fb_self_read *r, uint64_t heap, struct fb_jvm *vm,
                            struct fb_jvm_heap *ret)
{
    const struct fb_jvm_layout *l = &vm->layout;
    uint64_t memory = heap + (uint32_t)l->heap_memory;
    uint64_t segments = heap + (uint32_t)l->heap_segments;
    uint64_t high;

    ret->high_at = memory + (uint32_t)l->space_high;
    if (!get_64(r, memory, l->space_low, &ret->low) || !get(r, ret->high_at, &high, 8) ||
        !get_64(r, segments, l->space_low, &ret->segments) ||
        !get_32(r, heap, l->heap_log2_segment, &ret->log2_segment))
        return wrong("has a code heap that cannot be read");
    if (ret->low == 0 || ret->segments == 0)
        return NOT_YET;
    if (!in_code(vm, ret->low) || high < ret->low || high > vm->code_high ||
        ret->log2_segment < 3 || ret->log2_segment > SEGMENT_LOG2_MAX)
        return wrong("has a code heap that is not in its code cache");
    return READY;
}

static enum ready heaps_read(const struct fb_self_read *r, struct fb_jvm *vm)
{
    const struct fb_jvm_layout *l = &vm->layout;
    enum ready ready = READY;
    uint64_t array;
    uint64_t data;
    uint32_t count;

    if (!get(r, l->heaps_at, &array, 8) || !get(r, l->code_low_at, &vm->code_low, 8) ||
        !get(r, l->code_high_at, &vm->code_high, 8))
        return wrong("has a code cache that cannot be read");
    if (array == 0 || vm->code_high == 0 || vm->code_low >= vm->code_high)
        return NOT_YET;
    if ((vm->code_high - vm->code_low) >> CODE_BYTES_MAX_LOG2 != 0)
        return wrong("has a code cache of impossible size");
    if (!get_32(r, array, l->array_length, &count) || !get_64(r, array, l->array_data, &data))
        return wrong("has a code cache that cannot be read");
    if (count == 0)
        return NOT_YET;
    if (count > FB_JVM_HEAPS_MAX)
        return wrong("has more code heaps than are known");
    for (vm->heap_count = 0; vm->heap_count < count && ready == READY; vm->heap_count++) {
        uint64_t heap;

        if (!get(r, data + 8 * (uint64_t)vm->heap_count, &heap, 8))
            return wrong("has a code heap that cannot be read");
        ready = heap == 0 ? NOT_YET : heap_read(r, heap, vm, &vm->heaps[vm->heap_count]);
    }
    return ready;
}

/* Does the blob that holds pc bear this name?  The segment map is read as the handler reads it, but
 * through the reader. */
static bool blob_is_named(const struct fb_self_read *r, const struct fb_jvm *vm, uint64_t pc,
                          const char *name, uint64_t *ret_blob)
{
    const struct fb_jvm_layout *l = &vm->layout;
    char text[NAME_BYTES];
    uint64_t at;
    uint8_t back = 0;

    for (uint32_t i = 0; i < vm->heap_count; i++) {
        const struct fb_jvm_heap *h = &vm->heaps[i];
        uint64_t index = (pc - h->low) >> h->log2_segment;

        if (pc < h->low || !get(r, h->high_at, &at, 8) || pc >= at)
            continue;
        for (uint64_t left = index; left != UINT64_MAX; left--) {
            if (!get(r, h->segments + index, &back, 1) || back == 0xff || back > index)
                return false;
            if (back == 0)
                break;
            index -= back;
        }
        at = h->low + (index << h->log2_segment) + vm->block_header;
        *ret_blob = at;
        return get_64(r, at, l->blob_name, &at) && get(r, at, text, sizeof text) &&
               strncmp(text, name, strlen(name)) == 0;
    }
    return false;
}

/* Where in the interpreter methods begin: its parts one after the other, with a text each. */
static void entries_find(const struct fb_self_read *r, struct fb_jvm *vm)
{
    static const char wanted[] = "method entry point";
    const struct fb_jvm_layout *l = &vm->layout;
    uint64_t at = vm->interpreter_low;
    char text[sizeof wanted];
    uint64_t description;
    uint32_t size;

    for (unsigned i = 0; i < CODELETS_MAX && at < vm->interpreter_high; i++, at += size) {
        if (!get_32(r, at, l->codelet_size, &size) || size < 8 ||
            size > vm->interpreter_high - at ||
            !get_64(r, at, l->codelet_description, &description))
            return;
        if (description == 0 || !get(r, description, text, sizeof text - 1) ||
            memcmp(text, wanted, sizeof wanted - 1) != 0)
            continue;
        if (vm->entries_low == 0)
            vm->entries_low = at;
        vm->entries_high = at + size;
    }
}

static enum ready code_read(const struct fb_self_read *r, struct fb_jvm *vm)
{
    const struct fb_jvm_layout *l = &vm->layout;
    uint64_t queue;
    uint64_t blob;
    uint32_t limit;
    uint32_t size;

    if (!get(r, l->call_stub_return_at, &vm->call_stub_return, 8) ||
        !get(r, l->interpreter_at, &queue, 8))
        return wrong("has no interpreter that can be read");
    if (vm->call_stub_return == 0 || queue == 0)
        return NOT_YET;
    if (!get_64(r, queue, l->queue_buffer, &vm->interpreter_low) ||
        !get_32(r, queue, l->queue_limit, &limit))
        return wrong("has no interpreter that can be read");
    if (vm->interpreter_low == 0)
        return NOT_YET;
    if (!in_code(vm, vm->interpreter_low) ||
        !blob_is_named(r, vm, vm->interpreter_low, "Interpreter", &blob) ||
        !get_32(r, blob, l->blob_size, &size) || blob + size > vm->code_high)
        return wrong("has its interpreter where it cannot be");
    /* The queue keeps the room that it was made with; what was left of it has been given back. */
    vm->interpreter_high =
        vm->interpreter_low + limit < blob + size ? vm->interpreter_low + limit : blob + size;
    if (!in_code(vm, vm->call_stub_return) ||
        !blob_is_named(r, vm, vm->call_stub_return, "StubRoutines", &blob))
        return wrong("has its call stub where it cannot be");
    entries_find(r, vm);
    return READY;
}

/* The first thread of the list, and how many there are (where each knows the next: 2 for more). */
static bool list_read(const struct fb_self_read *r, const struct fb_jvm_layout *l, uint64_t list,
                      uint64_t *ret_thread, uint32_t *ret_count)
{
    uint64_t members;

    if (l->list_length >= 0)
        return get_32(r, list, l->list_length, ret_count) &&
               (*ret_count == 0 ||
                (get_64(r, list, l->list_threads, &members) && get(r, members, ret_thread, 8)));
    *ret_thread = list;
    if (!get_64(r, list, l->thread_next, &members))
        return false;
    *ret_count = members == 0 ? 1 : 2;
    return true;
}

static enum ready thread_read(const struct fb_self_read *r, struct fb_jvm *vm, uint32_t *ret_count)
{
    const struct fb_jvm_layout *l = &vm->layout;
    uint64_t list;
    uint64_t thread;
    uint64_t system;
    uint64_t base;
    uint64_t size;
    uint32_t tid;

    if (!get(r, l->thread_list_at, &list, 8))
        return wrong("has no list of threads that can be read");
    if (list == 0 || !list_read(r, l, list, &thread, ret_count) || *ret_count < THREADS_MIN)
        return NOT_YET;
    if (!get_64(r, thread, l->thread_osthread, &system) ||
        !get_64(r, thread, l->thread_stack_base, &base) ||
        !get_64(r, thread, l->thread_stack_size, &size))
        return wrong("has a list of threads that cannot be read");
    if (system == 0 || base == 0)
        return NOT_YET;
    if (!get_32(r, system, l->osthread_tid, &tid))
        return wrong("has threads that cannot be read");
    if (tid == 0)
        return NOT_YET;
    if (base % 4096 != 0 || size < 4096 || size >= base ||
        syscall(SYS_tgkill, getpid(), (int)tid, 0) != 0)
        return wrong("has threads that are none of this process");
    return READY;
}

/* --- the way from a library to a walk -------------------------------------------- */

static void refuse(const char *why)
{
    struct fb_text text = {.data = jvm.why, .cap = sizeof jvm.why};
    char said[WHY_BYTES + 64];
    struct fb_text line = {.data = said, .cap = sizeof said};

    jvm.state = FB_JVM_REFUSED;
    fb_text_str(&text, why);
    if (strcmp(why, FB_JVM_IS_NONE) == 0)
        return;
    fb_text_str(&line, jvm.why);
    fb_text_str(&line, ", so that Java code is not walked");
    fb_say(FB_SAY_ALWAYS, jvm.path, said, NULL, 0);
}

/* A library is in the loader's list before its addresses are relocated: what is wrong with it now
 * may be right in a moment. */
static bool tables_take(const struct fb_self_read *r, bool patient)
{
    struct fb_jvm_tables tables;
    const char *why = "";
    bool ok;

    ok = fb_jvm_tables_read(r, jvm.start, &tables, &why) &&
         fb_jvm_layout_fill(&tables, r, &fb_jvm.layout, &why);
    fb_jvm_tables_free(&tables);
    if (!ok && !patient)
        refuse(why);
    jvm.laid_out = ok;
    return ok;
}

/* In the helper's thread the front of SIGSEGV may recover guarded loads, too. */
static void faults_unblock(void)
{
    sigset_t set;

    if (fb_jvm_thread_open)
        return;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    sigaddset(&set, SIGBUS);
    fb_jvm_thread_open = pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0;
}

static bool memory_take(void)
{
    void *names;

    if (fb_jvm.cache != NULL)
        return true;
    names = fb_memory_map(FB_JVM_NAMES_BYTES);
    if (names == NULL)
        return false;
    fb_jvm_names_init(names, &fb_jvm.layout);
    fb_jvm.memo = fb_memory_map(FB_JVM_MEMO_BYTES);
    fb_jvm.cache = fb_memory_map(FB_JVM_CACHE_BYTES);
    return fb_jvm.cache != NULL;
}

static uint32_t guard_bytes(void)
{
    long page = sysconf(_SC_PAGESIZE);
    uint32_t zones = page > 0 && page < 1 << 20 ? (uint32_t)page * FB_JVM_GUARD_ZONES : 0;

    return zones > FB_JVM_GUARD_PAGES * 4096 ? zones : FB_JVM_GUARD_PAGES * 4096;
}

/* What is wrong while the JVM makes itself may be right in a moment, as with tables_take(). */
static void ready_look(const struct fb_self_read *r, bool patient)
{
    struct fb_jvm vm = fb_jvm;
    uint32_t threads;
    enum ready ready;

    vm.guard_bytes = guard_bytes();
    vm.block_header = ((uint32_t)vm.layout.block_size + 7) & ~7u;
    ready = heaps_read(r, &vm);
    if (ready == READY)
        ready = code_read(r, &vm);
    if (ready == READY)
        ready = thread_read(r, &vm, &threads);
    if (ready == WRONG && !patient)
        refuse(wrong_text);
    if (ready != READY)
        return;
    if (!fb_fault_need()) {
        refuse("runs where no handler of SIGSEGV may be set");
        return;
    }
    if (!memory_take()) {
        refuse("cannot be walked for want of memory");
        return;
    }
    vm.cache = fb_jvm.cache;
    vm.memo = fb_jvm.memo;
    fb_jvm_continuation_find(r, jvm.path, jvm.bias, &vm.layout);
    fb_jvm = vm;
    jvm.state = FB_JVM_WALKED;
    faults_unblock();
    fb_jvm_activate(true);
}

/* A JVM that was destroyed has no threads; another one cannot come. */
static void alive_look(const struct fb_self_read *r)
{
    struct fb_jvm vm = fb_jvm;
    uint32_t threads = 0;

    if (thread_read(r, &vm, &threads) == READY || threads > 0)
        return;
    fb_jvm_activate(false);
    jvm.state = FB_JVM_GONE;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Programs look into several libraries until they find the one that they like: until one is walked
 * the last one counts. */
static bool may_be_another(void)
{
    return jvm.state != FB_JVM_WALKED && jvm.state != FB_JVM_GONE;
}

void fb_jvm_module(const struct fb_module_event *event)
{
    struct fb_text path = {.data = jvm.path, .cap = sizeof jvm.path};

    if (!event->loaded) {
        if (jvm.state != FB_JVM_NONE && event->id == jvm.module) {
            fb_jvm_activate(false);
            jvm.state = may_be_another() ? FB_JVM_NONE : FB_JVM_GONE;
        }
        return;
    }
    if (strcmp(base_name(event->path), "libjli.so") == 0)
        jvm.launcher = true;
    if (!may_be_another() || strcmp(base_name(event->path), "libjvm.so") != 0)
        return;
    jvm.state = FB_JVM_COMING;
    jvm.laid_out = false;
    jvm.module = event->id;
    jvm.start = event->start;
    jvm.bias = event->bias;
    jvm.since_ns = 0;
    fb_text_str(&path, event->path);
    fb_jvm_flags_forget();
    fb_fault_need();
}

uint64_t fb_jvm_next_ns(void)
{
    return jvm.next_ns;
}

bool fb_jvm_due(uint64_t now_ns)
{
    return now_ns >= jvm.next_ns && jvm.next_ns != 0;
}

void fb_jvm_look(uint64_t now_ns)
{
    bool waits = jvm.state == FB_JVM_COMING || (jvm.state == FB_JVM_NONE && jvm.launcher);
    struct fb_self_read reader;

    if (waits && jvm.since_ns == 0)
        jvm.since_ns = now_ns;
    if (jvm.state == FB_JVM_WALKED)
        faults_unblock();
    if (jvm.state == FB_JVM_COMING || jvm.state == FB_JVM_WALKED) {
        fb_self_read_open(&reader);
        if (jvm.state == FB_JVM_WALKED)
            alive_look(&reader);
        else if (jvm.laid_out || tables_take(&reader, now_ns - jvm.since_ns < RELOCATION_NS)) {
            fb_jvm_flags_begin(&reader, &fb_jvm.layout);
            ready_look(&reader, now_ns - jvm.since_ns < PATIENCE_NS);
        }
        if (jvm.state == FB_JVM_WALKED) {
            fb_jvm_stubs_look(&reader, jvm.path, jvm.bias);
            fb_jvm_chunks_look(&reader);
        }
        fb_self_read_close(&reader);
        waits = jvm.state == FB_JVM_COMING;
    }
    jvm.next_ns = waits && now_ns - jvm.since_ns < slow_ns ? now_ns + FB_JVM_POLL_NS : 0;
}

enum fb_jvm_state fb_jvm_state(const char **ret_why)
{
    *ret_why = jvm.why;
    return jvm.state;
}

const char *fb_jvm_library(void)
{
    return jvm.path;
}
