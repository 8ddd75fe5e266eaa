/* Predictions: the file, its registrations, and the answers. */
#include <string.h>

#include "world.h"

static const char written[] =
    "{\"note\": \"mine\", \"predictions\": [{\"name\": \"cheaper\", \"metric\": \"layer:codec "
    "ms\", "
    "\"step\": 900, \"outcomes\": [{\"name\": \"falls\", \"if\": \"< -10%\", \"held\": true}, "
    "{\"name\": \"flat\", \"if\": [\"> -5%\", \"< +5%\"], \"held\": false}]}]}";

static const int64_t registered_ns = 1700000000123000000;

/* The text with what is new registered at that time; yours. */
static char *registered(const char *text, int64_t now_ns, size_t *ret_added)
{
    struct fb_buf out = {0};
    struct fb_err err;

    assert_int_equal(
        fb_predictions_register(text, strlen(text), "p.json", now_ns, &out, ret_added, &err),
        FB_OK);
    return fb_buf_take(&out);
}

static struct fb_predictions *parsed(const char *text)
{
    struct fb_predictions *p;
    struct fb_err err;

    assert_int_equal(fb_predictions_read(text, strlen(text), "p.json", &p, &err), FB_OK);
    return p;
}

static void is_refused(const char *text, const char *says)
{
    struct fb_predictions *p;
    struct fb_err err;

    assert_int_equal(fb_predictions_read(text, strlen(text), "p.json", &p, &err), FB_EFORMAT);
    if (strstr(err.text, says) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, says);
    assert_non_null(strstr(err.text, "p.json"));
}

static void a_registration_keeps_time_and_text(void **state)
{
    size_t added;
    char *text = registered(written, registered_ns + 456789, &added);
    struct fb_predictions *p = parsed(text);

    (void)state;
    assert_int_equal(added, 1);
    assert_int_equal(p->count, 1);
    assert_true(p->items[0].registered_ns == registered_ns);
    assert_false(p->items[0].is_amendment);
    assert_int_equal(strlen(p->items[0].hash), 64);
    assert_non_null(strstr(text, "\"note\": \"mine\""));
    fb_predictions_free(p);
    free(text);
}

static void registering_again_adds_nothing(void **state)
{
    size_t added;
    char *text = registered(written, registered_ns, &added);
    char *again = registered(text, registered_ns + 1000000000, &added);

    (void)state;
    assert_int_equal(added, 0);
    assert_string_equal(again, "");
    free(again);
    free(text);
}

/* `from` in the text, each time, by `to` of the same length. */
static void put_over(char *text, const char *from, const char *to, bool all)
{
    for (char *at = strstr(text, from); at != NULL; at = all ? strstr(at + 1, from) : NULL)
        memcpy(at, to, strlen(to));
}

static void what_is_changed_later_is_an_amendment(void **state)
{
    size_t added;
    char *text = registered(written, registered_ns, &added), *again;
    struct fb_predictions *p;

    (void)state;
    put_over(text, "< -10%", "< -30%", false); /* the list above the registration */
    p = parsed(text);
    assert_int_equal(p->count, 2);
    assert_true(p->items[1].registered_ns == 0);
    fb_predictions_free(p);
    again = registered(text, registered_ns + 5000000000, &added);
    assert_int_equal(added, 1);
    p = parsed(again);
    assert_int_equal(p->count, 2);
    assert_true(p->items[1].is_amendment);
    assert_true(p->items[1].registered_ns == registered_ns + 5000000000);
    assert_true(p->items[0].registered_ns == registered_ns);
    fb_predictions_free(p);
    free(again);
    free(text);
}

static void a_changed_registration_is_refused(void **state)
{
    size_t added;
    char *text = registered(written, registered_ns, &added);

    (void)state;
    put_over(text, "< -10%", "< -30%", true);
    is_refused(text, "changed after it was registered");
    free(text);
    text = registered(written, registered_ns, &added);
    put_over(text, "1700000000123", "1600000000123", true);
    is_refused(text, "changed after it was registered");
    free(text);
}

