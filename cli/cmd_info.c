#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/vec.h"
#include "cli/account.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/say.h"

static void row(struct fb_table *t, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void row(struct fb_table *t, const char *key, const char *fmt, ...)
{
    char *text;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        text = NULL;
    va_end(ap);
    fb_table_row(t);
    fb_table_text(t, key);
    fb_table_text(t, text ? text : "");
    free(text);
}

static struct fb_table *two_columns(const char *title)
{
    struct fb_table *t = fb_table_new(title);

    fb_table_column(t, "key", "fact", FB_ALIGN_LEFT);
    fb_table_column(t, "value", "value", FB_ALIGN_LEFT);
    return t;
}

/* What the JVM has chosen for itself is much, and mostly follows from what was given. */
static bool is_chosen_by_the_jvm(const char *key, const char *value)
{
    static const char end[] = "(ergonomics)";
    size_t n = strlen(value);

    return strncmp(key, "jvm.flag.", 9) == 0 && n >= sizeof end - 1 &&
           strcmp(value + n - (sizeof end - 1), end) == 0;
}

static struct fb_table *manifest_table(const struct fb_profile *p, bool all)
{
    struct fb_table *t = two_columns("manifest");
    size_t hashed = 0, chosen = 0;

    for (size_t i = 0; i < p->manifest_count; i++) {
        const char *key = fb_profile_text(p, p->manifest[i].key);
        const char *value = fb_profile_text(p, p->manifest[i].value);

        if (strncmp(key, "env.", 4) == 0 && strncmp(value, "crc32:", 6) == 0 && !all)
            hashed++;
        else if (is_chosen_by_the_jvm(key, value) && !all)
            chosen++;
        else
            row(t, key, "%s", value);
    }
    if (hashed > 0)
        row(t, "environment", "%zu variables are banked by name and hash (--all shows them)",
            hashed);
    if (chosen > 0)
        row(t, "jvm.flag", "%zu more were set by the JVM's ergonomics (--all shows them)", chosen);
    return t;
}

static double seconds(const struct fb_profile *p)
{
    return (double)(p->last_ns - p->first_ns) / 1e9;
}

/* The CPU time that the yield is of. */
static void put_process_cpu(struct fb_table *t, const struct fb_profile *p)
{
    double cpu, yield = fb_account_yield(p);

    if (!fb_account_growth(p, "process.cpu_ns", &cpu) || cpu <= 0)
        return;
    if (isnan(yield))
        row(t, "process CPU", "%.3f s between the counters' first row and their last", cpu / 1e9);
    else
        row(t, "process CPU", "%.3f s between the counters' first row and their last, yield %.3f",
            cpu / 1e9, yield);
}

/* Whether weights that are time are time on a CPU: locks and waits have a type of their own. */
static bool is_cpu(const struct fb_profile *p)
{
    return p->type == 0 || strncmp(fb_profile_text(p, p->type), "cpu", 3) == 0 ||
           strcmp(fb_profile_text(p, p->unit), "samples") == 0;
}

/* Σ weight x interval against the CPU time of the process: the account of the clock. */
static void put_yield(struct fb_table *t, const struct fb_profile *p)
{
    double sampled = (double)fb_profile_weight(p) * fb_profile_weight_ns(p) / 1e9;
    double overruns = fb_profile_overruns(p);

    if (!(fb_profile_weight_ns(p) > 0) || p->samples.count == 0)
        return;
    if (fb_profile_is_wall(p)) {
        row(t, "sampled time", "%.3f s of threads that run or wait (weight x %.3f ms)", sampled,
            fb_profile_weight_ns(p) / 1e6);
        put_process_cpu(t, p);
        return;
    }
    row(t, is_cpu(p) ? "sampled CPU" : "sampled time", "%.3f s (weight x %.3f ms)", sampled,
        fb_profile_weight_ns(p) / 1e6);
    if (isnan(overruns))
        return put_process_cpu(t, p);
    if (overruns > FB_OVERRUNS_MOST)
        row(t, "weight from overruns", "%.1f %% (over 20 %%: %s)", 100.0 * overruns,
            fb_profile_overruns_cause(p));
    else
        row(t, "weight from overruns", "%.1f %%", 100.0 * overruns);
    put_process_cpu(t, p);
}

/* The writer's counter stands at what it used before the first row. */
static void put_start(struct fb_table *t, const struct fb_profile *p)
{
    const struct fb_counter *writer = fb_profile_counter_find(p, "sampler.writer_ns");
    double most, last;

    if (writer && p->counters.rows > 0 && writer->values[0] != FB_COUNTER_ABSENT &&
        fb_profile_counter_level(p, "sampler.start_ns", p->first_ns, p->last_ns, &most, &last))
        row(t, "start of the sampler", "%.2f ms before main(), %.2f ms of its thread", last / 1e6,
            (double)writer->values[0] / 1e6);
}

static void put_text(struct fb_table *t, const char *key, char *text)
{
    if (text)
        row(t, key, "%s", text);
    free(text);
}

static void put_cost(struct fb_table *t, const struct fb_profile *p)
{
    double handler = 0, writer = 0, count = 0;

    if (!fb_account_growth(p, "sampler.handler_ns", &handler) ||
        !fb_account_growth(p, "sampler.writer_ns", &writer))
        return;
    row(t, "cost of the sampler", "handler %.2f ms, writer %.2f ms", handler / 1e6, writer / 1e6);
    put_text(t, "account of the sampler", fb_account_cost(p));
    put_text(t, "events of the sampler", fb_account_events(p));
    put_start(t, p);
    if (fb_account_growth(p, "sampler.handler_count", &count) && count > 0)
        row(t, "handler per sample", "%.2f us", handler / 1e3 / count);
}

static struct fb_table *health_table(const struct fb_profile *p)
{
    struct fb_table *t = two_columns("samples");

    row(t, "samples", "%zu of weight %" PRIu64, p->samples.count, fb_profile_weight(p));
    row(t, "stacks", "%zu over %zu frames, %zu modules, %zu thread%s", p->stacks_count - 1,
        p->frames_count - 1, p->modules_count - 1, p->threads_count - 1,
        p->threads_count == 2 ? "" : "s");
    if (p->has_times && p->samples.count > 0) {
        char when[32];
        time_t start = (time_t)(p->first_ns / 1000000000);
        struct tm tm;

        (void)strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", gmtime_r(&start, &tm));
        row(t, "span", "%.1f s from %s UTC", seconds(p), when);
    }
    row(t, "end", "%s", p->ended ? "in order" : "none: killed, or still going on");
    put_yield(t, p);
    put_cost(t, p);
    return t;
}

static struct fb_table *losses_table(const struct fb_profile *p)
{
    struct fb_table *t = fb_table_new("losses");
    bool any = false;

    fb_table_column(t, "cause", "cause", FB_ALIGN_LEFT);
    fb_table_column(t, "count", "count", FB_ALIGN_RIGHT);
    fb_table_column(t, "unit", "of", FB_ALIGN_LEFT);
    for (int i = 0; i < FB_LOSS_CAUSE_COUNT; i++) {
        if (p->losses[i] == 0)
            continue;
        any = true;
        fb_table_row(t);
        fb_table_text(t, fb_loss_text((enum fb_loss_cause)i));
        fb_table_number(t, (double)p->losses[i], 0);
        fb_table_text(t, fb_loss_unit((enum fb_loss_cause)i));
    }
    if (!any)
        fb_table_note(t, "Nothing was lost.");
    return t;
}

static struct fb_table *counters_table(const struct fb_profile *p)
{
    struct fb_table *t = fb_table_new("counters");

    fb_table_column(t, "counter", "counter", FB_ALIGN_LEFT);
    fb_table_column(t, "unit", "unit", FB_ALIGN_LEFT);
    fb_table_column(t, "growth", "growth or last level", FB_ALIGN_RIGHT);
    for (size_t i = 0; i < p->counters.count; i++) {
        const struct fb_counter *c = &p->counters.items[i];
        int64_t first = FB_COUNTER_ABSENT, last = FB_COUNTER_ABSENT;

        for (size_t r = 0; r < p->counters.rows; r++) {
            if (c->values[r] == FB_COUNTER_ABSENT)
                continue;
            first = first == FB_COUNTER_ABSENT ? c->values[r] : first;
            last = c->values[r];
        }
        if (last == FB_COUNTER_ABSENT)
            continue;
        fb_table_row(t);
        fb_table_text(t, fb_profile_text(p, c->name));
        fb_table_text(t, fb_profile_text(p, c->unit));
        fb_table_number(t, c->kind == FB_COUNTER_CUMULATIVE ? (double)(last - first) : (double)last,
                        0);
    }
    if (p->counters.rows == 1)
        fb_table_note(t, "The counters were taken once, so that nothing has grown: the program was "
                         "too short.");
    return t;
}

static int run(const struct fb_args *args)
{
    struct fb_profile *p;
    struct fb_err err;
    struct fb_table *tables[4];
    int status;

    if (fb_load_profile(args, args->items[0], NULL, &p, &err) != FB_OK)
        return fb_say_error(&err);
    tables[0] = manifest_table(p, fb_args_has(args, "all"));
    tables[1] = health_table(p);
    tables[2] = losses_table(p);
    tables[3] = counters_table(p);
    status = fb_say_tables(args, tables, 4);
    fb_profile_free(p);
    return status;
}

static const struct fb_option options[] = {
    {"all", 0, NULL, "environment variables by hash and the JVM's own choices too"},
    FB_OPTIONS_READ,
    FB_OPTIONS_TABLES,
    {0}};

const struct fb_command fb_command_info = {
    .name = "info",
    .usage = "FILE [--all] [--type TYPE]",
    .what = "manifest, health, losses, and what the sampler itself cost",
    .text = "Prints what is known of a run: how it was started, which clock at which rate, how its "
            "samples compare with the CPU time of the process, every loss by cause, and the "
            "counters that were taken once a second.",
    .options = options,
    .example = "flamebank info run.fbank",
    .least = 1,
    .most = 1,
    .run = run,
};
