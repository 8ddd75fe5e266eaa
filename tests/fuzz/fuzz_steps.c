/* Any bytes as a file of steps, judged. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "steps/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fb_steps *steps = NULL;
    struct fb_err err;

    if (fb_steps_parse((const char *)data, size, "fuzz", &steps, &err) != FB_OK)
        return 0;
    fb_steps_judge(steps);
    for (size_t i = 0; i < steps->count; i++)
        if (!steps->items[i].name || steps->items[i].load_end_ns < steps->items[i].load_start_ns)
            abort();
    fb_steps_free(steps);
    return 0;
}
