#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profile/bank.h"
#include "sampler/jvm/signal/frame_word.h"
#include "sampler/jvm/signal/names.h"
#include "sampler/jvm/signal/vm.h"
#include "sampler/memory.h"
#include "sampler/signal/handler.h"
#include "sampler/threads.h"
#include "sampler/writer.h"
#include "tests/unit/sampler/fake_metaspace.h"

static struct fb_config config;
static struct fb_manifest manifest;
static struct fb_writer writer;
static struct fb_task *thread;
static char folder[64];
static uint64_t weight_in;

static char *no_variable(const char *name)
{
    (void)name;
    return NULL;
}

static int fresh_writer(void **state)
{
    char message[256];

    (void)state;
    strcpy(folder, "/tmp/fb-writer-XXXXXX");
    if (mkdtemp(folder) == NULL || !fb_config_read(&config, no_variable, message, sizeof message))
        return 1;
    snprintf(config.out, sizeof config.out, "%s/bank.fbank", folder);
    fb_manifest_start(&manifest);
    fb_pool_init(fb_memory_map(FB_POOL_BYTES));
    if (!fb_threads_init() || !fb_writer_init(&writer, &config, &manifest, 77))
        return 1;
    thread = fb_thread_claim(0);
    thread->tid = (int32_t)syscall(SYS_gettid);
    atomic_store(&thread->state, FB_THREAD_LIVE);
    for (int i = 0; i < FB_LOSS_CAUSE_COUNT; i++)
        atomic_store(&fb_handler_losses[i], 0);
    weight_in = 0;
    return 0;
}

static int remove_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

/* As the handler leaves a record. */
static void put(const uint64_t *pcs, unsigned depth, enum fb_walk_stop stop, uint32_t weight)
{
    struct fb_segment *segment = atomic_exchange(&thread->segment, NULL);
    struct fb_record *r;

    if (segment != NULL && sizeof segment->data - segment->used < FB_RECORD_MAX) {
        fb_pool_push_full(segment);
        segment = NULL;
    }
    if (segment == NULL)
        segment = fb_pool_take();
    assert_non_null(segment);
    r = (struct fb_record *)(void *)(segment->data + segment->used);
    *r = (struct fb_record){.time_ns = manifest.start_monotonic_ns + 5000000,
                            .thread_id = thread->id,
                            .weight = weight,
                            .depth = (uint16_t)depth,
                            .stop = (uint8_t)stop};
    memcpy(r->pcs, pcs, depth * sizeof *pcs);
    segment->used += (uint32_t)(sizeof *r + depth * sizeof *pcs);
    atomic_store(&thread->segment, segment);
    weight_in += weight;
}

static struct fb_profile *read_back(struct fb_bank_damage *ret_damage)
{
    struct fb_profile *p;
    struct fb_err err;

    if (fb_bank_read(writer.sink.path, &p, ret_damage, &err) != FB_OK)
        fail_msg("%s", err.text);
    return p;
}

static const struct fb_frame *frame_of(const struct fb_profile *p, uint32_t stack)
{
    return &p->frames[p->stacks[stack].frame.n];
}

static uint64_t code(int offset)
{
    return (uint64_t)(uintptr_t)&fresh_writer + (uint64_t)offset;
}

static void callers_are_banked_one_byte_before_their_return_address(void **state)
{
    const uint64_t pcs[3] = {code(10), code(20), code(30)};
    struct fb_bank_damage damage;
    struct fb_profile *p;
    uint32_t leaf;
    const struct fb_frame *frame;

    (void)state;
    put(pcs, 3, FB_WALK_ROOT, 4);
    fb_writer_flush(&writer, FB_FLUSH_EXIT);
    p = read_back(&damage);
    assert_false(fb_bank_is_damaged(&damage));
    assert_true(p->ended && p->run_id == 77);
    assert_int_equal(p->samples.count, 1);
    assert_int_equal(p->samples.weight[0], 4);
    leaf = p->samples.stack[0];
    for (int i = 0; i < 3; i++) {
        frame = frame_of(p, leaf);
        assert_int_not_equal(frame->module, 0);
        assert_true(frame->address + p->modules[frame->module].bias == pcs[i] - (i > 0));
        leaf = p->stacks[leaf].parent.n;
    }
    assert_int_equal(leaf, 0);
    fb_profile_free(p);
}

