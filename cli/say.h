/* say.h - everything that is printed: answers to stdout, messages to stderr. */
#ifndef FB_CLI_SAY_H
#define FB_CLI_SAY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cli/options.h"
#include "render/render.h"

/* "flamebank: <sentence>" on stderr. */
void fb_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Says err and gives the exit status that goes with it. */
int fb_say_error(const struct fb_err *err);

/* Whether stdout may get colour: --color, NO_COLOR, a terminal. */
bool fb_say_in_color(const struct fb_args *args);

/* Writes bytes to stdout.  A reader that went away (SIGPIPE) ends the process quietly. */
int fb_say_bytes(const void *bytes, size_t n);

/* Writes tables to stdout in the format of --format (text if not given); frees them. */
int fb_say_tables(const struct fb_args *args, struct fb_table **tables, size_t count);

/* The two options that fb_say_tables() reads, for a command's list. */
#define FB_OPTIONS_TABLES                                                                          \
    {"format", 0, "FORMAT", "text (default), md, csv or json"},                                    \
    {                                                                                              \
        "color", 0, "WHEN", "auto (default), always or never"                                      \
    }

#endif
