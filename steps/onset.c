/* Whether the generator's clock is the arm's: the arm's own CPU says when each step really began.
 *
 * The CPU per second is modelled as constant within each step and constant outside of all.  That
 * model is tried at every quarter second of shift up to half a step; the shift with the least rest
 * (sum of squares) is the estimate.  It says nothing where the steps do not differ: the model must
 * explain 80 % of the variance there, and leave at least a fifth less than without a shift.
 *
 * What a process does at its start and early in the warm-up (a JVM compiles) is nothing that
 * follows the load: the course is looked at from the last half step of the warm-up on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/list.h"

enum { ROWS_LEAST = 20, SHIFT_MOST_S = 120 };

static const double NS = 1e9;
static const double grid_s = 0.25;
static const double explained_least = 0.8, rest_most = 0.8;
static const double tolerated_s = 1; /* beside the grain of the steps' times */

struct course {                   /* of the CPU: prefix sums over intervals */
    double *at_s, *sum, *squares; /* time of the middle; sums up to there */
    size_t count;
    size_t from; /* intervals before it are not looked at */
};

static bool course_take(const struct fb_profile *p, struct course *c)
{
    const struct fb_counter *counter = fb_profile_counter_find(p, "process.cpu_ns");
    size_t rows = p->counters.rows;
    double sum = 0, squares = 0;

    if (!counter)
        counter = fb_profile_counter_find(p, "cgroup.cpu_ns");
    if (!counter || rows < ROWS_LEAST)
        return false;
    *c = (struct course){.at_s = fb_alloc_array(rows, sizeof *c->at_s),
                         .sum = fb_alloc_array(rows + 1, sizeof *c->sum),
                         .squares = fb_alloc_array(rows + 1, sizeof *c->squares)};
    for (size_t i = 1; i < rows; i++) {
        double seconds = (double)(p->counters.time_ns[i] - p->counters.time_ns[i - 1]) / NS;
        int64_t before = counter->values[i - 1], after = counter->values[i];
        double rate;

        if (before == FB_COUNTER_ABSENT || after == FB_COUNTER_ABSENT || !(seconds > 0.1))
            continue;
        rate = (double)(after - before) / NS / seconds;
        c->at_s[c->count] = (double)(p->counters.time_ns[i] - p->first_ns) / NS - seconds / 2;
        sum += rate;
        squares += rate * rate;
        c->count++;
        c->sum[c->count] = sum;
        c->squares[c->count] = squares;
    }
    return c->count >= ROWS_LEAST;
}

static void course_done(struct course *c)
{
    free(c->at_s);
    free(c->sum);
    free(c->squares);
}