static void what_was_cut_stands_under_a_mark(void **state)
{
    static const char *const names[] = {"[truncated]", "[partial]", "[thread end]"};
    const uint64_t pcs[1] = {code(10)};
    struct fb_bank_damage damage;
    struct fb_profile *p;

    (void)state;
    put(pcs, 1, FB_WALK_DEPTH, 1);
    put(pcs, 1, FB_WALK_BAD_CFA, 1);
    put(pcs, 0, FB_WALK_ROOT, 1);
    fb_writer_flush(&writer, FB_FLUSH_EXIT);
    p = read_back(&damage);
    assert_int_equal(p->samples.count, 3);
    for (int i = 0; i < 3; i++) {
        uint32_t stack = p->samples.stack[i];

        if (i < 2)
            stack = p->stacks[stack].parent.n;
        assert_int_equal(frame_of(p, stack)->kind, FB_FRAME_MARK);
        assert_string_equal(fb_profile_text(p, frame_of(p, stack)->name), names[i]);
        assert_int_equal(p->stacks[stack].parent.n, 0);
    }
    fb_profile_free(p);
}

static void code_without_a_module_is_generated_if_its_mapping_is(void **state)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uint64_t generated = (uint64_t)(uintptr_t)page + 8;
    const uint64_t nowhere = 0x10;
    struct fb_bank_damage damage;
    struct fb_profile *p;

    (void)state;
    put(&generated, 1, FB_WALK_ROOT, 1);
    put(&nowhere, 1, FB_WALK_ROOT, 1);
    fb_writer_flush(&writer, FB_FLUSH_EXIT);
    p = read_back(&damage);
    assert_int_equal(frame_of(p, p->samples.stack[0])->kind, FB_FRAME_JIT);
    assert_true(frame_of(p, p->samples.stack[0])->address == generated);
    assert_int_equal(frame_of(p, p->samples.stack[1])->kind, FB_FRAME_NATIVE);
    assert_int_equal(frame_of(p, p->samples.stack[1])->module, 0);
    fb_profile_free(p);
    munmap(page, 4096);
}

static void a_bank_is_made_only_when_there_is_a_reason(void **state)
{
    const uint64_t pcs[1] = {code(10)};

    (void)state;
    config.root = false;
    fb_writer_flush(&writer, FB_FLUSH_SECOND);
    fb_writer_flush(&writer, FB_FLUSH_EXIT);
    assert_int_equal(writer.sink.fd, -1);
    put(pcs, 1, FB_WALK_ROOT, 1);
    fb_writer_flush(&writer, FB_FLUSH_SECOND);
    assert_true(writer.sink.fd >= 0);
}

static void a_bank_that_was_made_early_goes_if_it_stays_empty(void **state)
{
    (void)state;
    config.root = false;
    fb_writer_flush(&writer, FB_FLUSH_OPEN);
    assert_int_equal(access(writer.sink.path, F_OK), 0);
    fb_writer_flush(&writer, FB_FLUSH_EXIT);
    assert_int_not_equal(access(writer.sink.path, F_OK), 0);
}

