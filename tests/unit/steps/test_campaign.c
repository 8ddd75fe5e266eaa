/* The health rules over 43 published runs: a rule that flags over 5 % of the steps that nobody
 * disputes is wrong.  Skipped, and seen to be, where the data is not there (FB_SHARED names the
 * folder that has data/campaign; default ../shared beside the tree). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "steps/steps.h"

enum { MARKS = 16 };

struct tally {
    size_t runs, steps, undisputed, marks[MARKS];
    char flagged[MARKS][4000];
};

/* Steps that the campaign's own text calls sick, or that its two runs of a pair contradict. */
static const char *const disputed[] = {
    "RB-direct-unary.tsv 2400",
    "TR-unary-p1-codec.tsv 3000",
    NULL,
};

static bool is_disputed(const char *where)
{
    for (const char *const *d = disputed; *d; d++)
        if (strcmp(*d, where) == 0)
            return true;
    return false;
}

static void step_count(struct tally *t, const char *file, const struct fb_step *s)
{
    char *where = fb_format("%s %s", file, s->name);

    t->steps++;
    if (!s->warmup && !is_disputed(where)) {
        t->undisputed++;
        for (int m = 0; m < MARKS; m++) {
            size_t used = strlen(t->flagged[m]);

            if (!(s->health >> m & 1))
                continue;
            t->marks[m]++;
            (void)snprintf(t->flagged[m] + used, sizeof t->flagged[m] - used, "%s%s",
                           used ? ", " : "", where);
        }
    }
    free(where);
}

static bool is_step_table(const char *path)
{
    struct fb_buf text = {0};
    struct fb_err err;
    bool is = fb_file_read(path, &text, &err) == FB_OK && text.len > 12 &&
              memcmp(text.data, "step\twarmup\t", 12) == 0;

    fb_buf_done(&text);
    return is;
}

static void run_count(struct tally *t, const char *path)
{
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    if (!is_step_table(path))
        return;
    if (fb_steps_read(path, &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    fb_steps_judge(steps);
    t->runs++;
    for (size_t i = 0; i < steps->count; i++)
        step_count(t, strrchr(path, '/') + 1, &steps->items[i]);
    assert_int_equal(steps->warnings_count > 1, 0);
    fb_steps_free(steps);
}

/* Facts of the ramp (past the knee, first after the warm-up), not judgements on a step. */
static bool is_fact(int m)
{
    return (1u << m) & (FB_STEP_WARMUP | FB_STEP_FIRST | FB_STEP_SHED | FB_STEP_OVER);
}

static void no_rule_flags_over_5_percent_of_the_undisputed_steps(void **state)
{
    const char *shared = getenv("FB_SHARED");
    char *pattern =
        fb_format("%s/data/campaign/*.tsv", shared ? shared : FB_FIXTURES "/../../shared");
    struct tally t = {0};
    glob_t files;
    int wrong = 0;

    (void)state;
    if (glob(pattern, 0, NULL, &files) != 0) {
        print_message("no %s: skipped\n", pattern);
        free(pattern);
        skip();
    }
    for (size_t i = 0; i < files.gl_pathc; i++)
        run_count(&t, files.gl_pathv[i]);
    globfree(&files);
    free(pattern);
    print_message("%zu runs, %zu steps, %zu undisputed\n", t.runs, t.steps, t.undisputed);
    for (int m = 0; m < MARKS; m++) {
        double percent = 100.0 * (double)t.marks[m] / (double)t.undisputed;

        if (t.marks[m] > 0)
            print_message("%-9s %3zu, %4.1f %%%s%.900s\n", fb_step_health_word(1u << m), t.marks[m],
                          percent, is_fact(m) ? "" : ": ", is_fact(m) ? "" : t.flagged[m]);
        if (!is_fact(m) && percent > 5)
            wrong++;
    }
    assert_true(t.runs >= 40 && t.steps > 300);
    assert_int_equal(wrong, 0);
}

static void the_steps_that_the_campaign_calls_sick_are_found(void **state)
{
    const char *shared = getenv("FB_SHARED");
    char *folder = fb_format("%s/data/campaign", shared ? shared : FB_FIXTURES "/../../shared");
    char *event = fb_format("%s/RB-direct-unary.tsv", folder);
    char *last = fb_format("%s/TR-unary-p1-codec.tsv", folder);
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    (void)state;
    if (fb_steps_read(event, &steps, &err) == FB_OK) {
        fb_steps_judge(steps);
        assert_true(steps->items[3].health & FB_STEP_EVENT);
        fb_steps_free(steps);
        assert_int_equal(fb_steps_read(last, &steps, &err), FB_OK);
        fb_steps_judge(steps);
        assert_int_equal(steps->warnings_count, 1);
        fb_steps_free(steps);
        steps = NULL;
    } else {
        print_message("%s: skipped\n", err.text);
        err.status = FB_ENOTFOUND;
    }
    free(folder);
    free(event);
    free(last);
    if (err.status == FB_ENOTFOUND)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_rule_flags_over_5_percent_of_the_undisputed_steps),
        cmocka_unit_test(the_steps_that_the_campaign_calls_sick_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
