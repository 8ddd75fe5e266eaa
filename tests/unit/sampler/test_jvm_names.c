/* test_jvm_names.c - names of methods that change, vanish and come back while they are read. */
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

#include <cmocka.h>

#include "sampler/fault.h"
#include "sampler/jvm/signal/names.h"
#include "sampler/real.h"
#include "sampler/signal/guard.h"
#include "tests/unit/sampler/fake_metaspace.h"

enum { THREADS = 4, METHODS = 2000, LOOKUPS = 60000 };

static struct sigaction fronts[2];
static struct fb_jvm_layout layout;
static void *memory;

static void names_begin(void)
{
    if (memory != NULL)
        munmap(memory, FB_JVM_NAMES_BYTES);
    memory = mmap(NULL, FB_JVM_NAMES_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    layout = fake_layout();
    fb_jvm_names_init(memory, &layout);
    fb_real.sigaction(SIGSEGV, &fronts[0], NULL);
    fb_real.sigaction(SIGBUS, &fronts[1], NULL);
}

static const struct fb_jvm_name_text *text_of(uint32_t id)
{
    return (const struct fb_jvm_name_text *)(const void *)(fb_jvm_names.text +
                                                           fb_jvm_names.entries[id].text);
}

/* "class method descriptor" of an id. */
static void whole_of(uint32_t id, char *to, size_t size)
{
    const struct fb_jvm_name_text *t = text_of(id);

    if (t->is_plain)
        (void)snprintf(to, size, "%.*s", t->method_len, t->bytes);
    else
        (void)snprintf(to, size, "%.*s %.*s %.*s", t->class_len, t->bytes, t->method_len,
                       t->bytes + t->class_len, t->descriptor_len,
                       t->bytes + t->class_len + t->method_len);
}

static void check_name(uint32_t id, const char *expected)
{
    char text[2048];

    assert_true(id >= FB_JVM_NAME_FIRST);
    whole_of(id, text, sizeof text);
    assert_string_equal(text, expected);
}

static void a_method_has_one_id_and_its_name(void **ctx)
{
    struct fake_method *one = fake_method_make("java/util/HashMap", "put", "(Ljava/lang/Object;)V");
    struct fake_method *two = fake_method_make("java/util/HashMap", "put", "(I)V");
    uint32_t id;

    (void)ctx;
    names_begin();
    id = fb_jvm_method_name(fake_address(one));
    check_name(id, "java/util/HashMap put (Ljava/lang/Object;)V");
    assert_int_equal(fb_jvm_method_name(fake_address(one)), id);
    check_name(fb_jvm_method_name(fake_address(two)), "java/util/HashMap put (I)V");
    assert_int_not_equal(fb_jvm_method_name(fake_address(two)), id);
    one->constant->pool->slots[3]->hash_and_count += 5; /* somebody else refers to it as well */
    assert_int_equal(fb_jvm_method_name(fake_address(one)), id);
    fake_method_free(one);
    fake_method_free(two);
}

/* Each pointer and each symbol on the way may be another's after a class was unloaded. */
static void memory_that_is_used_again_has_a_new_name(void **ctx)
{
    struct fake_method *m = fake_method_make("p/Old", "run", "()V");
    struct fake_method *n = fake_method_make("p/New", "run", "()V");
    struct fake_symbol *s = m->constant->pool->holder->name, *before = s;
    uint32_t old, id;

    (void)ctx;
    for (int with_hash = 0; with_hash < 2; with_hash++) {
        names_begin();
        fb_jvm_names.symbol_word = with_hash != 0;
        memcpy(s->body, "p/Old", 5);
        old = fb_jvm_method_name(fake_address(m));
        m->constant->pool->holder->name = n->constant->pool->holder->name;
        check_name(fb_jvm_method_name(fake_address(m)), "p/New run ()V");
        m->constant->pool->holder->name = before;
        s->hash_and_count += 1 << 16; /* the same memory is another symbol */
        memcpy(s->body, "p/Xyz", 5);
        id = fb_jvm_method_name(fake_address(m));
        check_name(id, "p/Xyz run ()V");
        m->constant->pool->slots[5]->length = 2;
        m->constant->pool->slots[5]->hash_and_count += 1 << 16;
        check_name(fb_jvm_method_name(fake_address(m)), "p/Xyz run ()");
        m->constant->pool->slots[5]->length = 3;
        check_name(old, "p/Old run ()V");
    }
    fake_method_free(m);
    fake_method_free(n);
}

static void what_cannot_be_read_has_no_name(void **ctx)
{
    struct fake_method *m = fake_method_make("a/B", "c", "()V");
    struct fake_const *constant = m->constant;
    void *gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)ctx;
    names_begin();
    assert_int_equal(fb_jvm_method_name(0), FB_JVM_NAME_NONE);
    assert_int_equal(fb_jvm_method_name(7), FB_JVM_NAME_NONE);
    assert_int_equal(fb_jvm_method_name(fake_address(m) + 1), FB_JVM_NAME_NONE);
    assert_int_equal(fb_jvm_method_name(fake_address(gone)), FB_JVM_NAME_NONE);
    m->constant = gone;
    assert_int_equal(fb_jvm_method_name(fake_address(m)), FB_JVM_NAME_NONE);
    m->constant = constant;
    constant->name_index = 6; /* an empty slot */
    assert_int_equal(fb_jvm_method_name(fake_address(m)), FB_JVM_NAME_NONE);
    assert_int_equal(fb_jvm_blob_name(fake_address(gone)), FB_JVM_NAME_NONE);
    assert_int_equal(atomic_load(&fb_jvm_names.refused), 0);
    munmap(gone, 4096);
    fake_method_free(m);
}

