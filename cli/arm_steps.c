#include "cli/arm_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/say.h"

/* An option of arm i: the i-th of several, or the only one, which is for all arms. */
static const char *option_of(const struct fb_args *args, const char *name, size_t i)
{
    return fb_args_nth(args, name, 1) ? fb_args_nth(args, name, i) : fb_args_nth(args, name, 0);
}

static enum fb_status plan_of(const struct fb_args *args, size_t i, struct fb_plan *plan,
                              bool *ret_has, struct fb_err *err)
{
    const char *text = option_of(args, "plan", i);

    *ret_has = text != NULL;
    return text ? fb_plan_parse(text, plan, err) : FB_OK;
}

bool fb_arm_steps_sniff(const char *head, size_t n)
{
    return fb_side_sniff(head, n) || fb_steps_sniff(head, n);
}

static enum fb_status side_take(struct fb_arm *arm, struct fb_source *in, struct fb_err *err)
{
    struct fb_side *side;
    enum fb_status r = fb_side_read(in, &side, err);

    if (r != FB_OK)
        return r;
    fb_vec_reserve(&arm->sides, &arm->sides_room, arm->sides_count + 1, sizeof(struct fb_side *));
    arm->sides[arm->sides_count++] = side;
    return FB_OK;
}

enum fb_status fb_arm_steps_take(const struct fb_args *args, struct fb_arm *arm, size_t i,
                                 struct fb_source *in, struct fb_err *err)
{
    struct fb_plan plan;
    struct fb_steps *steps;
    bool has_plan;
    const char *head;
    size_t n;
    enum fb_status r = fb_source_head(in, FB_STEPS_HEAD, &head, &n, err);

    if (r == FB_OK && fb_side_sniff(head, n))
        return side_take(arm, in, err);
    if (r == FB_OK)
        r = plan_of(args, i, &plan, &has_plan, err);
    if (r == FB_OK)
        r = fb_steps_read_source(in, has_plan ? &plan : NULL, &steps, err);
    if (r != FB_OK)
        return r;
    if (arm->steps)
        fb_steps_join(arm->steps, steps);
    else
        arm->steps = steps;
    return FB_OK;
}

enum fb_status fb_arm_steps_read(const struct fb_args *args, struct fb_arm *arm, size_t i,
                                 const char *paths, struct fb_err *err)
{
    char *copy = fb_strdup(paths), *next = copy;
    enum fb_status r = FB_OK;

    while (next && r == FB_OK) {
        struct fb_source *in;

        r = fb_source_open(strsep(&next, ","), &in, err);
        if (r != FB_OK)
            break;
        r = fb_arm_steps_take(args, arm, i, in, err);
        fb_source_close(in);
    }
    free(copy);
    return r;
}

void fb_arm_steps_done(struct fb_arm *arm)
{
    for (size_t i = 0; i < arm->sides_count; i++)
        fb_side_free(arm->sides[i]);
    free(arm->sides);
    fb_steps_free(arm->steps);
    fb_steps_free(arm->banked);
    arm->sides = NULL;
    arm->steps = arm->banked = NULL;
}

/* ---- times ---- */

static enum fb_status plan_apply(const struct fb_args *args, struct fb_arm *arm, size_t i,
                                 struct fb_err *err)
{
    bool has_times = arm->profile && arm->profile->has_times;
    int64_t first_ns = has_times ? arm->profile->first_ns : 0;
    struct fb_plan plan;
    bool has_plan;
    enum fb_status r = plan_of(args, i, &plan, &has_plan, err);

    if (r != FB_OK || !has_plan)
        return r;
    if (arm->steps && strcmp(arm->steps->format, "marks") != 0)
        return fb_steps_plan(arm->steps, &plan, first_ns, err);
    if (arm->steps)
        return fb_fail(err, FB_EUSAGE, "%s: has marks, so '--plan' cannot be applied", arm->name);
    return fb_steps_of_plan(&plan, first_ns, &arm->steps, err);
}

static enum fb_status offset_apply(const struct fb_args *args, struct fb_arm *arm, size_t i,
                                   struct fb_err *err)
{
    const char *text = option_of(args, "clock-offset", i);
    double seconds = 0;
    enum fb_status r = text ? fb_steps_offset_parse(text, &seconds, err) : FB_OK;

    if (r != FB_OK || !text)
        return r;
    if (arm->steps && strcmp(arm->steps->format, "marks") == 0)
        return fb_fail(err, FB_EUSAGE,
                       "%s: its marks are by the arm's own clock, so '--clock-offset' cannot be "
                       "applied",
                       arm->name);
    if (arm->steps)
        fb_steps_clock_offset(arm->steps, seconds);
    return FB_OK;
}

static enum fb_status overlap_fail(const struct fb_arm *arm, struct fb_err *err)
{
    char *hint = fb_steps_offset_hint(arm->steps, arm->profile);
    enum fb_status r = fb_fail(
        err, FB_EFORMAT, "%s: no step of '%s' overlaps the profile (are they of the same run?)%s",
        arm->name, arm->steps->source, hint);

    free(hint);
    return r;
}

enum fb_status fb_arm_steps_finish(const struct fb_args *args, struct fb_arm *arm, size_t i,
                                   bool say_warnings, struct fb_err *err)
{
    enum fb_status r = plan_apply(args, arm, i, err);

    if (r == FB_OK)
        r = offset_apply(args, arm, i, err);
    if (r == FB_OK && !arm->steps && arm->sides_count > 0)
        r = fb_fail(err, FB_EUSAGE,
                    "%s: has counters of a client or a node and no steps to put them "
                    "to",
                    arm->name);
    if (r != FB_OK || !arm->steps)
        return r;
    for (size_t k = 0; k < arm->sides_count; k++)
        fb_side_apply(arm->sides[k], arm->steps);
    if (arm->profile && fb_steps_add_counters(arm->steps, arm->profile) == 0 &&
        arm->profile->has_times)
        return overlap_fail(arm, err);
    if (arm->profile)
        fb_steps_onset_check(arm->steps, arm->profile);
    arm->steps->limits = arm->limits;
    fb_steps_judge(arm->steps);
    for (size_t k = 0; say_warnings && k < arm->steps->warnings_count; k++)
        fb_say("%s: %s", arm->steps->source, arm->steps->warnings[k]);
    return FB_OK;
}
