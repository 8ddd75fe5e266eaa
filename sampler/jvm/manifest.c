/* manifest.c - see manifest.h. */
#include "sampler/jvm/manifest.h"

#include <string.h>

#include "base/crc32.h"
#include "sampler/jvm/flags.h"
#include "sampler/jvm/perf_data.h"
#include "sampler/text.h"

enum {
    TEXT_BYTES = 4096,
    RELEASE_BYTES = 8192,
    ARGUMENTS_MAX = 1024,
    AGENTS_MAX = 32,
    LIBRARY_UP = 3, /* JDK/lib/server/libjvm.so */
};

static const char *const origins[FB_JVM_FLAG_ORIGINS] = {
    [FB_JVM_FLAG_DEFAULT] = "default",         [FB_JVM_FLAG_COMMAND_LINE] = "command line",
    [FB_JVM_FLAG_ENVIRONMENT] = "environment", [FB_JVM_FLAG_CONFIG_FILE] = "config file",
    [FB_JVM_FLAG_MANAGEMENT] = "management",   [FB_JVM_FLAG_ERGONOMIC] = "ergonomics",
    [FB_JVM_FLAG_ATTACHED] = "attached",       [FB_JVM_FLAG_INTERNAL] = "internal",
};

/* Flags that choose a collector, and their collectors. */
static const char *const collectors[][2] = {
    {"UseSerialGC", "Serial"}, {"UseParallelGC", "Parallel"},     {"UseG1GC", "G1"},
    {"UseZGC", "Z"},           {"UseShenandoahGC", "Shenandoah"}, {"UseEpsilonGC", "Epsilon"},
};

static void put(struct fb_chunk *chunk, const char *key, const char *value)
{
    fb_wire_put_blob(&chunk->body, key, strlen(key));
    fb_wire_put_blob(&chunk->body, value, strlen(value));
    chunk->count++;
}

static void put_number(struct fb_chunk *chunk, const char *key, uint64_t value)
{
    char text[24];
    struct fb_text t = {.data = text, .cap = sizeof text};

    fb_text_dec(&t, value);
    put(chunk, key, text);
}

static bool get(const struct fb_self_read *r, uint64_t address, void *to, size_t size)
{
    return address != 0 && fb_self_read(r, address, to, size) == size;
}

