/* floor.c - the table of floors. */
#include "diff/floor.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "diff/diff.h"

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = text; *at != '\0'; at++)
        if ((at == text || !isalnum((unsigned char)at[-1])) && strncasecmp(at, word, n) == 0 &&
            !isalnum((unsigned char)at[n]))
            return true;
    return false;
}

enum fb_floor_kind fb_floor_kind(const char *layer_name)
{
    if (has_word(layer_name, "jit"))
        return FB_FLOOR_JIT;
    return has_word(layer_name, "gc") ? FB_FLOOR_GC : FB_FLOOR_PLAIN;
}

bool fb_diff_is_jit_or_gc(const char *layer_name)
{
    return fb_floor_kind(layer_name) != FB_FLOOR_PLAIN;
}

static double share_measured(const struct fb_floors *measured, enum fb_floor_kind kind, double p)
{
    if (kind == FB_FLOOR_JIT)
        return fb_floors_tau(measured, FB_FLOOR_OF_JIT);
    if (kind == FB_FLOOR_GC)
        return fb_floors_tau(measured, FB_FLOOR_OF_GC);
    return fb_floors_tau(measured, p >= 0.05 ? FB_FLOOR_OF_LAYER_LARGE : FB_FLOOR_OF_LAYER_SMALL);
}

double fb_floor_share(const struct fb_floors *measured, enum fb_floor_kind kind, double p,
                      bool is_jvm)
{
    double tau = 0.05, own = share_measured(measured, kind, p);

    if (!isnan(own))
        tau = own;
    else if (is_jvm && kind == FB_FLOOR_JIT)
        tau = 0.33;
    else if (is_jvm && kind == FB_FLOOR_GC)
        tau = 0;
    else if (is_jvm)
        tau = p >= 0.05 ? 0.07 : 0.11;
    return p > 0.5 ? tau * fmax(0, 1 - p) / p : tau;
}

static double cpu_measured(const struct fb_floors *measured, uint32_t health)
{
    if (health & FB_STEP_FIRST)
        return fb_floors_tau(measured, FB_FLOOR_OF_CPU_FIRST);
    if (health & FB_STEP_OVER)
        return fb_floors_tau(measured, FB_FLOOR_OF_CPU_OVER);
    return fb_floors_tau(measured, FB_FLOOR_OF_CPU);
}

double fb_floor_cpu(const struct fb_floors *measured, uint32_t health, double window_se)
{
    double tau = 0.015, own = cpu_measured(measured, health);

    if (!isnan(own))
        tau = own; /* of the user's machines, wandering or not */
    else if (health & FB_FLOOR_WANDERING)
        tau = 0.16;
    else if (health & FB_STEP_FIRST)
        tau = 0.05;
    else if (health & FB_STEP_OVER)
        tau = 0.02;
    return window_se > tau ? window_se : tau;
}

double fb_floor_frame(const struct fb_floors *measured)
{
    double own = fb_floors_tau(measured, FB_FLOOR_OF_FRAME);

    return isnan(own) ? 0.12 : own;
}

/* Sd between same-arm runs beyond counting (docs/statistics.md, 5). */
double fb_floor_jvm_frame(bool is_inclusive, double samples)
{
    if (!is_inclusive)
        return samples < 50 ? 0.83 : 0.34;
    return samples < 50 ? 0.33 : samples < 150 ? 0.17 : samples < 500 ? 0.09 : 0.05;
}

double fb_floor_assumed_deff(enum fb_floor_kind kind, double p)
{
    if (kind == FB_FLOOR_JIT)
        return 5;
    if (kind == FB_FLOOR_GC)
        return 0.3;
    return p >= 0.2 ? 7 : p >= 0.05 ? 3 : 1.5;
}
