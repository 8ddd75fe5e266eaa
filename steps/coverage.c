/* See coverage.h. */
#include "steps/coverage.h"

#include <math.h>

#include "steps/steps.h"

static double seconds_of(const struct fb_profile *p, const char *counter, int64_t from, int64_t to)
{
    double delta;

    return fb_profile_counter_delta(p, counter, from, to, &delta) ? delta / 1e9 : 0;
}

bool fb_coverage_measure(const struct fb_profile *p, const struct fb_sampled *sampled,
                         const struct fb_step *s, struct fb_coverage *ret_coverage)
{
    int64_t from = s->load_start_ns, to = s->load_end_ns;
    struct fb_coverage c = {0};
    double group, process;

    if (!p->has_times || !(fb_profile_weight_ns(p) > 0) || fb_profile_is_wall(p) ||
        p->counters.rows < 2)
        return false;
    if (from < p->counters.time_ns[0])
        from = p->counters.time_ns[0];
    if (to > p->counters.time_ns[p->counters.rows - 1])
        to = p->counters.time_ns[p->counters.rows - 1];
    if (from >= to || !fb_profile_counter_delta(p, "process.cpu_ns", from, to, &process) ||
        !(process > 0))
        return false;
    c.span_s = (double)(to - from) / 1e9;
    c.is_group = fb_profile_counter_delta(p, "cgroup.cpu_ns", from, to, &group) && group > 0;
    c.charged_s = (c.is_group ? group : process) / 1e9;
    c.sampled_s =
        (double)fb_sampled_between(sampled, from, to).weight * fb_profile_weight_ns(p) / 1e9;
    c.handler_s = seconds_of(p, "sampler.handler_ns", from, to);
    c.sampler_s = seconds_of(p, "sampler.writer_ns", from, to);
    c.others_s = c.is_group ? fmax(0, c.charged_s - process / 1e9) : 0;
    c.unexplained_s = c.charged_s - c.sampled_s - c.sampler_s - c.others_s;
    *ret_coverage = c;
    return true;
}
