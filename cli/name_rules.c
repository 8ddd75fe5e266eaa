#include "cli/name_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "cli/load.h"
#include "symbolize/symbolize.h"

enum { AMBIGUOUS_SHOWN = 3 };

enum fb_status fb_name_rules_option(const struct fb_args *args, struct fb_err *err)
{
    const char *list = fb_args_get(args, "no-name-rule");
    fb_name_rules off = 0;
    char *copy, *rest, *name;
    enum fb_status r = FB_OK;

    if (!list)
        return FB_OK;
    copy = rest = fb_strdup(list);
    while ((name = strsep(&rest, ",")) && r == FB_OK) {
        fb_name_rules set = fb_name_rules_named(name);

        if (set == 0)
            r = fb_fail(err, FB_EUSAGE,
                        "'--no-name-rule %s': '%s' is no rule of names, which 'flamebank names "
                        "--list' shows",
                        list, name);
        off |= set;
    }
    free(copy);
    if (r == FB_OK)
        fb_name_rules_use(FB_NAME_RULES_ALL & ~off);
    return r;
}

/* ---- ambiguous ---- */

static void mark(struct fb_ambiguous *ambiguous, size_t functions, uint32_t function)
{
    if (ambiguous->room < functions) {
        bool *is = fb_alloc_array(functions, sizeof *is);

        if (ambiguous->is)
            memcpy(is, ambiguous->is, ambiguous->room * sizeof *is);
        free(ambiguous->is);
        ambiguous->is = is;
        ambiguous->room = functions;
    }
    ambiguous->is[function] = true;
}

/* The name without the rules that merge, the parameters with it: what tells functions apart. */
static uint32_t precise_name(struct fb_strings *strings, const struct fb_profile *p,
                             const struct fb_frame *f, struct fb_buf *text)
{
    const struct fb_string *raw = &p->strings.items[f->name];

    text->len = 0;
    fb_name_canonical_by(fb_name_rules_in_use() & ~fb_name_rules_merging(), raw->text, raw->len,
                         fb_frame_kind_of_name(f), text);
    fb_buf_puts(text, fb_profile_text(p, f->signature));
    return fb_strings_put(strings, text->data, text->len);
}

/* By frame, 0 where its function has no other name; NULL if none has. */
static uint32_t *precise_names(struct fb_strings *strings, const struct fb_functions *fns,
                               const struct fb_profile *p, const uint32_t *function_of_frame)
{
    uint32_t *names = NULL;
    struct fb_buf text = {0};

    for (size_t i = 1; i < p->frames_count; i++) {
        const struct fb_frame *f = &p->frames[i];

        if (f->name != 0 && p->strings.items[f->name].len > 0 &&
            (f->signature != 0 || fns->items[function_of_frame[i]].raw_names > 1)) {
            if (!names)
                names = fb_alloc_array(p->frames_count, sizeof *names);
            names[i] = precise_name(strings, p, f, &text);
        }
    }
    fb_buf_done(&text);
    return names;
}

void fb_ambiguous_find(struct fb_ambiguous *ambiguous, const struct fb_functions *fns,
                       const struct fb_calltree *tree, const struct fb_profile *p,
                       const uint32_t *function_of_frame, const uint32_t *node_of_stack)
{
    uint32_t *name_of_node, *names;
    struct fb_strings strings;

    fb_strings_init(&strings);
    names = precise_names(&strings, fns, p, function_of_frame);
    name_of_node = names ? fb_alloc_array(tree->count, sizeof *name_of_node) : NULL;
    for (size_t i = 1; names && i < p->stacks_count; i++) {
        uint32_t node = node_of_stack[i], name = names[p->stacks[i].frame.n];

        if (name == 0)
            continue;
        if (name_of_node[node] != 0 && name_of_node[node] != name)
            mark(ambiguous, fns->count, fns->items[tree->nodes[node].function].same);
        name_of_node[node] = name;
    }
    free(names);
    free(name_of_node);
    fb_strings_done(&strings);
}

bool fb_ambiguous_is(const struct fb_ambiguous *ambiguous, const struct fb_functions *fns,
                     uint32_t function)
{
    uint32_t same = fns->items[function].same;

    return same < ambiguous->room && ambiguous->is[same];
}

void fb_ambiguous_done(struct fb_ambiguous *ambiguous)
{
    free(ambiguous->is);
    *ambiguous = (struct fb_ambiguous){0};
}

