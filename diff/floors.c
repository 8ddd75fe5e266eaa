/* floors.c - see floors.h. */
#include "diff/floors.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "diff/diff.h"
#include "diff/distribution.h"
#include "diff/floor.h"

enum { FRAME_SAMPLES_MIN = 150 }; /* a run: under it counting is most of the spread */
static const double large_share = 0.05;
static const double degrees_usual = 21;
static const double degrees_most = 1000; /* a file's: more say nothing more */

static const struct {
    const char *word, *text;
} names[FB_FLOOR_OF_COUNT] = {
    [FB_FLOOR_OF_CPU] = {"cpu", "CPU per request"},
    [FB_FLOOR_OF_CPU_FIRST] = {"cpu-first", "CPU per request, first step"},
    [FB_FLOOR_OF_CPU_OVER] = {"cpu-over", "CPU per request, past the knee"},
    [FB_FLOOR_OF_P50] = {"p50", "p50"},
    [FB_FLOOR_OF_P99] = {"p99", "p99"},
    [FB_FLOOR_OF_P999] = {"p999", "p999"},
    [FB_FLOOR_OF_LAYER_LARGE] = {"layer-large", "share of a layer, 5 % and more"},
    [FB_FLOOR_OF_LAYER_SMALL] = {"layer-small", "share of a layer, under 5 %"},
    [FB_FLOOR_OF_JIT] = {"jit", "share of a layer of the JIT"},
    [FB_FLOOR_OF_GC] = {"gc", "share of a layer of the GC"},
    [FB_FLOOR_OF_FRAME] = {"frame", "self share of a frame"},
};

const char *fb_floor_of_word(enum fb_floor_of of)
{
    return names[of].word;
}

const char *fb_floor_of_text(enum fb_floor_of of)
{
    return names[of].text;
}

/* ---- measuring ---- */

static void add(struct fb_floors_sum *sum, enum fb_floor_of of, double a, double b, double within)
{
    double d = log(b / a);

    if (!(a > 0 && b > 0) || !isfinite(d))
        return;
    sum->squares[of] += d * d;
    sum->within[of] += isfinite(within) ? within : 0;
    sum->pairs[of]++;
}

static void add_metrics(struct fb_floors_sum *sum, const struct fb_diff_step *s)
{
    bool is_below_knee = (s->health & (FB_STEP_SHED | FB_STEP_OVER)) == 0;

    for (size_t i = 0; i < s->metrics_count; i++) {
        const struct fb_diff_row *row = &s->metrics[i];
        double a = row->value_control, b = row->value_variant;

        if (row->id == FB_METRIC_CPU_PER_REQUEST)
            add(sum,
                s->health & FB_STEP_FIRST  ? FB_FLOOR_OF_CPU_FIRST
                : s->health & FB_STEP_OVER ? FB_FLOOR_OF_CPU_OVER
                                           : FB_FLOOR_OF_CPU,
                a, b, 0);
        else if (row->id == FB_METRIC_P50 && is_below_knee)
            add(sum, FB_FLOOR_OF_P50, a, b, 0);
        else if (row->id == FB_METRIC_P99 && is_below_knee)
            add(sum, FB_FLOOR_OF_P99, a, b, 0);
        else if (row->id == FB_METRIC_P999 && is_below_knee)
            add(sum, FB_FLOOR_OF_P999, a, b, 0);
    }
}

/* Squared standard error of ln(share) of one window. */
static double share_variance(const struct fb_diff_side *s)
{
    double half = (s->share_hi - s->share_lo) / 2 / s->share;

    return pow(half / fb_t_quantile(0.975, degrees_usual), 2);
}

static void add_share(struct fb_floors_sum *sum, enum fb_floor_of of, const struct fb_diff_row *row)
{
    add(sum, of, row->control.share, row->variant.share,
        share_variance(&row->control) + share_variance(&row->variant));
}

static enum fb_floor_of layer_class(const struct fb_diff_row *row)
{
    enum fb_floor_kind kind = fb_floor_kind(row->name);

    if (kind == FB_FLOOR_JIT)
        return FB_FLOOR_OF_JIT;
    if (kind == FB_FLOOR_GC)
        return FB_FLOOR_OF_GC;
    return (row->control.share + row->variant.share) / 2 >= large_share ? FB_FLOOR_OF_LAYER_LARGE
                                                                        : FB_FLOOR_OF_LAYER_SMALL;
}

/* Layers above one half are told by the rest (floor.h), and would be counted twice. */
static void add_shares(struct fb_floors_sum *sum, const struct fb_diff_step *s)
{
    for (size_t i = 0; i + 1 < s->layers_count; i++)
        if (s->layers[i].control.samples >= FRAME_SAMPLES_MIN &&
            s->layers[i].variant.samples >= FRAME_SAMPLES_MIN &&
            s->layers[i].control.share + s->layers[i].variant.share < 1)
            add_share(sum, layer_class(&s->layers[i]), &s->layers[i]);
    for (size_t i = 0; i < s->frames_count; i++)
        if (s->frames[i].control.samples >= FRAME_SAMPLES_MIN &&
            s->frames[i].variant.samples >= FRAME_SAMPLES_MIN)
            add_share(sum, FB_FLOOR_OF_FRAME, &s->frames[i]);
}

