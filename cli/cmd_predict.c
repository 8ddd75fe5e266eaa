#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/say.h"
#include "diff/diff.h"

enum { FILE_MAX = 16 << 20 };

static enum fb_status register_file(const char *path, struct fb_err *err)
{
    struct fb_buf text = {.max = FILE_MAX}, out = {0};
    struct timespec now;
    size_t added = 0;
    enum fb_status r = fb_file_read(path, &text, err);

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (r == FB_OK)
        r = fb_predictions_register(text.data, text.len, path,
                                    (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, &out, &added,
                                    err);
    if (r == FB_OK && added > 0)
        r = fb_file_write(path, out.data, out.len, err);
    if (r == FB_OK && added == 0)
        fb_say("%s: every prediction is registered already", path);
    else if (r == FB_OK)
        fb_say("%s: %zu prediction%s registered", path, added, added == 1 ? "" : "s");
    fb_buf_done(&text);
    fb_buf_done(&out);
    return r;
}

static struct fb_table *list(const struct fb_predictions *file)
{
    struct fb_table *t = fb_table_new("Predictions");

    fb_table_column(t, "prediction", "prediction", FB_ALIGN_LEFT);
    fb_table_column(t, "metric", "of", FB_ALIGN_LEFT);
    fb_table_column(t, "step", "step", FB_ALIGN_LEFT);
    fb_table_column(t, "registered", "registered", FB_ALIGN_LEFT);
    fb_table_column(t, "amendment", "", FB_ALIGN_LEFT);
    fb_table_column(t, "sha256", "SHA-256", FB_ALIGN_LEFT);
    fb_table_clip(t, 16);
    for (size_t i = 0; i < file->count; i++) {
        const struct fb_prediction *p = &file->items[i];
        time_t seconds = (time_t)(p->registered_ns / 1000000000);
        char when[32] = "no";
        struct tm utc;

        if (p->registered_ns != 0 && gmtime_r(&seconds, &utc) != NULL)
            (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
        fb_table_row(t);
        fb_table_text(t, p->name);
        fb_table_text(t, p->metric);
        fb_table_text(t, p->step != NULL ? p->step : "every");
        fb_table_text(t, when);
        fb_table_text(t, p->is_amendment ? "amendment" : "");
        fb_table_text(t, p->hash);
    }
    return t;
}

static int check_file(const struct fb_args *args, const char *path)
{
    struct fb_buf text = {.max = FILE_MAX};
    struct fb_predictions *file;
    struct fb_table *table;
    struct fb_err err;
    enum fb_status r = fb_file_read(path, &text, &err);

    if (r == FB_OK)
        r = fb_predictions_read(text.data, text.len, path, &file, &err);
    fb_buf_done(&text);
    if (r != FB_OK)
        return fb_say_error(&err);
    table = list(file);
    fb_predictions_free(file);
    return fb_say_tables(args, &table, 1);
}

static int run(const struct fb_args *args)
{
    const char *what = args->items[0], *path = args->items[1];
    struct fb_err err;

    if (strcmp(what, "check") == 0)
        return check_file(args, path);
    if (strcmp(what, "register") != 0) {
        fb_say("'predict %s': register or check was expected", what);
        return FB_EXIT_USAGE;
    }
    if (strcmp(path, "-") == 0) {
        fb_say("'predict register' writes the registration into the file: a path was expected");
        return FB_EXIT_USAGE;
    }
    return register_file(path, &err) == FB_OK ? FB_EXIT_DONE : fb_say_error(&err);
}

static const struct fb_option options[] = {FB_OPTIONS_TABLES, {0}};

const struct fb_command fb_command_predict = {
    .name = "predict",
    .usage = "{register | check} FILE",
    .what = "register predictions before a run, with their hash and time",
    .text =
        "FILE is JSON: a list 'predictions', each with a 'name', a 'metric' such as 'layer:codec "
        "ms', the 'step', and 'outcomes' with their conditions, which say whether it held. "
        "register writes the time and the SHA-256 of what is not registered yet into the file; "
        "what is changed or added later becomes an amendment with its own time. check lists what "
        "is registered and refuses a file that was changed afterwards. `flamebank diff "
        "--predictions FILE` answers them. docs/predictions.md describes the file.",
    .options = options,
    .example = "flamebank predict register predictions.json",
    .least = 2,
    .most = 2,
    .run = run,
};
