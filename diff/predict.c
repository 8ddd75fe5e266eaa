/* predict.c - the predictions file, and its verdicts. */
#include "diff/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"

/* ---- reading ---- */

static char *text_member(const struct fb_json *object, const char *key)
{
    const char *text = fb_json_string(fb_json_get(object, key), NULL);

    return text != NULL ? fb_strdup(text) : NULL;
}

/* Of another kind than was expected it would widen the prediction without a word. */
static bool has(const struct fb_json *object, const char *key)
{
    const struct fb_json *v = fb_json_get(object, key);

    return v != NULL && fb_json_kind(v) != FB_JSON_NULL;
}

/* A step may be written as a number: 3000. */
static char *step_member(const struct fb_json *object)
{
    const struct fb_json *step = fb_json_get(object, "step");

    if (fb_json_kind(step) == FB_JSON_NUMBER)
        return fb_format("%.15g", fb_json_number(step, 0));
    return text_member(object, "step");
}

static enum fb_status condition_add(const char *metric, const struct fb_json *condition,
                                    struct fb_prediction_outcome *outcome, struct fb_err *err)
{
    const char *order = fb_json_string(condition, NULL);
    struct fb_err inner;
    char *text;
    enum fb_status r;

    if (order == NULL)
        return fb_fail(err, FB_EFORMAT,
                       "'if': a text such as \"> +5%%\", or several, was expected");
    text = fb_format("%s %s", metric, order);
    r = fb_gate_parse(text, &outcome->conditions[outcome->count], &inner);
    outcome->count += r == FB_OK;
    free(text);
    return r == FB_OK ? r : fb_fail(err, FB_EFORMAT, "%s", inner.text);
}

static enum fb_status outcome_read(const char *metric, const struct fb_json *v,
                                   struct fb_prediction_outcome *outcome, struct fb_err *err)
{
    const struct fb_json *conditions = fb_json_get(v, "if");
    bool is_list = fb_json_kind(conditions) == FB_JSON_ARRAY;
    size_t count = is_list ? fb_json_count(conditions) : 1;
    enum fb_status r = FB_OK;

    outcome->name = text_member(v, "name");
    if (outcome->name == NULL || fb_json_kind(fb_json_get(v, "held")) != FB_JSON_BOOL)
        return fb_fail(err, FB_EFORMAT, "'name', 'if' and 'held' (true or false) were expected");
    outcome->held = fb_json_bool(fb_json_get(v, "held"), false);
    if (count == 0)
        return fb_fail(err, FB_EFORMAT, "'if': at least one condition was expected");
    outcome->conditions = fb_alloc_array(count, sizeof *outcome->conditions);
    for (size_t i = 0; i < count && r == FB_OK; i++)
        r = condition_add(metric, is_list ? fb_json_at(conditions, i) : conditions, outcome, err);
    return r;
}

static enum fb_status prediction_read(const struct fb_json *v, struct fb_prediction *p,
                                      struct fb_err *err)
{
    const struct fb_json *outcomes = fb_json_get(v, "outcomes");
    enum fb_status r = FB_OK;

    p->hash = "";
    p->name = text_member(v, "name");
    p->metric = text_member(v, "metric");
    p->note = text_member(v, "note");
    p->control = text_member(v, "control");
    p->variant = text_member(v, "variant");
    p->step = step_member(v);
    if (p->name == NULL || p->metric == NULL || fb_json_count(outcomes) == 0 ||
        fb_json_kind(outcomes) != FB_JSON_ARRAY)
        return fb_fail(err, FB_EFORMAT, "'name', 'metric' and a list of 'outcomes' were expected");
    if ((has(v, "step") && p->step == NULL) || (has(v, "control") && p->control == NULL) ||
        (has(v, "variant") && p->variant == NULL))
        return fb_fail(err, FB_EFORMAT,
                       "'step' (a name or a rate), 'control' and 'variant' are texts where they "
                       "are there");
    p->outcomes = fb_alloc_array(fb_json_count(outcomes), sizeof *p->outcomes);
    for (size_t i = 0; i < fb_json_count(outcomes) && r == FB_OK; i++) {
        p->count++;
        r = outcome_read(p->metric, fb_json_at(outcomes, i), &p->outcomes[i], err);
        if (r != FB_OK)
            r = fb_within(err, "outcome %zu", i + 1);
    }
    return r;
}

static enum fb_status list_read(const struct fb_json *list, struct fb_predictions *all,
                                struct fb_err *err)
{
    enum fb_status r = FB_OK;

