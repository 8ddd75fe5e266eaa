/* The picture of ramps: what is drawn, and that no name breaks out of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/plot.h"
#include "render/render.h"

static struct fb_steps *parse(const char *rows)
{
    struct fb_buf text = {0};
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    fb_buf_puts(&text, "offered\tsecs\twarmup\tdelivered\tknee_per_s\tp99_ms\tcpu_ms_per_req\n");
    fb_buf_puts(&text, rows);
    if (fb_steps_parse(text.data, text.len, "t", &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    fb_buf_done(&text);
    fb_steps_judge(steps);
    return steps;
}

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;

    for (; (text = strstr(text, what)) != NULL; text++)
        n++;
    return n;
}

static void draw(const char *name, const char *rows, struct fb_buf *out)
{
    struct fb_steps *steps = parse(rows);
    struct fb_ramp_plot_arm arm = {.name = name, .steps = steps};
    struct fb_knee knee = fb_knee_default();
    struct fb_ramp_plot plot = {.title = name, .arms = &arm, .arms_count = 1, .knee = &knee};

    fb_ramp_measure(steps, &knee, &arm.ramp);
    fb_render_ramp_plot(&plot, out);
    fb_buf_putc(out, '\0');
    fb_steps_free(steps);
}

static void every_step_but_the_warm_up_is_a_point_of_each_panel(void **state)
{
    struct fb_buf out = {0};

    (void)state;
    draw("arm",
         "200\t110\t1\t200\t0\t900\t9\n"
         "400\t110\t0\t400\t0\t9\t3\n"
         "800\t110\t0\t800\t0\t10\t2\n"
         "1200\t110\t0\t900\t300\t300\t1.5\n"
         "1400\t110\t0\t910\t490\tn/a\t1.5\n",
         &out);
    /* 4 steps in 4 panels, but one p99 that is not known */
    assert_int_equal(count_of(out.data, "/s: "), 15);
    assert_int_equal(count_of(out.data, "guide plateau"), 1);
    assert_int_equal(count_of(out.data, "guide knee"), 4);
    /* FIRST and both OVER are hollow, and so is the mark of the legend */
    assert_int_equal(count_of(out.data, " hollow\""), 3 * 4 - 1 + 1);
    assert_null(strstr(out.data, "nan"));
    fb_buf_done(&out);
}

static void what_is_not_known_is_said_and_not_drawn(void **state)
{
    struct fb_buf out = {0};

    (void)state;
    draw("arm", "400\t110\t0\t400\t0\tn/a\tn/a\n", &out);
    assert_int_equal(count_of(out.data, "not known of any step"), 3);
    assert_null(strstr(out.data, "nan"));
    assert_null(strstr(out.data, "inf"));
    fb_buf_done(&out);
}

static void no_name_breaks_out(void **state)
{
    struct fb_buf out = {0};

    (void)state;
    draw("</title><script>x</script>&\"'", "400\t110\t0\t400\t0\t9\t3\n", &out);
    assert_null(strstr(out.data, "<script"));
    assert_non_null(strstr(out.data, "&lt;/title&gt;&lt;script&gt;"));
    fb_buf_done(&out);
}

static void axes_end_at_round_numbers(void **state)
{
    static const struct {
        double most, end, step;
    } cases[] = {{3200, 4000, 1000}, {0.78, 0.8, 0.2},      {1, 1, 0.2},
                 {0, 1, 0.2},        {32000, 40000, 10000}, {4800, 5000, 1000}};
    struct fb_plot_axis axis;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fb_plot_axis_linear(&axis, cases[i].most);
        assert_true(fabs(axis.most - cases[i].end) < 1e-9 &&
                    fabs(axis.step - cases[i].step) < 1e-9);
    }
    fb_plot_axis_log(&axis, 9.01, 2635);
    assert_true(axis.least == 1 && axis.most == 10000);
    fb_plot_axis_log(&axis, 10, 10);
    assert_true(axis.least == 10 && axis.most == 100);
    fb_plot_axis_log(&axis, NAN, NAN);
    assert_true(axis.least == 1 && axis.most == 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_but_the_warm_up_is_a_point_of_each_panel),
        cmocka_unit_test(what_is_not_known_is_said_and_not_drawn),
        cmocka_unit_test(no_name_breaks_out),
        cmocka_unit_test(axes_end_at_round_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
