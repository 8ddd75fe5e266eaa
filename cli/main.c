/* From the command line to a command. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/name_rules.h"
#include "cli/options.h"
#include "cli/say.h"

const struct fb_command *fb_command_find(const char *name)
{
    for (const struct fb_command *const *c = fb_commands; *c; c++) {
        if (strcmp((*c)->name, name) == 0)
            return *c;
    }
    return NULL;
}

/* Edit distance, both words at most 31 bytes. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[32];
    size_t n = strlen(b);

    if (strlen(a) > 31 || n > 31)
        return 99;
    for (unsigned k = 0; k <= n; k++)
        row[k] = k;
    for (unsigned i = 1; a[i - 1] != '\0'; i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (unsigned k = 1; k <= n; k++) {
            unsigned best = diagonal + (a[i - 1] != b[k - 1]);

            diagonal = row[k];
            if (row[k] + 1 < best)
                best = row[k] + 1;
            if (row[k - 1] + 1 < best)
                best = row[k - 1] + 1;
            row[k] = best;
        }
    }
    return row[n];
}

const char *fb_command_suggest(const char *typed)
{
    const char *best = NULL;
    unsigned least = 3;

    for (const struct fb_command *const *c = fb_commands; *c; c++) {
        unsigned d = distance(typed, (*c)->name);

        if (d < least) {
            least = d;
            best = (*c)->name;
        }
    }
    return best;
}

static int no_such_command(const char *typed)
{
    const char *near = fb_command_suggest(typed);

    if (near)
        fb_say("'%s' is not a command, did you mean '%s'?", typed, near);
    else
        fb_say("'%s' is not a command (see 'flamebank help')", typed);
    return FB_EXIT_USAGE;
}

static int run_command(const struct fb_command *command, int argc, char **argv)
{
    struct fb_args args;
    struct fb_err err;
    int status;

    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0))
        return fb_help_command(command);
    if (fb_args_parse(command, argc, argv, &args, &err) != FB_OK) {
        fb_say("%s", err.text);
        return command->has_tail ? FB_EXIT_RECORD_FAILED : FB_EXIT_USAGE;
    }
    if (fb_name_rules_option(&args, &err) == FB_OK)
        status = command->run(&args);
    else
        status = fb_say_error(&err);
    fb_args_done(&args);
    return status;
}

int main(int argc, char **argv)
{
    const struct fb_command *command;
    const char *name;

    if (argc < 2)
        return fb_help_all(), FB_EXIT_USAGE;
    name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return fb_help_version();
    command = fb_command_find(name);
    if (!command)
        return no_such_command(name);
    return run_command(command, argc - 2, argv + 2);
}
