/* Arms under the sampler, a generator through the rates, marks between; gone on with where it
 * stopped. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/run_plan.h"
#include "cli/run_process.h"
#include "cli/run_state.h"
#include "cli/running.h"
#include "cli/say.h"

static const double poll_s = 0.05, grace_s = 30, stop_s = 10, ready_s = 120, ready_step_s = 0.5,
                    bank_s = 10, counters_s = 1.2;
enum { BANKS_MAX = 1000 };

struct run {
    struct fb_run_plan plan;
    struct fb_run_done *done;
    struct fb_process arm; /* of the ramp that is on, where it was started here */
    char *bank;            /* that marks go to; NULL none                       */
    bool on_terminal;
    const char *clock, *hz;
};

enum outcome { GOES_ON, ARM_ENDED, STOPPED, FAILED };

/* ---- what people see ---- */

static double left_of(const struct run *run, size_t from)
{
    double left = 0;

    for (size_t i = from; i < run->plan.segments_count; i++)
        if (!run->done[i].is_done)
            left += run->plan.segments[i].seconds;
    return left;
}

static char *time_text(double seconds)
{
    if (seconds < 100)
        return fb_format(seconds < 9.95 ? "%.1f s" : "%.0f s", seconds);
    return seconds < 6000 ? fb_format("%.0f min", seconds / 60)
                          : fb_format("%.1f h", seconds / 3600);
}

static size_t segments_of(const struct fb_run_plan *plan, size_t ramp)
{
    size_t count = 0;

    for (size_t i = 0; i < plan->segments_count; i++)
        count += plan->segments[i].ramp == ramp ? 1 : 0;
    return count;
}

static void progress_say(const struct run *run, size_t i, double at_s)
{
    const struct fb_run_segment *s = &run->plan.segments[i];
    char *left = time_text(left_of(run, i) - at_s), *all = time_text(s->seconds);

    if (run->on_terminal)
        (void)fprintf(stderr,
                      "\r\033[K%s, ramp %zu of %zu: step %s, %zu of %zu, %.0f s of %s; %s left",
                      run->plan.ramps[s->ramp].name, s->ramp + 1, run->plan.ramps_count, s->name,
                      s->number + 1, segments_of(&run->plan, s->ramp), at_s, all, left);
    else if (at_s <= 0)
        fb_say("%s, ramp %zu of %zu: step %s, %zu of %zu, %s; %s left",
               run->plan.ramps[s->ramp].name, s->ramp + 1, run->plan.ramps_count, s->name,
               s->number + 1, segments_of(&run->plan, s->ramp), all, left);
    free(left);
    free(all);
}

static void progress_clear(const struct run *run)
{
    if (run->on_terminal)
        (void)fputs("\r\033[K", stderr);
}

/* ---- arms ---- */

/* record -o FILE --force --label arm=NAME [--clock C] [--hz N] -- WORDS; the array is yours. */
static char **record_words(const struct run *run, const struct fb_run_arm *arm, const char *bank)
{
    char **words = NULL;
    size_t count = 0, room = 0;
    char *label = fb_format("arm=%s", arm->name);
    const char *fixed[] = {"/proc/self/exe",
                           "record",
                           "--output",
                           bank,
                           "--force",
                           "--label",
                           label,
                           run->clock ? "--clock" : NULL,
                           run->clock,
                           run->hz ? "--hz" : NULL,
                           run->hz,
                           "--"};

    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        fb_vec_reserve(&words, &room, count + 1, sizeof(char *));
        if (fixed[i])
            words[count++] = fb_strdup(fixed[i]);
    }
    for (size_t i = 0; arm->words[i]; i++) {
        fb_vec_reserve(&words, &room, count + 1, sizeof(char *));
        words[count++] = fb_strdup(arm->words[i]);
    }
    fb_vec_reserve(&words, &room, count + 1, sizeof(char *));
    words[count] = NULL;
    free(label);
    return words;
}

/* Runs a command of one line by a shell; its status. */
static int shell_run(const struct run *run, const char *command, struct fb_err *err)
{
    char *words[] = {(char *)(size_t) "/bin/sh", (char *)(size_t) "-c", (char *)(size_t)command,
                     NULL};
    char *log = fb_format("%s/commands.log", run->plan.out);
    struct fb_process p;
    enum fb_status r = fb_process_start(words, log, log, &p, err);

    free(log);
    if (r != FB_OK)
        return -1;
    while (!fb_process_is_over(&p)) {
        if (fb_run_interrupted())
            return fb_process_stop(&p, 1);
        fb_run_sleep(poll_s);
    }
    return p.status;
}

