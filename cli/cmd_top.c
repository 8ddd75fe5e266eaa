#include <stdlib.h>

#include "cli/commands.h"
#include "cli/load.h"
#include "cli/say.h"

static int run(const struct fb_args *args)
{
    struct fb_view view;
    const struct fb_step *step;
    struct fb_err err;
    struct fb_diff_shares shares;
    double *self, rows = 30;
    int status;

    if (fb_args_count(args, "rows", 1, 1e6, &rows, &err) != FB_OK ||
        fb_view_load(args, FB_VIEW_NEEDS_PROFILE | FB_VIEW_LAYERS, &view, &err) != FB_OK)
        return fb_say_error(&err);
    if (fb_view_self(args, &view, 0, &self, &step, &err) != FB_OK) {
        status = fb_say_error(&err);
    } else if (fb_view_shares(args, &view, 0, false, &shares, &err) != FB_OK) {
        free(self);
        status = fb_say_error(&err);
    } else {
        char *title = fb_view_title(&view, 0, step);
        struct fb_table *table =
            fb_render_top(&view.tree, &view.fns, self, &shares, (size_t)rows, title);

        fb_view_note_clock(&view, table);
        status = fb_say_tables(args, &table, 1);
        free(title);
        free(self);
        fb_diff_shares_done(&shares);
    }
    fb_view_done(&view);
    return status;
}

static const struct fb_option options[] = {{"rows", 'n', "N", "how many functions (30)"},
                                           FB_OPTIONS_WINDOW,
                                           FB_OPTIONS_NAMES,
                                           FB_OPTIONS_TABLES,
                                           {0}};

const struct fb_command fb_command_top = {
    .name = "top",
    .usage = "FILE [--rows N]",
    .what = "functions by their own time, with the total of what they call",
    .text = "Self is the share of samples whose leaf is the function; total that of samples with "
            "the function anywhere on the stack, recursion counted once. Totals overlap: never "
            "add them up. Each self share has its 95 % interval. Columns without % are weights: in "
            "a bank, ticks of the sampler's clock.",
    .options = options,
    .example = "flamebank top run.fbank --step 600 --rows 10",
    .least = 1,
    .most = 1,
    .run = run,
};
