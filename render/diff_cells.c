/* The cells that the tables of a diff have in common. */
#include "render/diff_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* The larger half of an interval, so that value ± half covers it. */
static double half_of(double value, double lo, double hi)
{
    return fmax(value - lo, hi - value);
}

void fb_diff_percent_put(struct fb_buf *b, double ratio)
{
    double p = 100 * ratio;
    int decimals = fabs(p) >= 1000 ? 0 : 1;

    fb_buf_printf(b, "%+.*f", decimals, fabs(p) < 0.05 ? 0.0 : p);
}

static void share_cell(struct fb_table *t, const struct fb_diff_side *s)
{
    double half = half_of(s->share, s->share_lo, s->share_hi);
    const char *mark = s->deff_assumed ? "*" : "";
    char *text;

    if (isnan(s->share)) {
        fb_table_number(t, NAN, 1);
    } else if (!(s->share > 0) && s->share_hi > 0) {
        fb_table_textf(t, 0, "—"); /* its bound stands with the verdict */
    } else if (isnan(half)) {
        fb_table_textf(t, 100 * s->share, "%.1f", 100 * s->share);
    } else {
        fb_table_textf(t, 100 * s->share, "%.1f ±%.1f%s", 100 * s->share, 100 * half, mark);
        text = fb_format("%.1f%s", 100 * s->share, mark);
        fb_table_short(t, text);
        free(text);
    }
}

/* Decimals that give four digits to `largest`, at least three and at most eight. */
int fb_diff_decimals(double largest)
{
    int decimals = largest > 0 ? 3 - (int)floor(log10(largest)) : 4;

    return decimals < 3 ? 3 : decimals > 8 ? 8 : decimals;
}

/* One number of decimals for all ms of a step: that of the whole cost of a request. */
int fb_diff_ms_decimals(const struct fb_diff_step *s)
{
    double largest = 0;

    for (size_t i = 0; i < s->layers_count; i++)
        largest = fmax(largest, fmax(s->layers[i].control.ms, s->layers[i].variant.ms));
    return fb_diff_decimals(largest);
}

static void ms_cell(struct fb_table *t, const struct fb_diff_side *s, int decimals)
{
    double half = half_of(s->ms, s->ms_lo, s->ms_hi);
    char *text;

    if (isnan(s->ms) || isnan(half)) {
        fb_table_number(t, s->ms, decimals);
    } else if (!(s->ms > 0)) {
        fb_table_textf(t, 0, "—");
    } else {
        fb_table_textf(t, s->ms, "%.*f ±%.*f", decimals, s->ms, decimals, half);
        text = fb_format("%.*f", decimals, s->ms);
        fb_table_short(t, text);
        free(text);
    }
}

/* +1: only the variant has it; -1: only the control has it; 0: both or neither. */
int fb_diff_presence(const struct fb_diff_row *r)
{
    bool control = r->control.share > 0, variant = r->variant.share > 0;

    return control == variant ? 0 : variant ? 1 : -1;
}

enum fb_tone fb_diff_tone(const struct fb_diff_row *r, int side)
{
    if (r->verdict != FB_VERDICT_DIFF && r->verdict != FB_VERDICT_ABSENT)
        return FB_TONE_PLAIN;
    if (side != 0)
        return side > 0 ? FB_TONE_MORE : FB_TONE_LESS;
    return isnan(r->change) ? FB_TONE_STRONG : r->change > 0 ? FB_TONE_MORE : FB_TONE_LESS;
}

void fb_diff_change_cells(struct fb_table *t, const struct fb_diff_row *r, int side)
{
    struct fb_buf b = {0};

    fb_buf_puts(&b, "");
    if (side != 0)
        fb_table_textf(t, NAN, side > 0 ? "new" : "gone");
    else if (isnan(r->change))
        fb_table_number(t, NAN, 1);
    else {
        fb_diff_percent_put(&b, r->change);
        fb_table_textf(t, 100 * r->change, "%s", b.data);
    }
    fb_table_tone(t, fb_diff_tone(r, side));
    b.len = 0;
    if (side == 0 && !isnan(r->d_lo) && !isnan(r->d_hi)) {
        fb_diff_percent_put(&b, exp(r->d_lo) - 1);
        fb_buf_puts(&b, " to ");
        fb_diff_percent_put(&b, exp(r->d_hi) - 1);
    }
    fb_table_text_n(t, b.data, b.len);
    fb_buf_done(&b);
}

/* The reason of rows that are facts beside the verdicts (diff/metric_rows.c). */
static const char only_shown[] = "shown, not judged";

static void why_add(struct fb_buf *why, const char *text)
{
    fb_buf_puts(why, why->len > 0 ? "; " : "");
    fb_buf_puts(why, text);
}

