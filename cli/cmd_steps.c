#include "cli/account.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/say.h"

static int run(const struct fb_args *args)
{
    struct fb_view view;
    struct fb_err err;
    int status;

    if (fb_view_load(args, FB_VIEW_STEPS_SHOWN, &view, &err) != FB_OK)
        return fb_say_error(&err);
    if (!view.arms[0].steps) {
        fb_say("%s: has neither steps nor marks", view.arms[0].name);
        status = FB_EXIT_FAILED;
    } else {
        struct fb_table *table = fb_render_steps(view.arms[0].steps);

        if (view.arms[0].profile)
            fb_account_note(table, view.arms[0].profile, NULL);
        status = fb_say_tables(args, &table, 1);
    }
    fb_view_done(&view);
    return status;
}

static const struct fb_option options[] = {
    {"steps", 's', "FILE", "steps of a bank: a job log or a TSV"}, FB_OPTIONS_TABLES, {0}};

const struct fb_command fb_command_steps = {
    .name = "steps",
    .usage = "FILE[,BANK] [--steps FILE]",
    .what = "the per-step table of a job log, a steps file or a bank",
    .text = "One row a step: what was offered and delivered, latency, what could not be sent, CPU "
            "per request, throttling, memory, and the step's health with its reasons. With a bank "
            "beside the log, what the log lacks comes from the bank's counters.",
    .options = options,
    .example = "flamebank steps run.log.gz",
    .least = 1,
    .most = 1,
    .run = run,
};