/* A C string of the JVM; control characters become blanks.  False: nothing is there. */
static bool text_at(const struct fb_self_read *r, uint64_t address, char to[TEXT_BYTES])
{
    size_t n = address != 0 ? fb_self_read(r, address, to, TEXT_BYTES - 1) : 0;

    to[n] = '\0';
    for (char *c = to; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return to[0] != '\0';
}

static void put_text(const struct fb_self_read *r, uint64_t pointer_at, const char *key,
                     struct fb_chunk *chunk)
{
    char text[TEXT_BYTES];
    uint64_t address;

    if (get(r, pointer_at, &address, 8) && text_at(r, address, text))
        put(chunk, key, text);
}

/* IMPLEMENTOR="Eclipse Adoptium" */
static void put_vendor(const char *library, struct fb_chunk *chunk)
{
    static const char key[] = "IMPLEMENTOR=\"";
    char path[TEXT_BYTES];
    char text[RELEASE_BYTES];
    size_t n = strlen(library);
    struct fb_text t = {.data = path, .cap = sizeof path};
    char *at;

    for (unsigned i = 0; i < LIBRARY_UP && n > 0; i++)
        while (n > 0 && library[--n] != '/')
            ;
    fb_text_add(&t, library, n);
    fb_text_str(&t, "/release");
    if (n == 0 || fb_file_read(path, text, sizeof text) <= 0)
        return;
    at = strstr(text, key);
    if (at == NULL || (at != text && at[-1] != '\n'))
        return;
    at += sizeof key - 1;
    at[strcspn(at, "\"\n")] = '\0';
    put(chunk, "jvm.vendor", at);
}

static void flag_put(void *ctx, const struct fb_jvm_flag *flag)
{
    struct fb_chunk *chunk = ctx;
    char key[FB_JVM_FLAG_NAME + 16];
    char value[FB_JVM_FLAG_VALUE + 32];
    struct fb_text k = {.data = key, .cap = sizeof key};
    struct fb_text v = {.data = value, .cap = sizeof value};

    fb_text_str(&k, "jvm.flag.");
    fb_text_str(&k, flag->name);
    fb_text_str(&v, flag->value);
    fb_text_str(&v, " (");
    fb_text_str(&v, origins[flag->origin]);
    fb_text_str(&v, ")");
    put(chunk, key, value);
    if (strcmp(flag->name, "InitialHeapSize") == 0)
        put(chunk, "jvm.heap_initial_bytes", flag->value);
    if (strcmp(flag->name, "MaxHeapSize") == 0)
        put(chunk, "jvm.heap_max_bytes", flag->value);
    for (size_t i = 0; i < sizeof collectors / sizeof collectors[0]; i++)
        if (strcmp(flag->name, collectors[i][0]) == 0 && strcmp(flag->value, "true") == 0)
            put(chunk, "jvm.collector", collectors[i][1]);
}

static bool is_agent(const char *argument)
{
    return strncmp(argument, "-javaagent:", 11) == 0 || strncmp(argument, "-agentpath:", 11) == 0 ||
           strncmp(argument, "-agentlib:", 10) == 0;
}

static void put_agent(uint32_t number, char *argument, const uint32_t crc_table[256],
                      struct fb_chunk *chunk)
{
    char key[32];
    char value[TEXT_BYTES];
    struct fb_text k = {.data = key, .cap = sizeof key};
    struct fb_text v = {.data = value, .cap = sizeof value};
    char *options = strchr(argument, '=');

    fb_text_str(&k, "jvm.agent.");
    fb_text_dec(&k, number);
    fb_text_add(&v, argument, options != NULL ? (size_t)(options - argument) : strlen(argument));
    if (options != NULL) {
        fb_text_str(&v, "=crc32:");
        fb_text_hex(&v, fb_crc32(crc_table, 0, options + 1, strlen(options + 1)), 8);
    }
    put(chunk, key, value);
}

static void put_agents(const struct fb_self_read *r, const struct fb_jvm_layout *l,
                       const uint32_t crc_table[256], struct fb_chunk *chunk)
{
    char text[TEXT_BYTES];
    uint32_t count;
    uint32_t agents = 0;
    uint64_t array;
    uint64_t address;

    if (!get(r, l->vm_arg_count_at, &count, 4) || !get(r, l->vm_args_at, &array, 8))
        return;
    for (uint32_t i = 0; i < count && i < ARGUMENTS_MAX && agents < AGENTS_MAX; i++)
        if (get(r, array + 8 * (uint64_t)i, &address, 8) && text_at(r, address, text) &&
            is_agent(text))
            put_agent(++agents, text, crc_table, chunk);
    put_number(chunk, "jvm.agents", agents);
}

void fb_jvm_manifest_put_walk(const char *walk, struct fb_chunk *chunk)
{
    put(chunk, "jvm.walk", walk);
}

void fb_jvm_manifest_put(const struct fb_self_read *reader, const struct fb_jvm_layout *layout,
                         const char *library, const uint32_t crc_table[256], struct fb_chunk *chunk)
{
    const char *nonsafepoints = fb_jvm_nonsafepoints();

    put_text(reader, layout->release_text_at, "jvm.version", chunk);
    put_text(reader, layout->vm_info_at, "jvm.vm", chunk);
    put_vendor(library, chunk);
    fb_jvm_flags_each(reader, layout, flag_put, chunk);
    put_agents(reader, layout, crc_table, chunk);
    put_text(reader, layout->java_command_at, "jvm.command", chunk);
    if (nonsafepoints != NULL)
        put(chunk, "jvm.nonsafepoints", nonsafepoints);
    if (fb_jvm_perf_state() != NULL)
        put(chunk, "jvm.counters", fb_jvm_perf_state());
}
