/* run_plan.h - what `flamebank run` is to do: ramps of segments, in order, from the command line.
 *
 * A ramp is one arm through all rates; a segment holds one rate (with --toggle, one state of the
 * lever at one rate).  Two arms go C V V C, so that what drifts by time meets both alike. */
#ifndef FB_CLI_RUN_PLAN_H
#define FB_CLI_RUN_PLAN_H

#include "cli/options.h"

enum fb_run_target {
    FB_RUN_START,   /* a command, started under the sampler for each ramp */
    FB_RUN_RUNNING, /* a bank or the process that writes one              */
    FB_RUN_REMOTE,  /* nothing here to start or to mark                   */
};

struct fb_run_arm {
    char *name;
    enum fb_run_target target;
    char *text;   /* the command, bank or process, as given */
    char **words; /* of a command; NULL-terminated          */
};

struct fb_run_segment {
    size_t ramp, number; /* from 0; number within the ramp */
    double rate, seconds;
    bool warmup;
    int state;  /* of the lever: -1 none, 0 off, 1 on */
    char *name; /* "600", "300 (warmup)", "600 on 2"  */
};

struct fb_run_ramp {
    size_t arm, number; /* the how-manieth ramp of that arm, from 1 */
    char *name;         /* "control-1"                              */
};

struct fb_run_plan {
    struct fb_run_arm *arms;
    size_t arms_count;
    struct fb_run_ramp *ramps;
    size_t ramps_count;
    struct fb_run_segment *segments;
    size_t segments_count, room;
    const char *out, *ready;    /* folder; command that succeeds once an arm serves, or NULL */
    const char *on, *off;       /* commands that flip the lever, or NULL                     */
    double settle_s;            /* between an arm's start and its first segment              */
    const char *const *command; /* of the generator, with {rate} and so on in it */
    size_t command_count;
    bool says_seconds; /* the command has {seconds} in it: it ends by itself */
};

enum fb_status fb_run_plan_make(const struct fb_args *args, struct fb_run_plan *ret_plan,
                                struct fb_err *err);
void fb_run_plan_done(struct fb_run_plan *plan);

/* All that must be the same for a run to be gone on with; yours. */
char *fb_run_plan_text(const struct fb_run_plan *plan);

/* The words of a command, quotes as in a shell and nothing else of one; NULL-terminated, each and
 * the array yours.  NULL: a quote is not closed, or there is no word. */
char **fb_run_words(const char *text);
void fb_run_words_free(char **words);

/* The generator's command line as it was given, in one line, quoted as in a shell.  Yours. */
char *fb_run_generator(const struct fb_run_plan *plan);

/* The generator's words for a segment: {rate}, {seconds}, {arm}, {step} put in. */
char **fb_run_command(const struct fb_run_plan *plan, const struct fb_run_segment *s);

#endif
