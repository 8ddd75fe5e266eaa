/* Steps from the marks of a bank: a mark begins a step, which lasts to its END mark, to the next
 * mark, or to the end of the profile, whichever is first. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/list.h"

/* The time at which the step of mark i ends. */
static int64_t end_of(const struct fb_profile *p, size_t i)
{
    int64_t end_ns = p->last_ns + 1; /* windows leave their end out */

    for (size_t k = i + 1; k < p->marks_count; k++)
        if (!(p->marks[k].flags & FB_MARK_END) || p->marks[k].name == p->marks[i].name)
            return p->marks[k].time_ns < end_ns ? p->marks[k].time_ns : end_ns;
    return end_ns;
}

static void step_add(struct fb_steps *steps, const struct fb_profile *p, size_t i)
{
    const struct fb_mark *mark = &p->marks[i];
    const char *name = fb_profile_text(p, mark->name);
    int64_t end_ns = end_of(p, i);
    struct fb_step *s;

    if (end_ns <= mark->time_ns) {
        fb_steps_warn(steps, "mark '%.100s' is not before the end of the profile: left out", name);
        return;
    }
    s = fb_steps_add(steps);
    s->warmup = mark->flags & FB_MARK_WARMUP;
    s->offered = mark->offered;
    s->start_ns = s->load_start_ns = mark->time_ns;
    s->end_ns = s->load_end_ns = end_ns;
    s->secs = (double)(end_ns - mark->time_ns) / 1e9;
    if (*name)
        s->name = fb_strdup(name);
    fb_step_name_default(s, steps->count);
}

/* An END mark whose step never began says that the bank was cut or a mark mistyped. */
static void ends_check(struct fb_steps *steps, const struct fb_profile *p)
{
    bool *begun = fb_alloc_array(p->strings.count, sizeof *begun);

    for (size_t i = 0; i < p->marks_count; i++) {
        if (!(p->marks[i].flags & FB_MARK_END))
            begun[p->marks[i].name] = true;
        else if (!begun[p->marks[i].name])
            fb_steps_warn(steps, "the end of step '%.100s' is marked and its beginning is not",
                          fb_profile_text(p, p->marks[i].name));
    }
    free(begun);
}

struct fb_steps *fb_steps_of_profile(const struct fb_profile *p, const char *name)
{
    struct fb_steps *steps;
    char *source;

    if (p->marks_count == 0)
        return NULL;
    source = fb_format("marks of %s", name);
    steps = fb_steps_new(source, "marks");
    free(source);
    for (size_t i = 0; i < p->marks_count; i++)
        if (!(p->marks[i].flags & FB_MARK_END))
            step_add(steps, p, i);
    ends_check(steps, p);
    if (steps->count > 0)
        return steps;
    fb_steps_free(steps);
    return NULL;
}

struct fb_steps *fb_steps_whole(const struct fb_profile *p, const char *name)
{
    struct fb_steps *steps = fb_steps_new(name, "whole");
    struct fb_step *s = fb_steps_add(steps);

    s->name = fb_strdup("whole run");
    if (p->has_times && p->last_ns >= p->first_ns) {
        s->start_ns = s->load_start_ns = p->first_ns;
        s->end_ns = s->load_end_ns = p->last_ns + 1;
        s->secs = (double)(p->last_ns - p->first_ns) / 1e9;
    }
    return steps;
}
