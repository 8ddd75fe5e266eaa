/* Raw names and what they became.  The rules are applied again to each raw name, which tells which
 * of them fired; the functions are those that every other command shows. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/name_rules.h"
#include "cli/say.h"
#include "symbolize/symbolize.h"

static int list_rules(const struct fb_args *args)
{
    struct fb_table *t = fb_table_new("Rules of names, in the order of their application");
    const char *name, *what, *last = "";

    fb_table_column(t, "rule", "rule", FB_ALIGN_LEFT);
    fb_table_column(t, "what", "what it takes away or makes one", FB_ALIGN_LEFT);
    for (size_t i = 0; (name = fb_name_rule_get(i, &what)) != NULL; i++) {
        if (strcmp(name, last) != 0) {
            fb_table_row(t);
            fb_table_text(t, name);
            fb_table_text(t, what);
        }
        last = name;
    }
    return fb_say_tables(args, &t, 1);
}

/* One raw name of a function, as a row. */
struct item {
    const struct fb_raw_name *pair;
    const char *canonical, *raw;
    fb_name_rules fired;
    uint64_t profiles;
};

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int order = strcmp(x->canonical, y->canonical);

    if (order == 0)
        order = strcmp(x->raw, y->raw);
    return order != 0 ? order : (x->pair > y->pair) - (x->pair < y->pair);
}

/* A function of several tiers is one row. */
static size_t merge_equal(const struct fb_functions *fns, struct item *items, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct item *last = kept > 0 ? &items[kept - 1] : NULL;

        if (last && last->raw == items[i].raw &&
            fns->items[last->pair->function].same == fns->items[items[i].pair->function].same)
            last->profiles |= items[i].profiles;
        else
            items[kept++] = items[i];
    }
    return kept;
}

/* The raw names that are asked for, sorted; free() it. */
static struct item *collect(const struct fb_args *args, const struct fb_view *view,
                            fb_name_rules wanted, size_t *ret_count)
{
    const struct fb_functions *fns = &view->fns;
    struct item *items = fb_alloc_array(fns->raw_count, sizeof *items);
    bool all = fb_args_has(args, "all"), ambiguous = fb_args_has(args, "ambiguous");
    struct fb_buf text = {0};
    size_t count = 0;

    for (size_t i = 0; i < fns->raw_count; i++) {
        const struct fb_raw_name *pair = &fns->raw_pairs[i];
        const struct fb_string *raw = &fns->strings.items[pair->raw];
        struct item item = {pair, fb_function_name(fns, pair->function), raw->text, 0,
                            pair->profiles};

        text.len = 0;
        item.fired =
            fb_name_canonical_by(fb_name_rules_in_use(), raw->text, raw->len, pair->kind, &text);
        if ((wanted != 0 && !(item.fired & wanted)) || (wanted == 0 && !all && item.fired == 0) ||
            (ambiguous && !fb_ambiguous_is(&view->ambiguous, fns, pair->function)))
            continue;
        items[count++] = item;
    }
    fb_buf_done(&text);
    if (count > 0)
        qsort(items, count, sizeof *items, compare_items);
    *ret_count = merge_equal(fns, items, count);
    return items;
}

static void put_fired(fb_name_rules fired, struct fb_buf *out)
{
    const char *last = "";

    for (; fired != 0; fired &= fired - 1) {
        const char *name = fb_name_rule_get((size_t)__builtin_ctzll(fired), NULL);

        if (strcmp(name, last) != 0)
            fb_buf_printf(out, "%s%s", *last ? ", " : "", name);
        last = name;
    }
}

/* "1, 2": the files that have the name, in the order of the command line. */
static void put_files(uint64_t profiles, size_t count, struct fb_buf *out)
{
    const char *separator = "";

    for (size_t i = 0; i < count && i < 64; i++) {
        if (!(profiles >> i & 1))
            continue;
        fb_buf_printf(out, "%s%zu", separator, i + 1);
        separator = ", ";
    }
}

static void row(struct fb_table *t, const struct fb_view *view, const struct item *item,
                struct fb_buf *text)
{
    const struct fb_function *f = &view->fns.items[item->pair->function];

