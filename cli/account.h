/* account.h - what the samples of a bank stand for, and what they leave out. */
#ifndef FB_CLI_ACCOUNT_H
#define FB_CLI_ACCOUNT_H

#include "profile/profile.h"
#include "render/render.h"

/* The growth of a counter from its first row to its last; false with fewer than two rows. */
bool fb_account_growth(const struct fb_profile *p, const char *counter, double *ret_growth);

/* The samples' CPU time over the process's between the same two rows of counters, so that the
 * samples before the first row, which a bank gets in its first second, have no part in it. NAN
 * where it is unknown. */
double fb_account_yield(const struct fb_profile *p);

/* "Clock: cpu at 99 Hz, 4 % of the weight from overruns."; yours, NULL without a timer. */
char *fb_account_clock(const struct fb_profile *p);

/* "Sampler: 0.21 % of the arm's CPU (handler 0.15, writer 0.06), 5.1 MiB, 48.0 kB/s."; yours, NULL
 * where the bank does not say.  Over all of the run but its start, whatever window a table is of;
 * the handler without the kernel's delivery of its signal. */
char *fb_account_cost(const struct fb_profile *p);

/* That the sampler was paused, and that it lowered its rate; yours, NULL where neither is so. */
char *fb_account_events(const struct fb_profile *p);

/* Both as notes under a table; label says whose they are where several arms are shown, or NULL. */
void fb_account_note(struct fb_table *table, const struct fb_profile *p, const char *label);

/* One line, yours: what was lost, and that the samples stand for another amount of CPU time than
 * the process had (by more than the scatter of their count, and 10 %).  NULL where all is well. */
char *fb_account_text(const struct fb_profile *p);

/* The same on stderr. */
void fb_account_say(const struct fb_profile *p, const char *name);

#endif
