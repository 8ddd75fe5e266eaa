/* test_jvm_threads.c - names of Java threads out of objects that may be anything. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/fault.h"
#include "sampler/jvm/fields.h"
#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/signal/thread.h"
#include "sampler/jvm/signal/vm.h"
#include "sampler/jvm/threads.h"
#include "sampler/real.h"
#include "sampler/signal/guard.h"
#include "tests/unit/sampler/fake_metaspace.h"

enum { THREADS = 3, FIELD_NAME = 12, FIELD_VALUE = 16, FIELD_CODER = 24 };

static struct sigaction fronts[2];

struct array {
    int32_t length;
    uint8_t bytes[256];
};

/* An InstanceKlass: its pool, and its fields in both forms. */
struct class
{
    struct fake_pool *pool;
    struct array *words;
    uint16_t count;
    uint16_t zero[3];
    struct array *stream;
};

struct flag {
    uint64_t address;
    const char *name;
    uint32_t origin;
    uint32_t type;
};

static bool narrow = true;
static const bool yes = true;
static struct flag flags[] = {{0, "UseCompressedOops", 5, 0},
                              {0, "UseCompressedClassPointers", 0, 0}};
static const struct flag *flags_start = flags;
static const uint64_t flag_count = 2;

static struct class *classes[2]; /* Thread, String */
static uint64_t class_at[2];
static uint64_t oop_base;
static uint32_t oop_shift;
static uint8_t *heap; /* objects, at multiples of 8 */
static size_t heap_used = 8;

struct system_thread {
    uint64_t zero;
    int32_t tid;
    int32_t more;
};

struct java_thread {
    uint64_t vtable;
    struct system_thread *system;
    uint64_t *object; /* the handle */
    struct java_thread *next;
};

static struct {
    uint64_t length;
    struct java_thread **threads;
} list;
static uint64_t list_at;
static struct java_thread threads[THREADS];

static size_t field_words(uint8_t *to, uint16_t name, uint16_t descriptor, uint32_t offset)
{
    uint16_t words[6] = {
        0, name, descriptor, 0, (uint16_t)(offset << 2 | 1), (uint16_t)(offset >> 14)};

    memcpy(to, words, sizeof words);
    return sizeof words;
}

static size_t field_numbers(uint8_t *to, uint8_t name, uint8_t descriptor, uint8_t offset,
                            uint8_t flags_of_it)
{
    uint8_t numbers[] = {(uint8_t)(name + 1),        (uint8_t)(descriptor + 1),
                         (uint8_t)(offset + 1),      3,
                         (uint8_t)(flags_of_it + 1), 9};

    memcpy(to, numbers, sizeof numbers);
    return flags_of_it != 0 ? 6 : 5;
}

/* With a field before them that is another one's. */
static struct class *class_make(const char *const (*fields)[2], const uint8_t *offsets, unsigned n)
{
    struct class *c = fake_take(sizeof *c);
    size_t words = 0, numbers = 0;

    c->pool = fake_take(sizeof *c->pool);
    c->words = fake_take(sizeof *c->words);
    c->stream = fake_take(sizeof *c->stream);
    c->pool->slots[0] = fake_symbol_make("other");
    words += field_words(c->words->bytes, 0, 0, 8);
    c->stream->bytes[numbers++] = (uint8_t)(n + 2);
    c->stream->bytes[numbers++] = 1;
    numbers += field_numbers(c->stream->bytes + numbers, 0, 0, 8, 1);
    for (unsigned i = 0; i < n; i++) {
        c->pool->slots[1 + 2 * i] = fake_symbol_make(fields[i][0]);
        c->pool->slots[2 + 2 * i] = fake_symbol_make(fields[i][1]);
        words += field_words(c->words->bytes + words, (uint16_t)(1 + 2 * i), (uint16_t)(2 + 2 * i),
                             offsets[i]);
        numbers += field_numbers(c->stream->bytes + numbers, (uint8_t)(1 + 2 * i),
                                 (uint8_t)(2 + 2 * i), offsets[i], 0);
    }
    c->count = (uint16_t)(n + 1);
    c->words->length = (int32_t)words / 2;
    c->stream->length = (int32_t)numbers;
    return c;
}