static void a_name_that_exists_is_left_alone(void **state)
{
    char path[128];
    struct stat st;
    int fd;

    (void)state;
    snprintf(path, sizeof path, "%s/bank.fbank", folder);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    fb_writer_flush(&writer, FB_FLUSH_EXIT);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 0);
    snprintf(path, sizeof path, "%s/bank-2.fbank", folder);
    assert_string_equal(writer.sink.path, path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void file_size_limit(rlim_t bytes)
{
    struct rlimit limit;

    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* Random stacks while the disk fills up and is freed again: every tick is in the file or in the
 * loss counter, the file stays whole, and no sample refers to what was lost. */
static void a_full_disk_loses_samples_by_count_and_nothing_else(void **state)
{
    uint64_t seed = 7;
    struct fb_bank_damage damage;
    struct fb_profile *p;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    for (int round = 0; round < 30; round++) {
        file_size_limit(round % 10 >= 3 && round % 10 < 8 ? (rlim_t)6000 + (rlim_t)round * 40
                                                          : RLIM_INFINITY);
        for (int i = 0; i < 50; i++) {
            uint64_t pcs[8];

            for (int k = 0; k < 8; k++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                pcs[k] = code((int)(seed >> 33) % 3000);
            }
            put(pcs, 8, FB_WALK_ROOT, 1 + (uint32_t)(seed >> 60));
        }
        fb_writer_flush(&writer, FB_FLUSH_SECOND);
    }
    file_size_limit(RLIM_INFINITY);
    fb_writer_flush(&writer, FB_FLUSH_EXIT);
    p = read_back(&damage);
    assert_false(fb_bank_is_damaged(&damage));
    assert_false(damage.torn_tail);
    assert_int_equal(damage.orphan_samples, 0);
    assert_true(p->losses[FB_LOSS_WRITE] > 0);
    assert_true(p->samples.count > 500);
    assert_int_equal(fb_profile_weight(p) + p->losses[FB_LOSS_WRITE], weight_in);
    fb_profile_free(p);
}

/* --- frames of a JVM ----------------------------------------------------------------------------
 */

static struct fb_jvm_layout layout;

static void names_begin(void)
{
    layout = fake_layout();
    fb_jvm_names_init(fb_memory_map(FB_JVM_NAMES_BYTES), &layout);
    fb_guard_set(true);
    fb_jvm_thread_open = true;
}

static void check_java(const struct fb_profile *p, uint32_t stack, enum fb_frame_kind kind,
                       enum fb_tier tier, const char *name, const char *signature, uint32_t line)
{
    const struct fb_frame *f = frame_of(p, stack);

    assert_int_equal(f->kind, kind);
    assert_int_equal(f->tier, tier);
    assert_int_equal(f->address, 0);
    assert_int_equal(f->line, line);
    assert_string_equal(fb_profile_text(p, f->name), name);
    assert_string_equal(fb_profile_text(p, f->signature), signature);
}

static void virtual_frames_are_banked_by_name_between_native_ones(void **state)
{
    struct fake_method *m = fake_method_make("java/util/HashMap", "put", "(I)V");
    struct fake_method *n = fake_method_make("p/Main", "run", "()V");
    struct fb_bank_damage damage;
    struct fb_profile *p;
    uint64_t pcs[9];
    uint32_t stack, put_name, run_name;

    (void)state;
    names_begin();
    put_name = fb_jvm_method_name(fake_address(m));
    run_name = fb_jvm_method_name(fake_address(n));
    m->constant->flags = 1;
    m->constant->code_size = 8;
    memcpy(m->constant->code + 8, "\x0f\x21", 3); /* bci 1 line 7, bci 5 line 8 */
    pcs[0] = code(10);
    pcs[1] = fb_jvm_word(FB_JVM_STUB, FB_JVM_TIER_UNKNOWN, -1, fb_jvm_blob_name(fake_address("x")));
    pcs[2] = fb_jvm_word(FB_JVM_INLINED, FB_JVM_TIER_C2, 5, put_name);
    pcs[3] = fb_jvm_word(FB_JVM_COMPILED, FB_JVM_TIER_C2, 1, put_name);
    pcs[4] = fb_jvm_word(FB_JVM_COMPILED, FB_JVM_TIER_C1_PROFILE, 3, put_name);
    pcs[5] = fb_jvm_word(FB_JVM_INTERPRETED, FB_JVM_TIER_INTERPRETER, 2, run_name);
    pcs[6] = fb_jvm_word(FB_JVM_COMPILED, FB_JVM_TIER_C2, 2, FB_JVM_NAME_FULL);
    pcs[7] = fb_jvm_word(FB_JVM_COMPILED, FB_JVM_TIER_C2, 2, FB_JVM_NAME_NONE);
    pcs[8] = code(20);
    put(pcs, 9, FB_WALK_ROOT, 1);
    fb_writer_flush(&writer, FB_FLUSH_EXIT);
    p = read_back(&damage);
    assert_false(fb_bank_is_damaged(&damage));
    stack = p->stacks[p->samples.stack[0]].parent.n; /* of the native leaf */
    check_java(p, stack, FB_FRAME_STUB, FB_TIER_UNKNOWN, "x", "", 0);
    stack = p->stacks[stack].parent.n;
    check_java(p, stack, FB_FRAME_INLINED, FB_TIER_UNKNOWN, "java.util.HashMap.put", "(I)V", 8);
    stack = p->stacks[stack].parent.n;
    check_java(p, stack, FB_FRAME_JAVA, FB_TIER_C2, "java.util.HashMap.put", "(I)V", 7);
    stack = p->stacks[stack].parent.n;
    check_java(p, stack, FB_FRAME_JAVA, FB_TIER_C1, "java.util.HashMap.put", "(I)V", 7);
    stack = p->stacks[stack].parent.n;
    check_java(p, stack, FB_FRAME_JAVA, FB_TIER_INTERPRETED, "p.Main.run", "()V", 0);
    stack = p->stacks[stack].parent.n;
    check_java(p, stack, FB_FRAME_MARK, FB_TIER_UNKNOWN, "[java method table full]", "", 0);
    stack = p->stacks[stack].parent.n;
    check_java(p, stack, FB_FRAME_JIT, FB_TIER_UNKNOWN, "", "", 0);
    stack = p->stacks[stack].parent.n;
    assert_int_equal(frame_of(p, stack)->kind, FB_FRAME_NATIVE);
    assert_int_equal(frame_of(p, stack)->address & 0xfff, (code(20) - 1) & 0xfff);
    assert_int_equal(p->stacks[stack].parent.n, 0);
    fb_profile_free(p);
    fake_method_free(m);
    fake_method_free(n);
}

/* A virtual thread's samples are of a thread of their own beside its carrier's. */
static void virtual_threads_are_told_from_their_carriers(void **state)
{
    struct fake_method *border =
        fake_method_make("jdk/internal/vm/Continuation", "enterSpecial", "()V");
    struct fake_method *other = fake_method_make("jdk/internal/vm/Continuation", "run", "()V");
    struct fb_bank_damage damage;
    struct fb_profile *p;
    uint64_t pcs[2];

    (void)state;
    names_begin();
    for (int i = 0; i < 4; i++) {
        pcs[0] = code(10);
        pcs[1] = fb_jvm_word(FB_JVM_COMPILED, FB_JVM_TIER_C2, -1,
                             fb_jvm_method_name(fake_address(i % 2 ? border : other)));
        put(pcs, 2, FB_WALK_ROOT, 1);
    }
    fb_writer_flush(&writer, FB_FLUSH_EXIT);
    p = read_back(&damage);
    assert_false(fb_bank_is_damaged(&damage));
    assert_int_equal(p->threads_count, 3);
    for (int i = 0; i < 4; i++) {
        const struct fb_thread *t = &p->threads[p->samples.thread[i]];
        const char *name = fb_profile_text(p, t->name);

        assert_int_equal(t->tid, (uint32_t)thread->tid);
        assert_int_equal(strstr(name, " (virtual)") != NULL, i % 2);
    }
    fb_profile_free(p);
    fake_method_free(border);
    fake_method_free(other);
}

/* Long names, so that strings are written in the middle of a flush, and a disk that fills up. */
static void java_frames_on_a_full_disk_are_lost_by_count(void **state)
{
    enum { METHODS = 300 };
    struct fake_method *methods[METHODS];
    char name[401], descriptor[201];
    struct fb_bank_damage damage;
    struct fb_profile *p;
    uint32_t seed = 3;

    (void)state;
    names_begin();
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < METHODS; i++) {
        memset(name, 'a' + i % 26, 400);
        memset(descriptor, 'A' + i / 26, 200);
        name[400] = descriptor[200] = '\0';
        methods[i] = fake_method_make(name, "run", descriptor);
    }
    for (int round = 0; round < 12; round++) {
        file_size_limit(round % 4 == 3 ? 30000 : RLIM_INFINITY);
        for (int i = 0; i < 200; i++) {
            uint64_t pcs[6];

            for (int k = 0; k < 6; k++) {
                seed = seed * 1664525 + 1013904223;
                pcs[k] = fb_jvm_word(FB_JVM_COMPILED, FB_JVM_TIER_C2, -1,
                                     fb_jvm_method_name(fake_address(methods[seed % METHODS])));
            }
            put(pcs, 6, FB_WALK_ROOT, 1);
        }
        fb_writer_flush(&writer, FB_FLUSH_SECOND);
    }
    file_size_limit(RLIM_INFINITY);
    fb_writer_flush(&writer, FB_FLUSH_EXIT);
    p = read_back(&damage);
    assert_false(fb_bank_is_damaged(&damage));
    assert_int_equal(damage.orphan_samples, 0);
    assert_int_equal(fb_profile_weight(p) + p->losses[FB_LOSS_WRITE], weight_in);
    assert_int_equal(p->losses[FB_LOSS_WRITE], 600);
    for (size_t i = 1; i < p->frames_count; i++)
        assert_int_equal(p->strings.items[p->frames[i].signature].len, 200);
    fb_profile_free(p);
    for (int i = 0; i < METHODS; i++)
        fake_method_free(methods[i]);
}

static void the_counters_of_a_second_are_small(void **state)
{
    uint64_t before;

    (void)state;
    fb_writer_flush(&writer, FB_FLUSH_OPEN);
    fb_writer_flush(&writer, FB_FLUSH_SECOND);
    before = writer.sink.bytes;
    fb_writer_flush(&writer, FB_FLUSH_SECOND);
    assert_in_range(writer.sink.bytes - before, 60, 260); /* stored, before packing */
}

#define WRITER_TEST(name) cmocka_unit_test_setup_teardown(name, fresh_writer, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WRITER_TEST(callers_are_banked_one_byte_before_their_return_address),
        WRITER_TEST(what_was_cut_stands_under_a_mark),
        WRITER_TEST(code_without_a_module_is_generated_if_its_mapping_is),
        WRITER_TEST(a_bank_is_made_only_when_there_is_a_reason),
        WRITER_TEST(a_bank_that_was_made_early_goes_if_it_stays_empty),
        WRITER_TEST(a_name_that_exists_is_left_alone),
        WRITER_TEST(a_full_disk_loses_samples_by_count_and_nothing_else),
        WRITER_TEST(virtual_frames_are_banked_by_name_between_native_ones),
        WRITER_TEST(virtual_threads_are_told_from_their_carriers),
        WRITER_TEST(java_frames_on_a_full_disk_are_lost_by_count),
        WRITER_TEST(the_counters_of_a_second_are_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