/* The first interval that is looked at and whose middle is not before the time. */
static size_t course_find(const struct course *c, double at_s)
{
    size_t low = c->from, high = c->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->at_s[middle] < at_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double rest_of(double n, double sum, double squares)
{
    return n > 0 ? fmax(0, squares - sum * sum / n) : 0;
}

/* The sums over what is looked at. */
static double course_all(const struct course *c, double *ret_n, double *ret_sum)
{
    *ret_n = (double)(c->count - c->from);
    *ret_sum = c->sum[c->count] - c->sum[c->from];
    return c->squares[c->count] - c->squares[c->from];
}

/* What the model leaves unexplained with the steps moved by shift_s. */
static double rest_at(const struct course *c, const struct fb_steps *steps,
                      const struct fb_profile *p, double shift_s)
{
    double rest = 0, n_out, sum_out, squares_out = course_all(c, &n_out, &sum_out);

    for (size_t i = 0; i < steps->count; i++) {
        const struct fb_step *s = &steps->items[i];
        size_t from, to;
        double n, sum, squares;

        if (s->load_start_ns == 0)
            continue;
        from = course_find(c, (double)(s->load_start_ns - p->first_ns) / NS + shift_s);
        to = course_find(c, (double)(s->load_end_ns - p->first_ns) / NS + shift_s);
        n = (double)(to - from);
        sum = c->sum[to] - c->sum[from];
        squares = c->squares[to] - c->squares[from];
        rest += rest_of(n, sum, squares);
        n_out -= n;
        sum_out -= sum;
        squares_out -= squares;
    }
    return rest + rest_of(n_out, sum_out, squares_out);
}

/* Half the shortest step, so that no step can pass for its neighbour; and the coarsest grain. */
static double shift_most(const struct fb_steps *steps, double *ret_grain_s)
{
    double most = SHIFT_MOST_S;

    *ret_grain_s = 0;
    for (size_t i = 0; i < steps->count; i++) {
        const struct fb_step *s = &steps->items[i];

        if (s->load_start_ns != 0)
            most = fmin(most, (double)(s->load_end_ns - s->load_start_ns) / NS / 2);
        *ret_grain_s = fmax(*ret_grain_s, s->grain_s);
    }
    return most;
}

/* The shift with the least rest; the rows are a second apart, so that several are as good: their
 * middle, to half a second. */
static double best_shift(const struct course *c, const struct fb_steps *steps,
                         const struct fb_profile *p, double most, double *ret_rest)
{
    double best = INFINITY, first = 0, last = 0;

    most = floor(most / grid_s) * grid_s; /* so that 0 is tried */
    for (double shift = -most; shift <= most; shift += grid_s) {
        double rest = rest_at(c, steps, p, shift);

        if (rest < best * (1 - 1e-9)) {
            best = rest;
            first = shift;
        }
        if (rest <= best * (1 + 1e-9))
            last = shift;
    }
    *ret_rest = best;
    return round((first + last)) / 2;
}

/* Leaves out what is before the last most_s of the warm-up; false if too little is left. */
static bool start_cut(struct course *c, const struct fb_steps *steps, const struct fb_profile *p,
                      double most_s)
{
    int64_t end_ns = 0;

    for (size_t i = 0; i < steps->count; i++)
        if (steps->items[i].warmup && steps->items[i].load_start_ns != 0)
            end_ns = end_ns > steps->items[i].load_end_ns ? end_ns : steps->items[i].load_end_ns;
    if (end_ns != 0)
        c->from = course_find(c, (double)(end_ns - p->first_ns) / NS - most_s);
    return c->count - c->from >= ROWS_LEAST;
}

/* A clock of the host that was set while the arm ran. */
static void steps_of_the_clock(struct fb_steps *steps, const struct fb_profile *p)
{
    static const double least_ns = 20e6; /* slewing moves it by half a millisecond a second */
    const struct fb_counter *c = fb_profile_counter_find(p, "clock.wall_offset_ns");

    int64_t before = FB_COUNTER_ABSENT;

    for (size_t i = 0; c && i < p->counters.rows; i++) { /* it has a column where it moved */
        int64_t after = c->values[i];

        if (after == FB_COUNTER_ABSENT)
            continue;
        if (before != FB_COUNTER_ABSENT && fabs((double)(after - before)) > least_ns)
            fb_steps_warn(
                steps,
                "the host's clock was set by %+.3f s, %.0f s into the profile, whose own times "
                "go on evenly: steps behind it lie wrong by so much",
                (double)(after - before) / NS, (double)(p->counters.time_ns[i] - p->first_ns) / NS);
        before = after;
    }
}

void fb_steps_onset_check(struct fb_steps *steps, const struct fb_profile *p)
{
    struct course c = {0};
    double best_s, grain_s, most = shift_most(steps, &grain_s), n, sum, squares, total, now, best;

    steps_of_the_clock(steps, p);
    if (strcmp(steps->format, "marks") == 0 || !course_take(p, &c) ||
        !start_cut(&c, steps, p, most)) {
        course_done(&c); /* marks are by the arm's own clock */
        return;
    }
    squares = course_all(&c, &n, &sum);
    total = rest_of(n, sum, squares);
    now = rest_at(&c, steps, p, 0);
    best_s = best_shift(&c, steps, p, most, &best);
    course_done(&c);
    if (!(total > 0) || best > (1 - explained_least) * total)
        return;
    steps->onset_s = best_s;
    if (best > rest_most * now || fabs(best_s) <= grain_s + tolerated_s)
        return;
    fb_steps_warn(steps,
                  "the arm's CPU follows the steps best if they are %.1f s %s than their times say "
                  "(it explains %.0f %% of its course then, %.0f %% as they are): '--clock-offset "
                  "%.1f' would apply that, nothing was moved",
                  fabs(best_s), best_s > 0 ? "later" : "earlier", 100 * (1 - best / total),
                  100 * (1 - now / total), best_s);
}

/* ---- steps that lie elsewhere ---- */

static double overlap_s(const struct fb_steps *steps, const struct fb_profile *p, double shift_s)
{
    double sum = 0;

    for (size_t i = 0; i < steps->count; i++) {
        const struct fb_step *s = &steps->items[i];
        double from = (double)(s->load_start_ns - p->first_ns) / NS + shift_s;
        double to = (double)(s->load_end_ns - p->first_ns) / NS + shift_s;

        if (s->load_start_ns != 0)
            sum += fmax(0, fmin(to, (double)(p->last_ns - p->first_ns) / NS) - fmax(from, 0));
    }
    return sum;
}

char *fb_steps_offset_hint(const struct fb_steps *steps, const struct fb_profile *p)
{
    enum { QUARTER_S = 900, QUARTERS = 14 * 4 };
    double wall_s = (double)p->wall_offset_ns / NS, best = 0, best_s = 0, length = 0;

    for (size_t i = 0; i < steps->count; i++)
        length += (double)(steps->items[i].load_end_ns - steps->items[i].load_start_ns) / NS;
    length = fmin(length, (double)(p->last_ns - p->first_ns) / NS) / 2; /* what must be met */
    if (!(length > 0))
        return fb_strdup("");
    if (wall_s > 0 && overlap_s(steps, p, wall_s) >= length)
        return fb_format("; their times look like those of the arm's monotonic clock: "
                         "'--clock-offset %.3f' would move them",
                         wall_s);
    for (int k = -QUARTERS; k <= QUARTERS; k++) {
        double met = overlap_s(steps, p, k * (double)QUARTER_S);

        if (met > best) {
            best = met;
            best_s = k * (double)QUARTER_S;
        }
    }
    if (best < length)
        return fb_strdup("");
    return fb_format(
        "; they would with '--clock-offset %.0f', which is %.10g h: are their times of "
        "another time zone?",
        best_s, best_s / 3600);
}
