/* differs.c - facts of two arms, side by side. */
#include "diff/differs.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "diff/facts.h"

const char *fb_fact_class_text(enum fb_fact_class class)
{
    static const char *const words[FB_FACT_CLASS_COUNT] = {
        [FB_FACT_IMAGE] = "image",     [FB_FACT_COMMAND] = "command",
        [FB_FACT_JVM] = "JVM",         [FB_FACT_ENVIRONMENT] = "environment",
        [FB_FACT_LABEL] = "label",     [FB_FACT_JAR] = "jar",
        [FB_FACT_BUILD] = "build",     [FB_FACT_LOAD] = "load",
        [FB_FACT_MACHINE] = "machine", [FB_FACT_SAMPLER] = "sampler",
    };

    return words[class];
}

/* ---- the facts of one arm's runs ---- */

struct side {
    struct fb_facts agreed;    /* the same in all runs             */
    struct fb_facts unsettled; /* values of the runs, "a | b"      */
    bool has_facts;            /* at least one run has a manifest  */
    size_t runs;
};

static void put(struct fb_facts *to, const struct fb_fact *like, const char *value)
{
    fb_vec_reserve(&to->items, &to->room, to->count + 1, sizeof *to->items);
    to->items[to->count++] = (struct fb_fact){
        .class = like->class, .name = fb_strdup(like->name), .value = fb_strdup(value)};
}

