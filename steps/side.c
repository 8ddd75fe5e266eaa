#include "steps/side.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/lines.h"
#include "steps/list.h"

enum { VALUES = 4, SERIES_MAX = 4096, POINTS_MAX = 10 * 1000 * 1000, WORD_MAX = 200 };

/* Values of a point: of a client usage and throttled s; of a CPU busy, softirq and idle s. */
enum { CLIENT_USAGE, CLIENT_THROTTLED };
enum { CPU_BUSY, CPU_SOFTIRQ, CPU_IDLE };

static const double least_covered = 0.5; /* of a window */

struct point {
    double time_s, values[VALUES];
};

struct series { /* of a pod or a CPU */
    char *name;
    struct point *points; /* by time */
    size_t count, room;
};

struct fb_side {
    bool is_node;
    struct series *series;
    size_t count, room;
    size_t points;
    size_t skipped, first_skipped; /* lines that are none of ours */
    size_t last;                   /* series that the line before was of: lines come in turn */
};

/* ---- reading ---- */

static bool is_cpu(const char *word)
{
    return strncmp(word, "cpu", 3) == 0 && word[3] != '\0' &&
           strspn(word + 3, "0123456789") == strlen(word + 3);
}

/* The words of one line; returns how many numbers stood behind the first two words. */
static int line_split(const char *line, double *ret_time_s, char word[WORD_MAX], double values[5])
{
    int n = 0, at = 0, count;
    char number[5][40], time[40];

    count = sscanf(line, "%39s %199s%n", time, word, &at);
    if (count != 2)
        return -1;
    *ret_time_s = fb_text_number(time, strlen(time));
    if (!(*ret_time_s >= 1e8 && *ret_time_s < 1e11))
        return -1;
    count = sscanf(line + at, " %39s %39s %39s %39s %39s", number[0], number[1], number[2],
                   number[3], number[4]);
    for (; n < count; n++) {
        values[n] = fb_text_number(number[n], strlen(number[n]));
        if (!(values[n] >= 0))
            return n;
    }
    return n;
}

static bool is_heading(const char *line)
{
    return strncmp(line, "epoch ", 6) == 0 || strncmp(line, "epoch\t", 6) == 0;
}

bool fb_side_sniff(const char *head, size_t n)
{
    const char *line;
    size_t at = 0, len;
    char copy[500], word[WORD_MAX];
    double time_s, values[5];

    while (fb_text_line(head, n, &at, &line, &len)) {
        int numbers;

        if (len == 0 || line[0] == '#')
            continue;
        if (len >= sizeof copy)
            return false;
        memcpy(copy, line, len);
        copy[len] = '\0';
        if (is_heading(copy))
            return strstr(copy, "usage_usec") || strstr(copy, "softirq");
        numbers = line_split(copy, &time_s, word, values);
        return is_cpu(word) ? numbers == 5
                            : numbers == 3 && fb_text_number(word, strlen(word)) != 0 &&
                                  isnan(fb_text_number(word, strlen(word)));
    }
    return false;
}

static struct series *series_of(struct fb_side *side, const char *name)
{
    size_t next = side->last + 1;

    if (next < side->count && strcmp(side->series[next].name, name) == 0) {
        side->last = next;
        return &side->series[next];
    }
    for (size_t i = 0; i < side->count; i++) {
        if (strcmp(side->series[i].name, name) == 0) {
            side->last = i;
            return &side->series[i];
        }
    }
    if (side->count == SERIES_MAX)
        return NULL;
    fb_vec_reserve(&side->series, &side->room, side->count + 1, sizeof *side->series);
    side->last = side->count;
    side->series[side->count++] = (struct series){.name = fb_strdup(name)};
    return &side->series[side->last];
}

static enum fb_status point_add(struct fb_side *side, const char *name, const struct point *point,
                                struct fb_err *err)
{
    struct series *s = series_of(side, name);
    const char *what = side->is_node ? "CPUs" : "pods";

    if (!s)
        return fb_fail(err, FB_ELIMIT, "more than %d %s", SERIES_MAX, what);
    if (s->count > 0 && point->time_s <= s->points[s->count - 1].time_s) {
        if (point->time_s < s->points[s->count - 1].time_s)
            return fb_fail(err, FB_EFORMAT,
                           "the time of '%.60s' is %.0f s before that of its line before; rising "
                           "times were expected",
                           name, s->points[s->count - 1].time_s - point->time_s);
        return FB_OK; /* the same line twice */
    }
    if (side->points++ == POINTS_MAX)
        return fb_fail(err, FB_ELIMIT, "more than %d lines", POINTS_MAX);
    fb_vec_reserve(&s->points, &s->room, s->count + 1, sizeof *s->points);
    s->points[s->count++] = *point;
    return FB_OK;
}

static enum fb_status line_read(void *context, const char *line, size_t number, struct fb_err *err)
{
    struct fb_side *side = context;
    char word[WORD_MAX];
    double v[5];
    struct point point = {.time_s = 0};
    int numbers;

    if (*line == '\0' || *line == '#' || is_heading(line))
        return FB_OK;
    numbers = line_split(line, &point.time_s, word, v);
    if (side->points == 0 && numbers > 0)
        side->is_node = is_cpu(word);
    if (numbers != (side->is_node ? 5 : 3) || is_cpu(word) != side->is_node) {
        side->first_skipped = side->skipped++ ? side->first_skipped : number;
        return FB_OK;
    }
    if (side->is_node) {
        point.values[CPU_BUSY] = v[0] + v[1] + v[2] + v[3];
        point.values[CPU_SOFTIRQ] = v[2];
        point.values[CPU_IDLE] = v[4];
    } else {
        point.values[CLIENT_USAGE] = v[0] / 1e6;
        point.values[CLIENT_THROTTLED] = v[1] / 1e6;
    }
    return point_add(side, word, &point, err);
}