    fb_table_row(t);
    fb_table_text(t, item->raw);
    fb_table_text(t, item->canonical);
    fb_table_text(t,
                  fb_ambiguous_is(&view->ambiguous, &view->fns, item->pair->function) ? "*" : "");
    text->len = 0;
    fb_buf_puts(text, "");
    put_fired(item->fired, text);
    fb_table_text(t, text->data);
    text->len = 0;
    fb_buf_puts(text, "");
    fb_name_attributes(item->raw, strlen(item->raw), item->fired, text);
    fb_table_text(t, text->data);
    fb_table_text(t, fb_strings_get(&view->fns.strings, f->module));
    text->len = 0;
    put_files(item->profiles, view->count, text);
    fb_table_text(t, text->data);
    fb_table_text(t, fb_frame_kind_text(f->kind));
}

/* Columns that say the same of all names are for programs only. */
static void columns_for(struct fb_table *t, const struct fb_view *view, const struct item *items,
                        size_t count)
{
    bool has_module = false;

    for (size_t i = 0; i < count && !has_module; i++)
        has_module = view->fns.items[items[i].pair->function].module != 0;
    if (has_module)
        fb_table_column(t, "module", "module", FB_ALIGN_LEFT);
    else
        fb_table_data_column(t, "module");
    if (view->count > 1)
        fb_table_column(t, "files", "files", FB_ALIGN_LEFT);
    else
        fb_table_data_column(t, "files");
    fb_table_data_column(t, "kind");
}

static int say_names(const struct fb_args *args, const struct fb_view *view, fb_name_rules wanted)
{
    struct fb_table *t = fb_table_new("Names");
    struct fb_buf text = {0};
    size_t count;
    struct item *items = collect(args, view, wanted, &count);
    char *note;

    fb_table_column(t, "raw", "raw", FB_ALIGN_LEFT);
    fb_table_column(t, "canonical", "canonical", FB_ALIGN_LEFT);
    fb_table_column(t, "ambiguous", "*", FB_ALIGN_LEFT);
    fb_table_column(t, "rules", "rules", FB_ALIGN_LEFT);
    fb_table_column(t, "attributes", "attributes", FB_ALIGN_LEFT);
    columns_for(t, view, items, count);
    for (size_t i = 0; i < count; i++)
        row(t, view, &items[i], &text);
    note = fb_format("%zu raw name%s.", count, count == 1 ? "" : "s");
    fb_table_note(t, note);
    free(note);
    fb_note_names(view, "", t);
    free(items);
    fb_buf_done(&text);
    return fb_say_tables(args, &t, 1);
}

static int run(const struct fb_args *args)
{
    const char *rule = fb_args_get(args, "rule");
    fb_name_rules wanted = rule ? fb_name_rules_named(rule) : 0;
    struct fb_view view;
    struct fb_err err;
    int status;

    if (rule && wanted == 0) {
        fb_say("'--rule %s': no rule of names, which 'flamebank names --list' shows", rule);
        return FB_EXIT_USAGE;
    }
    if (fb_args_has(args, "list")) {
        if (args->count == 0)
            return list_rules(args);
        fb_say("'--list' shows the rules and reads no file");
        return FB_EXIT_USAGE;
    }
    if (args->count == 0) {
        fb_say("names: a file was expected, or --list");
        return FB_EXIT_USAGE;
    }
    if (fb_view_load(args, FB_VIEW_NEEDS_PROFILE, &view, &err) != FB_OK)
        return fb_say_error(&err);
    status = say_names(args, &view, wanted);
    fb_view_done(&view);
    return status;
}

static const struct fb_option options[] = {
    {"rule", 0, "RULE", "only names that this rule changed"},
    {"all", 'a', NULL, "also names that no rule changed"},
    {"ambiguous", 0, NULL, "only names that stand for several functions of one parent"},
    {"list", 0, NULL, "the rules, instead of names"},
    FB_OPTIONS_READ,
    {"no-name-rule", 0, "RULES", "turn rules of names off: RULE,RULE..."},
    FB_OPTIONS_TABLES,
    {0}};

const struct fb_command fb_command_names = {
    .name = "names",
    .usage = "FILE... [--rule RULE] [--all] [--ambiguous] | --list",
    .what = "raw names, their canonical form, and the rules that made it",
    .text =
        "Lists each raw name that a rule changed with the name under which every other command "
        "counts it, the rules in the order of their application, and what they took away but is "
        "worth to know (plt, cold, static, a tier). With several files, such as the arms of a "
        "diff, it says which of them have the name.\n\n"
        "A '*' marks an ambiguous name: one parent calls several functions of it in one file, "
        "such as two lambdas of a method.\n\n"
        "--no-name-rule, which every command has that shows names, turns rules off, as "
        "--raw-names does all of them.",
    .options = options,
    .example = "flamebank names control.fbank variant.fbank --rule java-lambda",
    .least = 0,
    .most = 64,
    .run = run,
};
