/* gate.h - --fail-if: conditions of the command line, judged over the steps of a diff.
 *
 *     r = fb_gates_parse(args, &gates, err);           before the pair is made
 *     gates.sums, gates.sums_count                     for fb_pair_sums_get()
 *     r = fb_gates_judge(&gates, args, pair, &table, err);
 *     gates.failed > 0: the answer is no
 *     fb_gates_done(&gates); */
#ifndef FB_CLI_GATE_H
#define FB_CLI_GATE_H

#include "cli/pair.h"
#include "diff/diff.h"

struct fb_gates {
    struct fb_gate_condition *items;
    size_t count;
    char **sums; /* "frame:REGEX=NAME" for each condition on frames */
    size_t sums_count;
    size_t failed, judged; /* condition x step */
};

enum fb_status fb_gates_parse(const struct fb_args *args, struct fb_gates *ret_gates,
                              struct fb_err *err);
void fb_gates_done(struct fb_gates *gates);

/* "frame:REGEX=REGEX" for fb_pair_sums_get(), in a form that it can take apart; yours. */
char *fb_gate_sum_text(const char *pattern);

/* The table of all conditions in the steps that are shown; also writes --junit FILE.  first_sum:
 * of the diff's sums the first that was made for the gates. */
enum fb_status fb_gates_judge(struct fb_gates *gates, const struct fb_args *args,
                              const struct fb_diff *diff, size_t first_sum,
                              const bool *wanted_steps, struct fb_table **ret_table,
                              struct fb_err *err);

#define FB_OPTIONS_GATE                                                                            \
    {"fail-if", 0, "CONDITION", "exit with 1 if it holds: 'total ms > +3%'; repeatable"},          \
        {"strict", 0, NULL, "--fail-if: also where it cannot be excluded"},                        \
    {                                                                                              \
        "junit", 0, "FILE", "--fail-if: the outcomes as JUnit XML"                                 \
    }

#endif