enum fb_status fb_side_read(struct fb_source *in, struct fb_side **ret_side, struct fb_err *err)
{
    struct fb_side *side = fb_alloc(sizeof *side);
    enum fb_status r = fb_lines_each(in, line_read, side, err);

    if (r == FB_OK && side->points == 0)
        r = fb_fail(err, FB_EFORMAT,
                    "lines 'epoch pod usage_usec throttled_usec nr_throttled' or 'epoch cpuN user "
                    "system softirq irq idle' were expected");
    if (r != FB_OK) {
        fb_side_free(side);
        return strncmp(err->text, fb_source_name(in), strlen(fb_source_name(in))) == 0
                   ? r
                   : fb_within(err, "%s", fb_source_name(in));
    }
    *ret_side = side;
    return FB_OK;
}

void fb_side_free(struct fb_side *side)
{
    if (!side)
        return;
    for (size_t i = 0; i < side->count; i++) {
        free(side->series[i].name);
        free(side->series[i].points);
    }
    free(side->series);
    free(side);
}

/* ---- windows ---- */

/* The value at a time inside the series, between its two points. */
static double value_at(const struct series *s, size_t v, double time_s)
{
    size_t low = 0, high = s->count - 1;
    const struct point *a, *b;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (s->points[middle].time_s <= time_s)
            low = middle;
        else
            high = middle;
    }
    a = &s->points[low];
    b = &s->points[high];
    if (b->time_s <= a->time_s)
        return a->values[v];
    return a->values[v] +
           (b->values[v] - a->values[v]) * (time_s - a->time_s) / (b->time_s - a->time_s);
}

/* Whether a counter fell between two of the points around the window: it began anew. */
static bool fell(const struct series *s, double from_s, double to_s)
{
    for (size_t i = 1; i < s->count; i++) {
        if (s->points[i].time_s <= from_s || s->points[i - 1].time_s >= to_s)
            continue;
        for (size_t v = 0; v < VALUES; v++)
            if (s->points[i].values[v] < s->points[i - 1].values[v])
                return true;
    }
    return false;
}

/* The growth of value v over the part of the window that the series covers, and that part; NAN
 * where the counter began anew. */
static double growth(const struct series *s, size_t v, double from_s, double to_s,
                     double *ret_covered_s)
{
    double first_s = s->count > 0 ? s->points[0].time_s : INFINITY;
    double last_s = s->count > 0 ? s->points[s->count - 1].time_s : -INFINITY;
    double from = fmax(from_s, first_s), to = fmin(to_s, last_s);

    *ret_covered_s = fmax(0, to - from);
    if (!(to > from))
        return 0;
    if (fell(s, from, to))
        return NAN;
    return value_at(s, v, to) - value_at(s, v, from);
}

static void node_apply(const struct fb_side *side, struct fb_step *s, double from_s, double to_s)
{
    double busy = 0, softirq = 0, idle = 0, covered = 0, part;

    for (size_t i = 0; i < side->count; i++) {
        busy += growth(&side->series[i], CPU_BUSY, from_s, to_s, &part);
        softirq += growth(&side->series[i], CPU_SOFTIRQ, from_s, to_s, &part);
        idle += growth(&side->series[i], CPU_IDLE, from_s, to_s, &part);
        covered = fmax(covered, part);
    }
    if (covered < least_covered * (to_s - from_s) || !(busy + idle > 0))
        return;
    s->node_busy = busy / (busy + idle);
    s->node_softirq = softirq / (busy + idle);
}

/* The generator's pods together.  What the lines cover stands for the whole window. */
static void client_apply(const struct fb_side *side, struct fb_step *s, double from_s, double to_s)
{
    double usage = 0, throttled = 0;
    bool any = false;

    for (size_t i = 0; i < side->count; i++) {
        double part, u = growth(&side->series[i], CLIENT_USAGE, from_s, to_s, &part);
        double t = growth(&side->series[i], CLIENT_THROTTLED, from_s, to_s, &part);

        if (part < least_covered * (to_s - from_s))
            continue; /* a pod of another time */
        usage += u * (to_s - from_s) / part;
        throttled += t * (to_s - from_s) / part;
        any = true;
    }
    if (!any)
        return;
    s->client_cpu_s = usage;
    s->client_throttled_s = throttled;
}

void fb_side_apply(const struct fb_side *side, struct fb_steps *steps)
{
    if (side->skipped > 0)
        fb_steps_warn(steps,
                      "the %s counters: %zu lines are neither whole nor of that kind and were left "
                      "out, the first is line %zu",
                      side->is_node ? "node's" : "client's", side->skipped, side->first_skipped);
    for (size_t i = 0; i < steps->count; i++) {
        struct fb_step *s = &steps->items[i];
        double from_s = (double)s->load_start_ns / 1e9, to_s = (double)s->load_end_ns / 1e9;

        if (s->load_start_ns == 0 || !(to_s > from_s))
            continue;
        if (side->is_node)
            node_apply(side, s, from_s, to_s);
        else
            client_apply(side, s, from_s - steps->clock_offset_s, to_s - steps->clock_offset_s);
    }
}
