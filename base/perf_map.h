/* perf_map.h - lines of /tmp/perf-PID.map, in which runtimes name the code that they generate.
 *
 * Header-only, of the C library alone.  A line is "START SIZE NAME\n", two
 * hexadecimal numbers (with or without 0x) and a name with any bytes but the end
 * of the line:
 *
 *     if (fb_perf_map_line(line, n, &code)) ... code.name borrows from line ...
 *
 * False: it is no such line, or its range is empty or no range. */
#ifndef FB_BASE_PERF_MAP_H
#define FB_BASE_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fb_perf_map_code {
    uint64_t start;
    uint64_t size;
    const char *name;
    size_t name_len;
};

/* The number at *at, which one space follows; moves *at behind that. */
static inline bool fb_perf_map_number(const char **at, const char *end, uint64_t *ret_value)
{
    const char *s = *at;
    uint64_t v = 0;
    unsigned digits = 0;

    if (end - s > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
        s += 2;
    for (; s < end && digits <= 16; s++, digits++) {
        unsigned c = (unsigned char)*s;

        if (c >= '0' && c <= '9')
            v = v << 4 | (c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            v = v << 4 | ((c | 32) - 'a' + 10);
        else
            break;
    }
    if (digits == 0 || digits > 16 || s == end || *s != ' ')
        return false;
    *at = s + 1;
    *ret_value = v;
    return true;
}

/* n: without the end of the line. */
static inline bool fb_perf_map_line(const char *line, size_t n, struct fb_perf_map_code *ret_code)
{
    const char *at = line;
    const char *end = line + n;
    struct fb_perf_map_code code;

    if (n > 0 && end[-1] == '\r')
        end--;
    if (!fb_perf_map_number(&at, end, &code.start) || !fb_perf_map_number(&at, end, &code.size) ||
        at == end || code.size == 0 || code.start > UINT64_MAX - code.size)
        return false;
    code.name = at;
    code.name_len = (size_t)(end - at);
    *ret_code = code;
    return true;
}

#endif
