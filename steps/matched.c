#include "steps/matched.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/vec.h"
#include "steps/steps.h"

static bool is_same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* The first row of the rate that has no step of the arm yet, else a new one. */
static struct fb_matched_row *row_of(struct fb_matched *m, double offered, size_t arm)
{
    for (size_t i = 0; i < m->count; i++)
        if (is_same(m->rows[i].offered, offered) && !m->rows[i].steps[arm])
            return &m->rows[i];
    fb_vec_reserve(&m->rows, &m->room, m->count + 1, sizeof *m->rows);
    m->rows[m->count] =
        (struct fb_matched_row){offered, fb_alloc_array(m->arms, sizeof(struct fb_step *))};
    return &m->rows[m->count++];
}

static bool is_behind(const struct fb_matched_row *a, const struct fb_matched_row *b)
{
    return a->offered > b->offered && !is_same(a->offered, b->offered);
}

struct fb_matched *fb_matched_new(const struct fb_steps *const *arms, size_t count)
{
    struct fb_matched *m = fb_alloc(sizeof *m);

    m->arms = count;
    for (size_t a = 0; a < count; a++) {
        for (size_t i = 0; i < arms[a]->count; i++) {
            const struct fb_step *s = &arms[a]->items[i];

            if (!s->warmup && !isnan(s->offered))
                row_of(m, s->offered, a)->steps[a] = s;
        }
    }
    for (size_t i = 1; i < m->count; i++) /* stable, and a ramp is nearly in order */
        for (size_t k = i; k > 0 && is_behind(&m->rows[k - 1], &m->rows[k]); k--) {
            struct fb_matched_row swap = m->rows[k];

            m->rows[k] = m->rows[k - 1];
            m->rows[k - 1] = swap;
        }
    return m;
}

void fb_matched_free(struct fb_matched *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->count; i++)
        free(m->rows[i].steps);
    free(m->rows);
    free(m);
}

static bool is_sound(const struct fb_step *s)
{
    return s && !(s->health & FB_STEP_SICK);
}

size_t fb_matched_common(const struct fb_matched *m)
{
    size_t held = SIZE_MAX, sound = SIZE_MAX;

    for (size_t i = 0; i < m->count; i++) {
        bool all = true, all_sound = true;

        for (size_t a = 0; a < m->arms; a++) {
            all = all && m->rows[i].steps[a];
            all_sound = all_sound && is_sound(m->rows[i].steps[a]);
        }
        held = all ? i : held;
        sound = all_sound ? i : sound;
    }
    return sound != SIZE_MAX ? sound : held;
}

size_t fb_matched_find(const struct fb_matched *m, double offered)
{
    for (size_t i = 0; i < m->count; i++)
        if (is_same(m->rows[i].offered, offered))
            return i;
    return SIZE_MAX;
}

double fb_matched_change(const struct fb_matched_row *row, size_t arm, fb_step_value value)
{
    double from = row->steps[0] ? value(row->steps[0]) : NAN;
    double to = row->steps[arm] ? value(row->steps[arm]) : NAN;

    return from > 0 ? (to - from) / from : NAN;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct fb_matched_median fb_matched_median_of(const struct fb_matched *m, size_t arm,
                                              fb_step_value value, bool only_sound)
{
    struct fb_matched_median result = {NAN, NAN, NAN, 0};
    double *changes = fb_alloc_array(m->count, sizeof *changes);
    size_t n = 0;

    for (size_t i = 0; i < m->count; i++) {
        const struct fb_matched_row *row = &m->rows[i];
        double change = fb_matched_change(row, arm, value);

        if (!isnan(change) &&
            (!only_sound || (is_sound(row->steps[0]) && is_sound(row->steps[arm]))))
            changes[n++] = change;
    }
    qsort(changes, n, sizeof *changes, ascending);
    result.rows = n;
    if (n > 0) {
        result.least = changes[0];
        result.most = changes[n - 1];
        result.median = n % 2 ? changes[n / 2] : (changes[n / 2 - 1] + changes[n / 2]) / 2;
    }
    free(changes);
    return result;
}
