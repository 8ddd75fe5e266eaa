/* An own search, not libdwfl's standard one: that asks a debuginfod server whenever the
 * environment names one, and accepts a debug file by checksum where a build ID is known. */
#include "symbolize/elf_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "base/file.h"
#include "base/vec.h"

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"
#define DELETED          " (deleted)"

/* The id comes from a bank and becomes a path: hex digits only. */
static bool is_build_id(const char *id)
{
    return strlen(id) >= 4 && strspn(id, "0123456789abcdef") == strlen(id);
}

/* Opens path if it is an ELF file with that build ID, else NULL. */
static struct fb_elf_file *open_with_id(const char *path, const char *id)
{
    struct fb_elf_file *file;
    struct fb_err ignored;

    if (fb_elf_file_open_debug(path, &file, &ignored) != FB_OK)
        return NULL;
    if (strcmp(file->build_id, id) == 0)
        return file;
    fb_elf_file_close(file);
    return NULL;
}

enum { DIRS = 3 };

/* The folders of debug files, in the order of preference; the texts of it are free()d. */
static void list_dirs(const struct fb_elf_places *places, char *dirs[DIRS])
{
    dirs[0] = places->debug_dir ? fb_strdup(places->debug_dir) : NULL;
    dirs[1] = places->root ? fb_format("%s" SYSTEM_DEBUG_DIR, places->root) : NULL;
    dirs[2] = fb_strdup(SYSTEM_DEBUG_DIR);
}

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
}

static struct fb_elf_file *search_id(const struct fb_elf_places *places, const char *id,
                                     const char *suffix)
{
    static const char *const folders[] = {"/.build-id", ""};
    struct fb_elf_file *file = NULL;
    char *dirs[DIRS];

    if (!is_build_id(id))
        return NULL;
    list_dirs(places, dirs);
    for (size_t d = 0; d < DIRS && !file; d++) {
        for (size_t f = 0; dirs[d] && f < 2 && !file; f++) {
            struct fb_buf path = {.max = 4096};

            fb_buf_printf(&path, "%s%s/%.2s/%s%s", dirs[d], folders[f], id, id + 2, suffix);
            if (!path.overflow)
                file = open_with_id(path.data, id);
            fb_buf_done(&path);
        }
    }
    free_texts(dirs, DIRS);
    return file;
}

static bool crc_matches(const char *path, uint32_t crc)
{
    struct fb_buf bytes = {.max = (size_t)1 << 32};
    uint32_t table[256];
    struct fb_err ignored;
    bool same;

    fb_crc32_init(table);
    same = fb_file_read(path, &bytes, &ignored) == FB_OK &&
           fb_crc32(table, 0, bytes.data, bytes.len) == crc;
    fb_buf_done(&bytes);
    return same;
}

/* The debug file at path if it belongs to main: by build ID, without one by checksum. */
static struct fb_elf_file *open_linked(const char *path, const struct fb_elf_file *main,
                                       uint32_t crc)
{
    struct fb_elf_file *file;
    struct fb_err ignored;

    if (main->build_id[0])
        return open_with_id(path, main->build_id);
    if (fb_elf_file_open(path, &file, &ignored) != FB_OK)
        return NULL;
    if (crc_matches(path, crc))
        return file;
    fb_elf_file_close(file);
    return NULL;
}

/* .gnu_debuglink: a file name, NUL, zeros up to a multiple of 4, checksum. */
static bool read_debuglink(const struct fb_elf_file *main, const char **ret_name, uint32_t *ret_crc)
{
    GElf_Shdr header;
    Elf_Data *data;
    size_t n, at;

    if (!fb_elf_file_section(main, ".gnu_debuglink", &header, &data))
        return false;
    n = strnlen(data->d_buf, data->d_size);
    at = (n + 4) & ~(size_t)3;
    if (n == 0 || at + 4 > data->d_size || memchr(data->d_buf, '/', n))
        return false;
    *ret_name = data->d_buf;
    memcpy(ret_crc, (const char *)data->d_buf + at, 4);
    return true;
}

static struct fb_elf_file *search_debuglink(const struct fb_elf_places *places,
                                            const struct fb_elf_file *main)
{
    const char *slash = strrchr(main->path, '/'), *name;
    int folder = slash ? (int)(slash - main->path) : 0;
    struct fb_elf_file *file = NULL;
    char *paths[2 + DIRS] = {0}, *dirs[DIRS];
    uint32_t crc;

    if (!slash || !read_debuglink(main, &name, &crc))
        return NULL;
    list_dirs(places, dirs);
    paths[0] = fb_format("%.*s/%s", folder, main->path, name);
    paths[1] = fb_format("%.*s/.debug/%s", folder, main->path, name);
    for (size_t i = 0; i < DIRS; i++)
        if (dirs[i])
            paths[2 + i] = fb_format("%s%.*s/%s", dirs[i], folder, main->path, name);
    for (size_t i = 0; i < 2 + DIRS; i++)
        if (paths[i] && !file && strcmp(paths[i], main->path) != 0)
            file = open_linked(paths[i], main, crc);
    free_texts(paths, 2 + DIRS);
    free_texts(dirs, DIRS);
    return file;
}

/* The file at `path` itself, refused where its build ID is another one. */
static enum fb_status open_main(const char *path, const char *build_id,
                                struct fb_elf_file **ret_main, struct fb_err *err)
{
    size_t n = strlen(path), cut = strlen(DELETED);
    bool deleted = n > cut && strcmp(path + n - cut, DELETED) == 0;
    char *plain = fb_strndup(path, deleted ? n - cut : n);
    struct fb_elf_file *file = NULL;
    enum fb_status r = FB_OK;

