#include "cli/run_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/vec.h"

enum { RATES_MAX = 500, SEGMENTS_MAX = 20000 };

/* ---- words ---- */

void fb_run_words_free(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

/* One word at *at, which is moved behind it; NULL where a quote is not closed. */
static char *word_take(const char **at)
{
    struct fb_buf out = {0};
    char quote = '\0';

    for (; **at && (quote || !strchr(" \t\n", **at)); ++*at) {
        if (quote ? **at == quote : **at == '\'' || **at == '"')
            quote = quote ? '\0' : **at;
        else
            fb_buf_putc(&out, **at);
    }
    if (quote) {
        fb_buf_done(&out);
        return NULL;
    }
    return fb_buf_take(&out);
}

char **fb_run_words(const char *text)
{
    char **words = NULL;
    size_t count = 0, room = 0;

    for (;;) {
        text += strspn(text, " \t\n");
        fb_vec_reserve(&words, &room, count + 1, sizeof(char *));
        words[count] = *text ? word_take(&text) : NULL;
        if (!words[count])
            break;
        count++;
    }
    if (*text == '\0' && count > 0)
        return words;
    fb_run_words_free(words);
    return NULL;
}

char *fb_run_generator(const struct fb_run_plan *plan)
{
    struct fb_buf out = {0};

    for (size_t i = 0; i < plan->command_count; i++) {
        const char *word = plan->command[i];
        bool is_plain = *word && !strpbrk(word, " \t\r\n'\"");

        fb_buf_puts(&out, i > 0 ? " " : "");
        fb_buf_puts(&out, is_plain ? "" : "'");
        for (; *word; word++) {
            if (*word == '\'')
                fb_buf_puts(&out, "'\\''");
            else
                fb_buf_putc(&out, strchr("\t\r\n", *word) ? ' ' : *word);
        }
        fb_buf_puts(&out, is_plain ? "" : "'");
    }
    return fb_buf_take(&out);
}

static void put_replaced(struct fb_buf *out, const char *word, const struct fb_run_plan *plan,
                         const struct fb_run_segment *s)
{
    while (*word) {
        if (strncmp(word, "{rate}", 6) == 0) {
            fb_buf_printf(out, "%.15g", s->rate);
            word += 6;
        } else if (strncmp(word, "{seconds}", 9) == 0) {
            fb_buf_printf(out, "%.15g", s->seconds);
            word += 9;
        } else if (strncmp(word, "{arm}", 5) == 0) {
            fb_buf_puts(out, plan->arms[plan->ramps[s->ramp].arm].name);
            word += 5;
        } else if (strncmp(word, "{step}", 6) == 0) {
            fb_buf_puts(out, s->name);
            word += 6;
        } else {
            fb_buf_putc(out, *word++);
        }
    }
}

char **fb_run_command(const struct fb_run_plan *plan, const struct fb_run_segment *s)
{
    char **words = fb_alloc_array(plan->command_count + 1, sizeof(char *));

    for (size_t i = 0; i < plan->command_count; i++) {
        struct fb_buf out = {0};

        put_replaced(&out, plan->command[i], plan, s);
        words[i] = fb_buf_take(&out);
    }
    return words;
}

/* ---- arms ---- */

static bool is_running(const char *text)
{
    size_t digits = strspn(text, "0123456789"), n = strlen(text);

    if (digits == n)
        return true;
    return access(text, F_OK) == 0 && n > 6 && strcmp(text + n - 6, ".fbank") == 0;
}

static enum fb_status arm_read(const char *text, struct fb_run_arm *arm, struct fb_err *err)
{
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : 0;

    if (n == 0 || n != strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "_.-"))
        return fb_fail(
            err, FB_EUSAGE,
            "'--arm %s': NAME=COMMAND, NAME=BANK, NAME=PID, or NAME= for an arm elsewhere "
            "was expected; a name has letters, digits, '_', '.' and '-'",
            text);
    arm->name = fb_strndup(text, n);
    arm->text = fb_strdup(equals + 1);
    arm->target = arm->text[0] == '\0'    ? FB_RUN_REMOTE
                  : is_running(arm->text) ? FB_RUN_RUNNING
                                          : FB_RUN_START;
    if (arm->target == FB_RUN_START)
        arm->words = fb_run_words(arm->text);
    if (arm->target == FB_RUN_START && !arm->words)
        return fb_fail(err, FB_EUSAGE, "'--arm %s': a quote is not closed", text);
    return FB_OK;
}

static enum fb_status arms_read(const struct fb_args *args, struct fb_run_plan *plan,
                                struct fb_err *err)
{
    const char *text;

    while ((text = fb_args_nth(args, "arm", plan->arms_count)) != NULL) {
        enum fb_status r;

        if (plan->arms_count == 2)
            return fb_fail(err, FB_EUSAGE, "'--arm %s': one or two arms were expected", text);
        plan->arms_count++;
        r = arm_read(text, &plan->arms[plan->arms_count - 1], err);
        if (r != FB_OK)
            return r;
    }
    if (plan->arms_count == 0)
        return fb_fail(err, FB_EUSAGE, "'--arm NAME=COMMAND' was expected");
    if (plan->arms_count == 2 && strcmp(plan->arms[0].name, plan->arms[1].name) == 0)
        return fb_fail(err, FB_EUSAGE, "'--arm': two arms are named '%s'", plan->arms[0].name);
    return FB_OK;
}

