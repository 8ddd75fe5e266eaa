#include "cli/banks.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/names.h"
#include "cli/say.h"
#include "profile/profile.h"

static bool is_of_run(const char *path, uint64_t run_id)
{
    uint8_t header[FB_BANK_HEADER_SIZE];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is = fd >= 0 && read(fd, header, sizeof header) == (ssize_t)sizeof header &&
              fb_bank_sniff(header, sizeof header) && fb_wire_load_le(header + 16, 8) == run_id;

    if (fd >= 0)
        (void)close(fd);
    return is;
}

static void add(struct fb_bank_files *files, char *path)
{
    fb_vec_reserve(&files->paths, &files->room, files->count + 1, sizeof *files->paths);
    files->paths[files->count++] = path;
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

void fb_bank_files_find(const char *path, uint64_t run_id, struct fb_bank_files *ret_files)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? fb_strndup(path, (size_t)(slash - path) + 1) : fb_strdup("./");
    DIR *dir = opendir(folder);
    struct dirent *entry;

    *ret_files = (struct fb_bank_files){0};
    if (is_of_run(path, run_id))
        add(ret_files, fb_strdup(path));
    while (dir && (entry = readdir(dir)) != NULL) {
        char *candidate = fb_format("%s%s", slash ? folder : "", entry->d_name);

        if (entry->d_type != DT_DIR && strcmp(candidate, path) != 0 && is_of_run(candidate, run_id))
            add(ret_files, candidate);
        else
            free(candidate);
    }
    if (dir)
        (void)closedir(dir);
    if (ret_files->count > 1)
        qsort(ret_files->paths + 1, ret_files->count - 1, sizeof *ret_files->paths, by_name);
    free(folder);
}

void fb_bank_files_done(struct fb_bank_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (struct fb_bank_files){0};
}

void fb_bank_file_finish(const char *path)
{
    struct fb_symbolizer_options options = {0};
    struct fb_bank_damage damage;
    struct fb_profile *p;
    struct fb_err err;

    if (fb_bank_read(path, &p, &damage, &err) != FB_OK) {
        fb_say("%s", err.text);
        return;
    }
    if (fb_bank_is_damaged(&damage)) {
        fb_say("%s: is damaged (%s) and is left as it is", path, damage.first);
    } else {
        fb_names_find(p, path, &options, false);
        if (fb_bank_write(p, path, &err) != FB_OK)
            fb_say("%s", err.text);
    }
    fb_say("%s: %zu samples of weight %" PRIu64 "%s", path, p->samples.count, fb_profile_weight(p),
           p->ended ? "" : ", the process was killed (nothing but the last second is lost)");
    fb_profile_free(p);
}