    if (plain[0] != '/')
        r = fb_fail(err, FB_ENOTFOUND, "'%s' is no file", plain);
    else
        r = fb_elf_file_open(plain, &file, err);
    if (r == FB_OK && build_id[0] && strcmp(file->build_id, build_id) != 0)
        r = fb_fail(err, FB_ENOTFOUND,
                    "'%s' is another file than in the run: its build ID is %.16s, the run had "
                    "%.16s",
                    plain, file->build_id[0] ? file->build_id : "(none)", build_id);
    else if (r == FB_OK && deleted && !build_id[0])
        r = fb_fail(err, FB_ENOTFOUND, "'%s' was replaced or deleted during the run", plain);
    if (r == FB_OK)
        *ret_main = file;
    else
        fb_elf_file_close(file);
    free(plain);
    return r;
}

/* The same file in another root: an image that was unpacked, a container that still runs.  A path
 * that leads out of it (a link with "..") leads to a file that its build ID gives away. */
static struct fb_elf_file *open_in_roots(const struct fb_elf_places *places, const char *path,
                                         const char *build_id)
{
    struct fb_elf_file *file = NULL;
    struct fb_err ignored;
    char *there;

    if (path[0] != '/')
        return NULL;
    if (places->root) {
        there = fb_format("%s%s", places->root, path);
        if (open_main(there, build_id, &file, &ignored) != FB_OK)
            file = NULL;
        free(there);
    }
    if (!file && places->pid > 0 && build_id[0]) {
        there = fb_format("/proc/%ld/root%s", places->pid, path);
        if (open_main(there, build_id, &file, &ignored) != FB_OK)
            file = NULL;
        free(there);
    }
    return file;
}

static struct fb_elf_file *fetch(const struct fb_elf_places *places, enum fb_fetch_what what,
                                 const char *path, const char *build_id)
{
    struct fb_elf_file *file;
    char *copy;

    if (!places->fetch || !is_build_id(build_id))
        return NULL;
    copy = fb_fetch_file(places->fetch, what, path, build_id);
    file = copy ? open_with_id(copy, build_id) : NULL;
    free(copy);
    return file;
}

enum fb_status fb_elf_search(const struct fb_elf_places *places, const char *path,
                             const char *build_id, struct fb_elf_file **ret_main,
                             struct fb_elf_file **ret_debug, struct fb_err *err)
{
    struct fb_elf_file *main = NULL, *debug;
    struct fb_err reason;
    enum fb_status r = open_main(path, build_id, &main, &reason);
    const char *id;

    if (!main)
        main = open_in_roots(places, path, build_id);
    if (!main)
        main = search_id(places, build_id, "");
    id = main ? main->build_id : build_id;
    debug = search_id(places, id, ".debug");
    if (!debug && main)
        debug = search_debuglink(places, main);
    if (!debug && !(main && fb_elf_file_has_section(main, ".debug_info")))
        debug = fetch(places, FB_FETCH_DEBUG_FILE, path, id);
    if (!main)
        main = fetch(places, FB_FETCH_PROGRAM, path, id);
    if (!main && !debug) {
        *err = reason;
        return r;
    }
    *ret_main = main;
    *ret_debug = debug;
    return FB_OK;
}

/* .gnu_debugaltlink: a file name, NUL, the build ID. */
static bool read_altlink(const struct fb_elf_file *file, const char **ret_name,
                         char ret_id[2 * 64 + 1])
{
    GElf_Shdr header;
    Elf_Data *data;
    size_t n;

    if (!fb_elf_file_section(file, ".gnu_debugaltlink", &header, &data))
        return false;
    n = strnlen(data->d_buf, data->d_size);
    if (n == 0 || n + 1 >= data->d_size || data->d_size - n - 1 > 64)
        return false;
    *ret_name = data->d_buf;
    for (size_t i = 0; i < data->d_size - n - 1; i++)
        (void)snprintf(ret_id + 2 * i, 3, "%02x", ((const uint8_t *)data->d_buf)[n + 1 + i]);
    return true;
}

bool fb_elf_search_alt(const struct fb_elf_places *places, const struct fb_elf_file *file,
                       struct fb_elf_file **ret_alt, char **ret_name)
{
    const char *slash = strrchr(file->path, '/'), *name, *base;
    char id[2 * 64 + 1], *path, *dirs[DIRS];
    struct fb_elf_file *alt;

    *ret_alt = NULL;
    *ret_name = NULL;
    if (!read_altlink(file, &name, id))
        return false;
    base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    path = name[0] == '/' ? fb_strdup(name)
                          : fb_format("%.*s/%s", slash ? (int)(slash - file->path) : 1,
                                      slash ? file->path : ".", name);
    alt = open_with_id(path, id);
    free(path);
    list_dirs(places, dirs);
    for (size_t i = 0; i < DIRS && !alt; i++) {
        path = fb_format("%s/.dwz/%s", dirs[i] ? dirs[i] : "", base);
        alt = dirs[i] ? open_with_id(path, id) : NULL;
        free(path);
    }
    free_texts(dirs, DIRS);
    if (!alt)
        alt = search_id(places, id, ".debug");
    if (!alt)
        alt = fetch(places, FB_FETCH_DEBUG_FILE, name, id);
    *ret_alt = alt;
    *ret_name = fb_strdup(name);
    return true;
}
