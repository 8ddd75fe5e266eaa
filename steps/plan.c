/* "start=T,step=S[,skip=S][,length=S][,rates=R:R...][,warmup=N][,count=N]" */
#include "steps/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/list.h"
#include "steps/times.h"

static const double longest_s = 1e7, longest_offset_s = 9e9;

/* "120", "120s", "2m". */
static bool seconds_any(const char *text, double *ret_s)
{
    double s = fb_text_number(text, strlen(text));

    if (isnan(s) && !fb_duration_parse(text, &s))
        return false;
    *ret_s = s;
    return s >= 0;
}

static bool seconds_read(const char *text, double *ret_s)
{
    return seconds_any(text, ret_s) && *ret_s <= longest_s;
}

static enum fb_status start_read(const char *value, struct fb_plan *plan, struct fb_err *err)
{
    if (value[0] == '+' && seconds_read(value + 1, &plan->after_s))
        return FB_OK;
    if (value[0] != '+' && fb_time_parse(value, &plan->start_ns))
        return FB_OK;
    return fb_fail(
        err, FB_EUSAGE,
        "'start=%.60s': epoch seconds, 2026-09-06T20:12:00Z, or +SECONDS after the first "
        "sample was expected",
        value);
}

static enum fb_status length_read(const char *key, const char *value, double least, double *ret_s,
                                  struct fb_err *err)
{
    if (seconds_read(value, ret_s) && *ret_s >= least)
        return FB_OK;
    return fb_fail(err, FB_EUSAGE, "'%s=%.60s': seconds%s were expected", key, value,
                   least > 0 ? " above 0" : "");
}

static enum fb_status count_read(const char *key, const char *value, size_t *ret_count,
                                 struct fb_err *err)
{
    double n = fb_text_number(value, strlen(value));

    if (!(n >= 0 && n <= FB_STEPS_MAX) || n != floor(n))
        return fb_fail(err, FB_EUSAGE, "'%s=%.60s': a whole number was expected", key, value);
    *ret_count = (size_t)n;
    return FB_OK;
}

/* Takes value apart. */
static enum fb_status rates_read(char *value, struct fb_plan *plan, struct fb_err *err)
{
    char *next = value;

    while (next) {
        const char *word = strsep(&next, ":");
        double rate = fb_text_number(word, strlen(word));

        if (!(rate >= 0))
            return fb_fail(err, FB_EUSAGE,
                           "'%.60s' in 'rates=': rates per second with ':' between were expected",
                           word);
        if (plan->rates_count == FB_PLAN_RATES)
            return fb_fail(err, FB_ELIMIT, "'rates=': more than %d rates", FB_PLAN_RATES);
        plan->rates[plan->rates_count++] = rate;
    }
    return FB_OK;
}

static enum fb_status pair_read(const char *key, char *value, struct fb_plan *plan,
                                struct fb_err *err)
{
    if (strcmp(key, "start") == 0)
        return start_read(value, plan, err);
    if (strcmp(key, "step") == 0)
        return length_read(key, value, 1e-3, &plan->step_s, err);
    if (strcmp(key, "skip") == 0)
        return length_read(key, value, 0, &plan->skip_s, err);
    if (strcmp(key, "length") == 0)
        return length_read(key, value, 1e-3, &plan->length_s, err);
    if (strcmp(key, "rates") == 0)
        return rates_read(value, plan, err);
    if (strcmp(key, "warmup") == 0)
        return count_read(key, value, &plan->warmups, err);
    if (strcmp(key, "count") == 0)
        return count_read(key, value, &plan->count, err);
    return fb_fail(err, FB_EUSAGE,
                   "'%.60s': start, step, skip, length, rates, warmup or count was expected", key);
}

static enum fb_status plan_check(const struct fb_plan *plan, struct fb_err *err)
{
    if (!(plan->step_s > 0))
        return fb_fail(err, FB_EUSAGE, "'step=SECONDS' was expected");
    if (plan->skip_s >= plan->step_s)
        return fb_fail(err, FB_EUSAGE, "'skip=%g' leaves nothing of 'step=%g'", plan->skip_s,
                       plan->step_s);
    if (plan->skip_s + plan->length_s > plan->step_s)
        return fb_fail(err, FB_EUSAGE, "'skip=%g' and 'length=%g' do not fit into 'step=%g'",
                       plan->skip_s, plan->length_s, plan->step_s);
    return FB_OK;
}

enum fb_status fb_plan_parse(const char *text, struct fb_plan *ret_plan, struct fb_err *err)
{
    struct fb_plan plan = {.length_s = NAN};
    char *copy = fb_strdup(text), *next = copy;
    enum fb_status r = FB_OK;

    while (next && r == FB_OK) {
        char *pair = strsep(&next, ","), *value = strchr(pair, '=');

        if (!value) {
            r = fb_fail(err, FB_EUSAGE, "'%.60s': NAME=VALUE was expected", pair);
            break;
        }
        *value++ = '\0';
        r = pair_read(pair, value, &plan, err);
    }
    free(copy);
    if (r == FB_OK)
        r = plan_check(&plan, err);
    if (r != FB_OK)
        return fb_within(err, "'--plan'");
    *ret_plan = plan;
    return FB_OK;
}

