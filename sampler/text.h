/* text.h - small texts and small files without stdio, heap or locale.
 *
 * Header-only.  The helper thread runs in somebody else's process and must not
 * take the host's malloc or stdio locks, so paths, messages and the contents of
 * /proc files are made and read here.
 *
 *     char path[64];
 *     struct fb_text t = {.data = path, .cap = sizeof path};
 *     fb_text_str(&t, "/proc/self/task/");
 *     fb_text_dec(&t, tid);                      always NUL-terminated, cut if too long
 *     n = fb_file_read(path, buffer, sizeof buffer);      -1 on error, else NUL-terminated
 *     n = fb_file_glance(path, buffer, sizeof buffer);    the same for short ones, in one read
 *     v = fb_text_number(buffer, &after);                 unsigned decimal, no sign */
#ifndef FB_SAMPLER_TEXT_H
#define FB_SAMPLER_TEXT_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

struct fb_text {
    char *data;
    size_t cap; /* with room for the final NUL */
    size_t len;
    bool cut; /* something did not fit */
};

static inline void fb_text_add(struct fb_text *t, const char *s, size_t n)
{
    size_t room = t->cap - 1 - t->len;

    if (n > room) {
        n = room;
        t->cut = true;
    }
    if (n > 0)
        memcpy(t->data + t->len, s, n);
    t->len += n;
    t->data[t->len] = '\0';
}

static inline void fb_text_str(struct fb_text *t, const char *s)
{
    fb_text_add(t, s, strlen(s));
}

/* At least `width` digits. */
static inline void fb_text_padded(struct fb_text *t, uint64_t v, unsigned width)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (at > 0 && (v > 0 || sizeof digits - at < width));
    fb_text_add(t, digits + at, sizeof digits - at);
}

static inline void fb_text_dec(struct fb_text *t, uint64_t v)
{
    fb_text_padded(t, v, 1);
}

static inline void fb_text_hex(struct fb_text *t, uint64_t v, unsigned width)
{
    for (unsigned i = width; i > 0; i--)
        fb_text_add(t, &"0123456789abcdef"[(v >> (4 * (i - 1))) & 15], 1);
}

/* The decimal number at s; *ret_after behind its digits (== s: there were none).  Saturates. */
static inline uint64_t fb_text_number(const char *s, const char **ret_after)
{
    uint64_t v = 0;

    for (; *s >= '0' && *s <= '9'; s++) {
        uint64_t digit = (uint64_t)(*s - '0');

        v = v > (UINT64_MAX - digit) / 10 ? UINT64_MAX : v * 10 + digit;
    }
    *ret_after = s;
    return v;
}

/* The value behind "key" at the start of a line ("key 123", "key:\t123"); false if there is none.
 */
static inline bool fb_text_field(const char *text, const char *key, uint64_t *ret_value)
{
    size_t n = strlen(key);

    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *at = line + n;
        const char *after;

        if (strncmp(line, key, n) == 0 && (*at == ' ' || *at == '\t' || *at == ':')) {
            while (*at == ' ' || *at == '\t' || *at == ':')
                at++;
            *ret_value = fb_text_number(at, &after);
            return after != at;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return false;
}

/* Reads at most cap - 1 bytes from the start of the file and ends them with a NUL. */
static inline ssize_t fb_file_read(const char *path, char *buffer, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n;

    if (fd < 0)
        return -1;
    while (len < cap - 1 && (n = read(fd, buffer + len, cap - 1 - len)) > 0)
        len += (size_t)n;
    close(fd);
    buffer[len] = '\0';
    return (ssize_t)len;
}

/* One read of a file of the kernel's that is shorter than a page: the kernel gives such whole. */
static inline ssize_t fb_file_glance(const char *path, char *buffer, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return -1;
    n = read(fd, buffer, cap - 1);
    close(fd);
    buffer[n > 0 ? n : 0] = '\0';
    return n;
}

#endif