    if (fb_json_kind(list) != FB_JSON_ARRAY)
        return fb_fail(err, FB_EFORMAT, "a list 'predictions' was expected");
    for (size_t i = 0; i < fb_json_count(list) && r == FB_OK; i++) {
        fb_vec_reserve(&all->items, &all->room, all->count + 1, sizeof *all->items);
        all->items[all->count] = (struct fb_prediction){0};
        r = prediction_read(fb_json_at(list, i), &all->items[all->count++], err);
        if (r != FB_OK)
            r = fb_within(err, "prediction %zu", i + 1);
    }
    return r;
}

/* What is hashed: the time and the predictions, as one line of sorted JSON. */
static void registration_hash(int64_t time_ns, const char *predictions,
                              char ret_hash[FB_SHA256_TEXT])
{
    char *text = fb_format("%lld %s", (long long)time_ns, predictions);

    fb_sha256_text(text, strlen(text), ret_hash);
    free(text);
}

static enum fb_status registration_read(const struct fb_json *v, size_t index,
                                        struct fb_predictions *all, struct fb_err *err)
{
    const struct fb_json *list = fb_json_get(v, "predictions");
    const char *hash = fb_json_string(fb_json_get(v, "sha256"), "");
    int64_t time_ns = (int64_t)fb_json_number(fb_json_get(v, "time_ms"), 0) * 1000000;
    size_t first = all->count;
    struct fb_buf text = {0};
    enum fb_status r = list_read(list, all, err);

    if (r != FB_OK)
        return r;
    fb_json_put(&text, list, 0);
    registration_hash(time_ns, text.data != NULL ? text.data : "", all->hashes[index]);
    fb_buf_done(&text);
    if (time_ns <= 0 || strcmp(hash, all->hashes[index]) != 0)
        return fb_fail(err, FB_EFORMAT,
                       "its hash does not fit what it holds: it was changed after it was "
                       "registered");
    for (size_t i = first; i < all->count; i++) {
        all->items[i].registered_ns = time_ns;
        all->items[i].is_amendment = index > 0;
        all->items[i].hash = all->hashes[index];
    }
    return FB_OK;
}

/* Whether a registration holds that prediction word by word. */
static bool is_registered(const struct fb_json *registrations, const struct fb_json *prediction)
{
    struct fb_buf wanted = {0}, text = {0};
    bool found = false;

    fb_json_put(&wanted, prediction, 0);
    for (size_t i = 0; i < fb_json_count(registrations) && !found; i++) {
        const struct fb_json *list = fb_json_get(fb_json_at(registrations, i), "predictions");

        for (size_t j = 0; j < fb_json_count(list) && !found; j++) {
            text.len = 0;
            fb_json_put(&text, fb_json_at(list, j), 0);
            found = text.len == wanted.len && memcmp(text.data, wanted.data, text.len) == 0;
        }
    }
    fb_buf_done(&wanted);
    fb_buf_done(&text);
    return found;
}

static enum fb_status root_read(const struct fb_json *root, struct fb_predictions *all,
                                struct fb_err *err)
{
    const struct fb_json *registrations = fb_json_get(root, "registered");
    const struct fb_json *list = fb_json_get(root, "predictions");
    enum fb_status r = FB_OK;

    all->registrations = fb_json_count(registrations);
    all->hashes = fb_alloc_array(all->registrations, sizeof *all->hashes);
    for (size_t i = 0; i < all->registrations && r == FB_OK; i++) {
        r = registration_read(fb_json_at(registrations, i), i, all, err);
        if (r != FB_OK)
            r = fb_within(err, "registration %zu", i + 1);
    }
    if (r == FB_OK && fb_json_kind(list) != FB_JSON_ARRAY)
        return fb_fail(err, FB_EFORMAT, "a list 'predictions' was expected");
    for (size_t i = 0; i < fb_json_count(list) && r == FB_OK; i++) {
        if (is_registered(registrations, fb_json_at(list, i)))
            continue;
        fb_vec_reserve(&all->items, &all->room, all->count + 1, sizeof *all->items);
        all->items[all->count] = (struct fb_prediction){0};
        r = prediction_read(fb_json_at(list, i), &all->items[all->count++], err);
        if (r != FB_OK)
            r = fb_within(err, "prediction %zu", i + 1);
    }
    return r;
}

enum fb_status fb_predictions_read(const char *text, size_t len, const char *name,
                                   struct fb_predictions **ret_predictions, struct fb_err *err)
{
    struct fb_predictions *all = fb_alloc(sizeof *all);
    struct fb_json_doc *doc;
    enum fb_status r = fb_json_parse(text, len, FB_JSON_STRICT, &doc, NULL, err);

    if (r == FB_OK) {
        r = root_read(fb_json_root(doc), all, err);
        fb_json_free(doc);
    }
    if (r == FB_OK) {
        *ret_predictions = all;
        return r;
    }
    fb_predictions_free(all);
    return fb_within(err, "%s", name);
}

