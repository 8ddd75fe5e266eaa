#include <time.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/say.h"

static int run(const struct fb_args *args)
{
    double offered = 0;
    uint8_t flags = 0;
    struct timespec now;
    struct fb_err err;

    if (fb_args_number(args, "offered", 0, 1e12, &offered, &err) != FB_OK)
        return fb_say_error(&err);
    if (args->items[1][0] == '\0' || (fb_args_has(args, "warmup") && fb_args_has(args, "end"))) {
        fb_say("%s", args->items[1][0] == '\0' ? "a NAME that is not empty was expected"
                                               : "'--warmup' or '--end' was expected, not both");
        return FB_EXIT_USAGE;
    }
    if (fb_args_has(args, "warmup"))
        flags |= FB_MARK_WARMUP;
    if (fb_args_has(args, "end"))
        flags |= FB_MARK_END;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (fb_bank_mark(args->items[0], args->items[1], (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
                     offered, flags, &err) != FB_OK)
        return fb_say_error(&err);
    return FB_EXIT_DONE;
}

static const struct fb_option options[] = {
    {"offered", 0, "N", "the rate that the step offers, per second"},
    {"warmup", 0, NULL, "the step is a warm-up"},
    {"end", 0, NULL, "the step of that name ends now"},
    {0}};

const struct fb_command fb_command_mark = {
    .name = "mark",
    .usage = "FILE NAME [--offered N] [--warmup | --end]",
    .what = "mark the start of a step in the bank of a running arm",
    .text =
        "Appends one mark with the time of now; the arm may be writing at the same moment. A "
        "step ends at the next mark, or at a mark of the same name with --end. A mark tells when; "
        "how many requests were served, and so the cost of one, only a file of steps does.",
    .options = options,
    .example = "flamebank mark run.fbank 600 --offered 600",
    .least = 2,
    .most = 2,
    .run = run,
};
