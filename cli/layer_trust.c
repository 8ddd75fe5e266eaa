#include "cli/layer_trust.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/layer_views.h"
#include "cli/say.h"
#include "symbolize/symbolize.h"

enum { RULE_WIDTH = 90, SUGGESTED_MAX = 20, SUGGESTED_DEPTH = 3, LAYER_NAME = 61 };

static void rule_columns(struct fb_table *t)
{
    fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
    fb_table_column(t, "file", "file", FB_ALIGN_LEFT);
    fb_table_column(t, "number", "no.", FB_ALIGN_RIGHT);
    fb_table_column(t, "rule", "rule", FB_ALIGN_LEFT);
    fb_table_clip(t, RULE_WIDTH);
}

/* FB_NO_RULE: nothing took it. */
static void rule_cells(struct fb_table *t, const struct fb_layers *layers, size_t rule)
{
    const struct fb_layer_rule *r = rule == FB_NO_RULE ? NULL : fb_layers_rule(layers, rule);
    size_t layer = r ? r->layer : fb_layers_count(layers) - 1;

    fb_table_text(t, fb_layers_get(layers, layer)->name);
    fb_table_text(t, r ? r->file : "");
    fb_table_number(t, r ? (double)r->line : NAN, 0);
    fb_table_text(t, r ? r->text : "no rule matches");
}

static void note_rules(struct fb_table *t, const struct fb_view *view)
{
    char *rules = fb_format("Rules: %s.", fb_layers_name(view->layers));

    fb_table_note(t, rules);
    free(rules);
}

/* ---- a stack ---- */

struct typed { /* a stack in a tree of its own */
    struct fb_functions fns;
    struct fb_calltree tree;
    struct fb_layers_applied applied;
    struct fb_layers_passing passing;
    uint32_t node;
};

static void typed_done(struct typed *s)
{
    fb_layers_applied_done(&s->applied);
    fb_layers_passing_done(&s->passing);
    fb_calltree_done(&s->tree);
    fb_functions_done(&s->fns);
}

static void typed_rows(struct fb_table *t, const struct fb_layers *layers, const struct typed *s)
{
    uint16_t decided = s->applied.rule[s->node];
    uint32_t at = s->applied.decider[s->node];

    fb_table_row(t);
    fb_table_text(t, "decides");
    rule_cells(t, layers, decided);
    for (size_t i = s->passing.start[at]; i < s->passing.start[at + 1]; i++) {
        if (s->passing.rules[i] == decided)
            continue;
        fb_table_row(t);
        fb_table_text(t, s->passing.rules[i] < decided ? "passed over" : "would too");
        rule_cells(t, layers, s->passing.rules[i]);
    }
    if (at != s->node) {
        char *note = fb_format("Its leaf is charged to '%s', a caller.",
                               fb_function_name(&s->fns, s->tree.nodes[at].function));

        fb_table_note(t, note);
        free(note);
    }
}

static void boundary_note(struct fb_table *t, const struct fb_layers *layers, struct typed *s)
{
    uint64_t *bits = fb_layers_boundaries(layers, &s->tree, &s->fns);
    struct fb_buf text = {0};

    for (size_t b = 0; b < fb_layers_boundaries_count(layers); b++)
        if (bits[s->node] >> b & 1)
            fb_buf_printf(&text, "%s%s", text.len ? ", " : "In the boundaries ",
                          fb_layers_boundary(layers, b)->name);
    if (text.len > 0) {
        fb_buf_putc(&text, '.');
        fb_table_note(t, text.data);
    }
    fb_buf_done(&text);
    free(bits);
}

int fb_explain_stack(const struct fb_args *args, const struct fb_view *view, const char *stack)
{
    struct typed s = {0};
    struct fb_table *t;
    struct fb_err err;
    enum fb_status r;

    fb_functions_init(&s.fns);
    fb_calltree_init(&s.tree);
    s.node = fb_layers_stack_put(&s.tree, &s.fns, stack,
                                 fb_args_has(args, "raw-names") ? NULL : fb_name_canonical);
    r = fb_layers_apply(view->layers, &s.tree, &s.fns, &view->layers_options, &s.applied, &err);
    if (r == FB_OK)
        r = fb_layers_passing(view->layers, &s.tree, &s.fns, &s.passing, &err);
    if (r != FB_OK || s.node == 0) {
        typed_done(&s);
        return r != FB_OK ? fb_say_error(&err)
                          : (fb_say("'--explain': an empty stack is in no layer"), FB_EXIT_USAGE);
    }
    t = fb_table_new(stack);
    fb_table_column(t, "outcome", "outcome", FB_ALIGN_LEFT);
    rule_columns(t);
    typed_rows(t, view->layers, &s);
    boundary_note(t, view->layers, &s);
    note_rules(t, view);
    typed_done(&s);
    return fb_say_tables(args, &t, 1);
}

