/* Every figure here is the text of a cell: the sentence cannot disagree with the table. */
#include "render/report/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { LAYERS_NAMED = 4 };

const struct fb_table *fb_report_find(const struct fb_report_input *in, enum fb_report_kind kind,
                                      size_t step)
{
    for (size_t i = 0; i < in->tables_count; i++)
        if (in->tables[i].kind == kind && in->tables[i].step == step)
            return in->tables[i].table;
    return NULL;
}

size_t fb_report_headline(const struct fb_report_input *in)
{
    const struct fb_diff *diff = in->diff;
    size_t best = SIZE_MAX, last = SIZE_MAX;

    for (size_t i = 0; i < diff->steps_count; i++) {
        const struct fb_diff_step *s = &diff->steps[i];

        if (!fb_report_find(in, FB_REPORT_METRICS, i))
            continue; /* --step left it out */
        if (last == SIZE_MAX || !(s->health & FB_STEP_WARMUP))
            last = i;
        if (s->denial[0] == '\0' && (best == SIZE_MAX || !(s->offered < diff->steps[best].offered)))
            best = i;
    }
    return best == SIZE_MAX ? last : best;
}

static const char *text_of(const struct fb_table *t, size_t row, const char *key)
{
    const struct fb_table_cell *c = t && row < t->rows_count ? fb_html_cell(t, row, key) : NULL;

    return c ? c->text : "";
}

static double number_of(const struct fb_table *t, size_t row, const char *key)
{
    const struct fb_table_cell *c = t && row < t->rows_count ? fb_html_cell(t, row, key) : NULL;

    return c && c->is_number ? c->value : NAN;
}

/* The row whose cell under `key` is `text`; SIZE_MAX. */
static size_t row_of(const struct fb_table *t, const char *key, const char *text)
{
    for (size_t r = 0; t && r < t->rows_count; r++)
        if (strcmp(text_of(t, r, key), text) == 0)
            return r;
    return SIZE_MAX;
}

static bool is_verdict(const struct fb_table *t, size_t row, const char *word)
{
    const char *text = text_of(t, row, "verdict");

    return strncmp(text, word, strlen(word)) == 0;
}

static void number_put(struct fb_buf *out, const char *text)
{
    fb_html_number(out, text, strlen(text));
}

/* "12.3" of "+12.3": the verb says the sign. */
static const char *unsigned_text(const char *text)
{
    return text[0] == '+' || text[0] == '-' ? text + 1 : text;
}

static const char *verb_of(double change)
{
    return change < 0 ? "fell" : "rose";
}

/* "(95 % interval −1.8 to +3.7 %)" */
static void interval_put(struct fb_buf *out, const struct fb_table *t, size_t row)
{
    const char *text = text_of(t, row, "interval_text");

    if (text[0] == '\0')
        return;
    fb_buf_puts(out, " (95 % interval ");
    number_put(out, text);
    fb_buf_puts(out, " %)");
}

static void levels_put(struct fb_buf *out, const struct fb_table *t, size_t row, const char *unit)
{
    number_put(out, text_of(t, row, "control"));
    fb_buf_puts(out, " → ");
    number_put(out, text_of(t, row, "variant"));
    fb_buf_puts(out, unit);
}

static void why_put(struct fb_buf *out, const struct fb_table *t, size_t row, const char *before,
                    const char *after)
{
    const char *why = text_of(t, row, "why");

    if (why[0] == '\0')
        return;
    fb_buf_puts(out, before);
    fb_html_text(out, why);
    fb_buf_puts(out, after);
}

static void step_name_put(const struct fb_report_input *in, size_t step, struct fb_buf *out)
{
    const struct fb_diff_step *s = &in->diff->steps[step];

    if (in->diff->steps_count == 1 && strcmp(s->name, "whole") == 0)
        return;
    fb_buf_puts(out, " at step ");
    fb_html_text(out, s->name);
}

/* ---- the first sentence ---- */

static void all_put(size_t judged, const char *word, struct fb_buf *out)
{
    if (judged == 2)
        fb_buf_printf(out, " Both judged steps say %s.", word);
    else
        fb_buf_printf(out, " All %zu judged steps say %s.", judged, word);
}

