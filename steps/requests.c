#include "steps/requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum {
    SUB_BITS = 10, /* buckets of a power of two */
    SUBS = 1 << SUB_BITS,
    POWERS = 50, /* from a nanosecond on; beyond 13 days all is one */
};

static const double NS = 1e9;

struct fb_requests_slot {
    double ok, sent, not_sent, errors[FB_STEP_ERRORS];
    int64_t first_ns, last_ns, end_ns; /* sent first and last, answered last; 0 no times */
    size_t exact_count;
    double *exact; /* FB_REQUESTS_EXACT of them; NULL once they are in the histogram */
    uint64_t *powers[POWERS];
    double measured; /* latencies */
};

void fb_requests_init(struct fb_requests *q, struct fb_steps *steps)
{
    *q = (struct fb_requests){.steps = steps, .plan = steps->plan};
    if (q->plan)
        q->origin_ns = q->plan->start_ns;
}

static void slot_free(struct fb_requests_slot *slot)
{
    if (!slot)
        return;
    for (size_t i = 0; i < POWERS; i++)
        free(slot->powers[i]);
    free(slot->exact);
    free(slot);
}

void fb_requests_done(struct fb_requests *q)
{
    for (size_t i = 0; i < q->slots_count; i++)
        slot_free(q->slots[i]);
    free(q->slots);
    q->slots = NULL;
    q->slots_count = 0;
}

int fb_request_outcome(double status)
{
    if (status >= 200 && status < 400)
        return FB_REQUEST_OK;
    if (status >= 400 && status < 500)
        return FB_ERROR_HTTP_4XX;
    if (status >= 500 && status < 600)
        return FB_ERROR_HTTP_5XX;
    return status >= 100 ? FB_ERROR_HTTP_OTHER : FB_ERROR_CONNECT;
}

/* ---- latency ---- */

static void histogram_add(struct fb_requests_slot *slot, double latency_s)
{
    int power = 0;
    double ns = fmax(latency_s * NS, 1), fraction = frexp(ns, &power); /* 0.5 to 1 */
    size_t sub = (size_t)((fraction - 0.5) * 2 * SUBS), row = (size_t)(power - 1);

    if (row >= POWERS) {
        row = POWERS - 1;
        sub = SUBS - 1;
    }
    if (!slot->powers[row])
        slot->powers[row] = fb_alloc_array(SUBS, sizeof **slot->powers);
    slot->powers[row][sub]++;
}