/* Whether something other than the wait's own end ends it. */
static enum outcome waiting(struct run *run, bool is_started)
{
    if (fb_run_interrupted())
        return STOPPED;
    return is_started && fb_process_is_over(&run->arm) ? ARM_ENDED : GOES_ON;
}

static enum outcome ready_wait(struct run *run, bool is_started, struct fb_err *err)
{
    enum outcome o = GOES_ON;

    for (double waited = 0; run->plan.ready && o == GOES_ON; waited += ready_step_s) {
        if (shell_run(run, run->plan.ready, err) == 0)
            break;
        if (waited >= ready_s) {
            (void)fb_fail(err, FB_EIO, "'--ready %s' did not succeed within %.0f s",
                          run->plan.ready, ready_s);
            return FAILED;
        }
        fb_run_sleep(ready_step_s);
        o = waiting(run, is_started);
    }
    return o;
}

/* Until the arm may get load: a bank is there once the sampler has begun. */
static enum outcome arm_wait(struct run *run, bool is_started, struct fb_err *err)
{
    enum outcome o = GOES_ON;

    for (double waited = 0; is_started && o == GOES_ON && waited < bank_s; waited += poll_s) {
        if (access(run->bank, F_OK) == 0)
            break;
        fb_run_sleep(poll_s);
        o = waiting(run, is_started);
    }
    if (o == GOES_ON)
        o = ready_wait(run, is_started, err);
    for (double waited = 0; o == GOES_ON && waited < run->plan.settle_s; waited += poll_s) {
        fb_run_sleep(poll_s);
        o = waiting(run, is_started);
    }
    return o == GOES_ON ? waiting(run, is_started) : o;
}

static enum outcome arm_begin(struct run *run, size_t ramp, struct fb_err *err)
{
    const struct fb_run_arm *arm = &run->plan.arms[run->plan.ramps[ramp].arm];
    char **words, *log;
    enum fb_status r = FB_OK;

    free(run->bank);
    run->bank = NULL;
    if (arm->target == FB_RUN_RUNNING) {
        if (strspn(arm->text, "0123456789") == strlen(arm->text))
            r = fb_running_bank(strtol(arm->text, NULL, 10), &run->bank, err);
        else
            run->bank = fb_strdup(arm->text);
        return r == FB_OK ? arm_wait(run, false, err) : FAILED;
    }
    if (arm->target == FB_RUN_REMOTE)
        return arm_wait(run, false, err);
    run->bank = fb_run_path(&run->plan, ramp, ".fbank");
    words = record_words(run, arm, run->bank);
    log = fb_run_path(&run->plan, ramp, ".arm.log");
    r = fb_process_start(words, log, log, &run->arm, err);
    free(log);
    fb_run_words_free(words);
    return r == FB_OK ? arm_wait(run, true, err) : FAILED;
}

/* Once the counters of the last second are banked, too: not every arm ends in a way that lets the
 * sampler write on. */
static void arm_end(struct run *run, bool is_whole)
{
    for (double waited = 0; is_whole && waited < counters_s; waited += poll_s) {
        if (waiting(run, true) != GOES_ON)
            break;
        fb_run_sleep(poll_s);
    }
    if (run->arm.pid != 0)
        (void)fb_process_stop(&run->arm, stop_s);
}

/* ---- segments ---- */

/* The n-th bank of an arm that was started here, FILE, FILE-2 ...: each of its processes has one,
 * and so has each program that one of them was before. */
static char *bank_of(const struct run *run, unsigned n)
{
    size_t stem = strlen(run->bank) - strlen(".fbank");

    return n == 1 ? fb_strdup(run->bank) : fb_format("%.*s-%u.fbank", (int)stem, run->bank, n);
}

