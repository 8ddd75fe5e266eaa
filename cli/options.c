#include "cli/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static const struct fb_option *find_long(const struct fb_command *c, const char *name, size_t len)
{
    for (const struct fb_option *o = c->options; o && o->name; o++) {
        if (strlen(o->name) == len && strncmp(o->name, name, len) == 0)
            return o;
    }
    return NULL;
}

static const struct fb_option *find_short(const struct fb_command *c, char letter)
{
    for (const struct fb_option *o = c->options; o && o->name; o++) {
        if (o->letter == letter)
            return o;
    }
    return NULL;
}

/* Whether an option may be given more than once. */
static bool repeats(const struct fb_command *c, const struct fb_option *option)
{
    const char *at = c->repeats;
    size_t len = strlen(option->name);

    while (at && (at = strstr(at, option->name)) != NULL) {
        if ((at == c->repeats || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
        at += len;
    }
    return false;
}

static bool is_given(const struct fb_args *args, const struct fb_option *option)
{
    for (size_t i = 0; i < args->options_count; i++) {
        if (args->options[i].option == option)
            return true;
    }
    return false;
}

static void add(struct fb_args *args, const struct fb_option *option, const char *value)
{
    fb_vec_reserve(&args->options, &args->options_room, args->options_count + 1,
                   sizeof *args->options);
    args->options[args->options_count++] = (struct fb_arg_option){option, value, args->count};
}

/* An option whose value is two words ("ON-CMD OFF-CMD"): kept as given twice. */
static enum fb_status take_two(struct fb_args *args, const struct fb_option *option,
                               const char *value, int argc, char **argv, int *at,
                               struct fb_err *err)
{
    int need = value ? 1 : 2;

    for (int i = 1; i <= need; i++)
        if (*at + i >= argc || strcmp(argv[*at + i], "--") == 0)
            return fb_fail(err, FB_EUSAGE, "'--%s' needs two values (%s)", option->name,
                           option->value);
    if (is_given(args, option))
        return fb_fail(err, FB_EUSAGE, "'--%s' is given twice, once was expected", option->name);
    add(args, option, value ? value : argv[++*at]);
    add(args, option, argv[++*at]);
    return FB_OK;
}

/* One word that begins with '-'; *at is moved over a value that follows it. */
static enum fb_status take_option(struct fb_args *args, int argc, char **argv, int *at,
                                  struct fb_err *err)
{
    const char *word = argv[*at], *value = NULL;
    const struct fb_option *option;

    if (word[1] == '-') {
        size_t len = strcspn(word + 2, "=");

        option = find_long(args->command, word + 2, len);
        if (option && word[2 + len] == '=')
            value = word + 3 + len;
    } else {
        option = find_short(args->command, word[1]);
        if (option && word[2] != '\0')
            value = word + 2;
    }
    if (!option)
        return fb_fail(err, FB_EUSAGE, "'%s' is not an option of '%s' (see 'flamebank help %s')",
                       word, args->command->name, args->command->name);
    if (!option->value && value)
        return fb_fail(err, FB_EUSAGE, "'--%s' takes no value", option->name);
    if (option->value && strchr(option->value, ' '))
        return take_two(args, option, value, argc, argv, at, err);
    if (option->value && !value) {
        if (*at + 1 >= argc)
            return fb_fail(err, FB_EUSAGE, "'--%s' needs a value (%s)", option->name,
                           option->value);
        value = argv[++*at];
    }
    if (is_given(args, option) && !repeats(args->command, option))
        return fb_fail(err, FB_EUSAGE, "'--%s' is given twice, once was expected", option->name);
    add(args, option, value);
    return FB_OK;
}

static enum fb_status check_count(const struct fb_args *args, struct fb_err *err)
{
    const struct fb_command *c = args->command;

    if (args->count < c->least)
        return fb_fail(err, FB_EUSAGE, "too few arguments (usage: flamebank %s %s)", c->name,
                       c->usage);
    if (args->count > c->most)
        return fb_fail(err, FB_EUSAGE, "'%s' is one argument too many (usage: flamebank %s %s)",
                       args->items[c->most], c->name, c->usage);
    return FB_OK;
}

enum fb_status fb_args_parse(const struct fb_command *command, int argc, char **argv,
                             struct fb_args *ret_args, struct fb_err *err)
{
    const char **items = fb_alloc_array((size_t)argc + 1, sizeof *items);
    bool only_items = false;
    enum fb_status r = FB_OK;

    *ret_args = (struct fb_args){.command = command, .items = items};
    for (int i = 0; i < argc && r == FB_OK; i++) {
        if (!only_items && strcmp(argv[i], "--") == 0) {
            only_items = true;
        } else if (!only_items && argv[i][0] == '-' && argv[i][1] != '\0') {
            r = take_option(ret_args, argc, argv, &i, err);
        } else {
            items[ret_args->count++] = argv[i];
            only_items = only_items || command->has_tail;
        }
    }
    if (r == FB_OK)
        r = check_count(ret_args, err);
    if (r != FB_OK)
        fb_args_done(ret_args);
    return r;
}

void fb_args_done(struct fb_args *args)
{
    free((void *)(size_t)args->items);
    free(args->options);
    *args = (struct fb_args){0};
}

static const struct fb_arg_option *find_given(const struct fb_args *args, const char *name,
                                              size_t nth)
{
    for (size_t i = 0; i < args->options_count; i++) {
        if (strcmp(args->options[i].option->name, name) == 0 && nth-- == 0)
            return &args->options[i];
    }
    return NULL;
}

bool fb_args_has(const struct fb_args *args, const char *name)
{
    return find_given(args, name, 0) != NULL;
}

const char *fb_args_nth(const struct fb_args *args, const char *name, size_t i)
{
    const struct fb_arg_option *o = find_given(args, name, i);

    return o ? o->value : NULL;
}

const char *fb_args_get(const struct fb_args *args, const char *name)
{
    const char *value = NULL;

    for (size_t i = 0; i < args->options_count; i++) {
        if (strcmp(args->options[i].option->name, name) == 0)
            value = args->options[i].value;
    }
    return value;
}

size_t fb_args_before(const struct fb_args *args, const char *name)
{
    const struct fb_arg_option *o = find_given(args, name, 0);

    return o ? o->positionals : args->count;
}

enum fb_status fb_args_number(const struct fb_args *args, const char *name, double least,
                              double most, double *ret_value, struct fb_err *err)
{
    const char *text = fb_args_get(args, name);
    char *end;
    double v;

    if (!text)
        return FB_OK;
    v = strtod(text, &end);
    if (end == text || *end != '\0' || !(v >= least && v <= most))
        return fb_fail(err, FB_EUSAGE, "'--%s %s': a number from %g to %g was expected", name, text,
                       least, most);
    *ret_value = v;
    return FB_OK;
}

enum fb_status fb_args_count(const struct fb_args *args, const char *name, double least,
                             double most, double *ret_value, struct fb_err *err)
{
    double v = 0;
    enum fb_status r = fb_args_number(args, name, least, most, &v, err);

    if (r != FB_OK || !fb_args_has(args, name))
        return r;
    if (v != floor(v))
        return fb_fail(err, FB_EUSAGE, "'--%s %s': a whole number was expected", name,
                       fb_args_get(args, name));
    *ret_value = v;
    return FB_OK;
}
