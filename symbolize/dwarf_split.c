/* One file a unit (.dwo), or all in one package beside the program (.dwp). */
#include "symbolize/dwarf_split.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static bool open_split(const char *path, struct fb_split_file *ret_file)
{
    struct fb_err ignored;

    if (fb_elf_file_open_debug(path, &ret_file->elf, &ignored) != FB_OK)
        return false;
    ret_file->dwarf = fb_dwarf_open(ret_file->elf);
    if (ret_file->dwarf && ret_file->dwarf->is_split)
        return true;
    fb_dwarf_close(ret_file->dwarf);
    fb_elf_file_close(ret_file->elf);
    *ret_file = (struct fb_split_file){0};
    return false;
}

static void close_split(struct fb_split_file *file)
{
    fb_dwarf_close(file->dwarf);
    fb_elf_file_close(file->elf);
}

/* The unit of that id, or NULL.  Ids are hashes: 0 is none. */
static struct fb_dwarf_unit *find_unit(const struct fb_split_file *file, uint64_t id)
{
    for (size_t i = 0; file->dwarf && i < file->dwarf->units_count; i++)
        if (file->dwarf->units[i].id == id && id != 0)
            return &file->dwarf->units[i];
    return NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void open_package(struct fb_splits *s)
{
    char *path = fb_format("%s.dwp", s->file->path);

    s->package_tried = true;
    if (!open_split(path, &s->package) && s->debug_dir) {
        free(path);
        path = fb_format("%s/%s.dwp", s->debug_dir, base_name(s->file->path));
        (void)open_split(path, &s->package);
    }
    free(path);
}

/* Where the file of a unit may be; free the texts. */
static void list_paths(const struct fb_splits *s, const struct fb_dwarf_unit *unit, char *paths[3])
{
    const char *name = unit->split_name, *self = s->file->path;

    if (name[0] == '/' || unit->comp_dir[0] == 0)
        paths[0] = fb_strdup(name);
    else
        paths[0] = fb_format("%s/%s", unit->comp_dir, name);
    paths[1] = fb_format("%.*s%s", (int)(base_name(self) - self), self, base_name(name));
    paths[2] = s->debug_dir ? fb_format("%s/%s", s->debug_dir, base_name(name)) : NULL;
}

static struct fb_dwarf_unit *open_unit(struct fb_splits *s, const struct fb_dwarf_unit *skeleton)
{
    struct fb_dwarf_unit *found = NULL;
    char *paths[3];

    list_paths(s, skeleton, paths);
    for (size_t i = 0; i < 3; i++) {
        struct fb_split_file file = {0};

        if (!found && paths[i] && open_split(paths[i], &file)) {
            found = find_unit(&file, skeleton->id);
            if (found) {
                fb_vec_reserve(&s->files, &s->room, s->count + 1, sizeof *s->files);
                s->files[s->count++] = file;
            } else {
                close_split(&file);
            }
        }
        free(paths[i]);
    }
    return found;
}

const struct fb_dwarf_unit *fb_splits_find(struct fb_splits *splits,
                                           const struct fb_dwarf_unit *skeleton)
{
    struct fb_dwarf_unit *found;

    if (!splits->package_tried)
        open_package(splits);
    found = find_unit(&splits->package, skeleton->id);
    if (!found)
        found = open_unit(splits, skeleton);
    if (found) {
        found->skeleton = skeleton;
        return found;
    }
    splits->missing++;
    if (!splits->missing_name)
        splits->missing_name = fb_strdup(skeleton->split_name);
    return NULL;
}

void fb_splits_done(struct fb_splits *splits)
{
    close_split(&splits->package);
    for (size_t i = 0; i < splits->count; i++)
        close_split(&splits->files[i]);
    free(splits->files);
    free(splits->missing_name);
}