/* In all banks that are still written. */
static void mark(const struct run *run, const struct fb_run_segment *s, bool end)
{
    uint8_t flags = end ? FB_MARK_END : s->warmup ? FB_MARK_WARMUP : 0;
    int64_t now_ns = fb_run_now_ns();
    unsigned marked = 0;
    struct fb_err err;

    for (unsigned n = 1; run->bank && n <= BANKS_MAX; n++) {
        char *bank = run->arm.pid != 0 ? bank_of(run, n) : fb_strdup(run->bank);
        bool is_there = n == 1 || (run->arm.pid != 0 && access(bank, F_OK) == 0);

        if (is_there &&
            fb_bank_mark(bank, s->name, now_ns, end ? 0 : s->rate, flags, &err) == FB_OK)
            marked++;
        free(bank);
        if (!is_there)
            break;
    }
    if (run->bank && marked == 0) {
        progress_clear(run);
        fb_say("step %s is not marked: %s", s->name, err.text);
    }
}

/* Waits for the generator; ends one that goes on for too long, or that was not told how long. */
static enum outcome generator_wait(struct run *run, size_t i, struct fb_process *generator)
{
    const struct fb_run_segment *s = &run->plan.segments[i];
    const struct fb_run_arm *arm = &run->plan.arms[run->plan.ramps[s->ramp].arm];
    double most = s->seconds + (run->plan.says_seconds ? fmax(grace_s, s->seconds / 2) : 0);
    int64_t start_ns = fb_run_now_ns();
    double at_s = 0, shown_s = 0;

    while (!fb_process_is_over(generator)) {
        if (fb_run_interrupted() ||
            (arm->target == FB_RUN_START && fb_process_is_over(&run->arm))) {
            (void)fb_process_stop(generator, 2);
            return fb_run_interrupted() ? STOPPED : ARM_ENDED;
        }
        if (at_s >= most) {
            (void)fb_process_stop(generator, 5);
            if (!run->plan.says_seconds && generator->status == 128 + 15)
                generator->status = 0; /* it was ended as was meant */
            return GOES_ON;
        }
        fb_run_sleep(poll_s);
        at_s = (double)(fb_run_now_ns() - start_ns) / 1e9;
        if (run->on_terminal && at_s - shown_s >= 0.5) {
            progress_say(run, i, at_s);
            shown_s = at_s;
        }
    }
    return GOES_ON;
}

static enum outcome lever_set(struct run *run, const struct fb_run_segment *s, struct fb_err *err)
{
    const char *command = s->state > 0 ? run->plan.on : run->plan.off;
    int status;

    if (s->state < 0)
        return GOES_ON;
    status = shell_run(run, command, err);
    if (fb_run_interrupted())
        return STOPPED;
    if (status > 0)
        (void)fb_fail(err, FB_EIO, "the lever's command '%s' ended with %d (see %s/commands.log)",
                      command, status, run->plan.out);
    return status == 0 ? GOES_ON : FAILED;
}

static enum outcome generator_run(struct run *run, size_t i, struct fb_run_done *ret_done,
                                  struct fb_err *err)
{
    const struct fb_run_segment *s = &run->plan.segments[i];
    char **words = fb_run_command(&run->plan, s);
    char *out = fb_run_output(&run->plan, s, ".out"), *log = fb_run_output(&run->plan, s, ".log");
    struct fb_process generator;
    enum outcome o = FAILED;

    (void)unlink(out); /* of a segment that was broken off */
    (void)unlink(log);
    mark(run, s, false);
    ret_done->start_ns = fb_run_now_ns();
    if (fb_process_start(words, out, log, &generator, err) == FB_OK) {
        o = generator_wait(run, i, &generator);
        ret_done->end_ns = fb_run_now_ns();
        ret_done->status = generator.status;
        ret_done->is_done = o == GOES_ON;
        mark(run, s, true);
    }
    fb_run_words_free(words);
    free(out);
    free(log);
    return o;
}

static enum outcome segment_run(struct run *run, size_t i, struct fb_err *err)
{
    const struct fb_run_segment *s = &run->plan.segments[i];
    struct fb_run_done done = {.is_done = false};
    enum outcome o = lever_set(run, s, err);

    if (o != GOES_ON)
        return o;
    progress_say(run, i, 0);
    o = generator_run(run, i, &done, err);
    progress_clear(run);
    if (o != GOES_ON)
        return o;
    if (done.status != 0)
        fb_say("%s, step %s: the generator ended with %d: its values are n/a",
               run->plan.ramps[s->ramp].name, s->name, done.status);
    run->done[i] = done;
    if (fb_run_state_add(&run->plan, s, &done, err) != FB_OK)
        return FAILED;
    return fb_run_tables_write(&run->plan, s->ramp, run->done, NULL, err) == FB_OK ? GOES_ON
                                                                                   : FAILED;
}

/* ---- ramps ---- */

