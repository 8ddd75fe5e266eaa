/* say.h - the one line on stderr that the sampler may write.
 *
 * From the constructor: fb_say_plain().  From the helper thread, whose
 * descriptor table is its own and empty: fb_say() borrows the host's
 * descriptor 2 for the moment (pidfd_getfd), and only if it still is the file
 * that it was at the start: a daemon may have put something else there. */
#ifndef FB_SAMPLER_SAY_H
#define FB_SAMPLER_SAY_H

enum fb_say_when {
    FB_SAY_ALWAYS,
    FB_SAY_ONCE_A_RUN, /* not again in the processes that follow */
};

/* Remembers what descriptor 2 is.  In the constructor. */
void fb_say_init(void);

/* The words for an errno. */
const char *fb_say_reason(int reason);

/* "flamebank: <text>\n", in the constructor. */
void fb_say_plain(const char *text);

/* The same from any thread, if descriptor 2 still is that file. */
void fb_say_line(const char *text);

/* "flamebank: '<subject>' <what> ['<object>'] (<reason>)\n"; object may be NULL,
 * reason (an errno) 0: without that part. */
void fb_say(enum fb_say_when when, const char *subject, const char *what, const char *object,
            int reason);

#endif
