#include <stdlib.h>

#include "cli/commands.h"
#include "cli/load.h"
#include "cli/say.h"

/* A failure to write stays in *status. */
static void print(void *status, const void *bytes, size_t n)
{
    if (*(int *)status == FB_EXIT_DONE)
        *(int *)status = fb_say_bytes(bytes, n);
}

static int run(const struct fb_args *args)
{
    struct fb_view view;
    int status = FB_EXIT_DONE;
    struct fb_buf out = {.drain = print, .drain_arg = &status};
    struct fb_err err;
    struct fb_calltree_weight *weights;
    size_t count;

    if (fb_view_load(args, FB_VIEW_NEEDS_PROFILE, &view, &err) != FB_OK)
        return fb_say_error(&err);
    if (fb_view_weights(args, &view, 0, &weights, &count, &err) != FB_OK) {
        status = fb_say_error(&err);
    } else {
        fb_folded_write(&view.tree, &view.fns, weights, count, &out);
        print(&status, out.data, out.len);
        free(weights);
    }
    fb_buf_done(&out);
    fb_view_done(&view);
    return status;
}

static const struct fb_option options[] = {
    FB_OPTIONS_WINDOW, FB_OPTIONS_READ, FB_OPTIONS_NAMES, {0}};

const struct fb_command fb_command_fold = {
    .name = "fold",
    .usage = "FILE [--step STEP | --from TIME --to TIME]",
    .what = "folded stacks on standard output",
    .text = "Prints one line a stack, 'root;frame;leaf WEIGHT', sorted by text. The weight is in "
            "ticks of the sampler's clock. Kernel, JIT and inlined frames end in _[k], _[j] and "
            "_[i]; a ';' inside a name is written as ':'.",
    .options = options,
    .example = "flamebank fold run.fbank --step 600 > run.folded",
    .least = 1,
    .most = 1,
    .run = run,
};
