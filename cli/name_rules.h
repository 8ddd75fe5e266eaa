/* name_rules.h - the rules of names (docs/names.md) on the command line, and what they did to the
 * profiles of a view.
 *
 *     r = fb_name_rules_option(args, err);                   once, before a command runs
 *     ...
 *     fb_ambiguous_find(&ambiguous, fns, tree, p, function_of_frame, node_of_stack);   by profile
 *     fb_note_names(view, hint, table);                       a sentence or two under a table
 *     fb_ambiguous_done(&ambiguous);
 *
 * A function is ambiguous where one parent calls two functions of one profile that have its name:
 * two lambdas of a method, two methods that differ in their parameters.  That two profiles spell
 * one function in two ways makes none, nor that a compiler made parts or clones of it. */
#ifndef FB_CLI_NAME_RULES_H
#define FB_CLI_NAME_RULES_H

#include "cli/options.h"
#include "profile/profile.h"
#include "render/render.h"

struct fb_view;

struct fb_ambiguous {
    bool *is; /* by function, of several tiers the first (`same`); NULL: none */
    size_t room;
};

/* Takes --no-name-rule, if the command has it, into effect for the whole process. */
enum fb_status fb_name_rules_option(const struct fb_args *args, struct fb_err *err);

/* Marks the functions that p makes ambiguous.  Nothing is, where names are raw. */
void fb_ambiguous_find(struct fb_ambiguous *ambiguous, const struct fb_functions *fns,
                       const struct fb_calltree *tree, const struct fb_profile *p,
                       const uint32_t *function_of_frame, const uint32_t *node_of_stack);
bool fb_ambiguous_is(const struct fb_ambiguous *ambiguous, const struct fb_functions *fns,
                     uint32_t function);
void fb_ambiguous_done(struct fb_ambiguous *ambiguous);

/* Says which rules fired, how many raw names became how many functions, and which of those are
 * ambiguous; nothing where no rule did.  hint: a sentence in between, or "". */
void fb_note_names(const struct fb_view *view, const char *hint, struct fb_table *table);

#endif
