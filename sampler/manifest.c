/* manifest.c - see manifest.h. */
#include "sampler/manifest.h"

#include <sched.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "sampler/clock.h"
#include "sampler/memory.h"
#include "sampler/text.h"

#ifndef FB_VERSION
#define FB_VERSION "0"
#endif

enum {
    ENVIRONMENT_MAX = 128 << 10,
    COMMAND_MAX = 16 << 10,
};

void fb_manifest_start(struct fb_manifest *m)
{
    struct timespec wall;

    m->start_monotonic_ns = fb_clock_now();
    clock_gettime(CLOCK_REALTIME, &wall);
    m->start_wall_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
    if (getcwd(m->cwd, sizeof m->cwd) == NULL)
        m->cwd[0] = '\0';
}

void fb_manifest_copy_environment(struct fb_manifest *m)
{
    size_t size = 0;
    char *copy;

    m->environment_size = 0;
    for (char **e = environ; e != NULL && *e != NULL; e++)
        size += strlen(*e) + 1;
    if (size == 0 || size > ENVIRONMENT_MAX)
        return;
    copy = fb_memory_map(size);
    if (copy == NULL)
        return;
    m->environment = copy;
    for (char **e = environ; e != NULL && *e != NULL; e++) {
        size_t n = strlen(*e) + 1;

        memcpy(copy, *e, n);
        copy += n;
    }
    m->environment_size = size;
}

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

/* Thousandths, as "1.500". */
static void put_milli(struct fb_chunk *chunk, const char *key, uint64_t value)
{
    char text[32];
    struct fb_text t = {.data = text, .cap = sizeof text};

    fb_text_dec(&t, value / 1000);
    fb_text_str(&t, ".");
    fb_text_padded(&t, value % 1000, 3);
    put(chunk, key, text);
}

