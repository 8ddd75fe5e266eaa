/* cgroup.c - see cgroup.h; the formats are those of proc(5) and cgroups(7). */
#include "sampler/cgroup.h"

#include <string.h>
#include <sys/stat.h>

#include "sampler/surroundings.h"
#include "sampler/text.h"

/* A comma-separated list holds the word. */
static bool list_has(const char *list, size_t n, const char *word)
{
    size_t length = strlen(word);

    for (size_t at = 0; at < n;) {
        const char *comma = memchr(list + at, ',', n - at);
        size_t end = comma != NULL ? (size_t)(comma - list) : n;

        if (end - at == length && memcmp(list + at, word, length) == 0)
            return true;
        at = end + 1;
    }
    return false;
}

/* "5:cpu,cpuacct:/path" or "0::/path": the path of `controller`, or of version 2 for NULL. */
static bool membership(const char *text, const char *controller, struct fb_text *ret_path)
{
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        const char *list = strchr(line, ':');
        const char *path = list != NULL ? strchr(list + 1, ':') : NULL;

        if (end == NULL)
            end = line + strlen(line);
        if (path != NULL && path < end) {
            size_t n = (size_t)(path - list - 1);

            if (controller == NULL ? n == 0 && *line == '0' : list_has(list + 1, n, controller)) {
                fb_text_add(ret_path, path + 1, (size_t)(end - path - 1));
                return !ret_path->cut;
            }
        }
        line = *end == '\n' ? end + 1 : NULL;
    }
    return false;
}

struct mount {
    const char *root;
    size_t root_size;
    const char *point;
    size_t point_size;
};

static const char *word_end(const char *s)
{
    while (*s != '\0' && *s != ' ' && *s != '\n')
        s++;
    return s;
}

/* One line of mountinfo; true if it is the wanted hierarchy. */
static bool mount_match(const char *line, const char *end, const char *controller,
                        struct mount *ret_mount)
{
    const char *field = line;
    const char *type = strstr(line, " - ");
    const char *options;

    if (type == NULL || type >= end)
        return false;
    for (int i = 0; i < 3; i++) {
        field = word_end(field);
        if (*field == ' ')
            field++;
    }
    ret_mount->root = field;
    ret_mount->root_size = (size_t)(word_end(field) - field);
    field += ret_mount->root_size + 1;
    ret_mount->point = field;
    ret_mount->point_size = (size_t)(word_end(field) - field);
    type += 3;
    if (controller == NULL)
        return strncmp(type, "cgroup2 ", 8) == 0;
    if (strncmp(type, "cgroup ", 7) != 0)
        return false;
    options = word_end(word_end(type) + 1);
    if (*options != ' ')
        return false;
    return list_has(options + 1, (size_t)(word_end(options + 1) - options - 1), controller);
}

