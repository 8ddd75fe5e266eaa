/* Any bytes as a file of steps or of side counters, under a plan and without one, moved and judged.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "steps/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_steps(const uint8_t *data, size_t size, const struct fb_plan *plan,
                       const struct fb_side *side)
{
    struct fb_source *in = fb_source_of_bytes(data, size, "fuzz");
    struct fb_steps *steps = NULL;
    struct fb_err err;

    if (fb_steps_read_source(in, plan, &steps, &err) == FB_OK) {
        if (plan)
            (void)fb_steps_plan(steps, plan, INT64_C(1788725520000000000), &err);
        if (side)
            fb_side_apply(side, steps);
        fb_steps_judge(steps);
        for (size_t i = 0; i < steps->count; i++)
            if (!steps->items[i].name ||
                steps->items[i].load_end_ns < steps->items[i].load_start_ns)
                abort();
        fb_steps_free(steps);
    }
    fb_source_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char ramp[] = "offered\tstart\tend\n1\t1788725520\t1788725630\n";
    struct fb_source *in = fb_source_of_bytes(data, size, "fuzz");
    struct fb_side *side = NULL;
    struct fb_plan plan;
    struct fb_err err;

    if (fb_side_sniff((const char *)data, size) && fb_side_read(in, &side, &err) == FB_OK) {
        read_steps((const uint8_t *)ramp, sizeof ramp - 1, NULL, side);
        fb_side_free(side);
    }
    fb_source_close(in);
    if (fb_plan_parse("start=1788725520,step=2,skip=0.5,rates=1:2:3", &plan, &err) != FB_OK)
        abort();
    read_steps(data, size, size % 2 ? &plan : NULL, NULL);
    return 0;
}
