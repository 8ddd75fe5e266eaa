/* facts.h - what is known about one arm's setting: one name and one value a fact.
 *
 *     fb_facts_of_arm(arm, &facts);
 *     fb_facts_done(&facts);
 *
 * Facts come from the bank's manifest, its modules and the arm's steps.  The command line is taken
 * apart word by word, so that "-Xmx1g" and "-Xmx2g" are one fact, "-Xmx", with two values.  What is
 * different in any two runs is no fact: process ids, times, the pod's name, ports, where the bank
 * lies.  docs/differs.md lists what is left out. */
#ifndef FB_DIFF_FACTS_H
#define FB_DIFF_FACTS_H

#include "diff/diff.h"

struct fb_fact {
    enum fb_fact_class class;
    char *name;
    char *value;  /* of a name that came several times all of them, "a.jar b.jar" */
    size_t order; /* of its first appearance */
};

struct fb_facts {
    struct fb_fact *items; /* by class, then name; once sorted no name is there twice */
    size_t count, room;
};

/* Whether two values of a jar, "PATH BYTES crc32:xxxxxxxx", have the same bytes and hash: the same
 * jar in another place is the same. */
bool fb_facts_is_same_jar(const char *control, const char *variant);

void fb_facts_of_arm(const struct fb_diff_arm *arm, struct fb_facts *ret_facts);
void fb_facts_done(struct fb_facts *facts);

/* Takes one command line apart (words.h); the first word is the program, and one with blanks in it
 * is one value. */
void fb_facts_add_command(struct fb_facts *facts, enum fb_fact_class class, const char *command);

/* Sorts, and makes one fact of those with one name. */
void fb_facts_sort(struct fb_facts *facts);

/* Whether two values of that name differ in nothing but a port number. */
bool fb_facts_is_port(const char *name, const char *control, const char *variant);

#endif
