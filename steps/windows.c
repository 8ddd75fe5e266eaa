/* Samples of a moment that two steps share would count twice, and a CPU counter that runs for
 * longer than the load charges the load for what it did not do: both are named. */
#include "steps/windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/times.h"

static const double NS = 1e9;
static const double spans_most = 1.02; /* the widest span over the load */

/* "line 17" or "run.txt, line 17": where a step comes from. */
static char *place_of(const struct fb_steps *steps, const struct fb_step *s)
{
    if (*s->source && strcmp(s->source, steps->source) != 0)
        return fb_format("%s, line %u", s->source, s->line);
    return s->line > 0 ? fb_format("line %u", s->line) : fb_strdup("its steps");
}

static void spans_check(struct fb_steps *steps, const struct fb_step *s)
{
    double window_s = s->start_ns != 0 ? (double)(s->end_ns - s->start_ns) / NS : NAN;
    double widest = fmax(s->secs, fmax(window_s, s->cpu_span_s)); /* of those that are known */
    char *place;

    if (!(widest > s->secs * spans_most))
        return;
    place = place_of(steps, s);
    if (isnan(s->cpu_span_s))
        fb_steps_warn(steps,
                      "%s: step %s: the load ran %.1f s, its window is %.4g s: they differ by over "
                      "%.0f %%",
                      place, s->name, s->secs, window_s, (spans_most - 1) * 100);
    else
        fb_steps_warn(
            steps,
            "%s: step %s: the load ran %.1f s, its window is %.4g s, the CPU counters span "
            "%.1f s: they differ by over %.0f %%",
            place, s->name, s->secs, window_s, s->cpu_span_s, (spans_most - 1) * 100);
    free(place);
}

/* Not wrong, but not a share of the window either. */
static void throttled_check(struct fb_steps *steps, const struct fb_step *s)
{
    double window_s = s->start_ns != 0 ? (double)(s->end_ns - s->start_ns) / NS : s->secs;
    char *place;

    if (!(s->throttled_s > window_s))
        return;
    place = place_of(steps, s);
    fb_steps_warn(
        steps,
        "%s: step %s: throttled for %.1f s in a window of %.0f s: that time is summed over "
        "the CPUs, so that it may be more than the window",
        place, s->name, s->throttled_s, window_s);
    free(place);
}

/* Headers in whole seconds may touch. */
static int64_t grain_ns(const struct fb_step *a, const struct fb_step *b)
{
    return (int64_t)(fmax(a->grain_s, b->grain_s) * NS);
}

static bool overlap(const struct fb_step *a, const struct fb_step *b)
{
    int64_t grain = grain_ns(a, b);

    return a->start_ns < b->end_ns - grain && b->start_ns < a->end_ns - grain;
}

static void pair_check(struct fb_steps *steps, const struct fb_step *before,
                       const struct fb_step *s)
{
    char *place;

    if (before->start_ns == 0 || s->start_ns == 0)
        return;
    place = place_of(steps, s);
    if (s->start_ns == before->start_ns && s->end_ns == before->end_ns)
        fb_steps_warn(steps, "%s: step %s has the very window of step %s before it", place, s->name,
                      before->name);
    else if (overlap(before, s))
        fb_steps_warn(steps, "%s: step %s begins %.1f s before step %s ends", place, s->name,
                      (double)(before->end_ns - s->start_ns) / NS, before->name);
    else if (s->start_ns < before->start_ns)
        fb_steps_warn(steps, "%s: step %s is out of order: it begins %.1f s before step %s", place,
                      s->name, (double)(before->start_ns - s->start_ns) / NS, before->name);
    free(place);
}