static void classes_make(void)
{
    static const char *const thread_fields[][2] = {{"name", "Ljava/lang/String;"}};
    static const char *const string_fields[][2] = {{"value", "[B"}, {"coder", "B"}};
    static const uint8_t thread_offsets[] = {FIELD_NAME},
                         string_offsets[] = {FIELD_VALUE, FIELD_CODER};

    classes[0] = class_make(thread_fields, thread_offsets, 1);
    classes[1] = class_make(string_fields, string_offsets, 2);
    for (int i = 0; i < 2; i++)
        class_at[i] = fake_address(classes[i]);
}

static uint32_t object_make(size_t size)
{
    uint32_t at = (uint32_t)heap_used;

    heap_used = (heap_used + size + 7) & ~(size_t)7;
    return at;
}

/* A String of these bytes; its packed reference. */
static uint32_t string_make(const void *bytes, uint32_t n, uint8_t coder)
{
    uint32_t array = object_make(16 + n), string = object_make(32), packed = array >> 3;

    memcpy(heap + array + 12, &n, 4);
    memcpy(heap + array + 16, bytes, n);
    memcpy(heap + string + FIELD_VALUE, &packed, 4);
    heap[string + FIELD_CODER] = coder;
    return string >> 3;
}

static void thread_rename(int i, const void *bytes, uint32_t n, uint8_t coder)
{
    uint32_t name = string_make(bytes, n, coder);

    memcpy((void *)(uintptr_t)(*threads[i].object + FIELD_NAME), &name, 4);
}

static void layout_make(void)
{
    struct fb_jvm_layout *l = &fb_jvm.layout;

    *l = fake_layout();
    l->class_pool = offsetof(struct class, pool);
    l->class_fields = offsetof(struct class, words);
    l->class_field_count = offsetof(struct class, count);
    l->thread_class_at = fake_address(&class_at[0]);
    l->string_class_at = fake_address(&class_at[1]);
    l->oop_base_at = fake_address(&oop_base);
    l->oop_shift_at = fake_address(&oop_shift);
    l->z_globals_at = 0;
    l->flags_at = fake_address(&flags_start);
    l->flag_count_at = fake_address(&flag_count);
    l->flag_address = offsetof(struct flag, address);
    l->flag_name = offsetof(struct flag, name);
    l->flag_origin = offsetof(struct flag, origin);
    l->flag_type = offsetof(struct flag, type);
    l->flag_size = sizeof(struct flag);
    l->thread_object_handle = 8;
    l->thread_object = offsetof(struct java_thread, object);
    l->thread_osthread = offsetof(struct java_thread, system);
    l->osthread_tid = offsetof(struct system_thread, tid);
    l->thread_list_at = fake_address(&list_at);
    l->list_length = 0;
    l->list_threads = 8;
}

static int group_set_up(void **ctx)
{
    (void)ctx;
    fb_real_find();
    fb_fault_start();
    if (!fb_fault_need())
        return 1;
    fb_real.sigaction(SIGSEGV, NULL, &fronts[0]);
    fb_real.sigaction(SIGBUS, NULL, &fronts[1]);
    flags[0].address = fake_address(&narrow);
    flags[1].address = fake_address(&yes);
    heap = fake_take(1 << 16);
    oop_base = fake_address(heap);
    oop_shift = 3;
    classes_make();
    layout_make();
    list.threads = fake_take(THREADS * sizeof *list.threads);
    for (int i = 0; i < THREADS; i++) {
        threads[i].system = fake_take(sizeof *threads[i].system);
        threads[i].system->tid = 1000 - i;
        threads[i].object = fake_take(8);
        *threads[i].object = fake_address(heap + object_make(64));
        list.threads[i] = &threads[i];
    }
    list.length = THREADS;
    list_at = fake_address(&list);
    fb_jvm_activate(true);
    fb_jvm_thread_open = true;
    return 0;
}

/* cmocka puts handlers of its own there for every test. */
static void front_set(void)
{
    fb_real.sigaction(SIGSEGV, &fronts[0], NULL);
    fb_real.sigaction(SIGBUS, &fronts[1], NULL);
}

