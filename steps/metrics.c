#include "steps/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "steps/list.h"

static const struct {
    const char *name;
    size_t offset;
} names[] = {
    {"cgroup_cpu_usage_seconds_total", offsetof(struct fb_metrics, cpu_s)},
    {"cgroup_cpu_throttled_seconds_total", offsetof(struct fb_metrics, throttled_s)},
    {"cgroup_memory_current_bytes", offsetof(struct fb_metrics, memory_bytes)},
    {"heap_used_bytes", offsetof(struct fb_metrics, heap_bytes)},
    {"heap_max_bytes", offsetof(struct fb_metrics, heap_max_bytes)},
    {"process_uptime_seconds", offsetof(struct fb_metrics, uptime_s)},
};

/* The value of a line "name value"; NAN for one that is not of that name or not a number. */
static double line_value(const char *line, size_t len, const char *name)
{
    size_t n = strlen(name);
    char text[64], *end;
    double value;

    if (len <= n + 1 || memcmp(line, name, n) != 0 || (line[n] != ' ' && line[n] != '\t'))
        return NAN;
    len -= n + 1;
    if (len >= sizeof text)
        return NAN;
    memcpy(text, line + n + 1, len);
    text[len] = '\0';
    value = strtod(text, &end);
    return end == text || !isfinite(value) || value < 0 ? NAN : value;
}

void fb_metrics_parse(const char *text, size_t len, struct fb_metrics *ret_metrics)
{
    const char *line;
    size_t at = 0, n;

    *ret_metrics = (struct fb_metrics){NAN, NAN, NAN, NAN, NAN, NAN};
    while (fb_text_line(text, len, &at, &line, &n)) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            double value = line_value(line, n, names[i].name);

            if (!isnan(value))
                *(double *)(void *)((char *)ret_metrics + names[i].offset) = value;
        }
    }
}
