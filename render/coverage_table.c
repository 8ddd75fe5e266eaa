/* Where the CPU time of each step went, by the control group's own account, and what no sample can
 * say. */
#include <math.h>

#include "base/buf.h"
#include "render/cells.h"
#include "render/render.h"

static void row_add(struct fb_table *t, const struct fb_step *s, const struct fb_coverage *c)
{
    fb_table_row(t);
    fb_table_text(t, s->name);
    fb_table_number(t, c->charged_s, 2);
    fb_cell_percent(t, c->sampled_s, c->charged_s);
    fb_cell_percent(t, c->sampler_s, c->charged_s);
    fb_cell_percent(t, c->others_s, c->charged_s);
    fb_cell_percent(t, c->unexplained_s, c->charged_s);
    fb_table_number(t, s->yield, 2);
    fb_table_number(t, s->node_busy * 100, 1);
    fb_table_number(t, s->node_softirq * 100, 1);
    fb_table_number(t, c->span_s, 3);
    fb_table_number(t, c->sampled_s, 3);
    fb_table_number(t, c->handler_s, 3);
    fb_table_number(t, c->sampler_s, 3);
    fb_table_number(t, c->others_s, 3);
    fb_table_number(t, c->unexplained_s, 3);
    fb_table_text(t, c->is_group ? "cgroup" : "process");
    if (s->health & FB_STEP_SICK)
        fb_table_mute(t);
}

static void columns_add(struct fb_table *t)
{
    static const char *const data[] = {"span_s",   "sampled_s",     "handler_s", "sampler_s",
                                       "others_s", "unexplained_s", "charged_by"};

    fb_table_column(t, "step", "step", FB_ALIGN_LEFT);
    fb_table_column(t, "charged_s", "CPU s", FB_ALIGN_RIGHT);
    fb_table_group(t, "% of it in");
    fb_table_column(t, "sampled", "samples", FB_ALIGN_RIGHT);
    fb_table_column(t, "sampler", "sampler", FB_ALIGN_RIGHT);
    fb_table_column(t, "others", "others", FB_ALIGN_RIGHT);
    fb_table_column(t, "unexplained", "unexplained", FB_ALIGN_RIGHT);
    fb_table_group(t, NULL);
    fb_table_column(t, "yield", "yield", FB_ALIGN_RIGHT);
    fb_table_group(t, "node, %");
    fb_table_column(t, "node_busy", "busy", FB_ALIGN_RIGHT);
    fb_table_column(t, "node_softirq", "softirq", FB_ALIGN_RIGHT);
    fb_table_group(t, NULL);
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        fb_table_data_column(t, data[i]);
}

struct fb_table *fb_render_coverage(const struct fb_steps *steps, const struct fb_profile *p)
{
    struct fb_sampled *sampled = fb_sampled_new(p);
    struct fb_table *t = NULL;
    bool is_group = true;

    for (size_t i = 0; i < steps->count; i++) {
        struct fb_coverage c;

        if (!fb_coverage_measure(p, sampled, &steps->items[i], &c))
            continue;
        if (!t)
            columns_add(t = fb_table_new("CPU time that is accounted for"));
        row_add(t, &steps->items[i], &c);
        is_group = is_group && c.is_group;
    }
    fb_sampled_free(sampled);
    if (!t)
        return NULL;
    fb_table_note(t, is_group ? "CPU s: what the arm's control group was charged. Samples: of the "
                                "sampled threads, the sampler's handler included. Sampler: its own "
                                "thread. Others: other processes of the group."
                              : "CPU s: of the process, since its control group does not say. "
                                "Samples: of the sampled threads, the sampler's handler included. "
                                "Sampler: its own thread.");
    fb_table_note(t, "In none of these numbers: time that threads wait or are parked, CPU time of "
                     "processes outside the group, and the kernel's work for the arm in soft "
                     "interrupts on other CPUs, which the node is charged for.");
    return t;
}
