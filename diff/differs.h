/* differs.h - what differs between the arms beside the numbers: was one thing changed?
 *
 *     fb_differs_new(arms, count, &(struct fb_lever){.text = "direct-linking"}, &differs);
 *     differs->finding          one sentence for the head of the result
 *     fb_differs_free(differs);
 *
 * A change can be charged to a setting only if that setting differs and nothing else does.  Both
 * "nothing differs" and "two things differ" are findings, and so is a declared lever that is the
 * same in both arms: a flag that was not passed, a "false" that was read as true.
 *
 * Each arm's facts (facts.h) are those in which its own runs agree; where they do not, that is an
 * item of its own, marked.  What follows from another item is kept and marked as implied, and not
 * counted: build IDs from an image's digest, a JVM's flag from the word that set it,
 * other jars from another class path. */
#ifndef FB_DIFF_DIFFERS_H
#define FB_DIFF_DIFFERS_H

#include <stdbool.h>
#include <stddef.h>

enum fb_fact_class { /* in the order in which they are shown */
                     FB_FACT_IMAGE,
                     FB_FACT_COMMAND,
                     FB_FACT_JVM,
                     FB_FACT_ENVIRONMENT,
                     FB_FACT_LABEL,
                     FB_FACT_JAR,
                     FB_FACT_BUILD,
                     FB_FACT_LOAD,
                     FB_FACT_MACHINE,
                     FB_FACT_SAMPLER,
                     FB_FACT_CLASS_COUNT
};

struct fb_difference {
    enum fb_fact_class class;
    char *name;
    char *control, *variant; /* NULL: the arm has no such fact        */
    const char *implied_by;  /* name of another item; NULL: its own   */
    bool is_lever;
    bool is_unsettled; /* the runs of one arm differ among themselves */
};

struct fb_lever {     /* both NULL: none was declared                             */
    const char *text; /* in the name or in a value of the difference, in any case */
    const char *key;  /* the name of the difference                               */
};

enum fb_lever_state {
    FB_LEVER_NONE,    /* none was declared            */
    FB_LEVER_ALONE,   /* it differs, and nothing else */
    FB_LEVER_AMONG,   /* it differs, and more         */
    FB_LEVER_SAME,    /* it is the same in both arms  */
    FB_LEVER_UNKNOWN, /* no arm knows of it           */
};

struct fb_differs {
    struct fb_difference *items;
    size_t count, room;
    size_t own; /* items that nothing implies, settled ones    */
    enum fb_lever_state lever;
    bool is_known; /* both arms have facts to compare             */
    char *finding; /* "one thing differs: ..."                    */
};

struct fb_diff_arm;

/* Never NULL; the arms may be freed before it. */
struct fb_differs *fb_differs_new(const struct fb_diff_arm *arms, size_t count,
                                  const struct fb_lever *lever);
void fb_differs_free(struct fb_differs *differs);

/* "command", "JVM", "environment" ... */
const char *fb_fact_class_text(enum fb_fact_class class);

#endif
