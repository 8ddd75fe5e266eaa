/* class_path.c - see class_path.h. */
#include "sampler/jvm/class_path.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler/jvm/jar.h"
#include "sampler/memory.h"
#include "sampler/text.h"

enum {
    WORDS_MAX = 256 << 10,
    PATH_BYTES = 4096,
    FOLDER_BYTES = 16 << 10,
    ROOM_LEFT = 2 * PATH_BYTES, /* an item fits into it */
};

struct jars {
    const struct fb_class_path_from *from;
    struct fb_jar_reader reader;
    char *folder; /* FOLDER_BYTES of getdents64() */
    struct fb_chunk *chunk;
    uint64_t count;
};

static void put(struct fb_chunk *chunk, const char *key, const char *value)
{
    fb_wire_put_blob(&chunk->body, key, strlen(key));
    fb_wire_put_blob(&chunk->body, value, strlen(value));
    chunk->count++;
}

/* ---- files ---- */

static void jar_put(struct jars *j, const char *path)
{
    char key[32], value[PATH_BYTES + 64];
    struct fb_text k = {.data = key, .cap = sizeof key};
    struct fb_text v = {.data = value, .cap = sizeof value};
    /* Whatever the name is of, opening it must not wait. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat s;
    uint32_t hash;

    if (fd < 0)
        return;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
        j->chunk->body.cap - j->chunk->body.len > ROOM_LEFT && j->count < FB_CLASS_PATH_JARS) {
        fb_text_str(&k, "jvm.jar.");
        fb_text_dec(&k, ++j->count);
        fb_text_str(&v, path);
        fb_text_str(&v, " ");
        fb_text_dec(&v, (uint64_t)s.st_size);
        if (fb_jar_hash(&j->reader, fd, (uint64_t)s.st_size, &hash)) {
            fb_text_str(&v, " crc32:");
            fb_text_hex(&v, hash, 8);
        }
        put(j->chunk, key, value);
    }
    close(fd);
}

static bool is_jar(const char *name)
{
    size_t n = strlen(name);

    return n > 4 && (strcmp(name + n - 4, ".jar") == 0 || strcmp(name + n - 4, ".JAR") == 0);
}

/* All jars of a folder.  opendir() would take memory from the host's heap. */
static void folder_put(struct jars *j, const char *folder)
{
    int fd = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    char path[PATH_BYTES];
    long n;

    while (fd >= 0 && j->count < FB_CLASS_PATH_JARS &&
           (n = syscall(SYS_getdents64, fd, j->folder, (size_t)FOLDER_BYTES)) > 0) {
        for (long at = 0; at < n;) {
            struct fb_text t = {.data = path, .cap = sizeof path};
            unsigned short bytes;

            memcpy(&bytes, j->folder + at + offsetof(struct dirent64, d_reclen), sizeof bytes);
            fb_text_str(&t, folder);
            fb_text_str(&t, "/");
            fb_text_str(&t, j->folder + at + offsetof(struct dirent64, d_name));
            if (is_jar(path) && !t.cut)
                jar_put(j, path);
            at += bytes;
        }
    }
    if (fd >= 0)
        close(fd);
}

/* ---- paths ---- */

/* One element of a path; wide: it is of a module path, where a folder stands for its jars. */
static void element_put(struct jars *j, const char *element, size_t n, bool wide)
{
    char path[PATH_BYTES];
    struct fb_text t = {.data = path, .cap = sizeof path};
    struct stat s;

    if (n == 0)
        return;
    if (element[0] != '/') {
        fb_text_str(&t, j->from->cwd);
        fb_text_str(&t, "/");
    }
    if (element[n - 1] == '*' && (n == 1 || element[n - 2] == '/')) {
        wide = true;
        n = n > 1 ? n - 2 : 0;
    }
    fb_text_add(&t, element, n);
    if (t.cut)
        return;
    if (!wide)
        jar_put(j, path);
    else if (stat(path, &s) == 0 && S_ISDIR(s.st_mode))
        folder_put(j, path);
    else
        jar_put(j, path);
}

static void path_put(struct jars *j, const char *path, bool wide)
{
    while (path != NULL && *path != '\0') {
        size_t n = strcspn(path, ":");

        element_put(j, path, n, wide);
        path += n + (path[n] == ':');
    }
}

/* ---- where the paths are ---- */

static const char *variable(const struct fb_class_path_from *from, const char *name)
{
    const char *end = from->environment + from->environment_size;
    size_t n = strlen(name);

    for (const char *e = from->environment; from->environment_size > 0 && e < end;
         e += strlen(e) + 1)
        if (strncmp(e, name, n) == 0 && e[n] == '=')
            return e + n + 1;
    return NULL;
}

/* Options that take the next word. */
static const struct {
    const char *word;
    enum { CLASSES, MODULES, NEITHER } path;
} options[] = {
    {"-cp", CLASSES},           {"-classpath", CLASSES},
    {"--class-path", CLASSES},  {"-p", MODULES},
    {"--module-path", MODULES}, {"--upgrade-module-path", MODULES},
    {"--add-modules", NEITHER}, {"--limit-modules", NEITHER},
    {"--add-exports", NEITHER}, {"--add-opens", NEITHER},
    {"--add-reads", NEITHER},   {"--patch-module", NEITHER},
    {"--source", NEITHER},      {"--enable-native-access", NEITHER},
};

struct paths {
    const char *classes, *modules, *jar; /* NULL: not said; the last one counts */
};

/* "--class-path=X", or "--class-path" with X as the next word: whether that one is used up. */
static bool option_take(struct paths *p, const char *word, const char *next)
{
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        size_t n = strlen(options[i].word);
        bool joined = word[1] == '-' && strncmp(word, options[i].word, n) == 0 && word[n] == '=';

        if (!joined && strcmp(word, options[i].word) != 0)
            continue;
        if (options[i].path == CLASSES)
            p->classes = joined ? word + n + 1 : next;
        else if (options[i].path == MODULES)
            p->modules = joined ? word + n + 1 : next;
        return !joined;
    }
    return false;
}

