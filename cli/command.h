/* command.h - what a command is: one file cmd_<name>.c and one row in commands.c.
 *
 * The rows and their options are the single source of `help`, of the usage errors and of the man
 * pages. */
#ifndef FB_CLI_COMMAND_H
#define FB_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Exit statuses; record exits as the arm did. */
enum fb_exit {
    FB_EXIT_DONE = 0,
    FB_EXIT_NO = 1, /* the answer is "no": check found damage */
    FB_EXIT_USAGE = 2,
    FB_EXIT_FAILED = 3,
    FB_EXIT_RECORD_FAILED = 125,
    FB_EXIT_CANNOT_RUN = 126,
    FB_EXIT_NOT_FOUND = 127,
};

struct fb_option {
    const char *name;  /* without dashes                                           */
    char letter;       /* short form, 0 none                                       */
    const char *value; /* what follows, as shown in the help; NULL for a switch    */
    const char *what;  /* one line                                                 */
};

struct fb_args; /* parsed command line, options.h */

struct fb_command {
    const char *name;
    const char *usage;               /* after the name: "FILE [--steps FILE]"                     */
    const char *what;                /* one line, for `flamebank help`                            */
    const char *text;                /* paragraphs, separated by blank lines                      */
    const struct fb_option *options; /* ends with a NULL name; NULL for none        */
    const char *repeats; /* options that may be given again, "step steps"; NULL for none  */
    const char *example;
    size_t least, most; /* positional arguments                                     */
    bool has_tail;      /* everything from the first positional on is a command     */
    int (*run)(const struct fb_args *args);
};

/* All commands; ends with NULL. */
extern const struct fb_command *const fb_commands[];

const struct fb_command *fb_command_find(const char *name);

/* The known word nearest to a mistyped one, NULL if none is near. */
const char *fb_command_suggest(const char *typed);

#endif
