#include "cli/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/vec.h"

enum { HEAD = 4096, SCRIPT_DEPTH = 4 };

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static char *search_path(const char *name)
{
    const char *at = getenv("PATH");

    at = at ? at : "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        size_t n = strcspn(at, ":");
        char *path = n ? fb_format("%.*s/%s", (int)n, at, name) : fb_strdup(name);

        if (is_program(path) && access(path, X_OK) == 0)
            return path;
        free(path);
        if (at[n] == '\0')
            return NULL;
        at += n + 1;
    }
}

static bool is_privileged(const char *path, const struct stat *st)
{
    char value[64];

    if ((st->st_mode & S_ISUID) && st->st_uid != geteuid())
        return true;
    if ((st->st_mode & S_ISGID) && (st->st_mode & S_IXGRP) && st->st_gid != getegid())
        return true;
    return getuid() != 0 && getxattr(path, "security.capability", value, sizeof value) > 0;
}

#if defined(__x86_64__)
enum { OUR_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OUR_MACHINE = EM_AARCH64 };
#else
#error "the sampler knows x86_64 and aarch64 only"
#endif

/* A preload is of one C library; in another's process it keeps the program from starting. */
static enum fb_status check_loader(const char *path, int fd, const Elf64_Phdr *interpreter,
                                   struct fb_err *err)
{
    char loader[256];
    size_t size = interpreter->p_filesz < sizeof loader ? interpreter->p_filesz : sizeof loader - 1;
    ssize_t n = pread(fd, loader, size, (off_t)interpreter->p_offset);

    loader[n > 0 ? n : 0] = '\0';
#ifdef __GLIBC__
    if (strstr(loader, "ld-musl") != NULL)
        return fb_fail(err, FB_EUNSUPPORTED,
                       "%s: is built for musl (%s), the sampler for glibc: it cannot enter it",
                       path, loader);
#endif
    return FB_OK;
}

/* Whether a 64-bit ELF of this machine asks for the dynamic loader. */
static enum fb_status check_elf(const char *path, int fd, const unsigned char *head, size_t n,
                                struct fb_err *err)
{
    Elf64_Ehdr e;

    if (n < sizeof e || head[EI_CLASS] != ELFCLASS64)
        return fb_fail(err, FB_EUNSUPPORTED,
                       "%s: is no 64-bit program, the sampler cannot enter it", path);
    memcpy(&e, head, sizeof e);
    if (e.e_machine != OUR_MACHINE)
        return fb_fail(
            err, FB_EUNSUPPORTED,
            "%s: is built for another machine (ELF machine %u), the sampler cannot enter "
            "it",
            path, e.e_machine);
    for (unsigned i = 0; i < e.e_phnum && i < 256; i++) {
        Elf64_Phdr p;

        if (pread(fd, &p, sizeof p, (off_t)(e.e_phoff + i * sizeof p)) != (ssize_t)sizeof p)
            break;
        if (p.p_type == PT_INTERP)
            return check_loader(path, fd, &p, err);
    }
    return fb_fail(err, FB_EUNSUPPORTED,
                   "%s: is statically linked, so nothing can be preloaded into it", path);
}

static enum fb_status check_program(const char *path, unsigned depth, struct fb_err *err);

/* "#!/usr/bin/env python3": the interpreter is what the sampler enters. */
static enum fb_status check_script(const char *path, char *head, size_t n, unsigned depth,
                                   struct fb_err *err)
{
    char *line = head + 2, *word;
    enum fb_status r;

    (void)n;
    line[strcspn(line, "\n")] = '\0';
    word = strtok_r(line, " \t\r", &line);
    if (!word)
        return FB_OK; /* the kernel has a better message */
    r = check_program(word, depth + 1, err);
    return r == FB_OK ? r : fb_within(err, "%s", path);
}

static enum fb_status check_open(const char *path, int fd, unsigned depth, struct fb_err *err)
{
    char head[HEAD + 1];
    ssize_t n = pread(fd, head, HEAD, 0);
    struct stat st;

    if (fstat(fd, &st) == 0 && is_privileged(path, &st))
        return fb_fail(err, FB_EUNSUPPORTED,
                       "%s: is set-uid, set-gid or has file capabilities, so the loader refuses "
                       "preloads; run it as its owner",
                       path);
    if (n < 4)
        return FB_OK;
    head[n] = '\0';
    if (memcmp(head, ELFMAG, SELFMAG) == 0)
        return check_elf(path, fd, (const unsigned char *)head, (size_t)n, err);
    if (memcmp(head, "#!", 2) == 0 && depth < SCRIPT_DEPTH)
        return check_script(path, head, (size_t)n, depth, err);
    return FB_OK;
}

static enum fb_status check_program(const char *path, unsigned depth, struct fb_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum fb_status r;

    if (fd < 0) /* executable but not readable: nothing can be told, let it run */
        return FB_OK;
    r = check_open(path, fd, depth, err);
    (void)close(fd);
    return r;
}

enum fb_status fb_target_find(const char *name, char **ret_path, struct fb_err *err)
{
    char *path = strchr(name, '/') ? fb_strdup(name) : search_path(name);
    enum fb_status r;

    if (!path || access(path, F_OK) != 0)
        r = fb_fail(err, FB_ENOTFOUND, "%s: no such program", name);
    else if (!is_program(path) || access(path, X_OK) != 0)
        r = fb_fail(err, FB_EUSAGE, "%s: cannot be executed", path);
    else
        r = check_program(path, 0, err);
    if (r == FB_OK)
        *ret_path = path;
    else
        free(path);
    return r;
}
