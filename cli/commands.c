/* The table of commands, in the order of the way of the data: `flamebank help` lists them so. */
#include "cli/commands.h"

const struct fb_command *const fb_commands[] = {
    &fb_command_record,    &fb_command_run,
    &fb_command_mark,      &fb_command_label,
    &fb_command_info,      &fb_command_check,
    &fb_command_symbolize, &fb_command_convert,
    &fb_command_fold,      &fb_command_top,
    &fb_command_layers,    &fb_command_threads,
    &fb_command_names,     &fb_command_steps,
    &fb_command_diff,      &fb_command_compare,
    &fb_command_floor,     &fb_command_predict,
    &fb_command_flame,     &fb_command_report,
    &fb_command_help,      NULL,
};
