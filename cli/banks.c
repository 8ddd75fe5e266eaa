#include "cli/banks.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/account.h"
#include "cli/names.h"
#include "cli/say.h"
#include "profile/profile.h"

static bool is_of_run(const char *path, uint64_t run_id)
{
    uint8_t header[FB_BANK_HEADER_SIZE];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO in the folder waits */
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

static const double much_nameless = 10; /* %: say what helps */

struct outcome {
    bool is_read;
    long pid;
    size_t samples;
    double cpu_s;    /* that the samples stand for; 0 where the clock has no interval */
    bool is_wall;    /* cpu_s is time that threads lived instead                          */
    double nameless; /* % of the weight whose leaf has no name                        */
    bool ended;
    char *account; /* what is lost; NULL for nothing */
};

static struct outcome finish(const char *path)
{
    struct fb_symbolizer_options options = {0};
    struct fb_bank_damage damage;
    struct fb_profile *p;
    struct fb_err err;
    struct outcome o = {0};
    const char *pid;

    if (fb_bank_read(path, &p, &damage, &err) != FB_OK) {
        fb_say("%s", err.text);
        return o;
    }
    if (fb_bank_is_damaged(&damage)) {
        fb_say("%s: is damaged (%s) and is left as it is", path, damage.first);
    } else {
        o.nameless = fb_names_find(p, &options, NULL);
        if (fb_bank_write(p, path, &err) != FB_OK)
            fb_say("%s", err.text);
    }
    pid = fb_profile_manifest_get(p, "pid");
    o.is_read = true;
    o.pid = pid ? strtol(pid, NULL, 10) : 0;
    o.samples = p->samples.count;
    o.is_wall = fb_profile_is_wall(p);
    o.cpu_s = (double)fb_profile_weight(p) * fb_profile_weight_ns(p) / 1e9;
    o.ended = p->ended;
    o.account = fb_account_text(p);
    fb_profile_free(p);
    return o;
}

/* Exchanges two files of one folder; on failure both keep their names. */
static bool exchange(const char *a, const char *b)
{
    char *spare = fb_format("%s.%ld.tmp", a, (long)getpid());
    bool done = rename(a, spare) == 0;

    if (done && rename(b, a) != 0) {
        (void)rename(spare, a);
        done = false;
    } else if (done) {
        done = rename(spare, b) == 0;
    }
    free(spare);
    return done;
}

/* Once the files have their last names. */
static void outcomes_say(const struct fb_bank_files *files, const struct outcome *outcomes)
{
    bool nameless = false;

    for (size_t i = 0; i < files->count; i++) {
        const struct outcome *o = &outcomes[i];
        char names[80] = "";

        if (!o->is_read)
            continue;
        if (o->nameless > 0)
            (void)snprintf(names, sizeof names, ", %.1f %% of it in functions without a name",
                           o->nameless);
        nameless |= o->nameless > much_nameless;
        fb_say("%s: process %ld, %zu sample%s for %.2f s of %s%s%s", files->paths[i], o->pid,
               o->samples, o->samples == 1 ? "" : "s", o->cpu_s,
               o->is_wall ? "threads' time" : "CPU", names,
               o->ended ? "" : ", killed (at most the last second is lost)");
        if (o->account)
            fb_say("%s: %s", files->paths[i], o->account);
    }
    if (nameless)
        fb_say("a stripped program or library keeps the names of its own functions in its debug "
               "symbols: install them, then 'flamebank symbolize BANK'");
}

void fb_bank_files_finish(const struct fb_bank_files *files, const char *path, long pid)
{
    struct outcome *outcomes = fb_alloc_array(files->count, sizeof *outcomes);
    size_t best = 0;

    for (size_t i = 0; i < files->count; i++) {
        const struct outcome *o = &outcomes[i];

        outcomes[i] = finish(files->paths[i]);
        if (o->is_read && o->pid == pid &&
            (outcomes[best].pid != pid || o->samples > outcomes[best].samples))
            best = i;
    }
    if (best != 0 && strcmp(files->paths[0], path) == 0 &&
        exchange(files->paths[0], files->paths[best])) {
        struct outcome first = outcomes[0];

        outcomes[0] = outcomes[best];
        outcomes[best] = first;
    }
    outcomes_say(files, outcomes);
    for (size_t i = 0; i < files->count; i++)
        free(outcomes[i].account);
    free(outcomes);
}
