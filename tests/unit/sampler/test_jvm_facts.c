/* test_jvm_facts.c - flags, manifest and the JVM's own numbers, out of memory that may be anything.
 */
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
#include <unistd.h>

#include <cmocka.h>

#include "base/crc32.h"
#include "sampler/fault.h"
#include "sampler/jvm/flags.h"
#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/manifest.h"
#include "sampler/jvm/perf_data.h"
#include "sampler/jvm/signal/vm.h"
#include "sampler/real.h"
#include "sampler/signal/guard.h"

static struct sigaction fronts[2];

struct flag {
    const void *address;
    const char *name;
    uint32_t origin;
    uint32_t type;
};

static uint8_t serial = 1, nonsafepoints;
static int32_t threads = -3;
static int64_t intx = -1234567890123;
static uint64_t heap_size = 268435456;
static double part = 0.125;
static const char *text = "/some/path with blanks", *nothing;
static struct flag flags[] = {
    {&serial, "UseSerialGC", FB_JVM_FLAG_COMMAND_LINE | 1 << 17, FB_JVM_FLAG_BOOL},
    {&threads, "SomeInt", FB_JVM_FLAG_ENVIRONMENT, FB_JVM_FLAG_INT},
    {&intx, "SomeIntx", FB_JVM_FLAG_CONFIG_FILE, FB_JVM_FLAG_INTX},
    {&heap_size, "MaxHeapSize", FB_JVM_FLAG_ERGONOMIC, FB_JVM_FLAG_SIZE},
    {&part, "SomePart", FB_JVM_FLAG_MANAGEMENT, FB_JVM_FLAG_DOUBLE},
    {&text, "SomeText", FB_JVM_FLAG_ATTACHED, FB_JVM_FLAG_STRING},
    {&nothing, "NoText", FB_JVM_FLAG_INTERNAL, FB_JVM_FLAG_STRINGS},
    {&serial, "AtItsDefault", FB_JVM_FLAG_DEFAULT, FB_JVM_FLAG_BOOL},
    {&serial, "OfAnUnknownType", FB_JVM_FLAG_COMMAND_LINE, 77},
    {(void *)16, "Nowhere", FB_JVM_FLAG_COMMAND_LINE, FB_JVM_FLAG_SIZE},
    {&serial, (const char *)8, FB_JVM_FLAG_COMMAND_LINE, FB_JVM_FLAG_BOOL},
    {&nonsafepoints, "DebugNonSafepoints", FB_JVM_FLAG_DEFAULT, FB_JVM_FLAG_BOOL},
};
static const struct flag *flags_start = flags;
static uint64_t flag_count = sizeof flags / sizeof flags[0];

static const char *release_text = "17.0.1+2-Test", *java_command = "Main with\targuments";
static const char *arguments[] = {"-Xmx256m", "-javaagent:/opt/a.jar=key=secret,x",
                                  "-agentlib:jdwp", "-Dpassword=secret"};
static const char **arguments_start = arguments;
static int32_t argument_count = 4;