static bool ramp_is_done(const struct run *run, size_t ramp)
{
    for (size_t i = 0; i < run->plan.segments_count; i++)
        if (run->plan.segments[i].ramp == ramp && !run->done[i].is_done)
            return false;
    return true;
}

/* An arm that is started here begins its ramp anew: its process is gone with what it had learnt. */
static void ramp_forget(struct run *run, size_t ramp)
{
    bool any = false;

    if (run->plan.arms[run->plan.ramps[ramp].arm].target != FB_RUN_START)
        return;
    for (size_t i = 0; i < run->plan.segments_count; i++) {
        if (run->plan.segments[i].ramp != ramp)
            continue;
        any = any || run->done[i].is_done;
        run->done[i].is_done = false;
    }
    if (any)
        fb_say("%s: was broken off; its arm is started anew, and its ramp from the beginning",
               run->plan.ramps[ramp].name);
}

static enum outcome ramp_run(struct run *run, size_t ramp, struct fb_err *err)
{
    enum outcome o;

    ramp_forget(run, ramp);
    o = arm_begin(run, ramp, err);
    for (size_t i = 0; i < run->plan.segments_count && o == GOES_ON; i++)
        if (run->plan.segments[i].ramp == ramp && !run->done[i].is_done)
            o = segment_run(run, i, err);
    if (o == ARM_ENDED) /* its own status, before it is ended by us */
        fb_say("%s: the arm ended by itself with %d (see %s/%s.arm.log)",
               run->plan.ramps[ramp].name, run->arm.status, run->plan.out,
               run->plan.ramps[ramp].name);
    arm_end(run, o == GOES_ON && run->arm.pid != 0);
    return o;
}

/* The ramp's steps as `flamebank steps` shows them: beside its bank, where it has one here. */
static struct fb_table *steps_of(const struct run *run, const struct fb_args *args, size_t ramp)
{
    char *bank = fb_run_path(&run->plan, ramp, ".fbank");
    char *path = fb_run_path(&run->plan, ramp, ".tsv");
    char *both = access(bank, R_OK) == 0 ? fb_format("%s,%s", bank, path) : fb_format("%s", path);
    struct fb_args one = *args;
    struct fb_table *table = NULL;
    struct fb_view view;
    struct fb_err err;

    one.items = (const char *const[]){both};
    one.count = 1;
    if (fb_view_load(&one, FB_VIEW_STEPS_SHOWN, &view, &err) == FB_OK) {
        table = fb_render_steps(view.arms[0].steps);
        fb_view_done(&view);
    } else {
        fb_say_error(&err);
    }
    free(both);
    free(path);
    free(bank);
    return table;
}

static int results_say(const struct run *run, const struct fb_args *args)
{
    struct fb_table **tables = fb_alloc_array(run->plan.ramps_count, sizeof(struct fb_table *));
    size_t count = 0, unknown = 0;
    int status;

    for (size_t ramp = 0; ramp < run->plan.ramps_count; ramp++) {
        struct fb_err err;
        size_t n = 0;

        if (fb_run_tables_write(&run->plan, ramp, run->done, &n, &err) == FB_OK) {
            tables[count] = steps_of(run, args, ramp);
            count += tables[count] ? 1 : 0;
        }
        unknown += n;
    }
    status = fb_say_tables(args, tables, count);
    free(tables);
    if (unknown > 0)
        fb_say("%zu steps have no result that a reader of steps takes ('flamebank help formats'): "
               "what the generator printed is in %s",
               unknown, run->plan.out);
    return status == FB_EXIT_DONE && unknown > 0 ? FB_EXIT_NO : status;
}

static int end_of(const struct run *run, enum outcome o, const struct fb_args *args,
                  const struct fb_err *err)
{
    switch (o) {
    case GOES_ON:
        return results_say(run, args);
    case STOPPED:
        fb_say("stopped; the same command line goes on where it was");
        return 128 + fb_run_interrupted();
    case ARM_ENDED:
        return run->arm.status ? run->arm.status : FB_EXIT_RECORD_FAILED;
    case FAILED:
        break;
    }
    fb_say("%s", err->text);
    return err->status == FB_ENOTFOUND ? FB_EXIT_NOT_FOUND : FB_EXIT_RECORD_FAILED;
}

