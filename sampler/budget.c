/* budget.c - see budget.h. */
#include "sampler/budget.h"

enum {
    SHARE_MOST = 100, /* a hundredth of the process's CPU time */
    OF_ONE_CPU = 200, /* and a two-hundredth of the window     */
    SHARE_CALM = 400,
    CALM_WINDOWS = 3,
};

void fb_budget_restart(struct fb_budget *b)
{
    b->begun = false;
    b->calm = 0;
}

/* The whole factor that brings own down to a hundredth of process. */
static unsigned lowered(unsigned scale, unsigned most, uint64_t own_ns, uint64_t process_ns)
{
    uint64_t wanted =
        process_ns > 0 ? (scale * own_ns * SHARE_MOST + process_ns - 1) / process_ns : most;

    if (wanted <= scale)
        wanted = scale + 1u;
    return wanted < most ? (unsigned)wanted : most;
}

unsigned fb_budget_look(struct fb_budget *b, unsigned scale, unsigned most, uint64_t time_ns,
                        uint64_t own_ns, uint64_t process_ns)
{
    uint64_t window_ns = time_ns - b->time_ns;
    uint64_t own = own_ns - b->own_ns;
    uint64_t process = process_ns - b->process_ns;

    if (b->begun && window_ns < FB_BUDGET_WINDOW_NS)
        return scale;
    if (own > INT64_MAX)
        own = 0; /* what is left out was read later than the rest */
    b->time_ns = time_ns;
    b->own_ns = own_ns;
    b->process_ns = process_ns;
    if (!b->begun) {
        b->begun = true;
        return scale;
    }
    if (own * OF_ONE_CPU > window_ns && own * SHARE_MOST > process) {
        b->calm = 0;
        return lowered(scale, most, own, process);
    }
    b->calm = own * SHARE_CALM < process || own * OF_ONE_CPU * 4 < window_ns ? b->calm + 1 : 0;
    if (scale == 1 || b->calm < CALM_WINDOWS)
        return scale;
    b->calm = 0;
    return (scale + 1) / 2;
}