/* What is said of a frame beside the frames around it. */
static void why_around(struct fb_buf *why, const struct fb_diff_row *r)
{
    char *text = NULL;

    if (r->is_moved)
        why_add(why, "moved by inlining: its boundary did not follow");
    if (r->is_moved_in_part)
        why_add(why, "moved in part by inlining: the rest of its boundary moved against it");
    if (r->move == FB_MOVE_INLINED)
        why_add(why, "moved by inlining: its callers did not follow");
    else if (r->move == FB_MOVE_WITHIN)
        why_add(why, "moved within its callers, which did not follow");
    else if (r->move == FB_MOVE_TOOK)
        text = fb_format("%s %s by inlining", r->change < 0 ? "gave up" : "took over", r->partner);
    if (text)
        why_add(why, text);
    free(text);
    if (!r->renamed)
        return;
    text = fb_format("renamed? %s", r->renamed);
    why_add(why, text);
    free(text);
}

/* Two digits, and no exponent for all of it. */
static int bound_digits(double bound)
{
    return bound < 0.995 ? 2 : 3;
}

/* The verdict with its limit, for narrow tables: "UNRESOLVED ±21 %", "absent ≤2 %". */
static void verdict_short(struct fb_table *t, const struct fb_diff_row *r, bool is_one_sided)
{
    const char *word = fb_verdict_word(r->verdict);
    char *text = NULL;

    if (is_one_sided && !isnan(r->bound))
        text = fb_format("%s ≤%.*g %%", word, bound_digits(r->bound), 100 * r->bound);
    else if (r->verdict == FB_VERDICT_UNRESOLVED && !isnan(r->mde))
        text = fb_format("%s ±%.*f %%", word, r->mde < 0.1 ? 1 : 0, 100 * r->mde);
    if (text)
        fb_table_short(t, text);
    free(text);
}

static void why_cell(struct fb_table *t, const struct fb_diff_row *r, const char *limit,
                     const char *denial)
{
    struct fb_buf why = {0};
    char *whole;

    fb_buf_puts(&why, "");
    if (r->reason && r->reason[0] != '\0' && (!denial || strcmp(r->reason, denial) != 0))
        why_add(&why, r->reason);
    if (r->within_delta)
        why_add(&why, "smaller than the margin that counts");
    why_around(&why, r);
    whole = fb_format("%s%s%s", limit, limit[0] != '\0' && why.len > 0 ? "; " : "", why.data);
    fb_table_text(t, whole);
    fb_table_short(t, why.data);
    free(whole);
    fb_buf_done(&why);
}

void fb_diff_verdict_cells(struct fb_table *t, const struct fb_diff_row *r, int side,
                           const char *denial)
{
    bool is_one_sided = r->verdict == FB_VERDICT_ABSENT || r->verdict == FB_VERDICT_NOT_SEEN;
    char *limit = NULL;

    if (r->verdict == FB_VERDICT_NONE && r->reason && strcmp(r->reason, only_shown) == 0) {
        fb_table_text(t, "-");
        fb_table_text(t, "");
        return;
    }
    if (is_one_sided && side != 0) {
        char *text =
            fb_format("%s in %s", fb_verdict_word(r->verdict), side > 0 ? "control" : "variant");

        fb_table_text(t, text);
        free(text);
    } else {
        fb_table_text(t, fb_verdict_word(r->verdict));
    }
    fb_table_tone(t, fb_diff_tone(r, side));
    verdict_short(t, r, is_one_sided);
    if (is_one_sided && !isnan(r->bound))
        limit = fb_format("at most %.*g %% there", bound_digits(r->bound), 100 * r->bound);
    else if (r->verdict == FB_VERDICT_UNRESOLVED && !isnan(r->mde))
        limit = fb_format("could hide ±%.*f %%", r->mde < 0.1 ? 1 : 0, 100 * r->mde);
    why_cell(t, r, limit ? limit : "", denial);
    free(limit);
    if (r->verdict != FB_VERDICT_DIFF && r->verdict != FB_VERDICT_SAME &&
        r->verdict != FB_VERDICT_ABSENT)
        fb_table_mute(t);
}

static void side_data(struct fb_table *t, const struct fb_diff_side *s)
{
    fb_table_number(t, 100 * s->share_lo, 3);
    fb_table_number(t, 100 * s->share_hi, 3);
    fb_table_number(t, s->ms_lo, 6);
    fb_table_number(t, s->ms_hi, 6);
    fb_table_number(t, s->samples, 0);
    fb_table_number(t, s->cores, 4);
    fb_table_number(t, s->deff, 2);
    fb_table_number(t, s->deff_assumed ? 1 : 0, 0);
}

void fb_diff_change_data(struct fb_table *t, const struct fb_diff_row *r)
{
    fb_table_number(t, 100 * (exp(r->d_lo) - 1), 3);
    fb_table_number(t, 100 * (exp(r->d_hi) - 1), 3);
    fb_table_number(t, r->change_ms, 6);
    fb_table_number(t, 100 * r->floor, 3);
    fb_table_number(t, 100 * r->mde, 3);
    fb_table_number(t, 100 * r->bound, 4);
    fb_table_text(t, r->reason ? r->reason : "");
    fb_table_text(t, r->on_share ? "share" : "ms");
}

void fb_diff_change_columns(struct fb_table *t, const char *rule)
{
    fb_table_group(t, rule);
    fb_table_column(t, "change_percent", "%", FB_ALIGN_RIGHT);
    fb_table_column(t, "interval_text", "95 % interval", FB_ALIGN_LEFT);
    fb_table_range(t);
}