static void prediction_done(struct fb_prediction *p)
{
    for (size_t i = 0; i < p->count; i++) {
        for (size_t c = 0; c < p->outcomes[i].count; c++)
            fb_gate_done(&p->outcomes[i].conditions[c]);
        free(p->outcomes[i].conditions);
        free(p->outcomes[i].name);
    }
    free(p->outcomes);
    free(p->name);
    free(p->metric);
    free(p->note);
    free(p->step);
    free(p->control);
    free(p->variant);
}

void fb_predictions_free(struct fb_predictions *predictions)
{
    if (predictions == NULL)
        return;
    for (size_t i = 0; i < predictions->count; i++)
        prediction_done(&predictions->items[i]);
    free(predictions->items);
    free(predictions->hashes);
    free(predictions);
}

/* ---- registering ---- */

/* The list of those that no registration holds; how many. */
static size_t fresh_list(const struct fb_json *root, unsigned indent, struct fb_buf *out)
{
    const struct fb_json *registrations = fb_json_get(root, "registered");
    const struct fb_json *list = fb_json_get(root, "predictions");
    size_t n = 0;

    fb_buf_putc(out, '[');
    for (size_t i = 0; i < fb_json_count(list); i++) {
        if (is_registered(registrations, fb_json_at(list, i)))
            continue;
        fb_buf_puts(out, n++ > 0 ? "," : "");
        fb_json_put(out, fb_json_at(list, i), indent);
    }
    fb_buf_putc(out, ']');
    return n;
}

static void members_put(const struct fb_json *root, struct fb_buf *out)
{
    for (size_t i = 0; i < fb_json_count(root); i++) {
        const char *key;
        const struct fb_json *v = fb_json_member(root, i, &key);

        if (strcmp(key, "registered") == 0)
            continue;
        fb_json_put_string(out, key, strlen(key));
        fb_buf_puts(out, ": ");
        fb_json_put(out, v, 2);
        fb_buf_puts(out, ",\n");
    }
}

static void registrations_put(const struct fb_json *root, int64_t now_ns, struct fb_buf *out)
{
    const struct fb_json *registrations = fb_json_get(root, "registered");
    struct fb_buf list = {0};
    char hash[FB_SHA256_TEXT];

    (void)fresh_list(root, 0, &list);
    registration_hash(now_ns, list.data, hash);
    fb_buf_puts(out, "\"registered\": [\n");
    for (size_t i = 0; i < fb_json_count(registrations); i++) {
        fb_json_put(out, fb_json_at(registrations, i), 0);
        fb_buf_puts(out, ",\n");
    }
    fb_buf_printf(out, "{\"time_ms\":%lld,\"sha256\":\"%s\",\"predictions\":%s}\n]\n",
                  (long long)(now_ns / 1000000), hash, list.data);
    fb_buf_done(&list);
}

enum fb_status fb_predictions_register(const char *text, size_t len, const char *name,
                                       int64_t now_ns, struct fb_buf *out, size_t *ret_added,
                                       struct fb_err *err)
{
    struct fb_predictions *checked;
    struct fb_json_doc *doc;
    struct fb_buf fresh = {0};
    enum fb_status r = fb_predictions_read(text, len, name, &checked, err);

    if (r != FB_OK)
        return r;
    fb_predictions_free(checked);
    r = fb_json_parse(text, len, FB_JSON_STRICT, &doc, NULL, err);
    if (r != FB_OK)
        return fb_within(err, "%s", name);
    *ret_added = fresh_list(fb_json_root(doc), 0, &fresh);
    fb_buf_done(&fresh);
    if (*ret_added > 0) {
        now_ns -= now_ns % 1000000; /* the file has milliseconds, and they are what is hashed */
        fb_buf_puts(out, "{\n");
        members_put(fb_json_root(doc), out);
        registrations_put(fb_json_root(doc), now_ns, out);
        fb_buf_puts(out, "}\n");
    }
    fb_json_free(doc);
    return FB_OK;
}

/* ---- judging ---- */

const char *fb_prediction_state_text(enum fb_prediction_state state)
{
    static const char *const words[] = {
        [FB_PREDICTION_HELD] = "held",
        [FB_PREDICTION_FAILED] = "failed",
        [FB_PREDICTION_INDETERMINATE] = "indeterminate",
        [FB_PREDICTION_UNANSWERED] = "cannot be answered",
        [FB_PREDICTION_REFUSED] = "refused",
    };

    return words[state];
}

bool fb_prediction_is_of(const struct fb_prediction *prediction, const struct fb_diff_step *step)
{
    char *end;
    double offered;

    if (step->health & FB_STEP_WARMUP)
        return false;
    if (prediction->step == NULL || strcmp(prediction->step, step->name) == 0)
        return true;
    offered = strtod(prediction->step, &end);
    return end != prediction->step && *end == '\0' && offered == step->offered;
}

