#include <string.h>

#include "base/vec.h"
#include "cli/commands.h"
#include "cli/layer_trust.h"
#include "cli/layer_views.h"
#include "cli/say.h"

static bool is_stack(const char *text)
{
    return strchr(text, ';') != NULL;
}

/* One answer at a time, of as many files as it has a place for. */
static enum fb_status check(const struct fb_args *args, struct fb_err *err)
{
    static const char *const answers[] = {"explain", "lint", "suggest"};
    static const char *const views[] = {"view", "by", "depth", "rows", "sum"};
    const char *explain = fb_args_get(args, "explain"), *first = NULL;
    size_t most = fb_args_has(args, "lint")                 ? 2
                  : explain && is_stack(explain)            ? 0
                  : explain || fb_args_has(args, "suggest") ? 1
                                                            : 16;

    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        if (!fb_args_has(args, answers[i]))
            continue;
        if (first)
            return fb_fail(err, FB_EUSAGE, "'--%s' and '--%s' are two answers, one was expected",
                           first, answers[i]);
        first = answers[i];
    }
    for (size_t i = 0; first && i < sizeof views / sizeof views[0]; i++)
        if (fb_args_has(args, views[i]))
            return fb_fail(err, FB_EUSAGE, "'--%s' cannot be applied to '--%s'", views[i], first);
    if (fb_args_has(args, "suggest") && fb_args_has(args, "format"))
        return fb_fail(err, FB_EUSAGE,
                       "'--suggest' writes a rules file, so '--format' cannot be "
                       "applied");
    if (explain && !*explain)
        return fb_fail(err, FB_EUSAGE, "'--explain' is empty; a frame or a stack was expected");
    if (args->count == 0 && !explain)
        return fb_fail(err, FB_EUSAGE, "too few arguments (usage: flamebank layers %s)",
                       args->command->usage);
    if (args->count > most && most == 0)
        return fb_fail(err, FB_EUSAGE, "'--explain' of a stack needs no file, '%s' was given",
                       args->items[0]);
    if (args->count > most)
        return fb_fail(err, FB_EUSAGE, "'--%s' is of %zu file%s at most, %zu were given", first,
                       most, most > 1 ? "s" : "", args->count);
    return FB_OK;
}

static int answer(const struct fb_args *args, const struct fb_layer_look *look,
                  const struct fb_view *view)
{
    const char *explain = fb_args_get(args, "explain");

    if (explain && args->count == 0)
        return fb_explain_stack(args, view, explain);
    if (explain)
        return fb_explain_frame(args, view, explain);
    if (fb_args_has(args, "lint"))
        return fb_lint_say(args, view);
    if (fb_args_has(args, "suggest"))
        return fb_suggest_say(args, view);
    return fb_layer_look_say(args, look, view);
}

static int run(const struct fb_args *args)
{
    struct fb_layer_look look;
    struct fb_view view;
    struct fb_err err;
    enum fb_status r = check(args, &err);
    int status;

    if (r == FB_OK)
        r = fb_layer_look_parse(args, &look, &err);
    if (r == FB_OK)
        r = fb_view_load(args, look.flags, &view, &err);
    if (r != FB_OK)
        return fb_say_error(&err);
    status = answer(args, &look, &view);
    fb_view_done(&view);
    return status;
}

static const struct fb_option options[] = {
    FB_OPTIONS_RULES,
    {"view", 0, "VIEW", "self (default), inclusive or boundary"},
    {"by", 0, "KEY", "layer (default), group, rollup, thread, package, module, tier, frame"},
    {"depth", 0, "N", "segments of a package (3)"},
    {"rows", 'n', "N", "rows of a long table (30)"},
    {"sum", 0, "ROW+ROW=NAME", "one more row that adds up others; repeatable"},
    {"explain", 0, "FRAME|STACK", "which rule decides, and which others would"},
    {"lint", 0, NULL, "what is wrong with the rules on these files; exit 1 if there are errors"},
    {"suggest", 0, NULL, "a rules file for the packages that no rule takes"},
    FB_OPTIONS_WINDOW,
    FB_OPTIONS_READ,
    FB_OPTIONS_NAMES,
    FB_OPTIONS_TABLES,
    {0}};

const struct fb_command fb_command_layers = {
    .name = "layers",
    .usage = "FILE... [--rules RULES] [--view VIEW] [--by KEY]",
    .what = "shares by layer: syscalls, transport, codec, runtime ...",
    .text =
        "Puts every stack into exactly one layer by ordered rules; the shares add up to 100 %. "
        "What no rule matches is 'other', itemised by its top functions. Several files are columns "
        "of one table.\n\n"
        "--view inclusive counts a stack in every row that has a frame of it, once; --view "
        "boundary shows the rules' boundaries beside their layers. Such rows overlap.\n\n"
        "--explain of a stack, 'main;deflate;memcpy', needs no file. --lint takes one file or two; "
        "errors are rules that repeat an earlier one and patterns that were given up.",
    .options = options,
    .repeats = "sum",
    .example = "flamebank layers run.fbank --rules native --step 600",
    .least = 0,
    .most = 16,
    .run = run,
};