static bool name_of(int32_t tid, const char *comm, char name[FB_JVM_THREAD_NAME])
{
    struct fb_text text = {.data = name, .cap = FB_JVM_THREAD_NAME};

    name[0] = '\0';
    return fb_jvm_thread_name(tid, comm, &text);
}

static void comm_agrees_with_its_name_alone(void **ctx)
{
    (void)ctx;
    assert_true(fb_jvm_thread_agrees("main", "main"));
    assert_true(fb_jvm_thread_agrees("grpc-default-wo", "grpc-default-worker-ELG-1-2"));
    assert_true(fb_jvm_thread_agrees("exactly fifteen", "exactly fifteen"));
    assert_true(fb_jvm_thread_agrees("Dispatcher-W..2", "Dispatcher-Worker-12"));
    assert_true(fb_jvm_thread_agrees("Dispatcher-..21", "Dispatcher-Worker-Thread-21"));
    assert_false(fb_jvm_thread_agrees("java", "main"));
    assert_false(fb_jvm_thread_agrees("mai", "main"));
    assert_false(fb_jvm_thread_agrees("main", "mai"));
    assert_false(fb_jvm_thread_agrees("", "main"));
    assert_false(fb_jvm_thread_agrees("grpc-default-wo", "grpc-default-w"));
    assert_false(fb_jvm_thread_agrees("Dispatcher-..21", "Dispatcher-Worker-Thread-22"));
    assert_false(fb_jvm_thread_agrees("..............1", "................................1"));
    assert_false(fb_jvm_thread_agrees("Dispatch..r-21", "Dispatcher-21"));
}

static void fields_are_found_in_both_forms(void **ctx)
{
    uint32_t offset;

    (void)ctx;
    front_set();
    for (int stream = 0; stream < 2; stream++) {
        fb_jvm.layout.class_field_stream = stream ? (int32_t)offsetof(struct class, stream) : -1;
        assert_true(fb_jvm_field_find(class_at[0], "name", "Ljava/lang/String;", &offset));
        assert_int_equal(offset, FIELD_NAME);
        assert_true(fb_jvm_field_find(class_at[1], "value", "[B", &offset));
        assert_int_equal(offset, FIELD_VALUE);
        assert_true(fb_jvm_field_find(class_at[1], "coder", "B", &offset));
        assert_int_equal(offset, FIELD_CODER);
        assert_false(fb_jvm_field_find(class_at[1], "coder", "C", &offset));
        assert_false(fb_jvm_field_find(class_at[1], "hash", "I", &offset));
        assert_false(fb_jvm_field_find(8, "hash", "I", &offset));
    }
    fb_jvm.layout.class_field_stream = -1;
}

