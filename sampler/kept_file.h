/* kept_file.h - a small file of the kernel's that is read again and again.
 *
 * Header-only.  Opening a file of /proc costs more than reading it: where the
 * descriptor table is the helper's own, the descriptor stays open.
 *
 *     struct fb_kept_file f = {0};
 *     n = fb_kept_read(&f, keep, path, buffer, cap);    keep false: open, read, close
 *     f = (struct fb_kept_file){0};                     when the table is another
 *
 * The answer is ended with a NUL; one read gives a file that is shorter than a page whole. */
#ifndef FB_SAMPLER_KEPT_FILE_H
#define FB_SAMPLER_KEPT_FILE_H

#include "sampler/text.h"

struct fb_kept_file {
    int fd_plus_1; /* 0: not open */
};

/* -1: cannot be read. */
static inline ssize_t fb_kept_read(struct fb_kept_file *f, bool keep, const char *path,
                                   char *buffer, size_t cap)
{
    ssize_t n;

    if (!keep)
        return fb_file_glance(path, buffer, cap);
    if (f->fd_plus_1 == 0)
        f->fd_plus_1 = open(path, O_RDONLY | O_CLOEXEC) + 1;
    if (f->fd_plus_1 == 0)
        return -1;
    n = pread(f->fd_plus_1 - 1, buffer, cap - 1, 0);
    buffer[n > 0 ? n : 0] = '\0';
    return n;
}

#endif
