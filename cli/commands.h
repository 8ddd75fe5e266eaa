/* commands.h - the commands, one a file, and the help that is made from their rows. */
#ifndef FB_CLI_COMMANDS_H
#define FB_CLI_COMMANDS_H

#include "cli/command.h"

extern const struct fb_command fb_command_check, fb_command_compare, fb_command_convert,
    fb_command_diff, fb_command_flame, fb_command_floor, fb_command_fold, fb_command_help,
    fb_command_info, fb_command_label, fb_command_layers, fb_command_mark, fb_command_names,
    fb_command_predict, fb_command_record, fb_command_report, fb_command_run, fb_command_steps,
    fb_command_symbolize, fb_command_threads, fb_command_top;

/* Print to stdout; return an exit status. */
int fb_help_all(void);
int fb_help_command(const struct fb_command *command);
int fb_help_version(void);

#endif