static void whole_names_are_read_where_comm_agrees(void **ctx)
{
    static const uint16_t wide[] = {'w', 'o', 'r', 'k', 'e', 'r', '-', 0x20ac, 0xd83d, 0xde00, 'x'};
    char name[FB_JVM_THREAD_NAME];
    char long_name[200];

    (void)ctx;
    front_set();
    thread_rename(0, "grpc-default-worker-ELG-1-2", 27, 0);
    thread_rename(1, wide, sizeof wide, 1);
    memset(long_name, '\xe4', sizeof long_name); /* latin1: two bytes each */
    thread_rename(2, long_name, sizeof long_name, 0);
    assert_true(name_of(1000, "grpc-default-wo", name));
    assert_string_equal(name, "grpc-default-worker-ELG-1-2");
    assert_false(name_of(1000, "java", name));
    assert_true(name_of(999, "worker-\xe2\x82\xac\xf0\x9f\x98\x80x", name));
    assert_string_equal(name, "worker-\xe2\x82\xac\xf0\x9f\x98\x80x");
    assert_true(name_of(998, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3", name));
    assert_int_equal(strlen(name), FB_JVM_THREAD_NAME - 2); /* no letter in part */
    assert_false(name_of(17, "grpc-default-wo", name));
    thread_rename(0, "grpc-default-worker-ELG-1-7", 27, 0);
    assert_true(name_of(1000, "grpc-default-wo", name));
    assert_string_equal(name, "grpc-default-worker-ELG-1-7");
}

/* As JDK 11 has its threads: each knows the next one, and its object itself. */
static void threads_may_be_a_chain(void **ctx)
{
    char name[FB_JVM_THREAD_NAME];
    uint64_t *handles[THREADS];
    struct fb_jvm_members m;
    uint64_t thread;
    unsigned n = 0;

    (void)ctx;
    front_set();
    fb_jvm.layout.release = 11;
    fb_jvm.layout.list_length = fb_jvm.layout.list_threads = FB_JVM_ABSENT;
    fb_jvm.layout.thread_next = offsetof(struct java_thread, next);
    list_at = fake_address(&threads[0]);
    for (int i = 0; i < THREADS; i++) {
        threads[i].next = i + 1 < THREADS ? &threads[i + 1] : NULL;
        handles[i] = threads[i].object;
        threads[i].object = (uint64_t *)(uintptr_t)*handles[i];
    }
    assert_true(fb_jvm_members_begin(&m, list_at));
    while (fb_jvm_members_next(&m, &thread))
        assert_true(thread == fake_address(&threads[n++]));
    assert_int_equal(n, THREADS);
    assert_true(name_of(1000, "grpc-default-wo", name));
    assert_string_equal(name, "grpc-default-worker-ELG-1-7");
    threads[THREADS - 1].next = &threads[0]; /* one that ends nowhere is bounded */
    assert_true(fb_jvm_members_begin(&m, list_at));
    for (n = 0; fb_jvm_members_next(&m, &thread); n++)
        assert_true(n < 1 << 20);
    threads[1].next = (struct java_thread *)(uintptr_t)24; /* or leads to what cannot be read */
    assert_true(fb_jvm_members_begin(&m, list_at));
    for (n = 0; fb_jvm_members_next(&m, &thread); n++)
        assert_true(n < 2);
    for (int i = 0; i < THREADS; i++)
        threads[i].object = handles[i];
    layout_make();
    list_at = fake_address(&list);
}

/* Whatever the objects are, and whichever load fails: a name that agrees, or none. */
static void objects_that_are_gone_have_no_name(void **ctx)
{
    static const uint32_t rates[] = {2, 3, 7, 10, 100, 1000};
    char name[FB_JVM_THREAD_NAME];
    uint32_t seed = 5;
    unsigned found = 0;

    (void)ctx;
    front_set();
    for (unsigned r = 0; r < sizeof rates / sizeof rates[0]; r++) {
        atomic_store(&fb_guard_inject_every, rates[r]);
        for (int i = 0; i < 200; i++)
            if (name_of(1000, "grpc-default-wo", name)) {
                assert_string_equal(name, "grpc-default-worker-ELG-1-7");
                found++;
            }
        atomic_store(&fb_guard_inject_every, 0);
    }
    assert_true(found > 0);
    for (int i = 0; i < 3000; i++) {
        uint64_t object = *threads[0].object;
        uint8_t before[64];

        memcpy(before, (void *)(uintptr_t)object, sizeof before);
        for (unsigned k = 0; k < sizeof before; k++) {
            seed = seed * 1664525 + 1013904223;
            ((uint8_t *)(uintptr_t)object)[k] = (uint8_t)(seed >> 24);
        }
        if (name_of(1000, "grpc-default-wo", name))
            assert_memory_equal(name, "grpc-default-wo", 15);
        memcpy((void *)(uintptr_t)object, before, sizeof before);
        *threads[0].object = (uint64_t)seed << (seed & 31);
        assert_false(name_of(1000, "grpc-default-wo", name));
        *threads[0].object = object;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comm_agrees_with_its_name_alone),
        cmocka_unit_test(fields_are_found_in_both_forms),
        cmocka_unit_test(whole_names_are_read_where_comm_agrees),
        cmocka_unit_test(threads_may_be_a_chain),
        cmocka_unit_test(objects_that_are_gone_have_no_name),
    };

    return cmocka_run_group_tests(tests, group_set_up, NULL);
}