static void long_names_are_cut(void **ctx)
{
    struct fake_method *m;
    char class_name[1001], descriptor[901];
    const struct fb_jvm_name_text *t;

    (void)ctx;
    names_begin();
    memset(class_name, 'c', 1000);
    memset(descriptor, 'd', 900);
    class_name[1000] = descriptor[900] = '\0';
    m = fake_method_make(class_name, "m", descriptor);
    t = text_of(fb_jvm_method_name(fake_address(m)));
    assert_int_equal(t->class_len, FB_JVM_CLASS_MAX);
    assert_int_equal(t->descriptor_len, FB_JVM_DESCRIPTOR_MAX);
    assert_memory_equal(t->bytes, class_name, FB_JVM_CLASS_MAX);
    assert_int_equal(t->bytes[FB_JVM_CLASS_MAX], 'm');
    fake_method_free(m);
}

static void stubs_have_plain_names(void **ctx)
{
    static const char name[] = "RuntimeStub - _new_array_Java";
    char long_name[FB_JVM_PLAIN_MAX + 1];
    uint32_t id;

    (void)ctx;
    names_begin();
    id = fb_jvm_blob_name(fake_address(name));
    check_name(id, name);
    assert_int_equal(fb_jvm_blob_name(fake_address(name)), id);
    check_name(fb_jvm_blob_name(fake_address(name) + 3), name + 3);
    assert_int_equal(fb_jvm_blob_name(fake_address("")), FB_JVM_NAME_NONE);
    memset(long_name, 'x', FB_JVM_PLAIN_MAX);
    long_name[FB_JVM_PLAIN_MAX] = '\0';
    assert_int_equal(fb_jvm_blob_name(fake_address(long_name)), FB_JVM_NAME_NONE);
}

/* The table is bounded: what is in it stays, what is not has the name of the loss. */
static void a_full_table_says_so(void **ctx)
{
    struct fake_method *m = fake_method_make("a/B", "c", "()V");
    struct fake_method *many = fake_take((FB_JVM_NAMES_MAX + 10) * sizeof *many);
    char text[64];
    uint32_t id, first = 0;

    (void)ctx;
    names_begin();
    for (uint32_t i = 0; i < FB_JVM_NAMES_MAX + 10; i++) {
        many[i].constant = m->constant;
        id = fb_jvm_method_name(fake_address(&many[i]));
        if (i == 0)
            first = id;
        if (i < FB_JVM_NAMES_MAX - FB_JVM_NAME_FIRST)
            assert_int_equal(id, i + FB_JVM_NAME_FIRST);
        else
            assert_int_equal(id, FB_JVM_NAME_FULL);
    }
    assert_int_equal(atomic_load(&fb_jvm_names.refused), 10 + FB_JVM_NAME_FIRST);
    assert_int_equal(fb_jvm_method_name(fake_address(&many[0])), first);
    check_name(first, "a/B c ()V");
    whole_of(FB_JVM_NAME_FULL, text, sizeof text);
    assert_string_equal(text, "[java method table full]");
    free(many);
    fake_method_free(m);
}

/* --- many threads, with loads that fail --------------------------------------------------------
 */

static struct fake_method *methods[METHODS];
static char expected[METHODS][64];
static _Atomic uint32_t ids[METHODS];
static _Atomic uint64_t wrong, named, unread;
static _Atomic bool over;

