/* options.h - a command line taken apart by the options of its command.
 *
 * Options may stand anywhere before "--"; "--name VALUE", "--name=VALUE", "-n VALUE" and "-nVALUE"
 * are the same.  An option whose value is named by two words takes two, kept as if it were given
 * twice.  Nothing is parsed and ignored: an option that the command does not have, a missing value,
 * a surplus argument and a second value where one counts are usage errors. */
#ifndef FB_CLI_OPTIONS_H
#define FB_CLI_OPTIONS_H

#include "cli/command.h"

struct fb_arg_option {
    const struct fb_option *option;
    const char *value;  /* NULL for a switch                                         */
    size_t positionals; /* how many positional arguments came before it              */
};

struct fb_args {
    const struct fb_command *command;
    const char *const *items; /* positional arguments */
    size_t count;
    struct fb_arg_option *options;
    size_t options_count, options_room;
};

/* argv are the words after the command's name; borrowed by *ret_args. */
enum fb_status fb_args_parse(const struct fb_command *command, int argc, char **argv,
                             struct fb_args *ret_args, struct fb_err *err);
void fb_args_done(struct fb_args *args);

bool fb_args_has(const struct fb_args *args, const char *name);
/* The last value given, or NULL. */
const char *fb_args_get(const struct fb_args *args, const char *name);
/* The i-th value given (0-based), or NULL. */
const char *fb_args_nth(const struct fb_args *args, const char *name, size_t i);
/* Positional arguments before the first occurrence of the option; `count` if it is not there. */
size_t fb_args_before(const struct fb_args *args, const char *name);

/* A number within [least, most]; *ret_value is untouched where the option is not given. */
enum fb_status fb_args_number(const struct fb_args *args, const char *name, double least,
                              double most, double *ret_value, struct fb_err *err);
/* The same, whole. */
enum fb_status fb_args_count(const struct fb_args *args, const char *name, double least,
                             double most, double *ret_value, struct fb_err *err);

#endif
