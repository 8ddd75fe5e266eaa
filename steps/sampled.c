/* See sampled.h. */
#include "steps/sampled.h"

#include <stdlib.h>

#include "base/vec.h"

enum { CELL_SAMPLES = 16 };

struct fb_sampled {
    const struct fb_samples *samples;
    int64_t first_ns, last_ns;
    double cells_per_ns;
    size_t cells;
    size_t *start;                 /* [cells + 1] into order      */
    struct fb_sampled_sum *before; /* [cells + 1] of lower cells  */
    size_t *order;                 /* samples by cell; NULL where they stand in the order of time */
};

/* Rises with time, so that a cell's samples are none of another's span. */
static size_t cell_of(const struct fb_sampled *s, int64_t time_ns)
{
    uint64_t since = (uint64_t)time_ns - (uint64_t)s->first_ns;
    size_t cell = (size_t)((double)since * s->cells_per_ns);

    return cell < s->cells ? cell : s->cells - 1;
}

static bool span_find(struct fb_sampled *s)
{
    const struct fb_samples *all = s->samples;
    bool in_order = true;

    s->first_ns = s->last_ns = all->count > 0 ? all->time_ns[0] : 0;
    for (size_t i = 1; i < all->count; i++) {
        int64_t t = all->time_ns[i];

        in_order = in_order && t >= all->time_ns[i - 1];
        s->first_ns = t < s->first_ns ? t : s->first_ns;
        s->last_ns = t > s->last_ns ? t : s->last_ns;
    }
    return in_order;
}

struct fb_sampled *fb_sampled_new(const struct fb_profile *p)
{
    const struct fb_samples *all = &p->samples;
    struct fb_sampled *s = fb_alloc_array(1, sizeof *s);
    bool in_order;

    s->samples = all;
    in_order = span_find(s);
    s->cells = all->count / CELL_SAMPLES + 1;
    s->cells_per_ns =
        (double)s->cells / ((double)((uint64_t)s->last_ns - (uint64_t)s->first_ns) + 1);
    s->start = fb_alloc_array(s->cells + 1, sizeof *s->start);
    s->before = fb_alloc_array(s->cells + 1, sizeof *s->before);
    for (size_t i = 0; i < all->count; i++) {
        struct fb_sampled_sum *sum = &s->before[cell_of(s, all->time_ns[i]) + 1];

        sum->count++;
        sum->weight += all->weight[i];
    }
    for (size_t c = 0; c < s->cells; c++) {
        s->before[c + 1].count += s->before[c].count;
        s->before[c + 1].weight += s->before[c].weight;
        s->start[c + 1] = (size_t)s->before[c].count; /* moves on to its end below */
    }
    if (in_order) {
        for (size_t c = 0; c < s->cells; c++)
            s->start[c + 1] = (size_t)s->before[c + 1].count;
        return s;
    }
    s->order = fb_alloc_array(all->count, sizeof *s->order);
    for (size_t i = 0; i < all->count; i++)
        s->order[s->start[cell_of(s, all->time_ns[i]) + 1]++] = i;
    return s;
}

void fb_sampled_free(struct fb_sampled *s)
{
    if (!s)
        return;
    free(s->start);
    free(s->before);
    free(s->order);
    free(s);
}

struct fb_sampled_sum fb_sampled_all(const struct fb_sampled *s)
{
    return s->before[s->cells];
}

static struct fb_sampled_sum sum_before(const struct fb_sampled *s, int64_t time_ns)
{
    struct fb_sampled_sum sum;
    size_t cell;

    if (time_ns <= s->first_ns)
        return (struct fb_sampled_sum){0};
    if (time_ns > s->last_ns)
        return fb_sampled_all(s);
    cell = cell_of(s, time_ns);
    sum = s->before[cell];
    for (size_t k = s->start[cell]; k < s->start[cell + 1]; k++) {
        size_t i = s->order ? s->order[k] : k;

        if (s->samples->time_ns[i] < time_ns) {
            sum.count++;
            sum.weight += s->samples->weight[i];
        }
    }
    return sum;
}

struct fb_sampled_sum fb_sampled_between(const struct fb_sampled *s, int64_t from_ns, int64_t to_ns)
{
    struct fb_sampled_sum from, to;

    if (from_ns >= to_ns)
        return (struct fb_sampled_sum){0};
    from = sum_before(s, from_ns);
    to = sum_before(s, to_ns);
    return (struct fb_sampled_sum){.count = to.count - from.count,
                                   .weight = to.weight - from.weight};
}