static void *look_up(void *arg)
{
    uint64_t seed = (uint64_t)(uintptr_t)arg;
    char text[2048];

    for (unsigned i = 0; i < LOOKUPS; i++) {
        uint32_t at, id, seen = 0;

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        at = (uint32_t)(seed >> 33) % METHODS;
        id = fb_jvm_method_name(fake_address(methods[at]));
        if (id == FB_JVM_NAME_NONE) {
            atomic_fetch_add(&unread, 1);
            continue;
        }
        whole_of(id, text, sizeof text);
        if (strcmp(text, expected[at]) != 0)
            atomic_fetch_add(&wrong, 1);
        if (!atomic_compare_exchange_strong(&ids[at], &seen, id) && seen != id)
            atomic_fetch_add(&wrong, 1);
        atomic_fetch_add(&named, 1);
    }
    return NULL;
}

static void threads_agree_on_names_while_loads_fail(void **ctx)
{
    static const uint32_t rates[] = {0, 10, 100, 1000};
    pthread_t threads[THREADS];

    (void)ctx;
    for (unsigned i = 0; i < METHODS; i++) {
        (void)snprintf(expected[i], sizeof expected[i], "p/C%u run (I)V", i);
        expected[i][strcspn(expected[i], " ")] = '\0';
        methods[i] = fake_method_make(expected[i], "run", "(I)V");
        expected[i][strlen(expected[i])] = ' ';
    }
    for (unsigned r = 0; r < sizeof rates / sizeof rates[0]; r++) {
        names_begin();
        memset(ids, 0, sizeof ids);
        atomic_store(&wrong, 0);
        atomic_store(&named, 0);
        atomic_store(&unread, 0);
        atomic_store(&fb_guard_faults, 0);
        atomic_store(&fb_guard_inject_every, rates[r]);
        for (uintptr_t i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, look_up, (void *)(i + 1)), 0);
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        atomic_store(&fb_guard_inject_every, 0);
        assert_int_equal(wrong, 0);
        assert_true(named > 0 || rates[r] == 10); /* a name takes more than ten loads */
        assert_int_equal(named + unread, THREADS * LOOKUPS);
        assert_true(unread <= atomic_load(&fb_guard_faults));
        assert_true(rates[r] == 0 ? unread == 0 : unread > 0);
    }
    for (unsigned i = 0; i < METHODS; i++)
        fake_method_free(methods[i]);
}

/* --- a method that is one and then the other ---------------------------------------------------
 */

static struct fake_method *changing;
static struct fake_const *forms[2];

static void *change(void *arg)
{
    for (unsigned i = 0; !atomic_load_explicit(&over, memory_order_relaxed); i++)
        __atomic_store_n(&changing->constant, forms[i & 1], __ATOMIC_RELEASE);
    return arg;
}

static void *look_at_changing(void *arg)
{
    char text[2048];

    for (unsigned i = 0; i < LOOKUPS; i++) {
        uint32_t id = fb_jvm_method_name(fake_address(changing));

        if (id == FB_JVM_NAME_NONE)
            continue;
        whole_of(id, text, sizeof text);
        if (strcmp(text, "p/Old before ()V") != 0 && strcmp(text, "p/New after (J)J") != 0)
            atomic_fetch_add(&wrong, 1);
        atomic_fetch_add(&named, 1);
    }
    return arg;
}

static void a_name_is_never_of_two_methods(void **ctx)
{
    struct fake_method *other = fake_method_make("p/New", "after", "(J)J");
    pthread_t threads[THREADS], changer;

    (void)ctx;
    names_begin();
    changing = fake_method_make("p/Old", "before", "()V");
    forms[0] = changing->constant;
    forms[1] = other->constant;
    atomic_store(&wrong, 0);
    atomic_store(&named, 0);
    atomic_store(&over, false);
    assert_int_equal(pthread_create(&changer, NULL, change, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_at_changing, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&over, true);
    pthread_join(changer, NULL);
    assert_int_equal(wrong, 0);
    assert_true(named > 0);
    changing->constant = forms[0];
    fake_method_free(changing);
    fake_method_free(other);
}

static int group_set_up(void **ctx)
{
    (void)ctx;
    fb_real_find();
    fb_fault_start();
    if (!fb_fault_need())
        return -1;
    fb_real.sigaction(SIGSEGV, NULL, &fronts[0]);
    fb_real.sigaction(SIGBUS, NULL, &fronts[1]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_method_has_one_id_and_its_name),
        cmocka_unit_test(memory_that_is_used_again_has_a_new_name),
        cmocka_unit_test(what_cannot_be_read_has_no_name),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(stubs_have_plain_names),
        cmocka_unit_test(a_full_table_says_so),
        cmocka_unit_test(threads_agree_on_names_while_loads_fail),
        cmocka_unit_test(a_name_is_never_of_two_methods),
    };

    return cmocka_run_group_tests(tests, group_set_up, NULL);
}