/* "All 4 judged steps say DIFF.", "Of 4 judged steps 3 say DIFF, 1 SAME." */
static void steps_put(const struct fb_report_input *in, struct fb_buf *out)
{
    static const char *const words[] = {"DIFF", "SAME", "UNRESOLVED"};
    size_t counts[3] = {0}, judged = 0, said = 0;
    const struct fb_table *t = fb_report_find(in, FB_REPORT_SUMMARY, SIZE_MAX);

    for (size_t r = 0; t && r < t->rows_count; r++)
        for (size_t i = 0; i < 3; i++)
            if (is_verdict(t, r, words[i])) {
                counts[i]++;
                judged++;
            }
    if (judged < 2)
        return;
    for (size_t i = 0; i < 3; i++) {
        if (counts[i] == judged)
            all_put(judged, words[i], out);
        else if (counts[i] > 0 && said++ == 0)
            fb_buf_printf(out, " Of %zu judged steps %zu say%s %s", judged, counts[i],
                          counts[i] == 1 ? "s" : "", words[i]);
        else if (counts[i] > 0)
            fb_buf_printf(out, ", %zu %s", counts[i], words[i]);
    }
    fb_buf_puts(out, said > 0 ? "." : "");
}

static void cost_put(const struct fb_report_input *in, size_t step, struct fb_buf *out)
{
    const struct fb_table *t = fb_report_find(in, FB_REPORT_METRICS, step);
    size_t row = row_of(t, "metric", "CPU per request");
    double change = number_of(t, row, "change_percent");

    fb_buf_puts(out, "<p>");
    if (row == SIZE_MAX) {
        fb_buf_puts(out, "CPU per request is <b>unknown</b>, since neither arm says how many "
                         "requests it served: layers and frames are compared by their share of "
                         "samples alone.</p>\n");
        return;
    }
    if (is_verdict(t, row, "DIFF")) {
        fb_buf_printf(out, "CPU per request <b>%s by ", verb_of(change));
        number_put(out, unsigned_text(text_of(t, row, "change_percent")));
        fb_buf_puts(out, " %</b>");
    } else if (is_verdict(t, row, "SAME")) {
        fb_buf_puts(out, "CPU per request stayed the <b>same</b>");
    } else if (is_verdict(t, row, "UNRESOLVED")) {
        fb_buf_puts(out, "Whether CPU per request changed is <b>unresolved</b>");
    } else {
        fb_buf_puts(out, "CPU per request carries <b>no verdict</b>");
    }
    step_name_put(in, step, out);
    fb_buf_puts(out, ": ");
    levels_put(out, t, row, " ms");
    if (!isnan(change) && !is_verdict(t, row, "DIFF")) {
        fb_buf_puts(out, ", ");
        number_put(out, text_of(t, row, "change_percent"));
        fb_buf_puts(out, " %");
    }
    interval_put(out, t, row);
    why_put(out, t, row, "; ", "");
    fb_buf_puts(out, ".");
    steps_put(in, out);
    fb_buf_puts(out, "</p>\n");
}

/* ---- the second ---- */

static double size_of(const struct fb_table *t, size_t row)
{
    double ms = number_of(t, row, "change_ms"), points = number_of(t, row, "change_points");

    return fabs(isnan(ms) ? (isnan(points) ? 0 : points / 100) : ms);
}

static bool is_layer_changed(const struct fb_table *t, size_t row)
{
    return !t->rows[row].has_rule && (is_verdict(t, row, "DIFF") || is_verdict(t, row, "absent"));
}

/* The largest change among the rows not yet named; SIZE_MAX. */
static size_t next_layer(const struct fb_table *t, const bool *named)
{
    size_t best = SIZE_MAX;

    for (size_t r = 0; r < t->rows_count; r++)
        if (!named[r] && is_layer_changed(t, r) &&
            (best == SIZE_MAX || size_of(t, r) > size_of(t, best)))
            best = r;
    return best;
}

static void layer_put(const struct fb_table *t, size_t row, struct fb_buf *out)
{
    const char *change = text_of(t, row, "change_percent");
    double ms = number_of(t, row, "change_ms");

    fb_buf_puts(out, "<b>");
    fb_html_text(out, text_of(t, row, "layer"));
    if (strcmp(change, "new") == 0 || strcmp(change, "gone") == 0) {
        fb_buf_printf(out, " is %s</b>", change);
    } else {
        fb_buf_printf(out, " %s by ", verb_of(number_of(t, row, "change_percent")));
        number_put(out, unsigned_text(change));
        fb_buf_puts(out, " %</b>");
    }
    if (!isnan(ms)) {
        fb_buf_printf(out, " (%s%.4f ms)", ms < 0 ? "−" : "+", fabs(ms));
    } else if (!isnan(number_of(t, row, "change_points"))) {
        fb_buf_puts(out, " (");
        number_put(out, text_of(t, row, "change_points"));
        fb_buf_puts(out, " points)");
    }
    if (strstr(text_of(t, row, "why"), "moved by inlining"))
        fb_buf_puts(out, ", moved by inlining");
    if (strstr(text_of(t, row, "why"), "moved in part by inlining"))
        fb_buf_puts(out, ", moved in part by inlining");
}