static uint64_t address_of(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

static void layout_make(struct fb_jvm_layout *l)
{
    memset(l, 0, sizeof *l);
    l->release = 17;
    l->flags_at = address_of(&flags_start);
    l->flag_count_at = address_of(&flag_count);
    l->flag_address = offsetof(struct flag, address);
    l->flag_name = offsetof(struct flag, name);
    l->flag_origin = offsetof(struct flag, origin);
    l->flag_type = offsetof(struct flag, type);
    l->flag_size = sizeof(struct flag);
    l->release_text_at = address_of(&release_text);
    l->java_command_at = address_of(&java_command);
    l->vm_args_at = address_of(&arguments_start);
    l->vm_arg_count_at = address_of(&argument_count);
}

/* --- the manifest -------------------------------------------------------------------------------
 */

static void put_item(char *to, struct fb_wire_in *in)
{
    for (int i = 0; i < 2; i++) {
        size_t n;
        const uint8_t *bytes = fb_wire_get_blob(in, &n);

        (void)sprintf(to + strlen(to), "%.*s%s", (int)n, (const char *)bytes, i ? "\n" : "=");
    }
}

/* Its items as "key=value" lines. */
static void manifest_text(const char *library, char *to)
{
    static uint8_t memory[1 << 16];
    struct fb_self_read reader;
    struct fb_jvm_layout layout;
    struct fb_wire_in in;
    struct fb_chunk chunk;
    uint32_t table[256];

    layout_make(&layout);
    fb_crc32_init(table);
    fb_chunk_begin(&chunk, memory, sizeof memory);
    fb_self_read_open(&reader);
    fb_jvm_flags_begin(&reader, &layout);
    fb_jvm_manifest_put(&reader, &layout, library, table, &chunk);
    fb_self_read_close(&reader);
    in = (struct fb_wire_in){.data = chunk.body.data, .len = chunk.body.len};
    to[0] = '\0';
    for (uint64_t i = 0; i < chunk.count; i++)
        put_item(to, &in);
    assert_false(in.bad);
    assert_int_equal(in.pos, in.len);
}

static void flags_are_told_by_who_set_them_and_agents_without_their_options(void **ctx)
{
    char told[8192], folder[] = "/tmp/fb-jdk-XXXXXX", library[64], release[64];
    FILE *file;

    (void)ctx;
    assert_non_null(mkdtemp(folder));
    (void)sprintf(release, "%s/release", folder);
    (void)sprintf(library, "%s/lib/server/libjvm.so", folder);
    file = fopen(release, "w");
    assert_non_null(file);
    (void)fputs("JAVA_VERSION=\"17\"\nIMPLEMENTOR=\"A. Vendor\"\n", file);
    (void)fclose(file);
    manifest_text(library, told);
    assert_string_equal(told, "jvm.version=17.0.1+2-Test\n"
                              "jvm.vendor=A. Vendor\n"
                              "jvm.flag.UseSerialGC=true (command line)\n"
                              "jvm.collector=Serial\n"
                              "jvm.flag.SomeInt=-3 (environment)\n"
                              "jvm.flag.SomeIntx=-1234567890123 (config file)\n"
                              "jvm.flag.MaxHeapSize=268435456 (ergonomics)\n"
                              "jvm.heap_max_bytes=268435456\n"
                              "jvm.flag.SomePart=0.125 (management)\n"
                              "jvm.flag.SomeText=/some/path with blanks (attached)\n"
                              "jvm.flag.NoText= (internal)\n"
                              "jvm.agent.1=-javaagent:/opt/a.jar=crc32:1878d3b3\n"
                              "jvm.agent.2=-agentlib:jdwp\n"
                              "jvm.agents=2\n"
                              "jvm.command=Main with arguments\n"
                              "jvm.nonsafepoints=set by the sampler\n");
    assert_int_equal(nonsafepoints, 1);
    (void)unlink(release);
    (void)rmdir(folder);
}

static void a_table_of_flags_that_cannot_be_is_left_alone(void **ctx)
{
    struct fb_self_read reader;
    struct fb_jvm_layout layout;
    bool value;

    (void)ctx;
    layout_make(&layout);
    fb_self_read_open(&reader);
    assert_true(fb_jvm_flag_bool(&reader, &layout, "UseSerialGC", &value));
    assert_true(value);
    assert_false(fb_jvm_flag_bool(&reader, &layout, "MaxHeapSize", &value)); /* no bool */
    assert_false(fb_jvm_flag_bool(&reader, &layout, "UseG1GC", &value));
    serial = 2;
    assert_false(fb_jvm_flag_bool(&reader, &layout, "UseSerialGC", &value));
    serial = 1;
    flag_count = 1 << 20;
    assert_false(fb_jvm_flag_bool(&reader, &layout, "UseSerialGC", &value));
    flag_count = sizeof flags / sizeof flags[0];
    layout.flag_size = 4096;
    assert_false(fb_jvm_flag_bool(&reader, &layout, "UseSerialGC", &value));
    layout.flag_size = sizeof(struct flag);
    layout.flags_at = 64;
    assert_false(fb_jvm_flag_bool(&reader, &layout, "UseSerialGC", &value));
    fb_self_read_close(&reader);
}

static void see(void *ctx, const struct fb_jvm_flag *flag)
{
    (void)sprintf((char *)ctx + strlen(ctx), "%s=%s\n", flag->name, flag->value);
}

/* Before 16 a flag says its type by a name. */
static void types_of_flags_may_be_texts(void **ctx)
{
    struct {
        const char *type, *name;
        const void *address;
        uint32_t origin;
    } old[] = {
        {"bool", "UseSerialGC", &serial, FB_JVM_FLAG_COMMAND_LINE},
        {"size_t", "MaxHeapSize", &heap_size, FB_JVM_FLAG_ERGONOMIC},
        {"intx", "SomeIntx", &intx, FB_JVM_FLAG_CONFIG_FILE},
        {"ccstrlist", "SomeText", &text, FB_JVM_FLAG_ATTACHED},
        {"boolean", "OfAnUnknownType", &serial, FB_JVM_FLAG_COMMAND_LINE},
        {(const char *)16, "OfNoType", &serial, FB_JVM_FLAG_COMMAND_LINE},
    };
    const void *start = old;
    uint64_t count = sizeof old / sizeof old[0];
    struct fb_self_read reader;
    struct fb_jvm_layout layout;
    char told[1024] = "";
    bool value;

    (void)ctx;
    layout_make(&layout);
    layout.release = 11;
    layout.flags_at = address_of(&start);
    layout.flag_count_at = address_of(&count);
    layout.flag_type = 0;
    layout.flag_name = 8;
    layout.flag_address = 16;
    layout.flag_origin = 24;
    layout.flag_size = sizeof old[0];
    fb_self_read_open(&reader);
    assert_true(fb_jvm_flag_bool(&reader, &layout, "UseSerialGC", &value) && value);
    assert_false(fb_jvm_flag_bool(&reader, &layout, "MaxHeapSize", &value));
    assert_true(fb_jvm_flags_each(&reader, &layout, see, told));
    assert_string_equal(told, "UseSerialGC=true\nMaxHeapSize=268435456\n"
                              "SomeIntx=-1234567890123\nSomeText=/some/path with blanks\n");
    fb_self_read_close(&reader);
}

/* --- the JVM's own numbers ----------------------------------------------------------------------
 */

enum { TABLE_BYTES = 8192, PROLOGUE = 32 };

static uint8_t *table;
static uint64_t table_at;
static uint32_t initialized;
static uint32_t table_used = PROLOGUE, table_entries;

static void entry_add(const char *name, char type, uint64_t value)
{
    uint32_t name_bytes = (uint32_t)(strlen(name) + 1 + 7) & ~7u;
    uint32_t parts[5] = {24 + name_bytes + 8, 24, 0, (uint32_t)(uint8_t)type, 24 + name_bytes};
    uint8_t *entry = table + table_used;

    memcpy(entry, parts, sizeof parts);
    (void)strcpy((char *)entry + 24, name);
    memcpy(entry + parts[4], &value, 8);
    table_used += parts[0];
    table_entries++;
    memcpy(table + 8, &table_used, 4);
    memcpy(table + 28, &table_entries, 4);
}

static void table_make(void)
{
    struct fb_jvm_layout *l = &fb_jvm.layout;
    uint32_t first = PROLOGUE;

    table = mmap(NULL, 2 * TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(table, MAP_FAILED);
    layout_make(l);
    l->perf_prologue_at = address_of(&table_at);
    l->perf_initialized_at = address_of(&initialized);
    l->perf_used = 8;
    l->perf_entry_offset = 24;
    l->perf_entry_count = 28;
    memcpy(table + 24, &first, 4);
    entry_add("sun.gc.generation.0.space.0.used", 'J', 100);
    entry_add("sun.gc.generation.1.space.2.used", 'J', 7);
    entry_add("sun.gc.generation.1.space.2.usedX", 'J', 1000);
    entry_add("sun.gc.generation.x.space.2.used", 'J', 1000);
    entry_add("sun.gc.collector.1.invocations", 'J', 3);
    entry_add("java.property.java.vm.name", 'B', 5);
    entry_add("java.ci.totalTime", 'J', 50);
    entry_add("sun.os.hrt.frequency", 'J', 500000000);
    table_at = address_of(table);
    fb_jvm_activate(true);
    fb_jvm_thread_open = true;
}

static void numbers_are_found_by_name_and_added_up(void **ctx)
{
    struct fb_jvm_perf_values v;

    (void)ctx;
    fb_real.sigaction(SIGSEGV, &fronts[0], NULL);
    fb_real.sigaction(SIGBUS, &fronts[1], NULL);
    table_make();
    fb_jvm_perf_read(&v);
    assert_false(v.has[FB_JVM_PERF_HEAP]);
    assert_string_equal(fb_jvm_perf_state(), "no (-XX:-UsePerfData)");
    initialized = 1;
    fb_jvm_perf_read(&v);
    assert_string_equal(fb_jvm_perf_state(), "yes");
    assert_true(v.has[FB_JVM_PERF_HEAP] && v.value[FB_JVM_PERF_HEAP] == 107);
    assert_true(v.has[FB_JVM_PERF_OLD_COUNT] && v.value[FB_JVM_PERF_OLD_COUNT] == 3);
    assert_true(v.has[FB_JVM_PERF_COMPILE_NS] && v.value[FB_JVM_PERF_COMPILE_NS] == 100);
    assert_false(v.has[FB_JVM_PERF_YOUNG_COUNT]);
    entry_add("sun.gc.collector.0.invocations", 'J', 9); /* the table grows */
    fb_jvm_perf_read(&v);
    assert_true(v.has[FB_JVM_PERF_YOUNG_COUNT] && v.value[FB_JVM_PERF_YOUNG_COUNT] == 9);
}

/* Any table, loads that fail, and one that is gone: numbers or none. */
static void a_table_may_be_anything_and_may_go(void **ctx)
{
    static const uint32_t rates[] = {2, 5, 10, 100, 1000};
    struct fb_jvm_perf_values v;
    uint8_t whole[TABLE_BYTES];
    uint32_t seed = 9;

    (void)ctx;
    fb_real.sigaction(SIGSEGV, &fronts[0], NULL);
    fb_real.sigaction(SIGBUS, &fronts[1], NULL);
    for (unsigned r = 0; r < sizeof rates / sizeof rates[0]; r++) {
        atomic_store(&fb_guard_inject_every, rates[r]);
        for (int i = 0; i < 500; i++) {
            fb_jvm_perf_read(&v);
            assert_true(!v.has[FB_JVM_PERF_OLD_COUNT] || v.value[FB_JVM_PERF_OLD_COUNT] == 3);
        }
        atomic_store(&fb_guard_inject_every, 0);
    }
    memcpy(whole, table, sizeof whole);
    for (int i = 0; i < 3000; i++) {
        for (int k = 0; k < 4; k++) {
            seed = seed * 1664525 + 1013904223;
            table[8 + (seed >> 8) % (table_used - 8)] = (uint8_t)(seed >> 24);
        }
        fb_jvm_perf_read(&v);
        memcpy(table, whole, sizeof whole);
        *(uint32_t *)(void *)(table + 28) += 1 + (uint32_t)i % 2; /* search anew */
        fb_jvm_perf_read(&v);
        memcpy(table, whole, sizeof whole);
    }
    munmap(table, 2 * TABLE_BYTES);
    fb_jvm_perf_read(&v);
    for (int i = 0; i < FB_JVM_PERF_COUNT; i++)
        assert_false(v.has[i]);
}

static int group_set_up(void **ctx)
{
    (void)ctx;
    fb_real_find();
    fb_fault_start();
    if (!fb_fault_need())
        return 1;
    fb_real.sigaction(SIGSEGV, NULL, &fronts[0]);
    return fb_real.sigaction(SIGBUS, NULL, &fronts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_are_told_by_who_set_them_and_agents_without_their_options),
        cmocka_unit_test(a_table_of_flags_that_cannot_be_is_left_alone),
        cmocka_unit_test(types_of_flags_may_be_texts),
        cmocka_unit_test(numbers_are_found_by_name_and_added_up),
        cmocka_unit_test(a_table_may_be_anything_and_may_go),
    };

    return cmocka_run_group_tests(tests, group_set_up, NULL);
}