static int run_command(const struct fb_args *args)
{
    struct run run = {.on_terminal = isatty(STDERR_FILENO),
                      .clock = fb_args_get(args, "clock"),
                      .hz = fb_args_get(args, "hz")};
    struct fb_err err = {0};
    enum outcome o = GOES_ON;
    int status;

    if (fb_run_plan_make(args, &run.plan, &err) != FB_OK) {
        fb_say("%s", err.text);
        return FB_EXIT_RECORD_FAILED;
    }
    if (fb_run_state_open(&run.plan, &run.done, &err) != FB_OK) {
        fb_say("%s", err.text);
        fb_run_plan_done(&run.plan);
        return FB_EXIT_RECORD_FAILED;
    }
    fb_run_signals();
    for (size_t ramp = 0; ramp < run.plan.ramps_count && o == GOES_ON; ramp++)
        if (!ramp_is_done(&run, ramp))
            o = ramp_run(&run, ramp, &err);
    status = end_of(&run, o, args, &err);
    free(run.bank);
    free(run.done);
    fb_run_plan_done(&run.plan);
    return status;
}

static const struct fb_option options[] = {
    {"output", 'o', "FOLDER", "where banks, outputs and tables of steps go"},
    {"arm", 'a', "NAME=WHAT",
     "a command to start, a BANK or PID that runs, or nothing; once or twice"},
    {"rates", 'r', "R,R...", "offered per second, a step each"},
    {"hold", 0, "S", "seconds of a step (110)"},
    {"warmup", 0, "S@R", "a first step of S seconds at the rate R (300@200)"},
    {"pairs", 0, "N", "of ramps: C V, V C, C V ... (2); of one arm: how many ramps (1)"},
    {"toggle", 0, "ON-CMD OFF-CMD", "flip a lever within each rate: off on on off ..."},
    {"flips", 0, "N", "segments of a rate with --toggle, --hold seconds each (8)"},
    {"ready", 0, "CMD", "is run until it succeeds before an arm gets load"},
    {"settle", 0, "S", "seconds between that and the first step (1)"},
    {"clock", 0, "CLOCK", "of the sampler, for arms that are started: as in record"},
    {"hz", 0, "N", "of the sampler, the same"},
    FB_OPTIONS_TABLES,
    {0}};

const struct fb_command fb_command_run = {
    .name = "run",
    .usage = "-o FOLDER --arm NAME=WHAT [--arm NAME=WHAT] --rates R,R... [--hold S] [--warmup S@R] "
             "-- CMD [ARG]...",
    .what = "drive a generator through a list of rates against recorded arms",
    .text =
        "Starts each arm under the sampler, runs CMD once a rate, and marks the steps in the bank. "
        "In the words of CMD {rate}, {seconds}, {arm} and {step} are put in; a command without "
        "{seconds} is ended by SIGTERM after --hold. What CMD prints is kept, and read as the "
        "result of the step where it is of a load generator that flamebank knows.\n\n"
        "An arm is NAME=COMMAND (words and quotes, no shell), which is started anew for each ramp; "
        "NAME=BANK or NAME=PID of one that runs under the sampler already; or NAME= for one that "
        "is "
        "elsewhere. Two arms go C V V C, so that what drifts meets both alike. --toggle flips a "
        "lever of one running arm by two commands (of a shell): off on on off, at each rate; "
        "`flamebank mark PID --resume` and `--pause` flip the sampler itself.\n\n"
        "FOLDER gets NAME-K.fbank and NAME-K.tsv for each ramp, for `flamebank diff "
        "C-1.fbank,C-1.tsv C-2.fbank,C-2.tsv --vs V-1.fbank,V-1.tsv V-2.fbank,V-2.tsv`; with "
        "--toggle also NAME-K.on.tsv and NAME-K.off.tsv. A run that was stopped goes on by the "
        "same "
        "command line: finished ramps stay, the ramp of an arm that was started here begins "
        "anew.\n\n"
        "Exits 0 with the table of steps; 1 if a step has no result; as the arm did where it ended "
        "by itself; 128 + n after signal n; 125 where run itself failed, 127 where CMD is not "
        "found.",
    .options = options,
    .repeats = "arm",
    .example = "flamebank run -o out --arm a='nginx -c /etc/a.conf' --arm b='nginx -c /etc/b.conf' "
               "--rates "
               "200,400 -- wrk2 -R{rate} -d{seconds} http://127.0.0.1:8080/",
    .least = 1,
    .most = (size_t)-1,
    .has_tail = true,
    .run = run_command,
};