static int order(const struct fb_fact *a, const struct fb_fact *b)
{
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* One step of a walk over two sorted lists: the fact of either that comes next, NULL where that
 * list does not have it. */
struct both {
    const struct fb_facts *a, *b;
    size_t i, j;
    const struct fb_fact *in_a, *in_b;
};

static bool next(struct both *at)
{
    const struct fb_fact *x = at->i < at->a->count ? &at->a->items[at->i] : NULL;
    const struct fb_fact *y = at->j < at->b->count ? &at->b->items[at->j] : NULL;
    int by = x == NULL ? 1 : y == NULL ? -1 : order(x, y);

    if (x == NULL && y == NULL)
        return false;
    at->in_a = by <= 0 ? x : NULL;
    at->in_b = by >= 0 ? y : NULL;
    at->i += at->in_a != NULL;
    at->j += at->in_b != NULL;
    return true;
}

static bool same_value(const struct fb_fact *a, const struct fb_fact *b)
{
    bool may_have_port =
        a->class == FB_FACT_COMMAND || a->class == FB_FACT_ENVIRONMENT || a->class == FB_FACT_LOAD;

    if (a->class == FB_FACT_JAR)
        return fb_facts_is_same_jar(a->value, b->value);
    return strcmp(a->value, b->value) == 0 ||
           (may_have_port && fb_facts_is_port(a->name, a->value, b->value));
}

/* Takes another run of the arm in: what it contradicts is no longer agreed. */
static void side_add(struct side *side, const struct fb_diff_arm *arm)
{
    struct fb_facts facts, agreed = {0};
    struct both at;

    fb_facts_of_arm(arm, &facts);
    side->has_facts |= arm->profile != NULL && arm->profile->manifest_count > 0;
    if (side->runs++ == 0) {
        side->agreed = facts;
        return;
    }
    at = (struct both){.a = &side->agreed, .b = &facts};
    while (next(&at)) {
        const struct fb_fact *known = at.in_a != NULL ? at.in_a : at.in_b;
        char *values;

        if (at.in_a != NULL && at.in_b != NULL && same_value(at.in_a, at.in_b)) {
            put(&agreed, known, known->value);
        } else if (known->class != FB_FACT_BUILD || (at.in_a != NULL && at.in_b != NULL)) {
            values = fb_format("%s | %s", at.in_a != NULL ? at.in_a->value : "absent",
                               at.in_b != NULL ? at.in_b->value : "absent");
            put(&side->unsettled, known, values);
            free(values);
        }
    }
    fb_facts_done(&facts);
    fb_facts_done(&side->agreed);
    side->agreed = agreed;
}

static bool is_unsettled(const struct side *side, const struct fb_fact *fact)
{
    for (size_t i = 0; i < side->unsettled.count; i++)
        if (order(&side->unsettled.items[i], fact) == 0)
            return true;
    return false;
}

/* ---- differences ---- */

static struct fb_difference *add(struct fb_differs *d, const struct fb_fact *like,
                                 const char *control, const char *variant)
{
    struct fb_difference *item;

    fb_vec_reserve(&d->items, &d->room, d->count + 1, sizeof *d->items);
    item = &d->items[d->count++];
    *item = (struct fb_difference){.class = like->class, .name = fb_strdup(like->name)};
    item->control = control != NULL ? fb_strdup(control) : NULL;
    item->variant = variant != NULL ? fb_strdup(variant) : NULL;
    return item;
}

/* A library that only one arm has loaded is often met by chance (a name lookup, a plug-in). */
static bool is_chance(const struct fb_fact *a, const struct fb_fact *b)
{
    return (a == NULL || b == NULL) && (a != NULL ? a : b)->class == FB_FACT_BUILD;
}

/* Whether an arm's steps say nothing of the load's settings: then the other's are no difference. */
static bool is_load_unknown(const struct side *s, const struct fb_fact *f)
{
    bool is_told_apart = strcmp(f->name, "mode") == 0 || strcmp(f->name, "connections") == 0;

    if (f->class != FB_FACT_LOAD)
        return false;
    for (size_t i = 0; i < s->agreed.count; i++) {
        const struct fb_fact *own = &s->agreed.items[i];

        if (own->class == FB_FACT_LOAD && strcmp(own->name, "program") == 0 && !is_told_apart)
            return false; /* it has a command line, and this is not in it */
        if (own->class == FB_FACT_LOAD && strcmp(own->name, f->name) == 0)
            return false;
    }
    return true;
}

static void compare_sides(struct fb_differs *d, const struct side *control,
                          const struct side *variant)
{
    struct both at = {.a = &control->agreed, .b = &variant->agreed};

    while (next(&at)) {
        const struct fb_fact *known = at.in_a != NULL ? at.in_a : at.in_b;

        if ((at.in_a != NULL && at.in_b != NULL && same_value(at.in_a, at.in_b)) ||
            is_chance(at.in_a, at.in_b) || is_unsettled(control, known) ||
            is_unsettled(variant, known) || is_load_unknown(control, known) ||
            is_load_unknown(variant, known))
            continue;
        add(d, known, at.in_a != NULL ? at.in_a->value : NULL,
            at.in_b != NULL ? at.in_b->value : NULL);
    }
}

static void add_unsettled(struct fb_differs *d, const struct side *side, bool is_variant)
{
    for (size_t i = 0; i < side->unsettled.count; i++) {
        const struct fb_fact *f = &side->unsettled.items[i];

        add(d, f, is_variant ? NULL : f->value, is_variant ? f->value : NULL)->is_unsettled = true;
    }
}

/* ---- what follows from what ---- */

/* Words of a command line and the JVM's flags that they set. */
static const struct {
    const char *word, *flag;
} sets[] = {
    {"-Xmx", "MaxHeapSize"},      {"-Xms", "InitialHeapSize"},
    {"-Xms", "MinHeapSize"},      {"-Xmn", "NewSize"},
    {"-Xmn", "MaxNewSize"},       {"-Xss", "ThreadStackSize"},
    {"-Xint", "UseInterpreter"},  {"-Xint", "UseCompiler"},
    {"-Xcomp", "UseInterpreter"}, {"-Xshare", "UseSharedSpaces"},
};

static bool sets_flag(const char *word, const char *flag)
{
    if (strncmp(word, "-XX:", 4) == 0 && strcmp(word + 4, flag) == 0)
        return true;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (strcmp(sets[i].word, word) == 0 && strcmp(sets[i].flag, flag) == 0)
            return true;
    return false;
}

/* The flag of a fact such as "jvm.flag.UseZGC", else NULL. */
static const char *flag_of(const struct fb_difference *item)
{
    static const char prefix[] = "jvm.flag.";

    return item->class == FB_FACT_JVM && strncmp(item->name, prefix, sizeof prefix - 1) == 0
               ? item->name + sizeof prefix - 1
               : NULL;
}

static bool mentions(const struct fb_difference *item, const char *word)
{
    return (item->control != NULL && strstr(item->control, word) != NULL) ||
           (item->variant != NULL && strstr(item->variant, word) != NULL);
}

/* The collector, and the heap that it makes of the same settings. */
static bool is_of_collector(const struct fb_difference *item)
{
    const char *flag = flag_of(item);

    if (strcmp(item->name, "jvm.collector") == 0)
        return true;
    return flag != NULL && strncmp(flag, "Use", 3) == 0 && strstr(flag, "GC") != NULL;
}

/* The sizes of the heap that the flags ended in. */
static bool is_of_heap(const struct fb_difference *item)
{
    return strncmp(item->name, "jvm.heap_", 9) == 0;
}

static bool sets_heap(const struct fb_difference *cause)
{
    return strncmp(cause->name, "-Xm", 3) == 0 || strstr(cause->name, "HeapSize") != NULL ||
           strstr(cause->name, "RAMPercentage") != NULL ||
           strcmp(cause->name, "cgroup_memory") == 0;
}

/* Settings that say where the jars are. */
static bool names_jars(const struct fb_difference *cause)
{
    static const char *const names[] = {"-cp",  "-classpath",    "--class-path",
                                        "-p",   "--module-path", "--upgrade-module-path",
                                        "-jar", "CLASSPATH"};

    if (cause->class != FB_FACT_COMMAND && cause->class != FB_FACT_ENVIRONMENT)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(cause->name, names[i]) == 0)
            return true;
    return false;
}

