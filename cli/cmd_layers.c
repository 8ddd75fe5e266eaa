#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/commands.h"
#include "cli/one_profile.h"
#include "cli/say.h"

/* Which rule puts stacks that end in a function of that name where, and how much. */
static struct fb_table *explain(const struct fb_view *view, const double *self, const char *name)
{
    const uint16_t *rule_of_node = view->applied.rule;
    size_t rules = fb_layers_rules_count(view->layers);
    double *by_rule = calloc(rules + 1, sizeof *by_rule), sum = 0;
    struct fb_table *t = fb_table_new(name);

    for (uint32_t i = 1; by_rule && i < view->tree.count; i++) {
        size_t rule = rule_of_node[i] == UINT16_MAX ? rules : rule_of_node[i];

        if (strcmp(fb_function_name(&view->fns, view->tree.nodes[i].function), name) != 0)
            continue;
        by_rule[rule] += self[i];
        sum += self[i];
    }
    fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
    fb_table_column(t, "rule", "rule", FB_ALIGN_LEFT);
    fb_table_clip(t, 100);
    fb_table_column(t, "share", "share of it %", FB_ALIGN_RIGHT);
    for (size_t i = 0; by_rule && i <= rules; i++) {
        const struct fb_layer_rule *rule = i < rules ? fb_layers_rule(view->layers, i) : NULL;
        size_t layer = rule ? rule->layer : fb_layers_count(view->layers) - 1;

        if (by_rule[i] <= 0)
            continue;
        fb_table_row(t);
        fb_table_text(t, fb_layers_get(view->layers, layer)->name);
        fb_table_text(t, rule ? rule->text : "no rule matches");
        fb_table_number(t, 100 * by_rule[i] / sum, 1);
    }
    if (sum <= 0)
        fb_table_note(t, "No sample ends in a function of that name.");
    free(by_rule);
    return t;
}

static struct fb_table *make(const struct fb_args *args, const struct fb_view *view,
                             const double *self, const struct fb_diff_shares *shares,
                             const char *title)
{
    const char *name = fb_args_get(args, "explain");
    struct fb_table *table = name ? explain(view, self, name)
                                  : fb_render_layers(view->layers, &view->tree, &view->fns,
                                                     view->layer_of_node, self, shares, title);
    char *rules = fb_format("Rules: %s.", fb_layers_name(view->layers));

    fb_table_note(table, rules);
    free(rules);
    return table;
}

static int run(const struct fb_args *args)
{
    return fb_say_one_profile(args, true, make);
}

static const struct fb_option options[] = {
    FB_OPTIONS_RULES,  {"explain", 0, "FUNCTION", "which rule decides for stacks that end in it"},
    FB_OPTIONS_WINDOW, FB_OPTIONS_NAMES,
    FB_OPTIONS_TABLES, {0}};

const struct fb_command fb_command_layers = {
    .name = "layers",
    .usage = "FILE [--rules RULES] [--explain FUNCTION]",
    .what = "shares by layer: syscalls, transport, codec, runtime ...",
    .text = "Puts every stack into exactly one layer by ordered rules on its leaf frame and its "
            "ancestors; the shares add up to 100 %. What no rule matches is 'other', itemised by "
            "its top functions.",
    .options = options,
    .example = "flamebank layers run.fbank --rules native --step 600",
    .least = 1,
    .most = 1,
    .run = run,
};