/* ---- ramps and segments ---- */

/* "300@200": seconds at a rate. */
static enum fb_status warmup_read(const char *text, double *ret_seconds, double *ret_rate,
                                  struct fb_err *err)
{
    int n = 0;

    if (sscanf(text, "%lf@%lf%n", ret_seconds, ret_rate, &n) == 2 && text[n] == '\0' &&
        *ret_seconds > 0 && *ret_seconds <= 1e6 && *ret_rate > 0 && *ret_rate <= 1e12)
        return FB_OK;
    return fb_fail(err, FB_EUSAGE, "'--warmup %s': SECONDS@RATE was expected (300@200)", text);
}

static enum fb_status rates_read(const char *text, double rates[RATES_MAX], size_t *ret_count,
                                 struct fb_err *err)
{
    const char *at = text;
    int n;

    *ret_count = 0;
    while (at && *ret_count < RATES_MAX && sscanf(at, "%lf%n", &rates[*ret_count], &n) == 1 &&
           rates[*ret_count] > 0 && rates[*ret_count] <= 1e12) {
        ++*ret_count;
        at += n;
        if (*at == '\0')
            return FB_OK;
        if (*at++ != ',')
            break;
    }
    return fb_fail(err, FB_EUSAGE, "'--rates %s': rates per second with ',' between were expected",
                   text ? text : "");
}

static void segment_add(struct fb_run_plan *plan, size_t ramp, struct fb_run_segment s)
{
    size_t before = plan->segments_count;

    s.ramp = ramp;
    s.number = before > 0 && plan->segments[before - 1].ramp == ramp
                   ? plan->segments[before - 1].number + 1
                   : 0;
    fb_vec_reserve(&plan->segments, &plan->room, before + 1, sizeof *plan->segments);
    plan->segments[plan->segments_count++] = s;
}

struct shape { /* of every ramp */
    double rates[RATES_MAX], hold, warmup_s, warmup_rate, flips;
    size_t rates_count;
};

/* off on on off, and again: what drifts evenly meets both states alike. */
static void ramp_fill(struct fb_run_plan *plan, size_t ramp, const struct shape *shape)
{
    if (shape->warmup_s > 0)
        segment_add(
            plan, ramp,
            (struct fb_run_segment){.rate = shape->warmup_rate,
                                    .seconds = shape->warmup_s,
                                    .warmup = true,
                                    .state = -1,
                                    .name = fb_format("%.10g (warmup)", shape->warmup_rate)});
    for (size_t i = 0; i < shape->rates_count; i++) {
        size_t times = plan->on ? (size_t)shape->flips : 1;

        for (size_t k = 0; k < times; k++) {
            int state = plan->on ? (k % 4 == 1 || k % 4 == 2) : -1;
            char *name =
                plan->on ? fb_format("%.10g %s %zu", shape->rates[i], state ? "on" : "off", k + 1)
                         : fb_format("%.10g", shape->rates[i]);

            segment_add(
                plan, ramp,
                (struct fb_run_segment){
                    .rate = shape->rates[i], .seconds = shape->hold, .state = state, .name = name});
        }
    }
}

/* Pairs as C V, V C, C V ...; of one arm its ramps. */
static void ramps_fill(struct fb_run_plan *plan, size_t pairs, const struct shape *shape)
{
    size_t seen[2] = {0};

    plan->ramps_count = pairs * plan->arms_count;
    plan->ramps = fb_alloc_array(plan->ramps_count, sizeof *plan->ramps);
    for (size_t i = 0; i < plan->ramps_count; i++) {
        size_t pair = i / plan->arms_count, arm = i % plan->arms_count;
        struct fb_run_ramp *ramp = &plan->ramps[i];

        ramp->arm = plan->arms_count == 2 && pair % 2 ? 1 - arm : arm;
        ramp->number = ++seen[ramp->arm];
        ramp->name = fb_format("%s-%zu", plan->arms[ramp->arm].name, ramp->number);
        ramp_fill(plan, i, shape);
    }
}

static enum fb_status shape_read(const struct fb_args *args, struct fb_run_plan *plan,
                                 struct fb_err *err)
{
    const char *warmup = fb_args_get(args, "warmup"), *rates = fb_args_get(args, "rates");
    struct shape shape = {.hold = 110, .flips = 8};
    double pairs = plan->arms_count == 2 ? 2 : 1;
    enum fb_status r = rates_read(rates, shape.rates, &shape.rates_count, err);