/* A jar that is elsewhere, or in one arm alone: from another class path.  One that has other bytes
 * at its place is a difference of its own. */
static bool is_of_class_path(const struct fb_difference *item)
{
    size_t n;

    if (item->class != FB_FACT_JAR)
        return false;
    if (item->control == NULL || item->variant == NULL)
        return true;
    n = strcspn(item->control, " ");
    return n != strcspn(item->variant, " ") || strncmp(item->control, item->variant, n) != 0;
}

static bool implies(const struct fb_difference *cause, const struct fb_difference *item)
{
    const char *flag = flag_of(item);

    if (cause == item || cause->is_unsettled)
        return false;
    if (cause->class == FB_FACT_IMAGE)
        return item->class == FB_FACT_BUILD || item->class == FB_FACT_JAR ||
               item->class == FB_FACT_IMAGE;
    if (names_jars(cause) && is_of_class_path(item))
        return true;
    if (is_of_heap(item) && !is_of_heap(cause) && sets_heap(cause))
        return true;
    if (cause->class == FB_FACT_COMMAND && flag != NULL && sets_flag(cause->name, flag))
        return true;
    if (cause->class == FB_FACT_ENVIRONMENT && flag != NULL && mentions(cause, flag))
        return true;
    if ((cause->class == FB_FACT_COMMAND || cause->class == FB_FACT_ENVIRONMENT) &&
        is_of_collector(item))
        return (strncmp(cause->name, "-XX:Use", 7) == 0 && strstr(cause->name, "GC") != NULL) ||
               (cause->class == FB_FACT_ENVIRONMENT &&
                (mentions(cause, "-XX:+Use") || mentions(cause, "-XX:-Use")));
    return false;
}

static void mark_implied(struct fb_differs *d)
{
    for (size_t i = 0; i < d->count; i++) {
        for (size_t j = 0; j < d->count && d->items[i].implied_by == NULL; j++)
            if (d->items[j].implied_by == NULL && implies(&d->items[j], &d->items[i]))
                d->items[i].implied_by = d->items[j].name;
        if (d->items[i].implied_by == NULL && !d->items[i].is_unsettled)
            d->own++;
    }
}

/* ---- the lever ---- */

static bool is_meant(const struct fb_lever *lever, const char *name, const char *value)
{
    if (lever->key != NULL)
        return strcmp(name, lever->key) == 0;
    return strcasestr(name, lever->text) != NULL ||
           (value != NULL && strcasestr(value, lever->text) != NULL);
}

static bool knows(const struct side *side, const struct fb_lever *lever, const char **ret_value)
{
    for (size_t i = 0; i < side->agreed.count; i++) {
        const struct fb_fact *f = &side->agreed.items[i];

        if (is_meant(lever, f->name, f->value)) {
            *ret_value = f->value;
            return true;
        }
    }
    return false;
}