/* ---- a frame of a profile ---- */

struct tally { /* by rule, the last for none */
    double *decides, *passes, sum;
};

static void tally_frame(const struct fb_view *view, const struct fb_layers_passing *passing,
                        const double *self, const char *name, struct tally *tally)
{
    size_t rules = fb_layers_rules_count(view->layers);
    uint8_t *wanted = fb_alloc_array(view->fns.count, sizeof *wanted);

    for (uint32_t f = 1; f < view->fns.count; f++)
        wanted[f] = fb_frame_is_named(&view->fns, f, name);
    for (uint32_t n = 1; n < view->tree.count; n++) {
        uint16_t rule = view->applied.rule[n];

        if (!wanted[view->tree.nodes[n].function])
            continue;
        tally->decides[rule == FB_NO_RULE ? rules : rule] += self[n];
        tally->sum += self[n];
        for (size_t i = passing->start[n]; i < passing->start[n + 1]; i++)
            if (passing->rules[i] != rule)
                tally->passes[passing->rules[i]] += self[n];
    }
    free(wanted);
}

static struct fb_table *frame_table(const struct fb_view *view, const struct tally *tally,
                                    const char *name)
{
    struct fb_table *t = fb_table_new(name);
    size_t rules = fb_layers_rules_count(view->layers);

    rule_columns(t);
    fb_table_column(t, "share", "share of it %", FB_ALIGN_RIGHT);
    fb_table_column(t, "would_take_percent", "would take %", FB_ALIGN_RIGHT);
    for (int decisive = 1; decisive >= 0; decisive--)
        for (size_t i = 0; i <= rules; i++) {
            double passes = i < rules ? tally->passes[i] : 0;

            if ((tally->decides[i] > 0) != decisive || (!decisive && passes <= 0))
                continue;
            fb_table_row(t);
            rule_cells(t, view->layers, i < rules ? i : FB_NO_RULE);
            fb_table_number(t, 100 * tally->decides[i] / tally->sum, 1);
            fb_table_number(t, 100 * passes / tally->sum, 1);
            if (!decisive)
                fb_table_mute(t);
        }
    if (tally->sum <= 0)
        fb_table_note(t, "No sample ends in a function of that name.");
    else
        fb_table_note(t, "Would take: stacks that pass the rule and went to another one.");
    return t;
}

int fb_explain_frame(const struct fb_args *args, const struct fb_view *view, const char *name)
{
    size_t rules = fb_layers_rules_count(view->layers);
    struct fb_layers_passing passing;
    const struct fb_step *step;
    struct tally tally = {0};
    struct fb_table *t;
    struct fb_err err;
    double *self;

    if (fb_view_self(args, view, 0, &self, &step, &err) != FB_OK)
        return fb_say_error(&err);
    if (fb_layers_passing(view->layers, &view->tree, &view->fns, &passing, &err) != FB_OK) {
        free(self);
        return fb_say_error(&err);
    }
    tally.decides = fb_alloc_array(rules + 1, sizeof *tally.decides);
    tally.passes = fb_alloc_array(rules + 1, sizeof *tally.passes);
    tally_frame(view, &passing, self, name, &tally);
    t = frame_table(view, &tally, name);
    note_rules(t, view);
    free(tally.decides);
    free(tally.passes);
    fb_layers_passing_done(&passing);
    free(self);
    return fb_say_tables(args, &t, 1);
}

/* ---- lint ---- */

static struct fb_table *lint_table(const struct fb_view *view, const struct fb_lint *lint)
{
    struct fb_table *t = fb_table_new(fb_layers_name(view->layers));

    fb_table_column(t, "level", "level", FB_ALIGN_LEFT);
    fb_table_column(t, "finding", "finding", FB_ALIGN_LEFT);
    fb_table_column(t, "file", "file", FB_ALIGN_LEFT);
    fb_table_column(t, "number", "rule", FB_ALIGN_RIGHT);
    fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
    fb_table_column(t, "share_percent", "share %", FB_ALIGN_RIGHT);
    fb_table_column(t, "text", "what", FB_ALIGN_LEFT);
    fb_table_data_column(t, "rule");
    for (size_t i = 0; i < lint->count; i++) {
        const struct fb_lint_item *item = &lint->items[i];
        const struct fb_layer_rule *rule =
            item->rule == FB_NO_RULE ? NULL : fb_layers_rule(view->layers, item->rule);

        fb_table_row(t);
        fb_table_text(t, fb_lint_level_text(item->level));
        fb_table_text(t, item->what);
        fb_table_text(t, rule ? rule->file : "");
        if (rule)
            fb_table_number(t, (double)rule->line, 0);
        else
            fb_table_text(t, "");
        fb_table_text(t, rule ? fb_layers_get(view->layers, rule->layer)->name : "");
        if (isnan(item->share))
            fb_table_text(t, "");
        else
            fb_table_number(t, 100 * item->share, 1);
        fb_table_text(t, item->text);
        fb_table_text(t, rule ? rule->text : "");
        if (item->level == FB_LINT_NOTE)
            fb_table_mute(t);
    }
    if (lint->count == 0)
        fb_table_note(t, "Nothing to say against these rules on this input.");
    return t;
}