static size_t count_verdict(const struct fb_table *t, const char *word)
{
    size_t n = 0;

    for (size_t r = 0; r < t->rows_count; r++)
        n += !t->rows[r].has_rule && is_verdict(t, r, word);
    return n;
}

static void others_put(const struct fb_table *t, struct fb_buf *out)
{
    size_t same = count_verdict(t, "SAME"), open = count_verdict(t, "UNRESOLVED");
    size_t bursty = count_verdict(t, "BURSTY");

    if (same > 0)
        fb_buf_printf(out, " %zu layer%s the same.", same, same == 1 ? " is" : "s are");
    if (open > 0)
        fb_buf_printf(out, " %zu layer%s unresolved.", open, open == 1 ? " is" : "s are");
    if (bursty > 0)
        fb_buf_printf(out, " %zu layer%s too bursty for an interval.", bursty,
                      bursty == 1 ? " is" : "s are");
}

static void sums_put(const struct fb_report_input *in, size_t step, struct fb_buf *out)
{
    const struct fb_table *t = fb_report_find(in, FB_REPORT_SUMS, step);

    for (size_t i = 0; t && i < t->notes_count; i++) {
        fb_buf_puts(out, " ");
        fb_html_text(out, t->notes[i]);
    }
}

static void layers_put(const struct fb_report_input *in, size_t step, struct fb_buf *out)
{
    const struct fb_table *t = fb_report_find(in, FB_REPORT_LAYERS, step);
    bool *named;
    size_t said = 0, left = 0, row;

    if (!t)
        return;
    named = fb_alloc_array(t->rows_count, sizeof *named);
    fb_buf_puts(out, "<p>");
    while (said < LAYERS_NAMED && (row = next_layer(t, named)) != SIZE_MAX) {
        named[row] = true;
        fb_buf_puts(out, said++ > 0 ? ", " : "By layer, ");
        layer_put(t, row, out);
    }
    for (size_t r = 0; r < t->rows_count; r++)
        left += is_layer_changed(t, r) && !named[r];
    if (said == 0)
        fb_buf_puts(out, "No layer <b>differs</b> by more than the noise");
    if (left > 0)
        fb_buf_printf(out, ", and %zu more differ%s", left, left == 1 ? "s" : "");
    fb_buf_puts(out, ".");
    others_put(t, out);
    sums_put(in, step, out);
    fb_buf_puts(out, "</p>\n");
    free(named);
}

/* ---- the third ---- */

static bool latency_put(const struct fb_table *t, const char *metric, bool is_first,
                        struct fb_buf *out)
{
    size_t row = row_of(t, "metric", metric);
    const char *verdict;

    if (row == SIZE_MAX || isnan(number_of(t, row, "control")) ||
        isnan(number_of(t, row, "variant")))
        return false;
    verdict = text_of(t, row, "verdict");
    fb_buf_printf(out, "%s%s ", is_first ? "" : "; ", metric);
    if (is_verdict(t, row, "DIFF"))
        fb_buf_printf(out, "<b>%s</b> ", verb_of(number_of(t, row, "change_percent")));
    levels_put(out, t, row, " ms");
    if (is_verdict(t, row, "SAME") || is_verdict(t, row, "UNRESOLVED")) {
        fb_buf_puts(out, ", ");
        for (const char *c = verdict; *c; c++)
            fb_buf_putc(out, (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c));
    } else if (!is_verdict(t, row, "DIFF")) {
        fb_buf_puts(out, ", not judged");
    }
    return true;
}

/* Steps that carry no verdict. */
static void denied_put(const struct fb_report_input *in, struct fb_buf *out)
{
    size_t denied = 0;

    for (size_t i = 0; i < in->diff->steps_count; i++)
        denied += in->diff->steps[i].denial[0] != '\0';
    if (denied > 0)
        fb_buf_printf(out, " %zu of %zu steps carr%s no verdict.", denied, in->diff->steps_count,
                      denied == 1 ? "ies" : "y");
    if (in->diff->pairs == 1)
        fb_buf_puts(out, " One pair of runs: how far two runs of one arm differ is assumed, not "
                         "measured.");
    else
        fb_buf_printf(out, " %zu pairs of runs.", in->diff->pairs);
}