/* Steps that are not neighbours in the file may overlap as well. */
static void far_overlaps_check(struct fb_steps *steps)
{
    enum { MOST = 2000 }; /* pairs are looked at one by one */

    for (size_t i = 0; i < steps->count && steps->count <= MOST; i++) {
        for (size_t k = i + 2; k < steps->count; k++) {
            const struct fb_step *a = &steps->items[i], *b = &steps->items[k];
            char *place, *other;

            if (a->start_ns == 0 || b->start_ns == 0 || !overlap(a, b))
                continue;
            place = place_of(steps, b);
            other = place_of(steps, a);
            fb_steps_warn(steps, "%s: step %s overlaps step %s of %s", place, b->name, a->name,
                          other);
            free(place);
            free(other);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* A pause between two steps that is far longer than the others and than a step: something was
 * between them, or a step is missing. */
static void gaps_check(struct fb_steps *steps)
{
    double *gaps = fb_alloc_array(steps->count + 1, sizeof *gaps), usual;
    size_t count = 0;

    for (size_t i = 1; i < steps->count; i++)
        if (steps->items[i - 1].start_ns != 0 && steps->items[i].start_ns != 0)
            gaps[count++] =
                fmax(0, (double)(steps->items[i].start_ns - steps->items[i - 1].end_ns) / NS);
    qsort(gaps, count, sizeof *gaps, by_size);
    usual = count >= 3 ? gaps[count / 2] : INFINITY;
    free(gaps);
    for (size_t i = 1; i < steps->count; i++) {
        const struct fb_step *before = &steps->items[i - 1], *s = &steps->items[i];
        double gap = (double)(s->start_ns - before->end_ns) / NS;
        double length = (double)(s->end_ns - s->start_ns) / NS;
        char *place;

        if (before->start_ns == 0 || s->start_ns == 0 || !(gap > usual + length) ||
            !(gap > 3 * usual))
            continue;
        place = place_of(steps, s);
        fb_steps_warn(
            steps,
            "%s: step %s begins %.0f s after step %s ended, the usual pause is %.0f s: is "
            "a step missing?",
            place, s->name, gap, before->name, usual);
        free(place);
    }
}

void fb_steps_windows_check(struct fb_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        spans_check(steps, &steps->items[i]);
        throttled_check(steps, &steps->items[i]);
        if (i > 0)
            pair_check(steps, &steps->items[i - 1], &steps->items[i]);
    }
    far_overlaps_check(steps);
    gaps_check(steps);
}

bool fb_steps_time(const char *text, int64_t *ret_ns)
{
    return fb_time_parse(text, ret_ns);
}

struct fb_steps *fb_steps_of_spans(const char *name, const struct fb_step_span *spans, size_t count)
{
    struct fb_steps *steps = fb_steps_new(name, "folder");

    for (size_t i = 0; i < count; i++) {
        struct fb_step *s = fb_steps_add(steps);

        s->start_ns = s->load_start_ns = spans[i].start_ns;
        s->end_ns = s->load_end_ns = spans[i].end_ns;
        s->grain_s = spans[i].start_ns % (int64_t)NS == 0 ? 1 : 0;
        s->secs = (double)(spans[i].end_ns - spans[i].start_ns) / NS;
        s->offered = spans[i].offered;
        s->source = fb_steps_text(steps, spans[i].source);
        fb_step_name_default(s, i + 1);
    }
    fb_steps_windows_check(steps);
    return steps;
}

void fb_steps_clock_offset(struct fb_steps *steps, double seconds)
{
    int64_t offset_ns = (int64_t)(seconds * NS);

    steps->clock_offset_s += seconds;
    for (size_t i = 0; i < steps->count; i++) {
        struct fb_step *s = &steps->items[i];
        int64_t *const times[] = {&s->start_ns, &s->end_ns, &s->load_start_ns, &s->load_end_ns};

        for (size_t k = 0; k < 4; k++)
            if (*times[k] != 0)
                *times[k] += offset_ns;
    }
}

void fb_steps_join(struct fb_steps *steps, struct fb_steps *more)
{
    char *source = fb_format("%s, %s", steps->source, more->source);

    for (size_t i = 0; i < more->count; i++) {
        struct fb_step *from = &more->items[i], *to = fb_steps_add(steps);

        free(to->why);
        *to = *from;
        to->arm = fb_steps_text(steps, from->arm);
        to->mode = fb_steps_text(steps, from->mode);
        to->tier = fb_steps_text(steps, from->tier);
        to->source = fb_steps_text(steps, from->source);
        for (size_t k = 0; k < to->counters_count; k++)
            to->counters[k].name = fb_steps_text(steps, to->counters[k].name);
    }
    for (size_t i = 0; i < more->warnings_count; i++)
        fb_steps_warn(steps, "%s: %s", more->source, more->warnings[i]);
    steps->has_generator = steps->has_generator || more->has_generator;
    free(steps->source);
    steps->source = source;
    more->count = 0; /* its steps have moved */
    fb_steps_free(more);
    fb_steps_windows_check(steps);
}
