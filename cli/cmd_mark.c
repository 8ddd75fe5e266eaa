#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/running.h"
#include "cli/say.h"

enum { ANSWER_MS = 5000 };

/* A file, or the process whose bank is meant; *ret_path is yours. */
static enum fb_status find_bank(const char *item, char **ret_path, struct fb_err *err)
{
    size_t digits = strspn(item, "0123456789");

    if (digits == 0 || digits > 9 || item[digits] != '\0' || access(item, F_OK) == 0) {
        *ret_path = fb_strdup(item);
        return FB_OK;
    }
    return fb_running_bank(strtol(item, NULL, 10), ret_path, err);
}

/* What is wrong with the options; NULL for nothing. */
static const char *misuse(const struct fb_args *args)
{
    bool pause = fb_args_has(args, "pause"), resume = fb_args_has(args, "resume");

    if (pause && resume)
        return "'--pause' or '--resume' was expected, not both";
    if (pause || resume)
        return args->count == 1 && !fb_args_has(args, "warmup") && !fb_args_has(args, "end") &&
                       !fb_args_has(args, "offered")
                   ? NULL
                   : "'--pause' and '--resume' have no NAME and no other option: a pause is no "
                     "step";
    if (args->count < 2 || args->items[1][0] == '\0')
        return "a NAME that is not empty was expected";
    if (fb_args_has(args, "warmup") && fb_args_has(args, "end"))
        return "'--warmup' or '--end' was expected, not both";
    return NULL;
}

static enum fb_status mark(const struct fb_args *args, const char *path, struct fb_err *err)
{
    double offered = 0;
    uint8_t flags = 0;
    struct timespec now;
    int64_t now_ns;
    enum fb_status r = fb_args_number(args, "offered", 0, 1e12, &offered, err);

    if (r != FB_OK)
        return r;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (fb_args_has(args, "pause"))
        return fb_bank_ask(path, FB_EVENT_ASK_PAUSE, now_ns, ANSWER_MS, err);
    if (fb_args_has(args, "resume"))
        return fb_bank_ask(path, FB_EVENT_ASK_RESUME, now_ns, ANSWER_MS, err);
    if (fb_args_has(args, "warmup"))
        flags |= FB_MARK_WARMUP;
    if (fb_args_has(args, "end"))
        flags |= FB_MARK_END;
    return fb_bank_mark(path, args->items[1], now_ns, offered, flags, err);
}

static int run(const struct fb_args *args)
{
    const char *wrong = misuse(args);
    char *path = NULL;
    struct fb_err err;
    enum fb_status r;

    if (wrong) {
        fb_say("%s", wrong);
        return FB_EXIT_USAGE;
    }
    r = find_bank(args->items[0], &path, &err);
    if (r == FB_OK)
        r = mark(args, path, &err);
    free(path);
    return r == FB_OK ? FB_EXIT_DONE : fb_say_error(&err);
}

static const struct fb_option options[] = {
    {"offered", 0, "N", "the rate that the step offers, per second"},
    {"warmup", 0, NULL, "the step is a warm-up"},
    {"end", 0, NULL, "the step of that name ends now"},
    {"pause", 0, NULL, "no samples from now on; returns once the arm says so"},
    {"resume", 0, NULL, "samples again; returns once the arm says so"},
    {0}};

const struct fb_command fb_command_mark = {
    .name = "mark",
    .usage = "FILE|PID {NAME [--offered N] [--warmup | --end] | --pause | --resume}",
    .what = "mark the start of a step in the bank of a running arm, or pause its sampler",
    .text =
        "Appends one mark with the time of now; the arm may be writing at the same moment. A "
        "step ends at the next mark, or at a mark of the same name with --end. A mark tells when; "
        "how many requests were served, and so the cost of one, only a file of steps does. "
        "Instead of the bank a process may be named that writes one. An arm that has ended takes "
        "no mark.\n\n"
        "--pause stops the clocks of that process within a second, and of its children that are "
        "forked meanwhile; the counters go on, once a second. What was paused is an interval in "
        "the bank: yields leave it out, and a step that holds one says so. A program that is "
        "started by exec begins unpaused.",
    .options = options,
    .example = "flamebank mark run.fbank 600 --offered 600",
    .least = 1,
    .most = 2,
    .run = run,
};
