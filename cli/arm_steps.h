/* arm_steps.h - the steps of an arm as the command line has them: several files joined, times from
 * a plan, the generator's clock brought to the arm's, counters, health, warnings.
 *
 *     if (fb_arm_steps_sniff(head, n))                       FB_STEPS_HEAD bytes
 *         r = fb_arm_steps_take(args, arm, i, source, err);  each file of steps of arm i
 *     r = fb_arm_steps_read(args, arm, i, "a.log,b.txt", err);    those of --steps
 *     r = fb_arm_steps_finish(args, arm, i, say, err);       once its profile is there, too */
#ifndef FB_CLI_ARM_STEPS_H
#define FB_CLI_ARM_STEPS_H

#include "cli/load.h"

bool fb_arm_steps_sniff(const char *head, size_t n);
enum fb_status fb_arm_steps_take(const struct fb_args *args, struct fb_arm *arm, size_t i,
                                 struct fb_source *in, struct fb_err *err);
enum fb_status fb_arm_steps_read(const struct fb_args *args, struct fb_arm *arm, size_t i,
                                 const char *paths, struct fb_err *err);
/* say_warnings: what the file itself has wrong goes to stderr. */
enum fb_status fb_arm_steps_finish(const struct fb_args *args, struct fb_arm *arm, size_t i,
                                   bool say_warnings, struct fb_err *err);
void fb_arm_steps_done(struct fb_arm *arm);

#endif
