/* config.c - one row per variable; see config.h for their meaning. */
#include "sampler/config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sampler/clock.h"
#include "sampler/text.h"

#define DEFAULT_OUT "%e.%h.%t.%p.fbank"

struct setting {
    const char *name;
    bool (*parse)(struct fb_config *c, const char *value);
    const char *expected;
};

static bool parse_off(struct fb_config *c, const char *value)
{
    c->off = strcmp(value, "1") == 0;
    return c->off || strcmp(value, "0") == 0 || *value == '\0';
}

static bool parse_nonsafepoints(struct fb_config *c, const char *value)
{
    c->jvm_nonsafepoints = strcmp(value, "0") != 0;
    return *value == '\0' || strcmp(value, "0") == 0 || strcmp(value, "1") == 0;
}

static bool parse_guard(struct fb_config *c, const char *value)
{
    c->guard = strcmp(value, "1") == 0;
    return c->guard || strcmp(value, "0") == 0 || *value == '\0';
}

static bool parse_hz(struct fb_config *c, const char *value)
{
    const char *after;
    uint64_t hz = fb_text_number(value, &after);

    if (after == value || *after != '\0' || hz < 1 || hz > FB_CONFIG_HZ_MAX)
        return false;
    c->hz = (unsigned)hz;
    return true;
}

static bool parse_clock(struct fb_config *c, const char *value)
{
    return fb_clock_find(value, &c->clock);
}

static bool parse_mode(struct fb_config *c, const char *value)
{
    unsigned mode = 0;

    if (*value == '\0' || strlen(value) > 4)
        return false;
    for (; *value != '\0'; value++) {
        if (*value < '0' || *value > '7')
            return false;
        mode = mode * 8 + (unsigned)(*value - '0');
    }
    c->mode = (mode_t)mode;
    return mode <= 0777 && (mode & 0200) != 0;
}

static int hex_digit(char ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

static bool parse_run(struct fb_config *c, const char *value)
{
    const char *after;
    uint64_t id = 0;
    int digits = 0;

    for (; hex_digit(*value) >= 0; value++, digits++)
        id = id << 4 | (uint64_t)hex_digit(*value);
    if (digits < 1 || digits > 16 || id == 0)
        return false;
    c->run_id = id;
    if (*value == '\0')
        return true;
    if (*value != '.')
        return false;
    c->root_pid = (int64_t)fb_text_number(value + 1, &after);
    return after != value + 1 && *after == '\0';
}

static bool parse_follow(struct fb_config *c, const char *value)
{
    const char *item;
    size_t n;

    c->follow_fork = c->follow_exec = false;
    if (strcmp(value, "none") == 0)
        return true;
    while (fb_config_next(&value, &item, &n)) {
        if (n == 4 && memcmp(item, "fork", 4) == 0)
            c->follow_fork = true;
        else if (n == 4 && memcmp(item, "exec", 4) == 0)
            c->follow_exec = true;
        else
            return false;
    }
    return true;
}

static bool copy_list(char *to, const char *value)
{
    size_t n = strlen(value);

    if (n >= FB_CONFIG_LIST_MAX)
        return false;
    memcpy(to, value, n + 1);
    return true;
}

static bool parse_labels(struct fb_config *c, const char *value)
{
    const char *item;
    size_t n;

    if (!copy_list(c->labels, value))
        return false;
    while (fb_config_next(&value, &item, &n)) {
        const char *equals = memchr(item, '=', n);

        if (equals == NULL || equals == item)
            return false;
    }
    return true;
}

static bool parse_env(struct fb_config *c, const char *value)
{
    return copy_list(c->env, value);
}

/* Absolute at once: the host may change its folder before the bank is made. */
static bool parse_out(struct fb_config *c, const char *value)
{
    struct fb_text out = {.data = c->out, .cap = sizeof c->out};
    char cwd[FB_CONFIG_OUT_MAX];

    if (*value == '\0')
        return false;
    for (const char *at = strchr(value, '%'); at != NULL; at = strchr(at + 2, '%'))
        if (at[1] == '\0' || strchr("peht%", at[1]) == NULL)
            return false;
    if (*value != '/' && getcwd(cwd, sizeof cwd) != NULL) {
        for (const char *at = cwd; *at != '\0'; at++)
            fb_text_str(&out, *at == '%' ? "%%" : (char[2]){*at, '\0'});
        fb_text_str(&out, "/");
    }
    fb_text_str(&out, value);
    return !out.cut;
}

/* Not ours: a value that we cannot use is no reason to refuse. */
static bool parse_tmpdir(struct fb_config *c, const char *value)
{
    size_t n = strlen(value);

    if (*value == '/' && n < sizeof c->tmpdir)
        memcpy(c->tmpdir, value, n + 1);
    return true;
}

static const struct setting settings[] = {
    {"FLAMEBANK_OFF", parse_off, "1 or nothing"},
    {"FLAMEBANK_OUT", parse_out, "a file name with %p, %e, %h, %t or %% in it"},
    {"TMPDIR", parse_tmpdir, "an absolute path"},
    {"FLAMEBANK_MODE", parse_mode, "octal permissions with write for the owner, such as 600"},
    {"FLAMEBANK_RUN", parse_run, "1 to 16 hex digits, not 0"},
    {"FLAMEBANK_CLOCK", parse_clock, "cpu, itimer, perf or wall"},
    {"FLAMEBANK_HZ", parse_hz, "a whole number from 1 to 10000"},
    {"FLAMEBANK_LABELS", parse_labels, "K=V,K=V"},
    {"FLAMEBANK_ENV", parse_env, "names with commas between them"},
    {"FLAMEBANK_FOLLOW", parse_follow, "fork, exec, both with a comma, or none"},
    {"FLAMEBANK_GUARD", parse_guard, "1 or nothing"},
    {"FLAMEBANK_JVM_NONSAFEPOINTS", parse_nonsafepoints, "0, 1 or nothing"},
};

static bool refuse(const struct setting *s, const char *value, char *ret_message, size_t cap)
{
    struct fb_text message = {.data = ret_message, .cap = cap};

    fb_text_str(&message, s->name);
    fb_text_str(&message, "='");
    fb_text_add(&message, value, strnlen(value, 80));
    fb_text_str(&message, "' is wrong, expected ");
    fb_text_str(&message, s->expected);
    return false;
}

bool fb_config_read(struct fb_config *c, char *(*get)(const char *name), char *ret_message,
                    size_t message_cap)
{
    *c = (struct fb_config){.follow_fork = true,
                            .follow_exec = true,
                            .jvm_nonsafepoints = true,
                            .clock = FB_CLOCK_CPU,
                            .hz = 99,
                            .mode = 0600};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0] && !c->off; i++) {
        const char *value = get(settings[i].name);

        if (value != NULL && !settings[i].parse(c, value))
            return refuse(&settings[i], value, ret_message, message_cap);
    }
    if (c->off)
        return true;
    if (c->out[0] == '\0' && !parse_out(c, DEFAULT_OUT))
        return refuse(&settings[1], DEFAULT_OUT, ret_message, message_cap);
    c->interval_ns = 1000000000u / c->hz;
    c->root = c->run_id == 0 || c->root_pid == getpid();
    return true;
}

bool fb_config_next(const char **cursor, const char **ret_item, size_t *ret_size)
{
    const char *at = *cursor;

    while (*at == ',')
        at++;
    *ret_item = at;
    while (*at != '\0' && *at != ',')
        at++;
    *ret_size = (size_t)(at - *ret_item);
    *cursor = at;
    return *ret_size > 0;
}