    if (r == FB_OK && warmup)
        r = warmup_read(warmup, &shape.warmup_s, &shape.warmup_rate, err);
    if (r == FB_OK)
        r = fb_args_number(args, "hold", 0.1, 1e6, &shape.hold, err);
    if (r == FB_OK)
        r = fb_args_count(args, "pairs", 1, 100, &pairs, err);
    if (r == FB_OK)
        r = fb_args_count(args, "flips", 2, 1000, &shape.flips, err);
    if (r == FB_OK)
        r = fb_args_number(args, "settle", 0, 3600, &plan->settle_s, err);
    if (r != FB_OK)
        return r;
    if (pairs * (double)(plan->arms_count * shape.rates_count) * (plan->on ? shape.flips : 1) >
        SEGMENTS_MAX)
        return fb_fail(err, FB_ELIMIT, "more than %d steps", SEGMENTS_MAX);
    ramps_fill(plan, (size_t)pairs, &shape);
    return FB_OK;
}

static enum fb_status toggle_read(const struct fb_args *args, struct fb_run_plan *plan,
                                  struct fb_err *err)
{
    plan->on = fb_args_nth(args, "toggle", 0);
    plan->off = fb_args_nth(args, "toggle", 1);
    if (!plan->on && fb_args_has(args, "flips"))
        return fb_fail(err, FB_EUSAGE, "'--flips' is of '--toggle', which is not given");
    if (plan->on && plan->arms_count == 2)
        return fb_fail(err, FB_EUSAGE, "'--toggle' flips a lever in one arm; one was expected");
    return FB_OK;
}

/* What is for arms that are started has no meaning without one. */
static enum fb_status sampler_check(const struct fb_args *args, const struct fb_run_plan *plan,
                                    struct fb_err *err)
{
    const char *wrong = fb_args_has(args, "clock") ? "clock"
                        : fb_args_has(args, "hz")  ? "hz"
                                                   : NULL;

    for (size_t i = 0; i < plan->arms_count; i++)
        if (plan->arms[i].target == FB_RUN_START)
            return FB_OK;
    if (!wrong)
        return FB_OK;
    return fb_fail(err, FB_EUSAGE, "'--%s' is for an arm that is started (NAME=COMMAND); none is",
                   wrong);
}

static bool has_word(const struct fb_run_plan *plan, const char *word)
{
    for (size_t i = 0; i < plan->command_count; i++)
        if (strstr(plan->command[i], word))
            return true;
    return false;
}

enum fb_status fb_run_plan_make(const struct fb_args *args, struct fb_run_plan *ret_plan,
                                struct fb_err *err)
{
    struct fb_run_plan plan = {.out = fb_args_get(args, "output"),
                               .ready = fb_args_get(args, "ready"),
                               .settle_s = 1,
                               .command = args->items,
                               .command_count = args->count};
    enum fb_status r;

    plan.arms = fb_alloc_array(2, sizeof *plan.arms);
    r = arms_read(args, &plan, err);
    if (r == FB_OK)
        r = sampler_check(args, &plan, err);
    if (r == FB_OK)
        r = toggle_read(args, &plan, err);
    if (r == FB_OK)
        r = shape_read(args, &plan, err);
    if (r == FB_OK && !plan.out)
        r = fb_fail(err, FB_EUSAGE, "'--output FOLDER' was expected");
    if (r == FB_OK && !has_word(&plan, "{rate}"))
        r = fb_fail(err, FB_EUSAGE,
                    "'%s ...': a command with {rate} (and {seconds}) in it was expected",
                    plan.command[0]);
    plan.says_seconds = has_word(&plan, "{seconds}");
    if (r != FB_OK)
        fb_run_plan_done(&plan);
    else
        *ret_plan = plan;
    return r;
}

void fb_run_plan_done(struct fb_run_plan *plan)
{
    for (size_t i = 0; i < plan->arms_count; i++) {
        free(plan->arms[i].name);
        free(plan->arms[i].text);
        fb_run_words_free(plan->arms[i].words);
    }
    for (size_t i = 0; i < plan->ramps_count; i++)
        free(plan->ramps[i].name);
    for (size_t i = 0; i < plan->segments_count; i++)
        free(plan->segments[i].name);
    free(plan->arms);
    free(plan->ramps);
    free(plan->segments);
    *plan = (struct fb_run_plan){0};
}

char *fb_run_plan_text(const struct fb_run_plan *plan)
{
    struct fb_buf out = {0};
    char *text;

    for (size_t i = 0; i < plan->arms_count; i++)
        fb_buf_printf(&out, "arm %s=%s; ", plan->arms[i].name, plan->arms[i].text);
    for (size_t i = 0; i < plan->segments_count; i++)
        fb_buf_printf(&out, "%s %s %.15g; ", plan->ramps[plan->segments[i].ramp].name,
                      plan->segments[i].name, plan->segments[i].seconds);
    if (plan->on)
        fb_buf_printf(&out, "on %s; off %s; ", plan->on, plan->off);
    for (size_t i = 0; i < plan->command_count; i++)
        fb_buf_printf(&out, "%s ", plan->command[i]);
    text = fb_buf_take(&out);
    for (char *at = text; *at; at++)
        if (*at == '\n' || *at == '\t')
            *at = ' ';
    return text;
}
