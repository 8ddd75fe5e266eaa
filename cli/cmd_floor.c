#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/pair.h"
#include "cli/say.h"

/* Every two of the runs against each other. */
static enum fb_status measure(const struct fb_args *args, const struct fb_view *view,
                              struct fb_floors *ret_floors, size_t *ret_steps, struct fb_err *err)
{
    struct fb_floors_sum sum = {0};
    size_t steps = 0;

    for (size_t i = 0; i < view->count; i++) {
        for (size_t j = i + 1; j < view->count; j++) {
            struct fb_pair pair;
            enum fb_status r = fb_pair_new_two(args, view, i, j, &pair, err);

            if (r != FB_OK)
                return fb_within(err, "'%s' and '%s'", view->arms[i].name, view->arms[j].name);
            if (fb_diff_is_one_run(&pair.arms[0], &pair.arms[1])) {
                fb_pair_done(&pair);
                return fb_fail(err, FB_EUSAGE,
                               "'%s' and '%s' are one run: its floor is nothing, and every run is "
                               "given once",
                               view->arms[i].name, view->arms[j].name);
            }
            fb_floors_add(&sum, pair.diff);
            steps = pair.diff->steps_count > steps ? pair.diff->steps_count : steps;
            fb_pair_done(&pair);
        }
    }
    fb_floors_finish(&sum, view->count, ret_floors);
    *ret_steps = steps;
    return FB_OK;
}

static struct fb_table *table_of(const struct fb_floors *floors, size_t steps)
{
    struct fb_table *t = fb_table_new("Floors: how far two runs of this arm differ");
    char *note;

    fb_table_column(t, "of", "", FB_ALIGN_LEFT);
    fb_table_column(t, "sd", "sd %", FB_ALIGN_RIGHT);
    fb_table_column(t, "df", "degrees of freedom", FB_ALIGN_RIGHT);
    fb_table_column(t, "tau", "floor used %", FB_ALIGN_RIGHT);
    for (size_t i = 0; i < FB_FLOOR_OF_COUNT; i++) {
        const struct fb_floor *f = &floors->of[i];

        if (isnan(f->sd))
            continue;
        fb_table_row(t);
        fb_table_text(t, fb_floor_of_text((enum fb_floor_of)i));
        fb_table_number(t, 100 * f->sd, 2);
        fb_table_number(t, f->df, 0);
        fb_table_number(t, 100 * fb_floors_tau(floors, (enum fb_floor_of)i), 2);
    }
    note = fb_format("%zu runs, %zu step%s. sd is of ln(value) between two runs; the floor is "
                     "wider by what so few runs leave open (t of its degrees of freedom).",
                     floors->runs, steps, steps == 1 ? "" : "s");
    fb_table_note(t, note);
    free(note);
    return t;
}

static int report(const struct fb_args *args, const struct fb_floors *floors, size_t steps)
{
    const char *path = fb_args_get(args, "output");
    struct fb_table *table = table_of(floors, steps);
    struct fb_buf text = {0};
    struct fb_err err;
    enum fb_status r = FB_OK;

    fb_floors_write(floors, &text);
    if (path != NULL)
        r = fb_file_write(path, text.data, text.len, &err);
    fb_buf_done(&text);
    if (r == FB_OK)
        return fb_say_tables(args, &table, 1);
    fb_table_free(table);
    return fb_say_error(&err);
}

static bool has_any(const struct fb_floors *floors)
{
    for (size_t i = 0; i < FB_FLOOR_OF_COUNT; i++)
        if (!isnan(floors->of[i].sd))
            return true;
    return false;
}

static int run(const struct fb_args *args)
{
    struct fb_view view;
    struct fb_floors floors;
    struct fb_err err;
    size_t steps = 0;
    int status;

    if (fb_view_load(args, FB_VIEW_LAYERS, &view, &err) != FB_OK)
        return fb_say_error(&err);
    if (measure(args, &view, &floors, &steps, &err) != FB_OK) {
        status = fb_say_error(&err);
    } else if (!has_any(&floors)) {
        fb_say("no step of these runs is healthy and in two of them: there is nothing to measure");
        status = FB_EXIT_FAILED;
    } else {
        status = report(args, &floors, steps);
    }
    fb_view_done(&view);
    return status;
}

static const struct fb_option options[] = {
    {"output", 'o', "FILE", "where the floors go, for `diff --floor FILE`"},
    FB_OPTIONS_RULES,
    {"steps", 's', "FILE", "steps of the arms, once an arm, in their order"},
    {"jvm", 0, NULL, "the arm is a JVM"},
    FB_OPTIONS_NAMES,
    FB_OPTIONS_TABLES,
    {0}};

const struct fb_command fb_command_floor = {
    .name = "floor",
    .usage = "RUN RUN [RUN]... [-o FILE]",
    .what = "how far runs of one arm differ from each other",
    .text =
        "Measures from runs of one and the same arm what two of them differ by though nothing was "
        "changed: CPU per request, latency, shares of layers and of frames. A diff of two arms "
        "cannot claim less. Without it the floors are those of other people's runs, and latency is "
        "not judged at all.\n\n"
        "Six runs leave five degrees of freedom a step; with two the floor is twelve times as wide "
        "as what was seen. Sick steps are left out, first steps and those past the knee have "
        "floors "
        "of their own.",
    .options = options,
    .repeats = "steps",
    .example = "flamebank floor a1.fbank a2.fbank a3.fbank -o floor.json",
    .least = 2,
    .most = 64,
    .run = run,
};
