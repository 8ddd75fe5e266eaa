/* Knee, plateau and cost of a ramp: sentences under its steps, and a row of numbers. */
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "render/render.h"

static void knee_note(struct fb_table *t, const struct fb_ramp *r, const struct fb_knee *knee)
{
    char words[80];
    struct fb_buf b = {0};

    (void)fb_knee_words(knee, words);
    if (!r->knee)
        fb_buf_printf(&b, "No knee: no step has %s.", words);
    else if (r->knee_is_open)
        fb_buf_printf(&b, "Knee: beyond %.10g/s, the highest rate offered (%s).", r->knee->offered,
                      words);
    else
        fb_buf_printf(&b, "Knee: %.10g/s, the last step with %s.", r->knee->offered, words);
    fb_table_note(t, b.data);
    fb_buf_done(&b);
}

static void plateau_note(struct fb_table *t, const struct fb_ramp *r)
{
    struct fb_buf b = {0};

    if (isnan(r->plateau))
        fb_buf_printf(&b, "No plateau: %s.", r->no_plateau);
    else
        fb_buf_printf(&b, "Plateau: %.1f/s, the mean of %zu steps past the knee (%.1f to %.1f).",
                      r->plateau, r->plateau_steps, r->plateau_least, r->plateau_most);
    fb_table_note(t, b.data);
    fb_buf_done(&b);
}

static void cost_note(struct fb_table *t, const struct fb_ramp *r)
{
    struct fb_buf b = {0};

    if (isnan(r->marginal_ms))
        return;
    fb_buf_printf(&b,
                  "Cost: %.3g cores at no load and %.3g ms for each further request, by %zu sound "
                  "steps, which lie within %.2g %% of that line.",
                  r->fixed_cores, r->marginal_ms, r->fit_steps, r->fit_off * 100);
    fb_table_note(t, b.data);
    fb_buf_done(&b);
}

void fb_render_ramp_notes(struct fb_table *t, const struct fb_ramp *r, const struct fb_knee *knee)
{
    if (!r->top)
        return;
    knee_note(t, r, knee);
    plateau_note(t, r);
    cost_note(t, r);
}

struct fb_table *fb_render_ramp(const struct fb_ramp *r, const struct fb_knee *knee)
{
    static const char *const keys[] = {"knee_rate_per_s", "knee_is_open",  "knee_rule",
                                       "plateau_per_s",   "plateau_steps", "no_plateau",
                                       "most_per_s",      "fixed_cores",   "marginal_ms",
                                       "fit_steps",       "fit_off"};
    struct fb_table *t = fb_table_new("Ramp");
    char words[80];

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        fb_table_data_column(t, keys[i]);
    fb_table_row(t);
    fb_table_number(t, r->knee ? r->knee->offered : NAN, 0);
    fb_table_number(t, r->knee_is_open ? 1 : 0, 0);
    fb_table_text(t, fb_knee_words(knee, words));
    fb_table_number(t, r->plateau, 1);
    fb_table_number(t, (double)r->plateau_steps, 0);
    fb_table_text(t, r->no_plateau);
    fb_table_number(t, r->most ? fb_step_delivered_per_s(r->most) : NAN, 1);
    fb_table_number(t, r->fixed_cores, 3);
    fb_table_number(t, r->marginal_ms, 4);
    fb_table_number(t, (double)r->fit_steps, 0);
    fb_table_number(t, r->fit_off, 3);
    return t;
}
