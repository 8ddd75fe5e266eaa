/* metrics.h - one snapshot of an arm's own metrics: plain "name value" lines. */
#ifndef FB_STEPS_METRICS_H
#define FB_STEPS_METRICS_H

#include <stddef.h>

struct fb_metrics { /* NAN where the page has no such line */
    double cpu_s, throttled_s, memory_bytes, heap_bytes, heap_max_bytes, uptime_s;
};

/* All NAN for an empty page.  Comments (#), labels and names that are not used are skipped. */
void fb_metrics_parse(const char *text, size_t len, struct fb_metrics *ret_metrics);

#endif