void fb_diff_verdict_columns(struct fb_table *t)
{
    fb_table_group(t, NULL);
    fb_table_column(t, "verdict", "verdict", FB_ALIGN_LEFT);
    fb_table_narrow(t, FB_NARROW_SHORT, 1);
    fb_table_column(t, "why", "", FB_ALIGN_LEFT);
    fb_table_narrow(t, FB_NARROW_FOOT, 1);
}

void fb_diff_change_data_columns(struct fb_table *t)
{
    static const char *const keys[] = {
        "change_lo_percent", "change_hi_percent", "change_ms", "floor_percent",
        "mde_percent",       "bound_percent",     "reason",    "judged_on"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        fb_table_data_column(t, keys[i]);
}

/* The columns that a table of shares has after its names. */
void fb_diff_share_columns(struct fb_table *t, bool has_ms, bool on_ms)
{
    static const char *const arms[] = {"control", "variant"};
    static const char *const keys[] = {
        "share_lo_percent", "share_hi_percent", "ms_lo", "ms_hi", "samples", "cores", "deff",
        "deff_assumed"};

    for (size_t a = 0; a < 2; a++) {
        char *share = fb_format("%s_share_percent", arms[a]), *ms = fb_format("%s_ms", arms[a]);

        fb_table_group(t, arms[a]);
        fb_table_column(t, share, "share %", FB_ALIGN_RIGHT);
        fb_table_narrow(t, FB_NARROW_SHORT, 4);
        if (has_ms) {
            fb_table_column(t, ms, "ms/req", FB_ALIGN_RIGHT);
            fb_table_narrow(t, FB_NARROW_SHORT, 2);
        }
        free(share);
        free(ms);
    }
    fb_diff_change_columns(t, on_ms ? "change of ms/req" : "change of share");
    fb_table_column(t, "change_points", "points", FB_ALIGN_RIGHT);
    fb_table_narrow(t, FB_NARROW_DROP, 3);
    fb_diff_verdict_columns(t);
    fb_diff_change_data_columns(t);
    for (size_t a = 0; a < 2; a++)
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
            char *key = fb_format("%s_%s", arms[a], keys[i]);

            fb_table_data_column(t, key);
            free(key);
        }
}

/* decimals < 0: without ms. */
void fb_diff_share_cells(struct fb_table *t, const struct fb_diff_row *r, int decimals,
                         const char *denial)
{
    int side = fb_diff_presence(r);
    struct fb_buf b = {0};

    share_cell(t, &r->control);
    if (decimals >= 0)
        ms_cell(t, &r->control, decimals);
    share_cell(t, &r->variant);
    if (decimals >= 0)
        ms_cell(t, &r->variant, decimals);
    fb_diff_change_cells(t, r, side);
    fb_diff_percent_put(&b, r->change_points);
    fb_table_textf(t, 100 * r->change_points, "%s", isnan(r->change_points) ? "n/a" : b.data);
    fb_diff_verdict_cells(t, r, side, denial);
    fb_diff_change_data(t, r);
    side_data(t, &r->control);
    side_data(t, &r->variant);
    fb_buf_done(&b);
}

/* The label of the first run of one arm in the step, "" if there is none. */
const char *fb_diff_label(const struct fb_diff_step *s, bool is_variant)
{
    for (size_t i = 0; i < s->runs_count; i++)
        if (s->runs[i].arm->is_variant == is_variant)
            return s->runs[i].arm->label;
    return "";
}

/* Bytes of the folders that both labels begin with: they tell the arms not apart. */
size_t fb_diff_common_folders(const char *a, const char *b)
{
    size_t common = 0;

    for (size_t i = 0; a[i] != '\0' && a[i] == b[i]; i++)
        if (a[i] == '/')
            common = i + 1;
    return common;
}

struct fb_table *fb_diff_table_new(const char *what, const struct fb_diff *diff, size_t step)
{
    const struct fb_diff_step *s = &diff->steps[step];
    const char *control = fb_diff_label(s, false), *variant = fb_diff_label(s, true);
    size_t skip = fb_diff_common_folders(control, variant);
    struct fb_buf title = {0};
    struct fb_table *t;

    fb_buf_printf(&title, "%s, step %s: control %s, variant %s", what, s->name, control + skip,
                  variant + skip);
    if (s->pairs > 1)
        fb_buf_printf(&title, ", %zu pairs", s->pairs);
    fb_buf_puts(&title, "; change = (variant - control) / control");
    t = fb_table_new(title.data);
    fb_buf_done(&title);
    return t;
}

/* "<before><text>." as a note; nothing for an empty text. */
void fb_diff_sentence(struct fb_table *t, const char *before, const char *text)
{
    size_t len = text ? strlen(text) : 0;
    char *note;

    if (len == 0)
        return;
    note = fb_format("%s%s%s", before, text, text[len - 1] == '.' ? "" : ".");
    fb_table_note(t, note);
    free(note);
}