static void rest_put(const struct fb_report_input *in, size_t step, struct fb_buf *out)
{
    const struct fb_table *t = fb_report_find(in, FB_REPORT_METRICS, step);
    bool any;

    fb_buf_puts(out, "<p>");
    any = latency_put(t, "p50", true, out);
    any = latency_put(t, "p99", !any, out) || any;
    fb_buf_puts(out, any ? "." : "Latency is unknown.");
    denied_put(in, out);
    fb_buf_puts(out, "</p>\n");
}

/* ---- one arm ---- */

/* Knee, plateau and cost, as the table of steps has them. */
static void ramp_put(const struct fb_report_input *in, struct fb_buf *out)
{
    static const char *const starts[] = {
        "Knee: ", "No knee: ", "Plateau: ", "No plateau: ", "Cost: "};
    const struct fb_table *t = fb_report_find(in, FB_REPORT_STEPS, 0);
    bool any = false;

    for (size_t i = 0; t && i < t->notes_count; i++)
        for (size_t k = 0; k < sizeof starts / sizeof *starts; k++)
            if (strncmp(t->notes[i], starts[k], strlen(starts[k])) == 0) {
                fb_buf_puts(out, any ? " " : "<p>");
                fb_html_text(out, t->notes[i]);
                any = true;
            }
    fb_buf_puts(out, any ? "</p>\n" : "");
}

static void sick_put(const struct fb_report_input *in, struct fb_buf *out)
{
    const struct fb_steps *steps = in->arms[0].steps;
    size_t sick = 0;

    for (size_t i = 0; steps && i < steps->count; i++)
        sick += (steps->items[i].health & FB_STEP_SICK) != 0;
    if (sick > 0)
        fb_buf_printf(out, "<p>%zu of %zu steps would carry no verdict.</p>\n", sick, steps->count);
}

/* "syscalls 40.2 %, transport 24.7 % and codec 19.9 % of the samples": the largest of the whole. */
static void one_arm_put(const struct fb_report_input *in, struct fb_buf *out)
{
    const struct fb_table *t = NULL;
    bool *named;

    for (size_t i = 0; i < in->tables_count && !t; i++)
        if (in->tables[i].kind == FB_REPORT_LAYERS)
            t = in->tables[i].table;
    if (t) {
        named = fb_alloc_array(t->rows_count, sizeof *named);
        fb_buf_puts(out, "<p>By layer: ");
        for (size_t said = 0; said < LAYERS_NAMED; said++) {
            size_t best = SIZE_MAX;

            for (size_t r = 0; r < t->rows_count; r++)
                if (!named[r] && !t->rows[r].has_rule && !t->rows[r].is_data &&
                    (best == SIZE_MAX ||
                     number_of(t, r, "share_percent") > number_of(t, best, "share_percent")))
                    best = r;
            if (best == SIZE_MAX || !(number_of(t, best, "share_percent") > 0))
                break;
            named[best] = true;
            fb_buf_puts(out, said > 0 ? ", <b>" : "<b>");
            fb_html_text(out, text_of(t, best, "layer"));
            fb_buf_puts(out, " ");
            number_put(out, text_of(t, best, "share_percent"));
            fb_buf_puts(out, " %</b>");
        }
        fb_buf_puts(out, " of the samples");
        fb_buf_puts(out, ".</p>\n");
        free(named);
    }
    ramp_put(in, out);
    sick_put(in, out);
}

void fb_report_verdict_put(const struct fb_report_input *in, struct fb_buf *out)
{
    size_t step;

    if (!in->diff) {
        one_arm_put(in, out);
        return;
    }
    step = fb_report_headline(in);
    cost_put(in, step, out);
    layers_put(in, step, out);
    rest_put(in, step, out);
}

void fb_report_headline_put(const struct fb_report_input *in, struct fb_buf *out)
{
    const struct fb_table *t;
    size_t step, row;

    if (!in->diff) {
        fb_buf_printf(out, "Profile of %s", in->arms[0].name);
        return;
    }
    step = fb_report_headline(in);
    t = fb_report_find(in, FB_REPORT_METRICS, step);
    row = row_of(t, "metric", "CPU per request");
    if (row == SIZE_MAX)
        fb_buf_puts(out, "Shares of CPU samples, control against variant");
    else if (is_verdict(t, row, "DIFF"))
        fb_buf_printf(out, "CPU per request %s by %s %%",
                      verb_of(number_of(t, row, "change_percent")),
                      unsigned_text(text_of(t, row, "change_percent")));
    else if (is_verdict(t, row, "SAME"))
        fb_buf_puts(out, "CPU per request stayed the same");
    else if (is_verdict(t, row, "UNRESOLVED"))
        fb_buf_puts(out, "A change of CPU per request is not resolved");
    else
        fb_buf_puts(out, "No step carries a verdict on CPU per request");
}
