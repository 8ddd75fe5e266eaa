/* list.h - how a reader inside this folder builds a list of steps.
 *
 *     struct fb_steps *steps = fb_steps_new("run.log", "job-log");
 *     struct fb_step *s = fb_steps_add(steps);       everything unknown
 *     s->offered = 600;
 *     fb_step_name_default(s, steps->count);         after offered and warmup are known
 *     fb_steps_warn(steps, "line %zu: ...", line); */
#ifndef FB_STEPS_LIST_H
#define FB_STEPS_LIST_H

#include "steps/steps.h"

/* A reader of one format, a row of the table in steps.c.  It adds to an empty list; on failure the
 * list is thrown away.  Errors name the line, not the file. */
struct fb_steps_reader {
    const char *name;
    const char *what;
    bool has_generator; /* of struct fb_steps */
    bool (*sniff)(const char *text, size_t len);
    enum fb_status (*read)(const char *text, size_t len, struct fb_steps *steps,
                           struct fb_err *err);
};

enum {
    FB_STEPS_TEXT_MAX = 1 << 28, /* bytes of a file, unpacked */
    FB_STEPS_MAX = 100000,       /* steps of a file           */
    FB_STEP_COUNTERS_MAX = 1000, /* counters of a step        */
};

struct fb_steps *fb_steps_new(const char *source, const char *format);

/* A new step at the end, all unknown, name NULL; valid until the next one is added. */
struct fb_step *fb_steps_add(struct fb_steps *steps);

/* "200 (warmup)", "3000", "step 4" (number, 1-based) for a step that has no name yet. */
void fb_step_name_default(struct fb_step *s, size_t number);

/* The load's window: the load's length in the middle of [start_ns, end_ns], since the generator's
 * process starts before and ends after it; the whole where the length is unknown. */
void fb_step_window_default(struct fb_step *s);

/* Replaces a text of the record (&s->mode ...) by a copy. */
void fb_step_text_put(char **field, const char *text);

/* Counts failed requests in their class and in the sum; NAN counts nothing. */
void fb_step_error_add(struct fb_step *s, enum fb_step_error error, double count);

/* Keeps one of the generator's own counters. */
void fb_step_counter_add(struct fb_step *s, const char *name, double value);

void fb_steps_warn(struct fb_steps *steps, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The next line of text (without its end, a CR cut) from *at on; false at the end of the text. */
bool fb_text_line(const char *text, size_t len, size_t *at, const char **ret_line, size_t *ret_len);

#endif
