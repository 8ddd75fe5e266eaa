#include "profile/write/flamebearer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"

/* Ticks in the format's terms. */
struct ticks {
    const char *units;
    uint64_t rate;  /* per second */
    uint64_t scale; /* ticks in one unit of weight */
};

struct side {
    double *self, *total; /* by node */
};

struct bars {
    const struct fb_calltree *tree;
    const struct fb_functions *fns;
    struct side sides[2];
    size_t sides_count;
    uint64_t scale[2];
    uint32_t *first, *next; /* children of a node in the order of their ids */
    uint32_t *name_index;   /* by string of fns: 1 + its place in names */
    uint32_t *names;
    size_t names_count, names_room;
    uint64_t max_self;
};

static uint64_t ticks_of(const struct bars *b, size_t side, double weight)
{
    return (uint64_t)(weight + 0.5) * b->scale[side];
}

static bool is_drawn(const struct bars *b, uint32_t node)
{
    return b->sides[0].total[node] > 0 || (b->sides_count == 2 && b->sides[1].total[node] > 0);
}

static void link_children(struct bars *b)
{
    b->first = fb_alloc_array(b->tree->count, sizeof *b->first);
    b->next = fb_alloc_array(b->tree->count, sizeof *b->next);
    for (uint32_t i = (uint32_t)b->tree->count - 1; i > 0; i--) {
        uint32_t parent = b->tree->nodes[i].parent;

        if (!is_drawn(b, i))
            continue;
        b->next[i] = b->first[parent];
        b->first[parent] = i;
    }
}

static uint32_t name_of(const struct bars *b, uint32_t node)
{
    return b->fns->items[b->tree->nodes[node].function].name;
}

/* Depth first, the last child first. */
static void number_names(struct bars *b)
{
    uint32_t *stack = NULL;
    size_t room = 0, depth = 0;

    b->name_index = fb_alloc_array(b->fns->strings.count, sizeof *b->name_index);
    fb_vec_reserve(&stack, &room, 1, sizeof *stack);
    stack[depth++] = 0;
    while (depth > 0) {
        uint32_t node = stack[--depth];

        if (node != 0 && b->name_index[name_of(b, node)] == 0) {
            fb_vec_reserve(&b->names, &b->names_room, b->names_count + 1, sizeof *b->names);
            b->names[b->names_count++] = name_of(b, node);
            b->name_index[name_of(b, node)] = (uint32_t)b->names_count; /* 0 is "total" */
        }
        for (uint32_t child = b->first[node]; child != 0; child = b->next[child]) {
            fb_vec_reserve(&stack, &room, depth + 1, sizeof *stack);
            stack[depth++] = child;
        }
    }
    free(stack);
}

/* ---- levels ---- */

struct place { /* a bar that is to be drawn on the next level */
    uint32_t node;
    uint64_t at[2];
};

struct places {
    struct place *items;
    size_t count, room;
};

static void put_bar(struct bars *b, const struct place *bar, uint64_t ends[2], struct fb_buf *out)
{
    for (size_t s = 0; s < b->sides_count; s++) {
        uint64_t total = ticks_of(b, s, b->sides[s].total[bar->node]);
        uint64_t self = ticks_of(b, s, b->sides[s].self[bar->node]);

        fb_buf_add_u64(out, bar->at[s] - ends[s]);
        fb_buf_putc(out, ',');
        fb_buf_add_u64(out, total);
        fb_buf_putc(out, ',');
        fb_buf_add_u64(out, self);
        fb_buf_putc(out, ',');
        ends[s] = bar->at[s] + total;
        b->max_self = b->max_self > self ? b->max_self : self;
    }
    fb_buf_add_u64(out, bar->node == 0 ? 0 : b->name_index[name_of(b, bar->node)]);
}

static void add_children(const struct bars *b, const struct place *bar, struct places *below)
{
    struct place child = {0};

    for (size_t s = 0; s < b->sides_count; s++)
        child.at[s] = bar->at[s] + ticks_of(b, s, b->sides[s].self[bar->node]);
    for (uint32_t node = b->first[bar->node]; node != 0; node = b->next[node]) {
        child.node = node;
        fb_vec_reserve(&below->items, &below->room, below->count + 1, sizeof *below->items);
        below->items[below->count++] = child;
        for (size_t s = 0; s < b->sides_count; s++)
            child.at[s] += ticks_of(b, s, b->sides[s].total[node]);
    }
}