/* The launcher's words are in front of the main class; behind it are the program's own. */
static struct paths paths_find(const struct fb_class_path_from *from)
{
    const char *end = from->words + from->words_size;
    struct paths p = {0};

    for (const char *word = from->words + (from->words_size > 0 ? strlen(from->words) + 1 : 0);
         word < end && word[0] == '-';) {
        const char *next = word + strlen(word) + 1;

        if (next >= end)
            next = NULL;
        if (strcmp(word, "-jar") == 0) {
            p.jar = next;
            break;
        }
        if (strcmp(word, "-m") == 0 || strcmp(word, "--module") == 0)
            break;
        if (option_take(&p, word, next) && next != NULL)
            next += strlen(next) + 1;
        if (next == NULL)
            break;
        word = next;
    }
    return p;
}

void fb_class_path_put(const struct fb_class_path_from *from, const uint32_t crc_table[256],
                       struct fb_chunk *chunk)
{
    struct jars j = {.from = from, .chunk = chunk};
    struct paths p = paths_find(from);
    char *memory = fb_memory_map(FB_JAR_BUFFER + FOLDER_BYTES);
    char number[24];
    struct fb_text t = {.data = number, .cap = sizeof number};

    if (memory == NULL)
        return;
    j.reader = (struct fb_jar_reader){
        .buffer = (uint8_t *)memory, .left = FB_CLASS_PATH_READ, .crc_table = crc_table};
    j.folder = memory + FB_JAR_BUFFER;
    if (p.jar != NULL)
        element_put(&j, p.jar, strlen(p.jar), false); /* -jar overrules every class path */
    else
        path_put(&j, p.classes != NULL ? p.classes : variable(from, "CLASSPATH"), false);
    path_put(&j, p.modules, true);
    fb_text_dec(&t, j.count);
    put(chunk, "jvm.jars", number);
    fb_memory_unmap(memory, FB_JAR_BUFFER + FOLDER_BYTES);
}

void fb_class_path_put_own(const struct fb_class_path_from *from, const uint32_t crc_table[256],
                           struct fb_chunk *chunk)
{
    char *words = fb_memory_map(WORDS_MAX);
    struct fb_class_path_from own = *from;
    ssize_t n;

    if (words == NULL)
        return;
    n = fb_file_read("/proc/thread-self/cmdline", words, WORDS_MAX);
    own.words = words;
    own.words_size = n > 0 ? (size_t)n : 0;
    fb_class_path_put(&own, crc_table, chunk);
    fb_memory_unmap(words, WORDS_MAX);
}
