#include "cli/predictions.h"

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/vec.h"

enum { FILE_MAX = 16 << 20 };

/* Calls for each condition of each outcome. */
static size_t conditions_of(const struct fb_predictions *file)
{
    size_t n = 0;

    for (size_t i = 0; i < file->count; i++)
        for (size_t o = 0; o < file->items[i].count; o++)
            n += file->items[i].outcomes[o].count;
    return n;
}

static void sums_collect(struct fb_predicted *p)
{
    p->sums = fb_alloc_array(conditions_of(p->file), sizeof *p->sums);
    for (size_t i = 0; i < p->file->count; i++) {
        const struct fb_gate_condition *c = &p->file->items[i].outcomes[0].conditions[0];

        if (c->subject == FB_GATE_FRAME)
            p->sums[p->sums_count++] = fb_gate_sum_text(c->name);
    }
}

/* All conditions of a prediction are of one metric, and so of one sum. */
static void sums_place(struct fb_predicted *p, size_t next)
{
    for (size_t i = 0; i < p->file->count; i++) {
        struct fb_prediction *item = &p->file->items[i];

        if (item->outcomes[0].conditions[0].subject != FB_GATE_FRAME)
            continue;
        for (size_t o = 0; o < item->count; o++)
            for (size_t c = 0; c < item->outcomes[o].count; c++)
                item->outcomes[o].conditions[c].sum = next;
        next++;
    }
}

enum fb_status fb_predicted_read(const struct fb_args *args, struct fb_predicted *ret_predicted,
                                 struct fb_err *err)
{
    const char *path = fb_args_get(args, "predictions");
    struct fb_buf text = {.max = FILE_MAX};
    enum fb_status r;

    *ret_predicted = (struct fb_predicted){0};
    if (path == NULL)
        return FB_OK;
    r = fb_file_read(path, &text, err);
    if (r == FB_OK)
        r = fb_predictions_read(text.data, text.len, path, &ret_predicted->file, err);
    fb_buf_done(&text);
    if (r == FB_OK)
        sums_collect(ret_predicted);
    return r;
}

void fb_predicted_done(struct fb_predicted *predicted)
{
    for (size_t i = 0; i < predicted->sums_count; i++)
        free(predicted->sums[i]);
    free(predicted->sums);
    fb_predictions_free(predicted->file);
    *predicted = (struct fb_predicted){0};
}

/* Those of one prediction, in all steps that it is about; without any it cannot be answered. */
static enum fb_status judge_one(const struct fb_prediction *p, const struct fb_diff *diff,
                                struct fb_prediction_row *rows, size_t *n, struct fb_err *err)
{
    size_t before = *n;

    for (size_t s = 0; s < diff->steps_count; s++) {
        struct fb_prediction_row *row = &rows[*n];
        enum fb_status r;

        if (!fb_prediction_is_of(p, &diff->steps[s]))
            continue;
        row->prediction = p;
        row->step = diff->steps[s].name;
        r = fb_prediction_judge(diff, s, p, &row->result, err);
        if (r != FB_OK)
            return r;
        ++*n;
    }
    if (*n == before)
        rows[(*n)++] = (struct fb_prediction_row){
            p,
            p->step != NULL ? p->step : "",
            {FB_PREDICTION_UNANSWERED, "", NAN, NAN, NAN, "no such step is in both arms"}};
    return FB_OK;
}

enum fb_status fb_predicted_judge(struct fb_predicted *predicted, const struct fb_diff *diff,
                                  size_t first_sum, struct fb_table **ret_table, struct fb_err *err)
{
    size_t most = predicted->file->count * (diff->steps_count + 1), n = 0;
    struct fb_prediction_row *rows = fb_alloc_array(most, sizeof *rows);
    enum fb_status r = FB_OK;

    sums_place(predicted, first_sum);
    for (size_t i = 0; i < predicted->file->count && r == FB_OK; i++)
        r = judge_one(&predicted->file->items[i], diff, rows, &n, err);
    if (r == FB_OK)
        *ret_table = fb_render_predictions(rows, n);
    free(rows);
    return r;
}
