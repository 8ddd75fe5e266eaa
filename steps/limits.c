/* One row a threshold.  docs/steps.md says where the values come from. */
#include "steps/limits.h"

#include <stdlib.h>
#include <string.h>

const struct fb_limit_row fb_limits[FB_LIMIT_COUNT] = {
    [FB_LIMIT_SHED] = {"shed", "SHED, knee", 0.001, 0, 1, "of offered that was not sent"},
    [FB_LIMIT_SHED_INFERRED] = {"shed-inferred", "SHED, knee", 0.005, 0, 1,
                                "of offered that was not delivered, where nobody counted what was "
                                "not sent"},
    [FB_LIMIT_OVER] = {"over", "OVER", 0.02, 0, 1, "of offered that was not sent: past the knee"},
    [FB_LIMIT_EVENT_THROTTLED] = {"event-throttled", "EVENT", 5, 0, 1e6,
                                  "s of throttling that an event has at least"},
    [FB_LIMIT_EVENT_FACTOR] = {"event-factor", "EVENT", 3, 1, 1e6,
                               "times the throttling of the next step and the p99 of both "
                               "neighbours"},
    [FB_LIMIT_GC_FACTOR] = {"gc-factor", "GC", 2, 1, 1e6,
                            "times the median JIT+GC share of the run"},
    [FB_LIMIT_GC_SHARE] = {"gc-share", "GC", 0.15, 0, 1,
                           "of the samples in JIT+GC, where the run's other steps are lower"},
    [FB_LIMIT_CLIENT_THROTTLED] = {"client-throttled", "CLIENT", 0.01, 0, 1e3,
                                   "of the window in which the generator was throttled"},
    [FB_LIMIT_SCHEDULE] = {"schedule", "CLIENT", 0.005, 0, 1,
                           "of the requests due that sent and held back differ by"},
    [FB_LIMIT_UNACCOUNTED] = {"unaccounted", "CLIENT", 0.02, 0, 1,
                              "of the requests due that were neither delivered, failed nor held "
                              "back"},
    [FB_LIMIT_ERRORS] = {"errors", "ERRORS", 0.001, 0, 1, "of the requests answered that failed"},
    [FB_LIMIT_NODE] = {"node", "NODE", 0.95, 0, 1, "of the node's CPU time that was busy"},
    [FB_LIMIT_YIELD] = {"yield", "YIELD", 0.1, 0, 10,
                        "that the samples' CPU time differs from the process's by"},
    [FB_LIMIT_RATE] = {"rate", "RATE", 1.005, 1, 1e3, "delivered over offered"},
    [FB_LIMIT_SPEED] = {"speed", "UNSTEADY", 0.15, 0, 1e3, "that the machine's speed moved by"},
    [FB_LIMIT_CPU_SE] = {"cpu-se", "UNSTEADY", 0.02, 0, 1e3,
                         "relative standard error of CPU per second over blocks"},
    [FB_LIMIT_CPU_LAG1] = {"cpu-lag1", "UNSTEADY", 0.5, -1, 1,
                           "lag-1 autocorrelation of CPU per second"},
    [FB_LIMIT_CPU_LAG1_SE] = {"cpu-lag1-se", "UNSTEADY", 0.01, 0, 1e3,
                              "standard error under which a drift is too small to matter"},
    [FB_LIMIT_INVERSION_P99] = {"inversion-p99", "INVERSION", 2, 1, 1e6,
                                "times the p99 of both neighbours"},
    [FB_LIMIT_INVERSION_CPU] = {"inversion-cpu", "INVERSION", 1.1, 1, 1e6,
                                "times the CPU per request of both neighbours"},
    [FB_LIMIT_HEAP] = {"heap", "MEMORY", 1.5, 1, 1e6, "times the heap of the step before"},
    [FB_LIMIT_RSS] = {"rss", "MEMORY", 1.2, 1, 1e6, "times the resident memory of the step before"},
    [FB_LIMIT_SHORT] = {"short", "SHORT", 30, 0, 1e6, "s of load that a step should have"},
    [FB_LIMIT_PLATEAU_SHED] = {"plateau-shed", "plateau", 0.1, 0, 1,
                               "of offered that a step of the plateau sheds at least"},
    [FB_LIMIT_PLATEAU_SPREAD] = {"plateau-spread", "plateau", 0.1, 0, 10,
                                 "that the most of a plateau may exceed its least by"},
};

void fb_limits_default(double ret_limits[FB_LIMIT_COUNT])
{
    for (size_t i = 0; i < FB_LIMIT_COUNT; i++)
        ret_limits[i] = fb_limits[i].value;
}

enum fb_status fb_limits_set(double limits[FB_LIMIT_COUNT], const char *text, struct fb_err *err)
{
    size_t n = strcspn(text, "=");

    for (size_t i = 0; text[n] == '=' && i < FB_LIMIT_COUNT; i++) {
        const struct fb_limit_row *row = &fb_limits[i];
        char *end;
        double value;

        if (strlen(row->name) != n || memcmp(row->name, text, n) != 0)
            continue;
        value = strtod(text + n + 1, &end);
        if (end == text + n + 1 || *end != '\0' || !(value >= row->least && value <= row->most))
            return fb_fail(err, FB_EUSAGE, "'--limit %s': a number from %g to %g was expected",
                           text, row->least, row->most);
        limits[i] = value;
        return FB_OK;
    }
    return fb_fail(err, FB_EUSAGE,
                   "'--limit %s': NAME=NUMBER was expected, by a name of 'flamebank help limits'",
                   text);
}