enum fb_status fb_steps_offset_parse(const char *text, double *ret_s, struct fb_err *err)
{
    const char *digits = text + (*text == '-' || *text == '+' ? 1 : 0);
    double s;

    if (*digits == '-' || *digits == '+' || !seconds_any(digits, &s) || s > longest_offset_s)
        return fb_fail(err, FB_EUSAGE,
                       "'--clock-offset %s': seconds to be added to the times of the steps were "
                       "expected (1.5, -250ms, 2h)",
                       text);
    *ret_s = *text == '-' ? -s : s;
    return FB_OK;
}

/* ---- steps ---- */

static const double NS = 1e9;

static enum fb_status origin_of(const struct fb_plan *plan, int64_t first_ns, int64_t *ret_ns,
                                struct fb_err *err)
{
    if (plan->start_ns == 0 && first_ns == 0)
        return fb_fail(err, FB_EUSAGE,
                       "'--plan': without a profile beside the steps 'start=TIME' was expected");
    *ret_ns = plan->start_ns != 0 ? plan->start_ns : first_ns + (int64_t)(plan->after_s * NS);
    return FB_OK;
}

static void window_set(const struct fb_plan *plan, int64_t origin_ns, size_t k, struct fb_step *s)
{
    double room_s = isnan(plan->length_s) ? plan->step_s - plan->skip_s : plan->length_s;
    double load_s = s->secs > 0 && s->secs < room_s ? s->secs : room_s;

    s->start_ns = origin_ns + (int64_t)((double)k * plan->step_s * NS);
    s->end_ns = s->start_ns + (int64_t)(plan->step_s * NS);
    s->load_start_ns = s->start_ns + (int64_t)(plan->skip_s * NS);
    s->load_end_ns = s->load_start_ns + (int64_t)(load_s * NS);
    if (isnan(s->secs))
        s->secs = load_s;
    if (k < plan->warmups)
        s->warmup = true;
    if (isnan(s->offered) && k < plan->rates_count)
        s->offered = plan->rates[k];
}

/* A name that the plan's rate makes better; one that the source gave stays. */
static void rename_by_rate(struct fb_step *s, size_t number)
{
    char *plain = fb_format("step %zu", number);

    if (s->name && strcmp(s->name, plain) == 0) {
        free(s->name);
        s->name = NULL;
    }
    free(plain);
    fb_step_name_default(s, number);
}

enum fb_status fb_steps_plan(struct fb_steps *steps, const struct fb_plan *plan, int64_t first_ns,
                             struct fb_err *err)
{
    int64_t origin_ns = 0;
    enum fb_status r;

    if (steps->is_planned)
        return FB_OK;
    for (size_t i = 0; i < steps->count; i++)
        if (steps->items[i].start_ns != 0)
            return fb_fail(err, FB_EUSAGE,
                           "%s: has times of its own, so '--plan' cannot be applied",
                           steps->source);
    r = origin_of(plan, first_ns, &origin_ns, err);
    if (r == FB_OK && plan->count > 0 && plan->count != steps->count)
        r = fb_fail(err, FB_EUSAGE, "%s: has %zu steps, the plan says 'count=%zu'", steps->source,
                    steps->count, plan->count);
    if (r == FB_OK && plan->rates_count > 0 && plan->rates_count != steps->count)
        r = fb_fail(err, FB_EUSAGE, "%s: has %zu steps, the plan has %zu rates", steps->source,
                    steps->count, plan->rates_count);
    if (r != FB_OK)
        return r;
    for (size_t i = 0; i < steps->count; i++) {
        struct fb_step *s = &steps->items[i];

        if (s->secs > plan->step_s - plan->skip_s)
            fb_steps_warn(steps,
                          "line %u: step %s ran %.1f s, and the plan leaves %.1f s for it: its "
                          "window is cut",
                          s->line, s->name, s->secs, plan->step_s - plan->skip_s);
        window_set(plan, origin_ns, i, s);
        rename_by_rate(s, i + 1);
    }
    steps->is_planned = true;
    return FB_OK;
}

enum fb_status fb_steps_of_plan(const struct fb_plan *plan, int64_t first_ns,
                                struct fb_steps **ret_steps, struct fb_err *err)
{
    size_t count = plan->count > 0 ? plan->count : plan->rates_count;
    struct fb_steps *steps;
    int64_t origin_ns = 0;
    enum fb_status r = origin_of(plan, first_ns, &origin_ns, err);

    if (r == FB_OK && count == 0)
        r = fb_fail(err, FB_EUSAGE,
                    "'--plan': without a file of results 'rates=' or 'count=' was expected");
    if (r == FB_OK && plan->rates_count > 0 && plan->rates_count != count)
        r = fb_fail(err, FB_EUSAGE, "'--plan': 'count=%zu' and %zu rates do not agree", count,
                    plan->rates_count);
    if (r != FB_OK)
        return r;
    steps = fb_steps_new("the plan", "plan");
    for (size_t i = 0; i < count; i++) {
        struct fb_step *s = fb_steps_add(steps);

        window_set(plan, origin_ns, i, s);
        fb_step_name_default(s, i + 1);
    }
    steps->is_planned = true;
    *ret_steps = steps;
    return FB_OK;
}
