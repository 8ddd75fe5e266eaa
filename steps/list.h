/* list.h - how a reader inside this folder builds a list of steps.
 *
 *     struct fb_steps *steps = fb_steps_new("run.log", "job-log");
 *     struct fb_step *s = fb_steps_add(steps);       everything unknown
 *     s->offered = 600;
 *     fb_step_name_default(s, steps->count);         after offered and warmup are known
 *     fb_steps_warn(steps, "line %zu: ...", line); */
#ifndef FB_STEPS_LIST_H
#define FB_STEPS_LIST_H

#include "base/source.h"
#include "steps/steps.h"

/* A reader of one format, a row of the table in steps.c.  It adds to an empty list; on failure the
 * list is thrown away.  Errors and warnings name the line, not the file. */
struct fb_steps_reader {
    const char *name;
    const char *what;
    bool has_generator;                        /* of struct fb_steps                    */
    bool (*sniff)(const char *head, size_t n); /* of the first FB_STEPS_HEAD bytes       */
    enum fb_status (*read)(struct fb_source *in, struct fb_steps *steps, struct fb_err *err);
};

enum {
    FB_STEPS_TEXT_MAX = 1 << 26, /* bytes of what must be held whole: a document */
    FB_STEPS_MAX = 100000,       /* steps of a file           */
    FB_STEP_COUNTERS_MAX = 1000, /* counters of a step        */
};

struct fb_steps *fb_steps_new(const char *source, const char *format);

/* A new step at the end, all unknown, name NULL; valid until the next one is added. */
struct fb_step *fb_steps_add(struct fb_steps *steps);

/* Takes the last step away again. */
void fb_steps_drop(struct fb_steps *steps);

/* Fails where a file has more steps than FB_STEPS_MAX. */
enum fb_status fb_steps_room(const struct fb_steps *steps, struct fb_err *err);

/* "200 (warmup)", "3000", "step 4" (number, 1-based) for a step that has no name yet. */
void fb_step_name_default(struct fb_step *s, size_t number);

/* The load's window: the load's length in the middle of [start_ns, end_ns], since the generator's
 * process starts before and ends after it; the whole where the length is unknown. */
void fb_step_window_default(struct fb_step *s);

/* A copy that lives as long as the list, for a text of a record. */
const char *fb_steps_text(struct fb_steps *steps, const char *text);

/* Counts failed requests in their class and in the sum; NAN counts nothing. */
void fb_step_error_add(struct fb_step *s, enum fb_step_error error, double count);

/* Says that the end of the run cut so many requests off: they were sent, and neither delivered nor
 * failed. */
void fb_steps_warn_cut_off(struct fb_steps *steps, const struct fb_step *s, double count);

/* Keeps one of the generator's own counters. */
void fb_step_counter_add(struct fb_steps *steps, struct fb_step *s, const char *name, double value);

/* Sets the percentile `point` (0 to 1), where it is one that the record has a field for. */
void fb_step_percentile_put(struct fb_step *s, double point, double seconds);

/* Counts answers of one HTTP status: 2xx and 3xx are delivered, others errors of their class; what
 * is no status (0, -1) is a request that got no answer. */
void fb_step_status_add(struct fb_step *s, double status, double count);

/* Says once what a generator that waits for answers before it sends cannot see. */
void fb_steps_warn_closed_loop(struct fb_steps *steps, const char *tool);

void fb_steps_warn(struct fb_steps *steps, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The next line of text (without its end, a CR cut) from *at on; false at the end of the text. */
bool fb_text_line(const char *text, size_t len, size_t *at, const char **ret_line, size_t *ret_len);

bool fb_line_begins(const char *text, size_t len, const char *prefix);

/* Whether some line of the text begins with the prefix. */
bool fb_text_has_line(const char *text, size_t len, const char *prefix);

/* A number, with blanks around it; NAN for anything else, infinities and hexadecimals too. */
double fb_text_number(const char *text, size_t len);

#endif
