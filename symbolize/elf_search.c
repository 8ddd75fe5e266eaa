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

static struct fb_elf_file *search_id(const char *debug_dir, const char *id, const char *suffix)
{
    static const char *const folders[] = {"/.build-id", ""};
    const char *dirs[] = {debug_dir, SYSTEM_DEBUG_DIR};
    struct fb_elf_file *file = NULL;

    if (!is_build_id(id))
        return NULL;
    for (size_t d = 0; d < 2 && !file; d++) {
        for (size_t f = 0; dirs[d] && f < 2 && !file; f++) {
            struct fb_buf path = {.max = 4096};

            fb_buf_printf(&path, "%s%s/%.2s/%s%s", dirs[d], folders[f], id, id + 2, suffix);
            if (!path.overflow)
                file = open_with_id(path.data, id);
            fb_buf_done(&path);
        }
    }
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

static struct fb_elf_file *search_debuglink(const char *debug_dir, const struct fb_elf_file *main)
{
    const char *slash = strrchr(main->path, '/'), *name;
    int folder = slash ? (int)(slash - main->path) : 0;
    struct fb_elf_file *file = NULL;
    char *paths[4] = {0};
    uint32_t crc;

    if (!slash || !read_debuglink(main, &name, &crc))
        return NULL;
    paths[0] = fb_format("%.*s/%s", folder, main->path, name);
    paths[1] = fb_format("%.*s/.debug/%s", folder, main->path, name);
    if (debug_dir)
        paths[2] = fb_format("%s%.*s/%s", debug_dir, folder, main->path, name);
    paths[3] = fb_format(SYSTEM_DEBUG_DIR "%.*s/%s", folder, main->path, name);
    for (size_t i = 0; i < 4; i++) {
        if (paths[i] && !file && strcmp(paths[i], main->path) != 0)
            file = open_linked(paths[i], main, crc);
        free(paths[i]);
    }
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

enum fb_status fb_elf_search(const char *debug_dir, const char *path, const char *build_id,
                             struct fb_elf_file **ret_main, struct fb_elf_file **ret_debug,
                             struct fb_err *err)
{
    struct fb_elf_file *main = NULL, *debug;
    struct fb_err reason;
    enum fb_status r = open_main(path, build_id, &main, &reason);

    if (!main)
        main = search_id(debug_dir, build_id, "");
    debug = search_id(debug_dir, main ? main->build_id : build_id, ".debug");
    if (!debug && main)
        debug = search_debuglink(debug_dir, main);
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

bool fb_elf_search_alt(const char *debug_dir, const struct fb_elf_file *file,
                       struct fb_elf_file **ret_alt, char **ret_name)
{
    const char *dirs[] = {debug_dir, SYSTEM_DEBUG_DIR}, *slash = strrchr(file->path, '/');
    const char *name, *base;
    struct fb_elf_file *alt;
    char id[2 * 64 + 1], *path;

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
    for (size_t i = 0; i < 2 && !alt; i++) {
        path = fb_format("%s/.dwz/%s", dirs[i] ? dirs[i] : "", base);
        alt = dirs[i] ? open_with_id(path, id) : NULL;
        free(path);
    }
    if (!alt)
        alt = search_id(debug_dir, id, ".debug");
    *ret_alt = alt;
    *ret_name = fb_strdup(name);
    return true;
}
