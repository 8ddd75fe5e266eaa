/* jit_files.c - see jit_files.h. */
#include "sampler/jit_files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/jitdump.h"
#include "base/perf_map.h"
#include "sampler/maps.h"
#include "sampler/text.h"

enum {
    BLOCK_BYTES = 8192,
    LOOK_BYTES = 4 << 20,
    SEARCH_DOUBLINGS = 6,
    OPEN_FILES_MAX = 4096,
    DEBUG_ENTRIES_MAX = 65536,
    DEBUG_FILE_MAX = 512,
};

static const uint64_t second_ns = 1000000000u;
/* A name of the dump is told from one of the map by this bit of where it is. */
static const uint64_t of_dump = UINT64_C(1) << 63;

void fb_jit_files_init(struct fb_jit_files *files)
{
    *files = (struct fb_jit_files){.map.fd = -1, .dump.fd = -1};
}

/* --- where they are --------------------------------------------------------- */

static void path_begin(struct fb_text *t, char *buffer, size_t size, const char *before,
                       const char *after)
{
    *t = (struct fb_text){.data = buffer, .cap = size};
    fb_text_str(t, before);
    fb_text_dec(t, (uint64_t)getpid());
    fb_text_str(t, after);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text);
    size_t m = strlen(end);

    return n >= m && memcmp(text + n - m, end, m) == 0;
}