int fb_lint_say(const struct fb_args *args, const struct fb_view *view)
{
    struct fb_arm_selves selves;
    struct fb_lint lint;
    struct fb_table *t;
    struct fb_err err;
    enum fb_status r = fb_arm_selves_get(args, view, &selves, &err);
    int status;

    if (r != FB_OK)
        return fb_say_error(&err);
    r = fb_layers_lint(&(struct fb_lint_input){.layers = view->layers,
                                               .tree = &view->tree,
                                               .fns = &view->fns,
                                               .applied = &view->applied,
                                               .self = (const double *const *)selves.self,
                                               .arms = (const char *const *)selves.titles,
                                               .arms_count = view->count},
                       &lint, &err);
    if (r == FB_OK) {
        t = lint_table(view, &lint);
        status = fb_say_tables(args, &t, 1);
        if (status == FB_EXIT_DONE && lint.errors > 0)
            status = FB_EXIT_NO;
        fb_lint_done(&lint);
    } else {
        status = fb_say_error(&err);
    }
    fb_arm_selves_done(&selves);
    return status;
}

/* ---- suggest ---- */

struct package {
    char *name;
    double share;
    bool is_module; /* its frames have no package of their own */
};

static int by_share(const void *a, const void *b)
{
    const struct package *x = a, *y = b;

    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* The packages of what no rule takes. */
static struct package *packages_get(const struct fb_view *view, const double *self,
                                    size_t *ret_count)
{
    struct fb_keys keys;
    struct package *items;
    double all = 0;

    fb_keys_make(&keys, FB_BY_PACKAGE, SUGGESTED_DEPTH, NULL, NULL, &view->tree, &view->fns);
    items = fb_alloc_array(keys.count, sizeof *items);
    for (size_t n = 0; n < view->tree.count; n++) {
        uint32_t at = view->applied.decider[n]; /* the frame that a rule would have to take */
        const struct fb_function *f = &view->fns.items[view->tree.nodes[at].function];
        struct package *p = &items[keys.of_node[at]];

        all += self[n];
        if (n == 0 || self[n] <= 0 || view->applied.rule[n] != FB_NO_RULE)
            continue;
        p->share += self[n];
        p->is_module = strcmp(keys.names[keys.of_node[at]],
                              fb_strings_get(&view->fns.strings, f->module)) == 0;
    }
    for (size_t k = 0; k < keys.count; k++) {
        items[k].name = fb_strdup(keys.names[k]);
        items[k].share = all > 0 ? items[k].share / all : 0;
    }
    *ret_count = keys.count;
    qsort(items, keys.count, sizeof *items, by_share);
    fb_keys_done(&keys);
    return items;
}

/* Nothing that a rule could be written for; JSON cannot say what is no UTF-8. */
static bool is_nameless(const char *package)
{
    size_t len = strlen(package), at = 0;

    while (at < len) {
        uint32_t c = fb_utf8_next(package, len, &at);

        if (c < 0x20 || c == 0x7f || c == 0xfffd)
            return true;
    }
    return package[0] == '(' || package[0] == '[';
}

/* A layer's name: not longer than one may be, and neither of the rules' nor of those before it. */
static void layer_name(const struct fb_view *view, const struct package *p,
                       char (*names)[LAYER_NAME], size_t count)
{
    bool taken = true;

    for (unsigned k = 1; taken; k++) {
        char suffix[16] = "";
        size_t len = strlen(p->name), room;

        if (k > 1)
            (void)snprintf(suffix, sizeof suffix, " (%u)", k);
        room = LAYER_NAME - 1 - strlen(suffix);
        if (len > room)
            for (len = room; ((unsigned char)p->name[len] & 0xc0) == 0x80;) /* inside a character */
                len--;
        (void)snprintf(names[count], LAYER_NAME, "%.*s%s", (int)len, p->name, suffix);
        taken = false;
        for (size_t i = 0; i < fb_layers_count(view->layers); i++)
            taken |= strcmp(fb_layers_get(view->layers, i)->name, names[count]) == 0;
        for (size_t i = 0; i < count; i++)
            taken |= strcmp(names[i], names[count]) == 0;
    }
}

/* "^com\\.acme\\." for a package, "^libx\\.so$" for a module. */
static void pattern_put(struct fb_buf *out, const struct package *p)
{
    struct fb_buf text = {0};
    const char *end = p->is_module ? "$" : strstr(p->name, "::") ? "::" : "[.:]";

    fb_buf_putc(&text, '^');
    for (const char *c = p->name; *c; c++) {
        if (strchr("\\^$.|?*+()[]{}", *c))
            fb_buf_putc(&text, '\\');
        fb_buf_putc(&text, *c);
    }
    fb_buf_puts(&text, end);
    fb_json_put_string(out, text.data, text.len);
    fb_buf_done(&text);
}

/* What an include of these rules is called wherever the file will be: a preset's name or a path
 * from the root. */
static char *include_name(const char *rules)
{
    char *real = strchr(rules, '/') || strstr(rules, ".json") ? realpath(rules, NULL) : NULL;

    return real ? real : fb_strdup(rules);
}

static bool is_inside(const struct package *inner, const struct package *outer)
{
    size_t n = strlen(outer->name);

    return !inner->is_module && !outer->is_module && strncmp(inner->name, outer->name, n) == 0 &&
           (inner->name[n] == '.' || inner->name[n] == ':' || inner->name[n] == '/');
}

/* Those that are suggested, in front.  "java.util" takes all of "java.util.concurrent": what is
 * inside another stands before it, else by share. */
static size_t suggestions_pick(struct package *items, size_t count)
{
    size_t picked = 0;

    for (size_t i = 0; i < count && picked < SUGGESTED_MAX && items[i].share > 0; i++) {
        struct package item = items[i];
        size_t at = 0;

        if (is_nameless(item.name))
            continue;
        while (at < picked && !is_inside(&item, &items[at]))
            at++;
        items[i] = items[picked]; /* the nameless one that was there */
        memmove(&items[at + 1], &items[at], (picked - at) * sizeof *items);
        items[at] = item;
        picked++;
    }
    return picked;
}

static void suggestions_put(struct fb_buf *out, const struct fb_view *view,
                            const struct package *items, size_t shown)
{
    char *include = include_name(fb_layers_name(view->layers));
    struct fb_buf layers = {0}, rules = {0};
    char names[SUGGESTED_MAX][LAYER_NAME];

    for (size_t i = 0; i < shown; i++) {
        const char *comma = i > 0 ? ",\n    " : "";
        const char *name = names[i];

        layer_name(view, &items[i], names, i);
        fb_buf_printf(&layers, "%s{\"name\": ", comma);
        fb_json_put_string(&layers, name, strlen(name));
        fb_buf_puts(&layers, ", \"rollup\": \"application\"}");
        fb_buf_printf(&rules, "%s{\"layer\": ", comma);
        fb_json_put_string(&rules, name, strlen(name));
        fb_buf_printf(&rules, ", \"%s\": ", items[i].is_module ? "module" : "leaf");
        pattern_put(&rules, &items[i]);
        fb_buf_printf(&rules, ", \"comment\": \"%.2f %%\"}", 100 * items[i].share);
    }
    fb_buf_puts(out, "{\n  \"include\": ");
    fb_json_put_string(out, include, strlen(include));
    fb_buf_printf(out, ",\n  \"layers\": [%s%s%s],\n  \"rules\": [%s%s%s]\n}\n",
                  shown ? "\n    " : "", shown ? layers.data : "", shown ? "\n  " : "",
                  shown ? "\n    " : "", shown ? rules.data : "", shown ? "\n  " : "");
    fb_buf_done(&layers);
    fb_buf_done(&rules);
    free(include);
}

int fb_suggest_say(const struct fb_args *args, const struct fb_view *view)
{
    const struct fb_step *step;
    struct fb_buf out = {0};
    struct package *items;
    struct fb_err err;
    double *self;
    size_t count;
    int status;

    if (fb_view_self(args, view, 0, &self, &step, &err) != FB_OK)
        return fb_say_error(&err);
    items = packages_get(view, self, &count);
    suggestions_put(&out, view, items, suggestions_pick(items, count));
    status = fb_say_bytes(out.data, out.len);
    for (size_t i = 0; i < count; i++)
        free(items[i].name);
    free(items);
    free(self);
    fb_buf_done(&out);
    return status;
}