static void put_levels(struct bars *b, struct fb_buf *out)
{
    struct places row = {0}, below = {0};

    fb_vec_reserve(&row.items, &row.room, 1, sizeof *row.items);
    row.items[row.count++] = (struct place){0};
    for (bool is_first = true; row.count > 0; is_first = false) {
        uint64_t ends[2] = {0, 0};
        struct places swap = row;

        fb_buf_puts(out, is_first ? "[" : ",[");
        below.count = 0;
        for (size_t i = 0; i < row.count; i++) {
            if (i > 0)
                fb_buf_putc(out, ',');
            put_bar(b, &row.items[i], ends, out);
            add_children(b, &row.items[i], &below);
        }
        fb_buf_putc(out, ']');
        row = below;
        below = swap;
    }
    free(row.items);
    free(below.items);
}

static void put_flamebearer(struct bars *b, struct fb_buf *out)
{
    uint64_t left, right;

    link_children(b);
    number_names(b);
    fb_buf_puts(out, "{\"version\":1,\"flamebearer\":{\"names\":[\"total\"");
    for (size_t i = 0; i < b->names_count; i++) {
        const struct fb_string *name = &b->fns->strings.items[b->names[i]];

        fb_buf_putc(out, ',');
        fb_json_put_string(out, name->text, name->len);
    }
    fb_buf_puts(out, "],\"levels\":[");
    put_levels(b, out);
    left = ticks_of(b, 0, b->sides[0].total[0]);
    right = b->sides_count == 2 ? ticks_of(b, 1, b->sides[1].total[0]) : 0;
    fb_buf_printf(out, "],\"numTicks\":%llu,\"maxSelf\":%llu}", (unsigned long long)(left + right),
                  (unsigned long long)b->max_self);
    if (b->sides_count == 2)
        fb_buf_printf(out, ",\"leftTicks\":%llu,\"rightTicks\":%llu", (unsigned long long)left,
                      (unsigned long long)right);
    free(b->first);
    free(b->next);
    free(b->name_index);
    free(b->names);
}

/* ---- facts ---- */

/* Whole ticks a second where the interval gives them, else nanoseconds. */
static struct ticks ticks_for(const struct fb_profile *p)
{
    const char *unit = fb_profile_text(p, p->unit), *type = fb_profile_text(p, p->type);
    double ns = fb_profile_weight_ns(p), rate = ns > 0 ? nearbyint(1e9 / ns) : 0;
    bool is_lock = strcmp(type, "lock") == 0, is_samples = strcmp(unit, "samples") == 0;

    if (is_samples && ns == 0)
        return (struct ticks){is_lock ? "lock_samples" : "", 0, 1};
    if (ns == 0)
        return (struct ticks){unit, 100, 1};
    if (is_samples && rate > 0 && fabs(rate * ns / 1e9 - 1) < 1e-4)
        return (struct ticks){is_lock ? "lock_samples" : "samples", (uint64_t)rate, 1};
    return (struct ticks){is_lock ? "lock_nanoseconds" : "samples", 1000000000, (uint64_t)ns};
}

static void put_metadata(const struct fb_profile *p, const char *format, const struct ticks *ticks,
                         struct fb_buf *out)
{
    const char *name = fb_profile_manifest_get(p, "name");
    const char *spy = fb_profile_manifest_get(p, "spyName");

    if (!name)
        name = fb_profile_manifest_get(p, "command");
    name = name ? name : "profile";
    spy = spy ? spy : "flamebank";
    fb_buf_printf(out, ",\"metadata\":{\"format\":\"%s\",\"spyName\":", format);
    fb_json_put_string(out, spy, strlen(spy));
    fb_buf_printf(out, ",\"sampleRate\":%llu,\"units\":", (unsigned long long)ticks->rate);
    fb_json_put_string(out, ticks->units, strlen(ticks->units));
    fb_buf_puts(out, ",\"name\":");
    fb_json_put_string(out, name, strlen(name));
    fb_buf_putc(out, '}');
}

