#include <stdlib.h>

#include "base/vec.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/say.h"

enum { ROWS = 30, DEPTH = 5 };

/* fb_frames_match() of an option's pattern: one that does not compile is a fault of the command
 * line, not of the input. */
static enum fb_status option_match(const char *option, const char *pattern,
                                   const struct fb_view *view, uint8_t **ret_matches,
                                   struct fb_err *err)
{
    struct fb_err why;
    enum fb_status r;

    if (!*pattern)
        return fb_fail(err, FB_EUSAGE, "'--%s' is empty; it would match everything", option);
    r = fb_frames_match(pattern, &view->fns, ret_matches, &why);
    if (r == FB_EFORMAT)
        return fb_fail(err, FB_EUSAGE, "'--%s': %s", option, why.text);
    if (r != FB_OK)
        *err = why;
    return r;
}

/* Functions whose names match, in a table of functions. */
static enum fb_status functions_table(const struct fb_args *args, const struct fb_view *view,
                                      const double *self, size_t rows, const char *title,
                                      struct fb_table **ret_table, struct fb_err *err)
{
    const char *match = fb_args_get(args, "match");
    uint8_t *wanted = NULL;
    struct fb_diff_shares shares;
    enum fb_status r = match ? option_match("match", match, view, &wanted, err) : FB_OK;

    if (r == FB_OK)
        r = fb_view_shares(args, view, 0, false, &shares, err);
    if (r == FB_OK) {
        *ret_table = fb_render_top(&view->tree, &view->fns, self, &shares, wanted, rows, title);
        fb_diff_shares_done(&shares);
    }
    free(wanted);
    return r;
}

static enum fb_status callers_table(const struct fb_args *args, const struct fb_view *view,
                                    const double *self, size_t rows, size_t depth,
                                    const char *title, struct fb_table **ret_table,
                                    struct fb_err *err)
{
    uint8_t *matches = NULL, *topmost;
    enum fb_status r = option_match("callers", fb_args_get(args, "callers"), view, &matches, err);

    if (r != FB_OK)
        return r;
    topmost = fb_frames_topmost(&view->tree, matches);
    *ret_table = fb_render_callers(&view->tree, &view->fns, self, topmost, depth, rows, title);
    free(matches);
    free(topmost);
    return FB_OK;
}

static enum fb_status inclusive_table(const struct fb_args *args, const struct fb_view *view,
                                      const double *self, const char *title,
                                      struct fb_table **ret_table, struct fb_err *err)
{
    struct fb_frame_pattern *patterns;
    size_t count = 0, done = 0;
    enum fb_status r = FB_OK;

    while (fb_args_nth(args, "inclusive", count))
        count++;
    patterns = fb_alloc_array(count, sizeof *patterns);
    for (; done < count && r == FB_OK; done++) {
        uint8_t *matches = NULL;

        patterns[done].text = fb_args_nth(args, "inclusive", done);
        r = option_match("inclusive", patterns[done].text, view, &matches, err);
        patterns[done].matches = matches;
        patterns[done].topmost = r == FB_OK ? fb_frames_topmost(&view->tree, matches) : NULL;
    }
    if (r == FB_OK)
        *ret_table = fb_render_inclusive(&view->tree, self, patterns, count, title);
    for (size_t i = 0; i < done; i++) {
        free((void *)(uintptr_t)patterns[i].matches);
        free((void *)(uintptr_t)patterns[i].topmost);
    }
    free(patterns);
    return r;
}

static enum fb_status check(const struct fb_args *args, double *rows, double *depth,
                            struct fb_err *err)
{
    static const char *const views[] = {"match", "callers", "inclusive"};
    const char *first = NULL;
    enum fb_status r = fb_args_count(args, "rows", 1, 1e6, rows, err);

    if (r == FB_OK)
        r = fb_args_count(args, "depth", 1, 1000, depth, err);
    for (size_t i = 0; i < sizeof views / sizeof views[0] && r == FB_OK; i++) {
        if (!fb_args_has(args, views[i]))
            continue;
        if (first)
            r = fb_fail(err, FB_EUSAGE, "'--%s' and '--%s' are two tables, one was expected", first,
                        views[i]);
        first = views[i];
    }
    if (r == FB_OK && fb_args_has(args, "depth") && !fb_args_has(args, "callers"))
        r = fb_fail(err, FB_EUSAGE, "'--depth' is of chains: '--callers' was expected");
    if (r == FB_OK && fb_args_has(args, "rows") && fb_args_has(args, "inclusive"))
        r = fb_fail(err, FB_EUSAGE,
                    "'--inclusive' has one row a pattern, so '--rows' cannot be "
                    "applied");
    return r;
}

static int say(const struct fb_args *args, const struct fb_view *view, size_t rows, size_t depth)
{
    const struct fb_step *step;
    struct fb_table *table = NULL;
    struct fb_err err;
    enum fb_status r;
    double *self;
    char *title;

    if (fb_view_self(args, view, 0, &self, &step, &err) != FB_OK)
        return fb_say_error(&err);
    title = fb_view_title(view, 0, step);
    if (fb_args_has(args, "callers"))
        r = callers_table(args, view, self, rows, depth, title, &table, &err);
    else if (fb_args_has(args, "inclusive"))
        r = inclusive_table(args, view, self, title, &table, &err);
    else
        r = functions_table(args, view, self, rows, title, &table, &err);
    free(title);
    free(self);
    if (r != FB_OK)
        return fb_say_error(&err);
    fb_table_unit(table, fb_profile_unit_word(view->arms[0].profile));
    fb_note_clock(table, view->arms[0].profile);
    return fb_say_tables(args, &table, 1);
}

static int run(const struct fb_args *args)
{
    double rows = ROWS, depth = DEPTH;
    struct fb_view view;
    struct fb_err err;
    int status;

    if (check(args, &rows, &depth, &err) != FB_OK ||
        fb_view_load(args, FB_VIEW_NEEDS_PROFILE | FB_VIEW_LAYERS, &view, &err) != FB_OK)
        return fb_say_error(&err);
    status = say(args, &view, (size_t)rows, (size_t)depth);
    fb_view_done(&view);
    return status;
}

static const struct fb_option options[] = {
    {"rows", 'n', "N", "how many rows (30)"},
    {"match", 'm', "RE", "only functions whose names match"},
    {"callers", 0, "RE", "who calls the frames that match, as chains"},
    {"depth", 0, "N", "callers of a chain (5)"},
    {"inclusive", 0, "RE", "the share of stacks with a frame that matches; repeatable"},
    FB_OPTIONS_WINDOW,
    FB_OPTIONS_READ,
    FB_OPTIONS_NAMES,
    FB_OPTIONS_TABLES,
    {0}};

const struct fb_command fb_command_top = {
    .name = "top",
    .usage = "FILE [--rows N] [--match RE | --callers RE | --inclusive RE]",
    .what = "functions by their own time, with the total of what they call",
    .text = "Self is the share of samples whose leaf is the function; total that of samples with "
            "the function anywhere on the stack, recursion counted once. Totals overlap: never "
            "add them up. Each self share has its 95 % interval. Columns without % are weights: in "
            "a bank, ticks of the sampler's clock.\n\n"
            "Patterns are PCRE2 as in layer rules: a '/' matches the separator of class paths in "
            "either spelling.",
    .options = options,
    .repeats = "inclusive",
    .example = "flamebank top run.fbank --step 600 --rows 10",
    .least = 1,
    .most = 1,
    .run = run,
};