/* When the first run's window of that step began; 0 where no run has times. */
static int64_t window_start(const struct fb_diff_step *step)
{
    int64_t first = 0;

    for (size_t i = 0; i < step->runs_count; i++) {
        const struct fb_step *s = step->runs[i].step;
        const struct fb_profile *p = step->runs[i].arm->profile;
        int64_t at = s != NULL && s->start_ns != 0        ? s->start_ns
                     : s != NULL && s->load_start_ns != 0 ? s->load_start_ns
                     : p != NULL && p->has_times          ? p->first_ns
                                                          : 0;

        if (at != 0 && (first == 0 || at < first))
            first = at;
    }
    return first;
}

static bool arm_is(const struct fb_diff_arm *arm, const char *wanted)
{
    const struct fb_profile *p = arm->profile;

    if (strstr(arm->label, wanted) != NULL)
        return true;
    for (size_t i = 0; p != NULL && i < p->manifest_count; i++)
        if (strncmp(fb_profile_text(p, p->manifest[i].key), "label.", 6) == 0 &&
            strstr(fb_profile_text(p, p->manifest[i].value), wanted) != NULL)
            return true;
    return false;
}

static const char *other_arm(const struct fb_diff *diff, const struct fb_prediction *p)
{
    for (size_t i = 0; i < diff->input->arms_count; i++) {
        const struct fb_diff_arm *arm = &diff->input->arms[i];
        const char *wanted = arm->is_variant ? p->variant : p->control;

        if (wanted != NULL && !arm_is(arm, wanted))
            return arm->label;
    }
    return NULL;
}

/* A prediction that may not be asked at all; false: it may. */
static bool is_refused(const struct fb_diff *diff, const struct fb_diff_step *step,
                       const struct fb_prediction *p, struct fb_prediction_result *to)
{
    int64_t start = window_start(step);
    const char *other = other_arm(diff, p);

    if (other != NULL) {
        to->state = FB_PREDICTION_UNANSWERED;
        (void)snprintf(to->reason, sizeof to->reason, "it is about other arms than '%s'", other);
        return true;
    }
    to->state = FB_PREDICTION_REFUSED;
    if (p->registered_ns == 0)
        (void)snprintf(to->reason, sizeof to->reason, "it is not registered");
    else if (start == 0)
        (void)snprintf(to->reason, sizeof to->reason,
                       "the arms have no times: whether it came first is not known");
    else if (p->registered_ns >= start)
        (void)snprintf(to->reason, sizeof to->reason,
                       "registered %.0f s after the step's window began",
                       (double)(p->registered_ns - start) / 1e9);
    else
        return false;
    return true;
}

static enum fb_status outcome_judge(const struct fb_diff *diff, size_t step,
                                    const struct fb_prediction_outcome *outcome, bool *ret_is_met,
                                    struct fb_gate_result *ret_found, struct fb_err *err)
{
    *ret_is_met = true;
    for (size_t i = 0; i < outcome->count; i++) {
        enum fb_status r =
            fb_gate_judge(diff, step, &outcome->conditions[i], false, ret_found, err);

        if (r != FB_OK)
            return r;
        *ret_is_met &= ret_found->outcome == FB_GATE_FAIL;
    }
    return FB_OK;
}

enum fb_status fb_prediction_judge(const struct fb_diff *diff, size_t step,
                                   const struct fb_prediction *prediction,
                                   struct fb_prediction_result *ret_result, struct fb_err *err)
{
    struct fb_prediction_result to = {.outcome = "", .value = NAN, .lo = NAN, .hi = NAN};
    struct fb_gate_result found = {0};

    if (is_refused(diff, &diff->steps[step], prediction, &to)) {
        *ret_result = to;
        return FB_OK;
    }
    to.state = FB_PREDICTION_INDETERMINATE;
    for (size_t i = 0; i < prediction->count; i++) {
        const struct fb_prediction_outcome *outcome = &prediction->outcomes[i];
        bool is_met;
        enum fb_status r = outcome_judge(diff, step, outcome, &is_met, &found, err);

        if (r != FB_OK)
            return fb_within(err, "prediction '%s'", prediction->name);
        to.value = found.value;
        to.lo = found.lo;
        to.hi = found.hi;
        if (found.outcome == FB_GATE_NOT_JUDGED) {
            to.state = FB_PREDICTION_UNANSWERED;
            (void)snprintf(to.reason, sizeof to.reason, "%s", found.reason);
            break;
        }
        if (is_met) {
            to.state = outcome->held ? FB_PREDICTION_HELD : FB_PREDICTION_FAILED;
            to.outcome = outcome->name;
            break;
        }
    }
    *ret_result = to;
    return FB_OK;
}