/* Of <dirent.h> without opendir(), which allocates. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

/* The target of the open file `number` of the process, if it is so called. */
static bool open_file_is(const char *number, const char *name, char path[FB_JIT_PATH])
{
    char link[64];
    struct fb_text t;
    ssize_t n;

    path_begin(&t, link, sizeof link, "/proc/", "/fd/");
    fb_text_str(&t, number);
    n = readlink(link, path, FB_JIT_PATH - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 0 && ends_with(path, name);
}

/* Among the files that the process has open; the helper's table is another one. */
static void open_files_search(const char *name, char path[FB_JIT_PATH])
{
    char folder[64];
    char buffer[2048] __attribute__((aligned(8)));
    unsigned seen = 0;
    struct fb_text t;
    long n;
    int fd;

    path_begin(&t, folder, sizeof folder, "/proc/", "/fd");
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && seen < OPEN_FILES_MAX &&
           (n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < n; seen++) {
            const struct entry *e = (const struct entry *)(const void *)(buffer + at);

            at += e->size;
            if (e->name[0] != '.' && open_file_is(e->name, name, path)) {
                close(fd);
                return;
            }
        }
    if (fd >= 0)
        close(fd);
    path[0] = '\0';
}

struct dump_search {
    char name[64];
    char *path;
};

static bool on_map(const struct fb_map *map, const char *path, void *ctx)
{
    struct dump_search *s = ctx;

    if (!map->executable || map->anonymous || !ends_with(path, s->name) ||
        strlen(path) >= FB_JIT_PATH)
        return true;
    memcpy(s->path, path, strlen(path) + 1);
    return false;
}

static void search(struct fb_jit_files *files)
{
    struct dump_search dump = {.path = files->dump.path};
    char name[64];
    struct fb_text t;

    if (files->map.path[0] == '\0') {
        path_begin(&t, files->map.path, FB_JIT_PATH, "/tmp/perf-", ".map");
        path_begin(&t, name, sizeof name, "/perf-", ".map");
        if (access(files->map.path, R_OK) != 0)
            open_files_search(name, files->map.path);
    }
    if (files->dump.path[0] == '\0') {
        path_begin(&t, dump.name, sizeof dump.name, "/jit-", ".dump");
        fb_maps_each(on_map, &dump);
    }
}

/* Opens it; *ret_anew: it is another one than before, or was written anew. */
static bool file_open(struct fb_jit_file *file, bool *ret_anew)
{
    struct stat st;

    *ret_anew = false;
    if (file->path[0] == '\0')
        return false;
    file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (file->fd < 0)
        return false;
    if (fstat(file->fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(file->fd);
        file->fd = -1;
        return false;
    }
    if (file->done > 0 &&
        ((uint64_t)st.st_dev != file->device || (uint64_t)st.st_ino != file->inode ||
         (uint64_t)st.st_size < file->done)) {
        *ret_anew = true;
        file->done = 0;
        file->in_line = false;
    }
    file->device = (uint64_t)st.st_dev;
    file->inode = (uint64_t)st.st_ino;
    return true;
}

/* --- reading ------------------------------------------------------------------ */

/* Adds the lines of bytes[0 .. n), the last of which is whole. */
static bool lines_add(struct fb_jit_files *files, struct fb_jit_codes *codes, const char *bytes,
                      size_t n)
{
    bool any = false;

    for (size_t at = 0; at < n;) {
        const char *end = memchr(bytes + at, '\n', n - at);
        size_t length = (size_t)(end - bytes) - at;
        struct fb_perf_map_code c;

        if (!files->map.in_line && fb_perf_map_line(bytes + at, length, &c)) {
            struct fb_jit_code code = {.start = c.start, .end = c.start + c.size};

            code.time_ns = files->looked_ns;
            code.name_at = files->map.done + (uint64_t)(c.name - bytes);
            any |= fb_jit_codes_add(codes, &code);
        }
        files->map.in_line = false;
        at += length + 1;
    }
    return any;
}

bool fb_jit_map_read(struct fb_jit_files *files, struct fb_jit_codes *codes)
{
    char block[BLOCK_BYTES];
    size_t budget = LOOK_BYTES;
    bool any = false;
    ssize_t n;

    while (budget > 0 &&
           (n = pread(files->map.fd, block, sizeof block, (off_t)files->map.done)) > 0) {
        const char *last = memrchr(block, '\n', (size_t)n);
        size_t whole = last != NULL ? (size_t)(last - block) + 1 : 0;

        if (whole > 0) {
            any |= lines_add(files, codes, block, whole);
        } else if ((size_t)n == sizeof block) { /* no line is that long */
            files->map.in_line = true;
            whole = sizeof block;
        } else {
            break; /* it is being written */
        }
        files->map.done += whole;
        budget -= whole < budget ? whole : budget;
    }
    return any;
}

static bool record_add(struct fb_jit_files *files, struct fb_jit_codes *codes,
                       const struct fb_jitdump_record *r, uint64_t at)
{
    struct fb_jit_code code = {.start = r->address, .end = r->address + r->code_size};
    const struct fb_jit_code *old;

    code.time_ns = files->own_clock ? files->looked_ns : r->time_ns;
    switch (r->kind) {
    case FB_JITDUMP_LOAD:
        code.name_at = of_dump | (at + FB_JITDUMP_NAME_AT);
        if (files->debug_of == r->address)
            code.debug_at = files->debug_at;
        files->debug_of = 0;
        return fb_jit_codes_add(codes, &code);
    case FB_JITDUMP_MOVE:
        old = fb_jit_codes_at(codes, r->old_address);
        if (old == NULL)
            return false;
        code.name_at = old->name_at; /* its lines have the old addresses: they are left out */
        return fb_jit_codes_add(codes, &code);
    case FB_JITDUMP_DEBUG_INFO:
        files->debug_at = at;
        files->debug_of = r->address;
        return false;
    default:
        return false;
    }
}

bool fb_jit_dump_read(struct fb_jit_files *files, struct fb_jit_codes *codes)
{
    uint8_t bytes[FB_JITDUMP_RECORD_SIZE];
    struct fb_jitdump_record r;
    struct fb_jitdump_head head;
    struct stat st;
    bool any = false;
    ssize_t n;

    if (fstat(files->dump.fd, &st) != 0)
        return false;
    if (files->dump.done == 0) {
        n = pread(files->dump.fd, bytes, sizeof bytes, 0);
        if (n < FB_JITDUMP_HEADER_SIZE || fb_jitdump_u32(bytes) == 0)
            return false; /* it is being written */
        files->refused = !fb_jitdump_header(bytes, (size_t)n, &head);
        if (files->refused || head.size > (uint64_t)st.st_size)
            return false;
        files->own_clock = head.own_clock;
        files->dump.done = head.size;
    }
    for (unsigned records = 0; records < LOOK_BYTES / sizeof bytes; records++) {
        n = pread(files->dump.fd, bytes, sizeof bytes, (off_t)files->dump.done);
        if (n <= 0 || !fb_jitdump_record(bytes, (size_t)n, &r) ||
            files->dump.done + r.size > (uint64_t)st.st_size)
            break; /* it is being written, or not one */
        any |= record_add(files, codes, &r, files->dump.done);
        files->dump.done += r.size;
        if (r.kind == FB_JITDUMP_CLOSE)
            break;
    }
    return any;
}

bool fb_jit_files_look(struct fb_jit_files *files, struct fb_jit_codes *codes, uint64_t now_ns)
{
    bool map_anew;
    bool dump_anew;
    bool any = false;

    if (now_ns >= files->search_ns && (files->map.path[0] == '\0' || files->dump.path[0] == '\0')) {
        search(files);
        files->search_ns = now_ns + (second_ns << files->searches);
        files->searches += files->searches < SEARCH_DOUBLINGS;
    }
    file_open(&files->map, &map_anew);
    file_open(&files->dump, &dump_anew);
    if (map_anew || dump_anew) {
        fb_jit_codes_clear(codes);
        files->map.done = files->dump.done = 0;
    }
    if (files->map.fd >= 0)
        any |= fb_jit_map_read(files, codes);
    if (files->dump.fd >= 0)
        any |= fb_jit_dump_read(files, codes);
    files->looked_ns = now_ns;
    fb_jit_codes_settle(codes);
    return any || map_anew || dump_anew;
}

void fb_jit_files_rest(struct fb_jit_files *files)
{
    if (files->map.fd >= 0)
        close(files->map.fd);
    if (files->dump.fd >= 0)
        close(files->dump.fd);
    files->map.fd = files->dump.fd = -1;
}

/* --- names and lines ------------------------------------------------------------ */

size_t fb_jit_files_name(const struct fb_jit_files *files, const struct fb_jit_code *code,
                         char *buffer, size_t size)
{
    bool dump = (code->name_at & of_dump) != 0;
    int fd = dump ? files->dump.fd : files->map.fd;
    ssize_t n = fd < 0 ? -1 : pread(fd, buffer, size, (off_t)(code->name_at & ~of_dump));
    const char *end;

    if (n <= 0)
        return 0;
    end = memchr(buffer, dump ? '\0' : '\n', (size_t)n);
    if (end != NULL)
        n = end - buffer;
    if (!dump && n > 0 && buffer[n - 1] == '\r')
        n--;
    return (size_t)n;
}

/* An entry at `at`: its address, its line, its file unless that is the one before.  Returns its
 * bytes; 0: it is none. */
static size_t entry_read(int fd, uint64_t at, uint64_t *ret_address, uint32_t *ret_line,
                         char file[DEBUG_FILE_MAX])
{
    uint8_t bytes[FB_JITDUMP_ENTRY_SIZE + DEBUG_FILE_MAX];
    ssize_t n = pread(fd, bytes, sizeof bytes, (off_t)at);
    const char *name = (const char *)bytes + FB_JITDUMP_ENTRY_SIZE;
    const char *end;

    if (n <= FB_JITDUMP_ENTRY_SIZE)
        return 0;
    end = memchr(name, '\0', (size_t)n - FB_JITDUMP_ENTRY_SIZE);
    if (end == NULL)
        return 0;
    *ret_address = fb_jitdump_u64(bytes);
    *ret_line = fb_jitdump_u32(bytes + 8);
    if (strcmp(name, "\xff") != 0)
        memcpy(file, name, (size_t)(end - name) + 1);
    return FB_JITDUMP_ENTRY_SIZE + (size_t)(end - name) + 1;
}

bool fb_jit_files_line(const struct fb_jit_files *files, const struct fb_jit_code *code,
                       uint64_t pc, char *file, size_t size, uint32_t *ret_line)
{
    uint8_t head[FB_JITDUMP_ENTRIES_AT];
    char now[DEBUG_FILE_MAX] = "";
    struct fb_jitdump_record r;
    uint64_t best = 0;
    uint64_t at;

    if (code->debug_at == 0 || files->dump.fd < 0 ||
        pread(files->dump.fd, head, sizeof head, (off_t)code->debug_at) != (ssize_t)sizeof head ||
        !fb_jitdump_record(head, sizeof head, &r))
        return false;
    at = code->debug_at + sizeof head;
    for (uint64_t i = 0; i < r.count && i < DEBUG_ENTRIES_MAX; i++) {
        uint64_t address;
        uint32_t line;
        size_t n = entry_read(files->dump.fd, at, &address, &line, now);

        if (n == 0 || at + n > code->debug_at + r.size)
            break;
        at += n;
        if (address > pc || address < best || strlen(now) >= size)
            continue;
        best = address;
        *ret_line = line;
        memcpy(file, now, strlen(now) + 1);
    }
    return best != 0;
}
