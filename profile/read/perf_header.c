#include "profile/read/perf_header.h"

#include <string.h>

enum { COMM_MOST = 16, TIME_WITHIN = 160 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads the token that ends before line[end] as a number; gives where it begins.  A lone '-' may
 * stand before it. */
static bool number_before(const char *line, size_t end, size_t *ret_start, uint32_t *ret_value)
{
    uint64_t value = 0, scale = 1;
    size_t at = end;

    for (; at > 0 && is_digit(line[at - 1]) && end - at < 10; at--) {
        value += (uint64_t)(line[at - 1] - '0') * scale;
        scale *= 10;
    }
    if (at == end || value > UINT32_MAX)
        return false;
    if (at > 0 && line[at - 1] == '-') {
        at--;
        value = UINT32_MAX;
    }
    *ret_start = at;
    *ret_value = (uint32_t)value;
    return true;
}

/* "pid/tid" or "tid" before line[end], which follows the name and a blank. */
static bool ids_before(const char *line, size_t end, struct fb_perf_header *h)
{
    size_t at;

    if (!number_before(line, end, &at, &h->tid))
        return false;
    h->pid = 0;
    if (at > 0 && line[at - 1] == '/' && !number_before(line, at - 1, &at, &h->pid))
        return false;
    if (at > 0 && !is_blank(line[at - 1]))
        return false;
    h->comm = line;
    while (at > 0 && is_blank(line[at - 1]))
        at--;
    while (at > 0 && is_blank(h->comm[0])) {
        h->comm++;
        at--;
    }
    h->comm_len = at;
    return true;
}

/* The end of what stands before line[end] without blanks and "[cpu]". */
static size_t before_cpu(const char *line, size_t end)
{
    size_t at;

    while (end > 0 && is_blank(line[end - 1]))
        end--;
    if (end == 0 || line[end - 1] != ']')
        return end;
    for (at = end - 1; at > 0 && is_digit(line[at - 1]);)
        at--;
    if (at == 0 || at == end - 1 || line[at - 1] != '[')
        return end;
    for (at--; at > 0 && is_blank(line[at - 1]);)
        at--;
    return at;
}

/* "seconds.fraction" that ends before line[colon]. */
static bool time_before(const char *line, size_t colon, size_t *ret_start, int64_t *ret_ns)
{
    int64_t ns = 0, seconds = 0, scale = 1000000000;
    size_t dot = colon, at;

    while (dot > 0 && is_digit(line[dot - 1]))
        dot--;
    if (dot == colon || dot < 2 || line[dot - 1] != '.')
        return false;
    for (at = dot; at < colon && scale > 1; at++) {
        scale /= 10;
        ns += (line[at] - '0') * scale;
    }
    for (at = dot - 1; at > 0 && is_digit(line[at - 1]);)
        at--;
    if (at == dot - 1 || dot - 1 - at > 10 || (at > 0 && !is_blank(line[at - 1])))
        return false;
    for (size_t i = at; i < dot - 1; i++)
        seconds = seconds * 10 + (line[i] - '0');
    if (seconds > 9000000000)
        return false;
    *ret_start = at;
    *ret_ns = seconds * 1000000000 + ns;
    return true;
}

/* What stands behind the time, or behind the thread: "period event: rest".  Without an event all of
 * it is the rest. */
static void take_event(const char *at, const char *end, struct fb_perf_header *h)
{
    const char *digits, *colon;

    while (at < end && is_blank(*at))
        at++;
    for (digits = at; digits < end && is_digit(*digits) && digits - at < 20;)
        digits++;
    h->has_period = digits > at && digits < end && is_blank(*digits);
    h->period = 0;
    if (h->has_period) {
        for (; at < digits; at++) { /* one of 20 digits is more than weights may add up to */
            if (__builtin_mul_overflow(h->period, 10, &h->period) ||
                __builtin_add_overflow(h->period, (uint64_t)(*at - '0'), &h->period) ||
                h->period > INT64_MAX)
                h->period = INT64_MAX;
        }
        while (at < end && is_blank(*at))
            at++;
    }
    for (colon = at; colon < end && !is_blank(*colon);)
        colon++;
    h->event = at;
    h->event_len = colon > at + 1 && colon[-1] == ':' ? (size_t)(colon - at) - 1 : 0;
    if (h->event_len > 0)
        at = colon;
    while (at < end && is_blank(*at))
        at++;
    h->rest = at;
    h->rest_len = (size_t)(end - at);
}

/* A line without a time: "comm tid [period] event:". */
static bool parse_timeless(const char *line, size_t len, struct fb_perf_header *h)
{
    for (size_t i = 1; i < len; i++) {
        size_t start = i, end;

        if (line[i] != ':' || (i + 1 < len && !is_blank(line[i + 1])))
            continue;
        while (start > 0 && !is_blank(line[start - 1]))
            start--;
        if (start == 0 || start == i)
            return false;
        end = before_cpu(line, start);
        take_event(line + start, line + len, h);
        /* Of two numbers before the event, the second is its period. */
        for (size_t at = end; at > 0 && is_digit(line[at - 1]);) {
            at--;
            if (at > 0 && is_blank(line[at - 1]) && ids_before(line, before_cpu(line, at), h) &&
                h->comm_len > 0) {
                take_event(line + at, line + len, h);
                return h->event_len > 0;
            }
        }
        return ids_before(line, end, h) && h->comm_len > 0 && h->event_len > 0;
    }
    return false;
}

bool fb_perf_header_parse(const char *line, size_t len, struct fb_perf_header *ret_header)
{
    struct fb_perf_header h = {0}, one = {0};
    size_t within = len < TIME_WITHIN ? len : TIME_WITHIN, start, colon = 0;

    for (const char *at = memchr(line, ':', within); at;
         at = memchr(at + 1, ':', (size_t)(line + within - at) - 1)) {
        size_t i = (size_t)(at - line);

        if (!time_before(line, i, &start, &one.time_ns) ||
            !ids_before(line, before_cpu(line, start), &one))
            continue;
        if (colon != 0 && one.comm_len > COMM_MOST)
            break;
        h = one;
        colon = i;
    }
    if (colon == 0) {
        h.has_time = false;
        h.time_ns = 0;
        if (!parse_timeless(line, len, &h))
            return false;
    } else {
        h.has_time = true;
        take_event(line + colon + 1, line + len, &h);
    }
    *ret_header = h;
    return true;
}