static void what_is_no_file_of_predictions_is_said(void **state)
{
    (void)state;
    is_refused("", "a JSON value");
    is_refused("[]", "a list 'predictions'");
    is_refused("{\"predictions\": 3}", "a list 'predictions'");
    is_refused("{\"predictions\": [{}]}", "prediction 1: 'name', 'metric'");
    is_refused("{\"predictions\": [{\"name\": \"a\", \"metric\": \"cpu\", \"outcomes\": [{}]}]}",
               "outcome 1: 'name', 'if' and 'held'");
    is_refused("{\"predictions\": [{\"name\": \"a\", \"metric\": \"cpu\", \"step\": [600], "
               "\"outcomes\": [{\"name\": \"b\", \"if\": \"> +5%\", \"held\": true}]}]}",
               "'step' (a name or a rate)");
    is_refused("{\"predictions\": [{\"name\": \"a\", \"metric\": \"speed\", \"outcomes\": "
               "[{\"name\": \"b\", \"if\": \"> 3\", \"held\": true}]}]}",
               "no metric 'speed'");
    is_refused("{\"predictions\": [{\"name\": \"a\", \"metric\": \"cpu\", \"outcomes\": "
               "[{\"name\": \"b\", \"if\": [], \"held\": true}]}]}",
               "at least one condition");
}

/* A diff of one step that began at `start_ns`, whose codec changed so much in ms. */
static struct fb_prediction_result answered(int64_t start_ns, double lo, double hi,
                                            const char *denial)
{
    size_t added;
    char *text = registered(written, registered_ns, &added);
    struct fb_predictions *p = parsed(text);
    struct fb_step window = {.start_ns = start_ns};
    struct fb_diff_arm arm = {.label = "c.fbank"};
    struct fb_diff_run run = {.arm = &arm, .step = &window};
    struct fb_diff_row layers[2] = {{.name = (char *)(uintptr_t) "codec",
                                     .d_lo = log1p(lo),
                                     .d_hi = log1p(hi),
                                     .change = (lo + hi) / 2,
                                     .verdict = FB_VERDICT_DIFF,
                                     .reason = ""},
                                    {.name = (char *)(uintptr_t) "total"}};
    struct fb_diff_step step = {.name = (char *)(uintptr_t) "900",
                                .offered = 900,
                                .runs = &run,
                                .runs_count = 1,
                                .layers = layers,
                                .layers_count = 2,
                                .denial = denial};
    struct fb_diff_input in = {.arms = &arm, .arms_count = 1};
    struct fb_diff diff = {.steps = &step, .steps_count = 1, .input = &in};
    struct fb_prediction_result result;
    struct fb_err err;

    assert_true(fb_prediction_is_of(&p->items[0], &step));
    assert_int_equal(fb_prediction_judge(&diff, 0, &p->items[0], &result, &err), FB_OK);
    fb_predictions_free(p);
    free(text);
    return result;
}

static void the_whole_interval_decides(void **state)
{
    const int64_t later = registered_ns + 60000000000;

    (void)state;
    assert_int_equal(answered(later, -0.30, -0.12, "").state, FB_PREDICTION_HELD);
    assert_int_equal(answered(later, -0.04, 0.03, "").state, FB_PREDICTION_FAILED);
    assert_int_equal(answered(later, -0.12, -0.03, "").state, FB_PREDICTION_INDETERMINATE);
    assert_int_equal(answered(later, -0.09, -0.06, "").state, FB_PREDICTION_INDETERMINATE);
    assert_int_equal(answered(later, -0.30, -0.12, "OVER").state, FB_PREDICTION_UNANSWERED);
}

static void a_late_registration_is_refused(void **state)
{
    (void)state;
    assert_int_equal(answered(registered_ns, -0.30, -0.12, "").state, FB_PREDICTION_REFUSED);
    assert_int_equal(answered(registered_ns - 1000000000, -0.30, -0.12, "").state,
                     FB_PREDICTION_REFUSED);
    assert_int_equal(answered(0, -0.30, -0.12, "").state, FB_PREDICTION_REFUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_registration_keeps_time_and_text),
        cmocka_unit_test(registering_again_adds_nothing),
        cmocka_unit_test(what_is_changed_later_is_an_amendment),
        cmocka_unit_test(a_changed_registration_is_refused),
        cmocka_unit_test(what_is_no_file_of_predictions_is_said),
        cmocka_unit_test(the_whole_interval_decides),
        cmocka_unit_test(a_late_registration_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
