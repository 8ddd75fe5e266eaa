/* layer_trust.h - whether rules can be believed: --explain, --lint, --suggest of `layers`. */
#ifndef FB_CLI_LAYER_TRUST_H
#define FB_CLI_LAYER_TRUST_H

#include "cli/load.h"

/* Each says its answer on stdout and returns the exit status. */

/* Which rule takes the stack that was typed, and which others would; no profile is needed. */
int fb_explain_stack(const struct fb_args *args, const struct fb_view *view, const char *stack);
/* The same for all stacks of one arm that end in a function of that name. */
int fb_explain_frame(const struct fb_args *args, const struct fb_view *view, const char *name);
/* 1 if there are errors. */
int fb_lint_say(const struct fb_args *args, const struct fb_view *view);
/* A rules file for the packages that no rule takes. */
int fb_suggest_say(const struct fb_args *args, const struct fb_view *view);

#endif
