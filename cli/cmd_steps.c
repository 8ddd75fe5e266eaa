#include <string.h>

#include "cli/account.h"
#include "cli/commands.h"
#include "cli/judge.h"
#include "cli/load.h"
#include "cli/plot.h"
#include "cli/say.h"

/* Under two steps, or where nobody counted requests, nothing is a ramp. */
static bool is_ramp(const struct fb_ramp *ramp, const struct fb_steps *steps)
{
    return ramp->top && ramp->most && steps->count >= 2;
}

/* CSV is the table of steps alone, so that it is one table. */
static int say(const struct fb_args *args, const struct fb_arm *arm, const struct fb_knee *knee)
{
    const char *format = fb_args_get(args, "format");
    bool is_csv = format && strcmp(format, "csv") == 0, is_json = format && !strcmp(format, "json");
    struct fb_table *tables[3];
    struct fb_ramp ramp;
    size_t n = 0;

    fb_ramp_measure(arm->steps, knee, &ramp);
    tables[n++] = fb_render_steps(arm->steps);
    if (is_ramp(&ramp, arm->steps))
        fb_render_ramp_notes(tables[0], &ramp, knee);
    if (arm->profile && !is_csv) {
        tables[n] = fb_render_coverage(arm->steps, arm->profile);
        n += tables[n] ? 1 : 0;
    }
    if (arm->profile)
        fb_account_note(tables[n - 1], arm->profile, NULL);
    if (is_ramp(&ramp, arm->steps) && is_json)
        tables[n++] = fb_render_ramp(&ramp, knee);
    return fb_say_tables(args, tables, n);
}

static int run(const struct fb_args *args)
{
    const char *rule = fb_args_get(args, "knee");
    struct fb_knee knee = fb_knee_default();
    struct fb_view view;
    struct fb_err err;
    int status;

    if (rule && fb_knee_parse(rule, &knee, &err) != FB_OK)
        return fb_say_error(&err);
    if (fb_view_load(args, FB_VIEW_STEPS_SHOWN | FB_VIEW_LAYERS, &view, &err) != FB_OK)
        return fb_say_error(&err);
    if (!view.arms[0].steps) {
        fb_say("%s: has neither steps nor marks", view.arms[0].name);
        status = FB_EXIT_FAILED;
    } else if (fb_args_has(args, "plot")) {
        status = fb_plot_say(args, &view, &knee);
    } else {
        status = say(args, &view.arms[0], &knee);
    }
    fb_view_done(&view);
    return status;
}

static const struct fb_option options[] = {
    FB_OPTIONS_STEPS,
    {"plot", 'p', "FILE.svg", "draw delivered, p99, CPU per request and layers over the ramp"},
    {"knee", 0, "RULE", "not-sent[=PERCENT] (default, 0.1), p50[=MS] (10) or p99[=MS] (400)"},
    FB_OPTIONS_READ,
    FB_OPTIONS_RULES,
    FB_OPTIONS_TABLES,
    FB_OPTIONS_LIMITS,
    {0}};

const struct fb_command fb_command_steps = {
    .name = "steps",
    .usage = "FILE[,BANK] [--steps FILE] [--plot FILE.svg]",
    .what = "the per-step table of a job log, a steps file or a bank",
    .text = "One row a step: what was offered and delivered, latency, what could not be sent, CPU "
            "per request, throttling, memory, cores, and the step's health with its reasons. Under "
            "it the knee (by the rule that --knee names), the plateau, or why there is none, and "
            "what a request costs beyond the cost of no load.\n\n"
            "With a bank beside the log, what the log lacks comes from the bank's counters, and a "
            "second table accounts for the CPU time that the control group was charged: samples, "
            "the sampler, other processes, and what is unexplained. JIT and GC are judged where "
            "the rules have such layers (--rules jvm).",
    .options = options,
    .repeats = "limit",
    .example = "flamebank steps run.log.gz",
    .least = 1,
    .most = 1,
    .run = run,
};