/* How many items of their own are the lever. */
static size_t mark_lever(struct fb_differs *d, const struct fb_lever *lever)
{
    size_t found = 0;

    for (size_t i = 0; i < d->count; i++) {
        struct fb_difference *item = &d->items[i];

        item->is_lever = !item->is_unsettled && (is_meant(lever, item->name, item->control) ||
                                                 is_meant(lever, item->name, item->variant));
        found += item->is_lever && item->implied_by == NULL;
    }
    return found;
}

static char *lever_finding(struct fb_differs *d, const struct fb_lever *lever,
                           const struct side *control, const struct side *variant)
{
    const char *said = lever->key != NULL ? lever->key : lever->text, *value = "";
    size_t found = mark_lever(d, lever);

    if (found > 0 && d->own == found) {
        d->lever = FB_LEVER_ALONE;
        return fb_format("the lever '%s' differs between the arms, and nothing else does", said);
    }
    if (found > 0) {
        d->lever = FB_LEVER_AMONG;
        return fb_format("beside the lever '%s' %zu other thing%s: a change cannot be charged to "
                         "the lever alone",
                         said, d->own - found, d->own - found == 1 ? " differs" : "s differ");
    }
    if (knows(control, lever, &value) || knows(variant, lever, &value)) {
        d->lever = FB_LEVER_SAME;
        return fb_format("the lever '%s' is the same in both arms (%.60s): it was not applied",
                         said, value);
    }
    d->lever = FB_LEVER_UNKNOWN;
    return fb_format("the lever '%s' is in no arm's manifest: whether it was applied is not known",
                     said);
}

/* ---- the finding ---- */

static char *one_thing(const struct fb_differs *d)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct fb_difference *item = &d->items[i];

        if (item->implied_by != NULL || item->is_unsettled)
            continue;
        return fb_format("one thing differs between the arms: %s (%s), %.60s -> %.60s", item->name,
                         fb_fact_class_text(item->class),
                         item->control != NULL ? item->control : "absent",
                         item->variant != NULL ? item->variant : "absent");
    }
    return fb_strdup("");
}

static char *finding(struct fb_differs *d, const struct fb_lever *lever, const struct side *control,
                     const struct side *variant)
{
    d->is_known = control->has_facts && variant->has_facts;
    if (!d->is_known)
        return fb_strdup(control->has_facts || variant->has_facts
                             ? "what differs between the arms is not known: one of them has no "
                               "manifest"
                             : "what differs between the arms is not known: they have no manifest");
    if (lever->text != NULL || lever->key != NULL)
        return lever_finding(d, lever, control, variant);
    if (d->own == 0)
        return fb_strdup("nothing differs between the arms in what their banks record");
    if (d->own == 1)
        return one_thing(d);
    return fb_format(
        "%zu things differ between the arms: a change cannot be charged to one of them", d->own);
}

struct fb_differs *fb_differs_new(const struct fb_diff_arm *arms, size_t count,
                                  const struct fb_lever *lever)
{
    struct fb_differs *d = fb_alloc(sizeof *d);
    struct side control = {0}, variant = {0};

    for (size_t i = 0; i < count; i++)
        side_add(arms[i].is_variant ? &variant : &control, &arms[i]);
    if (control.has_facts && variant.has_facts) {
        compare_sides(d, &control, &variant);
        add_unsettled(d, &control, false);
        add_unsettled(d, &variant, true);
        mark_implied(d);
    }
    d->finding = finding(d, lever, &control, &variant);
    fb_facts_done(&control.agreed);
    fb_facts_done(&control.unsettled);
    fb_facts_done(&variant.agreed);
    fb_facts_done(&variant.unsettled);
    return d;
}

void fb_differs_free(struct fb_differs *d)
{
    if (d == NULL)
        return;
    for (size_t i = 0; i < d->count; i++) {
        free(d->items[i].name);
        free(d->items[i].control);
        free(d->items[i].variant);
    }
    free(d->items);
    free(d->finding);
    free(d);
}