void fb_floors_add(struct fb_floors_sum *sum, const struct fb_diff *diff)
{
    const uint32_t usable = FB_STEP_FIRST | FB_STEP_OVER;

    for (size_t i = 0; i < diff->steps_count; i++) {
        const struct fb_diff_step *s = &diff->steps[i];

        if (s->health & (FB_STEP_SICK & ~usable) || !s->is_comparable)
            continue;
        add_metrics(sum, s);
        if (!(s->health & usable))
            add_shares(sum, s);
    }
}

void fb_floors_finish(const struct fb_floors_sum *sum, size_t runs, struct fb_floors *ret_floors)
{
    double n = (double)runs;

    *ret_floors = (struct fb_floors){.runs = runs};
    for (size_t i = 0; i < FB_FLOOR_OF_COUNT; i++) {
        /* n (n - 1) / 2 pairs a row; each row has n - 1 degrees of freedom. */
        double df = 2 * (double)sum->pairs[i] / n, all, own;

        ret_floors->of[i] = (struct fb_floor){NAN, 0};
        if (!(df >= 1) || sum->squares[i] <= 0) /* equal to the last digit is no measurement */
            continue;
        all = sum->squares[i] / n / df;
        own = (sum->squares[i] - sum->within[i]) / n / df;
        ret_floors->of[i] = (struct fb_floor){sqrt(fmax(own, all / 2)), df};
    }
}

double fb_floors_tau(const struct fb_floors *floors, enum fb_floor_of of)
{
    if (floors == NULL || !(floors->of[of].df >= 1) || isnan(floors->of[of].sd))
        return NAN;
    return floors->of[of].sd * fb_t_quantile(0.975, floors->of[of].df) /
           fb_t_quantile(0.975, degrees_usual);
}

/* ---- the file ---- */

void fb_floors_write(const struct fb_floors *floors, struct fb_buf *out)
{
    const char *separator = "";

    fb_buf_printf(out, "{\"flamebank_floor\": 1, \"runs\": %zu, \"floors\": [", floors->runs);
    for (size_t i = 0; i < FB_FLOOR_OF_COUNT; i++) {
        const struct fb_floor *f = &floors->of[i];

        if (isnan(f->sd))
            continue;
        fb_buf_printf(out, "%s\n  {\"of\": \"%s\", \"sd\": %.6g, \"df\": %.6g}", separator,
                      names[i].word, f->sd, f->df);
        separator = ",";
    }
    fb_buf_puts(out, "\n]}\n");
}

static enum fb_status floor_read(const struct fb_json *v, struct fb_floors *floors,
                                 struct fb_err *err)
{
    const char *word = fb_json_string(fb_json_get(v, "of"), "");
    double sd = fb_json_number(fb_json_get(v, "sd"), NAN);
    double df = fb_json_number(fb_json_get(v, "df"), NAN);

    for (size_t i = 0; i < FB_FLOOR_OF_COUNT; i++) {
        if (strcmp(names[i].word, word) != 0)
            continue;
        if (!(sd > 0 && sd < 10) || !(df >= 1 && isfinite(df)))
            return fb_fail(err, FB_EFORMAT,
                           "'%s': an 'sd' between 0 and 10 and a 'df' of 1 or more were expected",
                           word);
        floors->of[i] = (struct fb_floor){sd, fmin(df, degrees_most)};
        return FB_OK;
    }
    return fb_fail(err, FB_EFORMAT, "'of': no floor '%s' is known", word);
}

static enum fb_status root_read(const struct fb_json *root, struct fb_floors *floors,
                                struct fb_err *err)
{
    const struct fb_json *list = fb_json_get(root, "floors");
    double runs = fb_json_number(fb_json_get(root, "runs"), 0);
    enum fb_status r = FB_OK;

    if (fb_json_number(fb_json_get(root, "flamebank_floor"), 0) != 1 ||
        fb_json_kind(list) != FB_JSON_ARRAY)
        return fb_fail(err, FB_EFORMAT, "a file of `flamebank floor -o` was expected");
    if (!(runs >= 2 && runs < 1e6) || runs != floor(runs))
        return fb_fail(err, FB_EFORMAT, "'runs': a whole number from 2 on was expected");
    if (fb_json_count(list) == 0)
        return fb_fail(err, FB_EFORMAT, "'floors': one floor at least was expected");
    floors->runs = (size_t)runs;
    for (size_t i = 0; i < fb_json_count(list) && r == FB_OK; i++) {
        r = floor_read(fb_json_at(list, i), floors, err);
        if (r != FB_OK)
            r = fb_within(err, "floor %zu", i + 1);
    }
    return r;
}

enum fb_status fb_floors_read(const char *text, size_t len, const char *name,
                              struct fb_floors *ret_floors, struct fb_err *err)
{
    struct fb_floors floors = {0};
    struct fb_json_doc *doc;
    enum fb_status r = fb_json_parse(text, len, FB_JSON_STRICT, &doc, NULL, err);

    for (size_t i = 0; i < FB_FLOOR_OF_COUNT; i++)
        floors.of[i].sd = NAN;
    if (r == FB_OK) {
        r = root_read(fb_json_root(doc), &floors, err);
        fb_json_free(doc);
    }
    if (r != FB_OK)
        return fb_within(err, "%s", name);
    *ret_floors = floors;
    return FB_OK;
}
