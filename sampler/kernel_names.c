/* kernel_names.c - see kernel_names.h. */
#include "sampler/kernel_names.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sampler/clock.h"
#include "sampler/memory.h"

enum {
    BUFFER_BYTES = 8192,
    FUNCTION_MAX = 1 << 20, /* an address further behind a name is another's */
};

static const uint64_t again_cpu_ns = 20000000000u;
static const uint64_t last_cpu_ns = 1000000000u;
static const uint64_t patience_ns = 150000000u; /* an end waits for us only so long */

static uint64_t cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void fb_kernel_names_want(struct fb_kernel_names *k, uint32_t frame, uint64_t address)
{
    if (k->wants == NULL)
        k->wants = fb_memory_map(FB_KERNEL_WANTS * sizeof *k->wants);
    if (k->wants == NULL || k->count == FB_KERNEL_WANTS)
        return;
    k->wants[k->count++] = (struct fb_kernel_want){.address = address, .frame = frame};
}

bool fb_kernel_names_due(const struct fb_kernel_names *k, bool last)
{
    uint64_t cpu_ns;

    if (k->count == 0)
        return false;
    cpu_ns = cpu_now();
    return cpu_ns - k->read_cpu_ns >= again_cpu_ns || (last && cpu_ns >= last_cpu_ns);
}

/* By address; few, and mostly in order of their appearance only. */
static void wants_sort(struct fb_kernel_names *k)
{
    for (uint32_t gap = k->count / 2; gap > 0; gap /= 2)
        for (uint32_t i = gap; i < k->count; i++) {
            struct fb_kernel_want moved = k->wants[i];
            uint32_t at = i;

            for (; at >= gap && k->wants[at - gap].address > moved.address; at -= gap)
                k->wants[at] = k->wants[at - gap];
            k->wants[at] = moved;
        }
}

static bool hex_take(const char **at, uint64_t *ret_value)
{
    const char *s = *at;
    uint64_t v = 0;

    for (;; s++) {
        unsigned digit;

        if (*s >= '0' && *s <= '9')
            digit = (unsigned)(*s - '0');
        else if (*s >= 'a' && *s <= 'f')
            digit = (unsigned)(*s - 'a') + 10;
        else
            break;
        v = v << 4 | digit;
    }
    *ret_value = v;
    if (s == *at || *s != ' ')
        return false;
    *at = s + 1;
    return true;
}

/* The name goes to the first want at or behind its address; others behind it get it at the end. */
void fb_kernel_names_line(struct fb_kernel_names *k, const char *line)
{
    struct fb_kernel_want *want;
    uint64_t start;
    uint32_t low = 0;
    uint32_t high = k->count;
    size_t n;

    if (!hex_take(&line, &start) || start == 0 || *line == '\0' || strchr("tTwW", *line) == NULL ||
        line[1] != ' ')
        return;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (k->wants[middle].address >= start)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == k->count)
        return;
    want = &k->wants[low];
    if (want->start >= start || want->address - start > FUNCTION_MAX)
        return;
    want->start = start;
    n = strcspn(line + 2, "\t");
    if (n >= sizeof want->name)
        n = sizeof want->name - 1;
    memcpy(want->name, line + 2, n);
    want->name[n] = '\0';
}

static void lines_read(struct fb_kernel_names *k, int fd)
{
    char buffer[BUFFER_BYTES];
    uint64_t end_ns = fb_clock_now() + patience_ns;
    size_t len = 0;
    ssize_t n;

    while ((n = read(fd, buffer + len, sizeof buffer - len)) > 0 && fb_clock_now() < end_ns) {
        char *line = buffer;
        char *end;

        len += (size_t)n;
        while ((end = memchr(line, '\n', len - (size_t)(line - buffer))) != NULL) {
            *end = '\0';
            fb_kernel_names_line(k, line);
            line = end + 1;
        }
        len -= (size_t)(line - buffer);
        if (len == sizeof buffer)
            break; /* that is no such file */
        memmove(buffer, line, len);
    }
}

void fb_kernel_names_find(struct fb_kernel_names *k)
{
    int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

    k->read_cpu_ns = cpu_now();
    wants_sort(k);
    if (fd < 0)
        return;
    lines_read(k, fd);
    close(fd);
    for (uint32_t i = 1; i < k->count; i++)
        if (k->wants[i].start < k->wants[i - 1].start &&
            k->wants[i].address - k->wants[i - 1].start <= FUNCTION_MAX) {
            k->wants[i].start = k->wants[i - 1].start;
            memcpy(k->wants[i].name, k->wants[i - 1].name, FB_KERNEL_NAME);
        }
}

void fb_kernel_names_clear(struct fb_kernel_names *k)
{
    k->count = 0;
}