/* ---- what the rules did ---- */

/* Whether no raw name before has its text and its function in another tier. */
static bool is_first(const struct fb_functions *fns, struct fb_index *seen, size_t pair)
{
    const struct fb_raw_name *a = &fns->raw_pairs[pair];
    uint64_t hash = fb_hash_pair(fns->items[a->function].same, a->raw);
    struct fb_index_cursor at = fb_index_seek(seen, hash);
    uint32_t i;

    while (fb_index_step(seen, &at, &i)) {
        const struct fb_raw_name *b = &fns->raw_pairs[i];

        if (a->raw == b->raw && fns->items[a->function].same == fns->items[b->function].same)
            return false;
    }
    fb_index_add(seen, hash, (uint32_t)pair);
    return true;
}

/* Raw names that each rule changed, by rule, and of how many functions they are. */
static void count_fired(const struct fb_functions *fns, size_t of_rule[64], size_t *ret_raw,
                        size_t *ret_functions)
{
    bool *is_changed = fb_alloc_array(fns->count, sizeof *is_changed);
    struct fb_index seen = {0};
    struct fb_buf text = {0};

    *ret_raw = *ret_functions = 0;
    for (size_t i = 0; i < fns->raw_count; i++) {
        const struct fb_raw_name *pair = &fns->raw_pairs[i];
        const struct fb_string *raw = &fns->strings.items[pair->raw];
        uint32_t same = fns->items[pair->function].same;
        fb_name_rules fired;

        if (pair->raw == fns->items[pair->function].name || !is_first(fns, &seen, i))
            continue;
        text.len = 0;
        fired =
            fb_name_canonical_by(fb_name_rules_in_use(), raw->text, raw->len, pair->kind, &text);
        if (fired == 0)
            continue;
        ++*ret_raw;
        *ret_functions += !is_changed[same];
        is_changed[same] = true;
        for (; fired != 0; fired &= fired - 1)
            of_rule[__builtin_ctzll(fired)]++;
    }
    fb_buf_done(&text);
    fb_index_done(&seen);
    free(is_changed);
}

static void put_rules(const size_t of_rule[64], struct fb_buf *out)
{
    const char *name, *separator = "";

    for (size_t i = 0; (name = fb_name_rule_get(i, NULL)) != NULL; i++) {
        if (of_rule[i] == 0)
            continue;
        fb_buf_printf(out, "%s%s %zu", separator, name, of_rule[i]);
        separator = ", ";
    }
}

static bool is_shown(const struct fb_view *view, size_t function)
{
    return view->fns.items[function].same == function &&
           fb_ambiguous_is(&view->ambiguous, &view->fns, (uint32_t)function);
}

static void note_ambiguous(const struct fb_view *view, struct fb_table *table)
{
    struct fb_buf text = {0};
    size_t count = 0;

    for (size_t i = 1; i < view->fns.count; i++)
        count += is_shown(view, i);
    for (size_t i = 1, shown = 0; i < view->fns.count && shown < AMBIGUOUS_SHOWN; i++) {
        if (!is_shown(view, i))
            continue;
        fb_buf_printf(&text, "%s'%.100s'", shown++ > 0 ? ", " : "",
                      fb_function_name(&view->fns, (uint32_t)i));
    }
    if (count > 0) {
        char *note = fb_format("%zu of these names stand%s for several functions that one parent "
                               "calls, and for their sum in every row: %s%s.",
                               count, count == 1 ? "s" : "", text.data,
                               count > AMBIGUOUS_SHOWN ? " ..." : "");

        fb_table_note(table, note);
        free(note);
    }
    fb_buf_done(&text);
}

void fb_note_names(const struct fb_view *view, const char *hint, struct fb_table *table)
{
    size_t of_rule[64] = {0}, raw, functions;
    struct fb_buf rules = {0};
    char *note;

    if (view->raw_names)
        return;
    count_fired(&view->fns, of_rule, &raw, &functions);
    if (raw == 0)
        return;
    put_rules(of_rule, &rules);
    note = fb_format("Names: %zu raw name%s became %zu by these rules: %s.%s%s", raw,
                     raw == 1 ? "" : "s", functions, rules.data, *hint ? " " : "", hint);
    fb_table_note(table, note);
    free(note);
    fb_buf_done(&rules);
    note_ambiguous(view, table);
}
