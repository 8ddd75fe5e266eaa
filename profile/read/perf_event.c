#include "profile/read/perf_event.h"

#include <string.h>

bool fb_perf_event_is(const char *name, size_t len, const char *asked, bool is_exact)
{
    size_t n = strlen(asked);

    if (len < n || memcmp(name, asked, n) != 0)
        return false;
    if (len == n)
        return true;
    if (is_exact || name[n] != ':')
        return false;
    for (size_t i = n + 1; i < len; i++) {
        if (!strchr("ukhpPGHISDWeb", name[i]))
            return false;
    }
    return true;
}

void fb_perf_event_describe(struct fb_profile *p, const char *name, bool by_period, uint64_t period)
{
    bool is_clock = strncmp(name, "cpu-clock", 9) == 0 || strncmp(name, "task-clock", 10) == 0;

    p->type = fb_strings_put_z(&p->strings, name);
    if (is_clock)
        p->interval_ns = period;
    if (by_period)
        p->unit = is_clock ? fb_strings_put_z(&p->strings, "nanoseconds")
                           : fb_strings_put(&p->strings, name, strcspn(name, ":"));
}