static void latency_add(struct fb_requests_slot *slot, double latency_s)
{
    slot->measured++;
    if (slot->exact && slot->exact_count < FB_REQUESTS_EXACT) {
        slot->exact[slot->exact_count++] = latency_s;
        return;
    }
    for (size_t i = 0; i < slot->exact_count; i++)
        histogram_add(slot, slot->exact[i]);
    free(slot->exact);
    slot->exact = NULL;
    slot->exact_count = 0;
    histogram_add(slot, latency_s);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The latency of the request of that rank (from 1), of the middle of its bucket. */
static double histogram_at(const struct fb_requests_slot *slot, double rank)
{
    double seen = 0;

    for (size_t row = 0; row < POWERS; row++) {
        for (size_t sub = 0; slot->powers[row] && sub < SUBS; sub++) {
            seen += (double)slot->powers[row][sub];
            if (seen >= rank)
                return ldexp(0.5 + ((double)sub + 0.5) / (2.0 * SUBS), (int)row + 1) / NS;
        }
    }
    return NAN;
}

/* Nearest rank; the point is the share of the requests that it really stands for. */
static void percentiles_fill(struct fb_requests_slot *slot, struct fb_step *s)
{
    static const double wanted[] = {0.5, 0.9, 0.99, 0.999};
    double *const values[] = {&s->p50_s, &s->p90_s, &s->p99_s, &s->p999_s};
    double *const points[] = {&s->p50_point, &s->p90_point, &s->p99_point, &s->p999_point};

    if (!(slot->measured > 0))
        return;
    if (slot->exact)
        qsort(slot->exact, slot->exact_count, sizeof *slot->exact, by_value);
    for (size_t i = 0; i < 4; i++) {
        double rank = ceil(wanted[i] * slot->measured);

        *values[i] = slot->exact ? slot->exact[(size_t)rank - 1] : histogram_at(slot, rank);
        *points[i] = slot->measured >= 1000 ? wanted[i] : rank / slot->measured;
    }
}

/* ---- slots ---- */

/* The step that a moment belongs to; -1 for none of them. */
static int64_t slot_of(struct fb_requests *q, int64_t time_ns)
{
    const struct fb_plan *plan = q->plan;
    double at_s, into_s, length_s;
    int64_t k;

    if (!plan || time_ns == 0)
        return 0;
    if (q->origin_ns == 0)
        q->origin_ns = time_ns + (int64_t)(plan->after_s * NS);
    at_s = (double)(time_ns - q->origin_ns) / NS;
    k = (int64_t)floor(at_s / plan->step_s);
    into_s = at_s - (double)k * plan->step_s;
    length_s = isnan(plan->length_s) ? plan->step_s - plan->skip_s : plan->length_s;
    if (k < 0 || into_s < plan->skip_s || into_s >= plan->skip_s + length_s ||
        (plan->count > 0 && k >= (int64_t)plan->count))
        return -1;
    return k;
}

/* *ret_slot NULL: outside of every load window. */
static enum fb_status slot_get(struct fb_requests *q, int64_t time_ns,
                               struct fb_requests_slot **ret_slot, struct fb_err *err)
{
    int64_t k = slot_of(q, time_ns);
    size_t before = q->slots_count;

    *ret_slot = NULL;
    if (k < 0)
        return FB_OK;
    if (k >= FB_REQUESTS_SLOTS)
        return fb_fail(err, FB_ELIMIT,
                       "a request lies in step %lld of the plan; at most %d steps were expected",
                       (long long)k + 1, FB_REQUESTS_SLOTS);
    if ((size_t)k >= before) {
        fb_vec_reserve(&q->slots, &q->slots_room, (size_t)k + 1, sizeof *q->slots);
        q->slots_count = (size_t)k + 1;
        for (size_t i = before; i < q->slots_count; i++)
            q->slots[i] = NULL;
    }
    if (!q->slots[k]) {
        q->slots[k] = fb_alloc(sizeof **q->slots);
        q->slots[k]->exact = fb_alloc_array(FB_REQUESTS_EXACT, sizeof *q->slots[k]->exact);
    }
    *ret_slot = q->slots[k];
    return FB_OK;
}

enum fb_status fb_requests_add(struct fb_requests *q, int64_t start_ns, double latency_s,
                               int outcome, struct fb_err *err)
{
    struct fb_requests_slot *slot;
    int64_t end_ns = start_ns;
    enum fb_status r = slot_get(q, start_ns, &slot, err);

    if (r != FB_OK)
        return r;
    if (!slot) {
        q->outside++;
        return FB_OK;
    }
    if (latency_s > 0 && latency_s < 1e6)
        end_ns += (int64_t)(latency_s * NS);
    if (slot->first_ns == 0 || start_ns < slot->first_ns)
        slot->first_ns = start_ns;
    if (start_ns > slot->last_ns)
        slot->last_ns = start_ns;
    if (end_ns > slot->end_ns)
        slot->end_ns = end_ns;
    slot->sent++;
    if (outcome != FB_REQUEST_OK) {
        slot->errors[outcome]++;
        return FB_OK;
    }
    slot->ok++;
    if (latency_s >= 0)
        latency_add(slot, latency_s);
    return FB_OK;
}

enum fb_status fb_requests_not_sent(struct fb_requests *q, int64_t time_ns, double count,
                                    struct fb_err *err)
{
    struct fb_requests_slot *slot;
    enum fb_status r = slot_get(q, time_ns, &slot, err);

    if (slot)
        slot->not_sent += count;
    return r;
}

/* ---- steps ---- */

static void step_fill(struct fb_requests *q, size_t k, struct fb_step *s)
{
    struct fb_requests_slot *slot = q->slots[k];
    const struct fb_plan *plan = q->plan;

    if (plan && q->origin_ns != 0) {
        double at_s = (double)k * plan->step_s;

        s->start_ns = q->origin_ns + (int64_t)(at_s * NS);
        s->end_ns = s->start_ns + (int64_t)(plan->step_s * NS);
        s->load_start_ns = s->start_ns + (int64_t)(plan->skip_s * NS);
        s->load_end_ns =
            isnan(plan->length_s) ? s->end_ns : s->load_start_ns + (int64_t)(plan->length_s * NS);
        s->secs = (double)(s->load_end_ns - s->load_start_ns) / NS;
    } else if (slot && slot->first_ns != 0 && slot->end_ns > slot->first_ns) {
        s->start_ns = s->load_start_ns = slot->first_ns;
        s->end_ns = s->load_end_ns = slot->end_ns;
        s->secs = (double)(slot->end_ns - slot->first_ns) / NS;
    }
    if (!slot)
        return;
    s->sent = slot->sent;
    s->delivered = slot->ok;
    if (slot->not_sent > 0)
        s->not_sent = slot->not_sent;
    s->errors = 0;
    for (size_t i = 0; i < FB_STEP_ERRORS; i++)
        if (slot->errors[i] > 0)
            fb_step_error_add(s, (enum fb_step_error)i, slot->errors[i]);
    percentiles_fill(slot, s);
}

enum fb_status fb_requests_finish(struct fb_requests *q, struct fb_err *err)
{
    for (size_t k = 0; k < q->slots_count; k++) {
        struct fb_step *s = fb_steps_add(q->steps);

        s->line = 1;
        if (q->plan) {
            s->warmup = k < q->plan->warmups;
            if (k < q->plan->rates_count)
                s->offered = q->plan->rates[k];
        }
        step_fill(q, k, s);
        fb_step_name_default(s, k + 1);
    }
    if (q->steps->count == 0 && q->outside > 0)
        return fb_fail(err, FB_EFORMAT, "no request of %.0f lies in a load window of the plan",
                       q->outside);
    if (q->outside > 0)
        fb_steps_warn(q->steps, "%.0f requests lie outside the load windows of the plan",
                      q->outside);
    q->steps->is_planned = q->plan != NULL;
    return FB_OK;
}