/* A word as it would be typed: in single quotes if it is empty or has blanks or quotes in it. */
static void word_add(struct fb_text *to, const char *word)
{
    bool is_plain = word[0] != '\0' && strpbrk(word, " \t\n'\"") == NULL;

    fb_text_str(to, is_plain ? "" : "'");
    for (; *word != '\0'; word++)
        fb_text_add(to, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    fb_text_str(to, is_plain ? "" : "'");
}

/* args: n bytes, a NUL behind each word and one more behind all. */
static void put_command(struct fb_chunk *chunk, const char *args, size_t n)
{
    char command[COMMAND_MAX];
    struct fb_text to = {.data = command, .cap = sizeof command};

    for (const char *word = args; word < args + n; word += strlen(word) + 1) {
        fb_text_str(&to, word > args ? " " : "");
        word_add(&to, word);
    }
    put(chunk, "command", command);
}

static void put_process(const struct fb_manifest *m, struct fb_chunk *chunk)
{
    char text[COMMAND_MAX];
    ssize_t n = fb_file_read("/proc/thread-self/cmdline", text, sizeof text);

    if (n > 0)
        put_command(chunk, text, (size_t)n);
    n = readlink("/proc/thread-self/exe", text, sizeof text - 1);
    if (n > 0) {
        text[n] = '\0';
        put(chunk, "exe", text);
    }
    put(chunk, "cwd", m->cwd);
    put_number(chunk, "pid", (uint64_t)getpid());
    put_number(chunk, "ppid", (uint64_t)getppid());
    put_number(chunk, "uid", getuid());
}

static const char *container_hint(void)
{
    char text[4096];

    if (access("/.dockerenv", F_OK) == 0)
        return "docker";
    if (access("/run/.containerenv", F_OK) == 0)
        return "podman";
    if (access("/var/run/secrets/kubernetes.io", F_OK) == 0)
        return "kubernetes";
    if (fb_file_read("/proc/self/cgroup", text, sizeof text) > 0) {
        if (strstr(text, "kubepods") != NULL)
            return "kubernetes";
        if (strstr(text, "/docker") != NULL)
            return "docker";
    }
    if (fb_file_read("/proc/1/sched", text, sizeof text) > 0 && strncmp(text, "systemd", 7) != 0 &&
        strncmp(text, "init", 4) != 0 && strstr(text, "(1,") == NULL)
        return "pid1-namespace";
    return NULL;
}

/* The text behind "key<blanks>: " of the first CPU, "" if there is none; cut into the text. */
static const char *cpu_field(char *text, const char *key)
{
    char *at = strstr(text, key);

    at = at != NULL ? strchr(at, ':') : NULL;
    if (at == NULL)
        return "";
    at += 1 + (at[1] == ' ');
    at[strcspn(at, "\n")] = '\0';
    return at;
}

static void put_cpu_model(struct fb_chunk *chunk)
{
    char text[4096], model[128];
    struct fb_text t = {.data = model, .cap = sizeof model};

    if (fb_file_read("/proc/cpuinfo", text, sizeof text) <= 0)
        return;
    if (strstr(text, "model name") != NULL) {
        fb_text_str(&t, cpu_field(text, "model name"));
    } else if (strstr(text, "CPU implementer") != NULL && strstr(text, "CPU part") != NULL) {
        char *part = strstr(text, "CPU part");

        fb_text_str(&t, "part ");
        fb_text_str(&t, cpu_field(part, "CPU part"));
        fb_text_str(&t, " of implementer ");
        fb_text_str(&t, cpu_field(text, "CPU implementer"));
    }
    if (t.len > 0)
        put(chunk, "cpu_model", model);
}

static void put_host(struct fb_chunk *chunk)
{
    struct utsname host;
    cpu_set_t cpus;
    const char *container = container_hint();

    if (uname(&host) == 0) {
        put(chunk, "host", host.nodename);
        put(chunk, "kernel", host.release);
        put(chunk, "machine", host.machine);
    }
    put_cpu_model(chunk);
    put_number(chunk, "cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        put_number(chunk, "cpus_allowed", (uint64_t)CPU_COUNT(&cpus));
    if (container != NULL)
        put(chunk, "container", container);
}

static void put_clock(const struct fb_config *config, struct fb_chunk *chunk)
{
    const struct fb_clock_facts *facts = fb_clock_facts();
    struct timespec tick;
    uint64_t tick_hz = 0;

    put(chunk, "clock_asked", fb_clock_name(config->clock));
    put(chunk, "clock_got", fb_clock_name(facts->got));
    if (facts->why != NULL)
        put(chunk, "clock_lack", facts->why);
    if (facts->kernel != NULL)
        put(chunk, "kernel_frames", facts->kernel);
    put_number(chunk, "hz_asked", config->hz);
    put_milli(chunk, "hz_got", 1000000000000u / config->interval_ns);
    put_number(chunk, "interval_ns", config->interval_ns);
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 && tick.tv_nsec > 0)
        tick_hz = 1000000000u / (uint64_t)tick.tv_nsec;
    if (tick_hz > 0)
        put_number(chunk, "tick_hz", tick_hz);
}

static void put_run(const struct fb_manifest *m, const struct fb_config *config,
                    const struct fb_cgroup *cgroup, struct fb_chunk *chunk)
{
    char text[20];
    struct fb_text t = {.data = text, .cap = sizeof text};
    uint64_t quota;

    put_number(chunk, "start_monotonic_ns", m->start_monotonic_ns);
    put_number(chunk, "start_wall_ns", m->start_wall_ns);
    put(chunk, "run_root", config->root ? "1" : "0");
    if (m->parent_writer != 0) {
        fb_text_hex(&t, m->parent_writer, 16);
        put(chunk, "parent_writer", text);
    }
    if (cgroup->name[0] != '\0')
        put(chunk, "cgroup_path", cgroup->name);
    if (fb_cgroup_quota(cgroup, &quota))
        put_milli(chunk, "cgroup_quota_cores", quota);
}

static void put_labels(const struct fb_config *config, struct fb_chunk *chunk)
{
    const char *cursor = config->labels;
    const char *item;
    size_t n;

    while (fb_config_next(&cursor, &item, &n)) {
        const char *equals = memchr(item, '=', n);
        size_t key = (size_t)(equals - item);

        fb_wire_put_varint(&chunk->body, 6 + key);
        fb_wire_put_bytes(&chunk->body, "label.", 6);
        fb_wire_put_bytes(&chunk->body, item, key);
        fb_wire_put_blob(&chunk->body, equals + 1, n - key - 1);
        chunk->count++;
    }
}

static bool permitted(const struct fb_config *config, const char *name, size_t size)
{
    const char *cursor = config->env;
    const char *item;
    size_t n;

    while (fb_config_next(&cursor, &item, &n))
        if (n == size && memcmp(item, name, n) == 0)
            return true;
    return false;
}

static void put_environment(const struct fb_manifest *m, const struct fb_config *config,
                            const uint32_t crc_table[256], struct fb_chunk *chunk)
{
    const char *end = m->environment + m->environment_size;

    for (const char *e = m->environment; m->environment_size > 0 && e < end; e += strlen(e) + 1) {
        const char *equals = strchr(e, '=');
        size_t name = equals != NULL ? (size_t)(equals - e) : 0;
        char text[16];
        struct fb_text t = {.data = text, .cap = sizeof text};
        const char *value = text;

        if (name == 0)
            continue;
        fb_text_str(&t, "crc32:");
        fb_text_hex(&t, fb_crc32(crc_table, 0, equals + 1, strlen(equals + 1)), 8);
        if (permitted(config, e, name))
            value = equals + 1;
        fb_wire_put_varint(&chunk->body, 4 + name);
        fb_wire_put_bytes(&chunk->body, "env.", 4);
        fb_wire_put_bytes(&chunk->body, e, name);
        fb_wire_put_blob(&chunk->body, value, strlen(value));
        chunk->count++;
    }
}

void fb_manifest_put(const struct fb_manifest *m, const struct fb_config *config,
                     const struct fb_cgroup *cgroup, const uint32_t crc_table[256],
                     struct fb_chunk *chunk)
{
    put(chunk, "flamebank_version", FB_VERSION);
    put_process(m, chunk);
    put_host(chunk);
    put_clock(config, chunk);
    put_run(m, config, cgroup, chunk);
    put_labels(config, chunk);
    put_environment(m, config, crc_table, chunk);
}

void fb_manifest_put_fallbacks(uint32_t threads, struct fb_chunk *chunk)
{
    put_number(chunk, "clock_fallbacks", threads);
}
