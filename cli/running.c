/* The sampler's thread has a descriptor table of its own, with the bank in it: so it is looked for
 * by thread, not by process, and by what the file holds, not by its name. */
#include "cli/running.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "profile/profile.h"

/* Only a regular file is opened: a pipe would wait for its other end. */
static bool is_bank(const char *path)
{
    char head[8];
    struct stat st;
    int fd;
    bool is;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    is = fd >= 0 && read(fd, head, sizeof head) == (ssize_t)sizeof head &&
         fb_bank_sniff(head, sizeof head);
    if (fd >= 0)
        (void)close(fd);
    return is;
}

/* The name that the file has, if it is its name here. */
static char *name_of(char *proc_path)
{
    char name[4096];
    ssize_t n = readlink(proc_path, name, sizeof name - 1);
    struct stat a, b;

    name[n > 0 ? n : 0] = '\0';
    if (n <= 0 || stat(proc_path, &a) != 0 || stat(name, &b) != 0 || a.st_dev != b.st_dev ||
        a.st_ino != b.st_ino)
        return proc_path;
    free(proc_path);
    return fb_strdup(name);
}

static char *bank_of_thread(long pid, const char *thread)
{
    char *folder = fb_format("/proc/%ld/task/%s/fd", pid, thread), *found = NULL;
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir && !found && (entry = readdir(dir)) != NULL) {
        char *path = fb_format("%s/%s", folder, entry->d_name);

        if (is_bank(path))
            found = name_of(path);
        else
            free(path);
    }
    if (dir)
        (void)closedir(dir);
    free(folder);
    return found;
}

static bool is_sampler(long pid, const char *thread)
{
    char *path = fb_format("/proc/%ld/task/%s/comm", pid, thread);
    char name[32] = "";
    FILE *file = fopen(path, "re");

    if (file) {
        (void)!fgets(name, sizeof name, file);
        (void)fclose(file);
    }
    free(path);
    return strcmp(name, "flamebank\n") == 0;
}

enum fb_status fb_running_bank(long pid, char **ret_path, struct fb_err *err)
{
    char *folder = fb_format("/proc/%ld/task", pid), *found = NULL;
    DIR *dir = opendir(folder);
    struct dirent *entry;
    bool sampled = false;

    free(folder);
    if (!dir)
        return fb_fail(err, FB_ENOTFOUND, "%ld: is neither a file nor a process", pid);
    while (!found && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.' || !is_sampler(pid, entry->d_name))
            continue;
        sampled = true;
        found = bank_of_thread(pid, entry->d_name);
    }
    (void)closedir(dir);
    if (found)
        *ret_path = found;
    if (found)
        return FB_OK;
    return fb_fail(err, FB_ENOTFOUND,
                   sampled ? "process %ld: has no bank yet, or one that this user may not see"
                           : "process %ld: nothing samples it",
                   pid);
}