/* One sum a step of whole seconds, at most a thousand steps. */
static void put_timeline(const struct fb_profile *p, const struct ticks *ticks, struct fb_buf *out)
{
    int64_t start = p->first_ns / 1000000000, seconds = p->last_ns / 1000000000 - start + 1;
    int64_t step = (seconds + 999) / 1000;
    uint64_t *sums;

    if (!p->has_times || p->first_ns < 0 || seconds < 1) {
        fb_buf_puts(out, ",\"timeline\":null");
        return;
    }
    sums = fb_alloc_array((size_t)(seconds / step + 1), sizeof *sums);
    for (size_t i = 0; i < p->samples.count; i++) {
        int64_t at = p->samples.time_ns[i] / 1000000000 - start;

        if (at >= 0 && at < seconds)
            sums[at / step] += p->samples.weight[i] * ticks->scale;
    }
    fb_buf_printf(out, ",\"timeline\":{\"startTime\":%lld,\"samples\":[", (long long)start);
    for (int64_t i = 0; i < (seconds + step - 1) / step; i++) {
        if (i > 0)
            fb_buf_putc(out, ',');
        fb_buf_add_u64(out, sums[i]);
    }
    fb_buf_printf(out, "],\"durationDelta\":%lld,\"watermarks\":null}", (long long)step);
    free(sums);
}

static void take_side(struct fb_calltree *tree, struct fb_functions *fns,
                      const struct fb_profile *p, fb_canonical_fn canonical,
                      uint32_t **ret_node_of_stack)
{
    uint32_t *function_of_frame = fb_functions_add(fns, p, canonical);

    *ret_node_of_stack = fb_calltree_add(tree, p, function_of_frame);
    free(function_of_frame);
}

static void sum_side(const struct fb_calltree *tree, const struct fb_profile *p,
                     uint32_t *node_of_stack, struct side *side)
{
    side->self = fb_calltree_self(tree, p, node_of_stack, INT64_MIN, INT64_MAX);
    side->total = fb_calltree_total(tree, side->self);
    free(node_of_stack);
}

/* The profiles' trees as one; the scales are the caller's. */
static void write_sides(const struct fb_profile *const *profiles, size_t n,
                        const struct ticks *ticks, fb_canonical_fn canonical, struct fb_buf *out)
{
    struct fb_functions fns;
    struct fb_calltree tree;
    struct bars b = {.tree = &tree, .fns = &fns, .sides_count = n};
    uint32_t *node_of_stack[2];

    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    for (size_t i = 0; i < n; i++)
        take_side(&tree, &fns, profiles[i], canonical, &node_of_stack[i]);
    for (size_t i = 0; i < n; i++) {
        sum_side(&tree, profiles[i], node_of_stack[i], &b.sides[i]);
        b.scale[i] = ticks[i].scale;
    }
    put_flamebearer(&b, out);
    for (size_t i = 0; i < n; i++) {
        free(b.sides[i].self);
        free(b.sides[i].total);
    }
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
}

void fb_flamebearer_write(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out)
{
    struct ticks ticks = ticks_for(p);

    write_sides(&p, 1, &ticks, canonical, out);
    put_metadata(p, "single", &ticks, out);
    put_timeline(p, &ticks, out);
    fb_buf_puts(out, ",\"groups\":null,\"heatmap\":null}\n");
}

enum fb_status fb_flamebearer_write_pair(const struct fb_profile *left,
                                         const struct fb_profile *right, fb_canonical_fn canonical,
                                         struct fb_buf *out, struct fb_err *err)
{
    const struct fb_profile *const both[] = {left, right};
    struct ticks ticks[2] = {ticks_for(left), ticks_for(right)};
    double left_ns = fb_profile_weight_ns(left), right_ns = fb_profile_weight_ns(right);

    if ((left_ns > 0) != (right_ns > 0) ||
        (left_ns == 0 &&
         strcmp(fb_profile_text(left, left->unit), fb_profile_text(right, right->unit)) != 0))
        return fb_fail(err, FB_EUNSUPPORTED,
                       "the two profiles count different things (%s%s and %s%s)",
                       fb_profile_text(left, left->unit), left_ns > 0 ? " of known time" : "",
                       fb_profile_text(right, right->unit), right_ns > 0 ? " of known time" : "");
    if (left_ns > 0 && (ticks[0].rate != ticks[1].rate)) {
        ticks[0] = (struct ticks){ticks[0].units, 1000000000, (uint64_t)left_ns};
        ticks[1] = (struct ticks){ticks[1].units, 1000000000, (uint64_t)right_ns};
    }
    write_sides(both, 2, ticks, canonical, out);
    put_metadata(left, "double", &ticks[0], out);
    fb_buf_puts(out, ",\"timeline\":null,\"groups\":null,\"heatmap\":null}\n");
    return FB_OK;
}