static bool mount_find(const char *text, const char *controller, struct mount *ret_mount)
{
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');

        if (end == NULL)
            return false;
        if (mount_match(line, end, controller, ret_mount))
            return true;
        line = end + 1;
    }
    return false;
}

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Mount point + the group's path below the mount's root; the mount point alone where that is not
 * visible (a container without a cgroup namespace sees its host's path). */
static void folder_make(struct fb_cgroup_folder *f, const char *root, const struct mount *mount,
                        const char *path)
{
    struct fb_text t = {.data = f->path, .cap = sizeof f->path};
    size_t base;

    fb_text_str(&t, root);
    fb_text_add(&t, mount->point, mount->point_size);
    base = t.len;
    if (mount->root_size > 1 && strncmp(path, mount->root, mount->root_size) == 0)
        path += mount->root_size;
    if (strcmp(path, "/") != 0)
        fb_text_str(&t, path);
    if (t.cut || !is_folder(f->path))
        f->path[base] = '\0';
    f->found = is_folder(f->path);
}

static void folder_find(struct fb_cgroup_folder *f, const char *root, const char *controller,
                        const char *groups, const char *mounts, char *ret_name, size_t name_cap)
{
    struct fb_text path = {.data = ret_name, .cap = name_cap};
    struct mount mount;

    f->found = false;
    f->v2 = false;
    f->file = (struct fb_kept_file){0};
    ret_name[0] = '\0';
    if (membership(groups, controller, &path) && mount_find(mounts, controller, &mount)) {
        folder_make(f, root, &mount, ret_name);
        return;
    }
    path = (struct fb_text){.data = ret_name, .cap = name_cap};
    ret_name[0] = '\0';
    if (membership(groups, NULL, &path) && mount_find(mounts, NULL, &mount)) {
        f->v2 = true;
        folder_make(f, root, &mount, ret_name);
    }
}

static void proc_read(const char *root, const char *name, char *buffer, size_t cap)
{
    char path[FB_CGROUP_PATH_MAX];
    struct fb_text t = {.data = path, .cap = sizeof path};

    fb_text_str(&t, root);
    fb_text_str(&t, name);
    if (fb_file_read(path, buffer, cap) < 0)
        buffer[0] = '\0';
}

void fb_cgroup_find(struct fb_cgroup *ret_cg, const char *root, char *scratch, size_t cap)
{
    char ignored[FB_CGROUP_PATH_MAX];
    char *mounts = scratch + cap / 4;

    ret_cg->keep = false;
    proc_read(root, "/proc/self/cgroup", scratch, cap / 4);
    proc_read(root, "/proc/self/mountinfo", mounts, cap - cap / 4);
    folder_find(&ret_cg->cpu, root, "cpu", scratch, mounts, ret_cg->name, sizeof ret_cg->name);
    folder_find(&ret_cg->cpuacct, root, "cpuacct", scratch, mounts, ignored, sizeof ignored);
    folder_find(&ret_cg->memory, root, "memory", scratch, mounts, ignored, sizeof ignored);
    /* With version 1 another set of processes may share the arm's memory group, such as a whole
     * container: that is no memory of the arm. */
    if (strcmp(ignored, ret_cg->name) != 0)
        ret_cg->memory.found = false;
}

static bool path_make(const struct fb_cgroup_folder *f, const char *name, struct fb_text *t)
{
    fb_text_str(t, f->path);
    fb_text_str(t, "/");
    fb_text_str(t, name);
    return f->found && !t->cut;
}

static bool file_text(const struct fb_cgroup_folder *f, const char *name, char *buffer, size_t cap)
{
    char path[FB_CGROUP_PATH_MAX + 64];
    struct fb_text t = {.data = path, .cap = sizeof path};

    return path_make(f, name, &t) && fb_file_glance(path, buffer, cap) > 0;
}

static bool number_parse(const char *text, uint64_t *ret_value)
{
    const char *after;

    *ret_value = fb_text_number(text, &after);
    return after != text;
}

static bool file_number(const struct fb_cgroup_folder *f, const char *name, uint64_t *ret_value)
{
    char buffer[64];

    return file_text(f, name, buffer, sizeof buffer) && number_parse(buffer, ret_value);
}

/* The folder's file that is read each second. */
static bool each_second(const struct fb_cgroup *cg, struct fb_cgroup_folder *f, const char *name,
                        char *buffer, size_t cap)
{
    char path[FB_CGROUP_PATH_MAX + 64];
    struct fb_text t = {.data = path, .cap = sizeof path};

    return path_make(f, name, &t) && fb_kept_read(&f->file, cg->keep, path, buffer, cap) > 0;
}

void fb_cgroup_keep(struct fb_cgroup *cg, bool keep)
{
    cg->keep = keep;
    cg->cpu.file = cg->cpuacct.file = cg->memory.file = (struct fb_kept_file){0};
    cg->cpu_pressure = cg->memory_pressure = (struct fb_kept_file){0};
}

/* Version 2: one file says both. */
static bool usage_read(struct fb_cgroup *cg, const char *cpu_stat, uint64_t *ret_ns)
{
    char text[2048];

    if (!cg->cpuacct.v2)
        return each_second(cg, &cg->cpuacct, "cpuacct.usage", text, sizeof text) &&
               number_parse(text, ret_ns);
    if (cpu_stat == NULL || !cg->cpu.v2) {
        if (!each_second(cg, &cg->cpuacct, "cpu.stat", text, sizeof text))
            return false;
        cpu_stat = text;
    }
    if (!fb_text_field(cpu_stat, "usage_usec", ret_ns))
        return false;
    *ret_ns *= 1000;
    return true;
}

void fb_cgroup_read(struct fb_cgroup *cg, struct fb_cgroup_now *ret_now)
{
    struct fb_cgroup_now *now = ret_now;
    char stat[2048];
    char memory[64];
    bool has_stat = each_second(cg, &cg->cpu, "cpu.stat", stat, sizeof stat);

    memset(now, 0, sizeof *now);
    if (has_stat) {
        const char *key = cg->cpu.v2 ? "throttled_usec" : "throttled_time";

        now->has_throttling = fb_text_field(stat, key, &now->throttled_ns) &&
                              fb_text_field(stat, "nr_throttled", &now->throttled_count) &&
                              fb_text_field(stat, "nr_periods", &now->periods);
        if (cg->cpu.v2)
            now->throttled_ns *= 1000;
    }
    now->has_cpu = usage_read(cg, has_stat ? stat : NULL, &now->cpu_ns);
    now->has_memory =
        each_second(cg, &cg->memory, cg->memory.v2 ? "memory.current" : "memory.usage_in_bytes",
                    memory, sizeof memory) &&
        number_parse(memory, &now->memory_bytes);
}

static bool pressure(const struct fb_cgroup *cg, const struct fb_cgroup_folder *f,
                     struct fb_kept_file *file, const char *name, uint64_t *ret_ns)
{
    char path[FB_CGROUP_PATH_MAX + 64];
    struct fb_text t = {.data = path, .cap = sizeof path};
    char text[256];

    return f->v2 && path_make(f, name, &t) &&
           fb_kept_read(file, cg->keep, path, text, sizeof text) > 0 &&
           fb_pressure_parse(text, ret_ns);
}

bool fb_cgroup_cpu_pressure(struct fb_cgroup *cg, uint64_t *ret_ns)
{
    return pressure(cg, &cg->cpu, &cg->cpu_pressure, "cpu.pressure", ret_ns);
}

bool fb_cgroup_memory_pressure(struct fb_cgroup *cg, uint64_t *ret_ns)
{
    return pressure(cg, &cg->memory, &cg->memory_pressure, "memory.pressure", ret_ns);
}

bool fb_cgroup_quota(const struct fb_cgroup *cg, uint64_t *ret_millicores)
{
    char buffer[64];
    const char *at = buffer;
    const char *after;
    uint64_t quota;
    uint64_t period;

    if (cg->cpu.v2) {
        if (!file_text(&cg->cpu, "cpu.max", buffer, sizeof buffer))
            return false;
        quota = fb_text_number(at, &after);
        if (after == at || *after != ' ')
            return false; /* "max 100000" */
        at = after + 1;
        period = fb_text_number(at, &after);
        if (after == at)
            return false;
    } else if (!file_number(&cg->cpu, "cpu.cfs_quota_us", &quota) || /* -1: none */
               !file_number(&cg->cpu, "cpu.cfs_period_us", &period)) {
        return false;
    }
    if (period == 0 || quota > UINT64_MAX / 1000)
        return false;
    *ret_millicores = quota * 1000 / period;
    return true;
}
