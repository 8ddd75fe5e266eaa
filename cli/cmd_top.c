#include "cli/commands.h"
#include "cli/one_profile.h"
#include "cli/say.h"

enum { ROWS = 30 };

static struct fb_table *make(const struct fb_args *args, const struct fb_view *view,
                             const double *self, const struct fb_diff_shares *shares,
                             const char *title)
{
    struct fb_err checked; /* run() has refused what is no count */
    double rows = ROWS;

    (void)fb_args_count(args, "rows", 1, 1e6, &rows, &checked);
    return fb_render_top(&view->tree, &view->fns, self, shares, (size_t)rows, title);
}

static int run(const struct fb_args *args)
{
    struct fb_err err;
    double rows = ROWS;

    if (fb_args_count(args, "rows", 1, 1e6, &rows, &err) != FB_OK)
        return fb_say_error(&err);
    return fb_say_one_profile(args, false, make);
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
