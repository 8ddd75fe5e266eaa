#include "profile/read/tree_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

void fb_tree_row_add(struct fb_tree_rows *rows, uint32_t thread, uint32_t node, int64_t time_ns,
                     uint64_t weight)
{
    fb_vec_reserve(&rows->items, &rows->room, rows->count + 1, sizeof *rows->items);
    rows->items[rows->count++] = (struct fb_tree_row){node, thread, time_ns, weight};
}

uint32_t *fb_tree_stacks(const struct fb_calltree *tree, const uint32_t *frame_of,
                         struct fb_profile *p)
{
    uint32_t *stacks = fb_alloc_array(tree->count, sizeof *stacks);

    for (size_t i = 1; i < tree->count; i++) {
        fb_stack_id parent = {stacks[tree->nodes[i].parent]};
        fb_frame_id frame = {frame_of[tree->nodes[i].function]};

        stacks[i] = frame.n == 0 ? parent.n : fb_profile_stack_put(p, parent, frame).n;
    }
    return stacks;
}

void fb_tree_rows_put(const struct fb_tree_rows *rows, const uint32_t *stack_of_node,
                      struct fb_profile *p)
{
    fb_profile_samples_reserve(p, rows->count);
    for (size_t i = 0; i < rows->count; i++) {
        const struct fb_tree_row *row = &rows->items[i];

        fb_profile_sample_add(p, row->time_ns, row->thread, (fb_stack_id){stack_of_node[row->node]},
                              row->weight);
    }
}

uint64_t fb_round_next(struct fb_rounding *r, double amount)
{
    double whole = floor(amount);

    if (!(whole < 0x1p64)) /* fb_profile_read() refuses it */
        return UINT64_MAX;
    if (!(whole >= 0))
        return 0;
    r->rest += amount - whole;
    if (r->rest < 0.5 || whole >= 0x1p53)
        return (uint64_t)whole;
    r->rest -= 1;
    return (uint64_t)whole + 1;
}

double fb_unit_ns(const char *unit)
{
    static const struct {
        const char *name;
        double ns;
    } rows[] = {{"nanoseconds", 1}, {"microseconds", 1e3}, {"milliseconds", 1e6}, {"seconds", 1e9},
                {"ns", 1},          {"us", 1e3},           {"\xc2\xb5s", 1e3},    {"ms", 1e6},
                {"s", 1e9}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(unit, rows[i].name) == 0)
            return rows[i].ns;
    }
    return 0;
}

/* A number behind " word" (or the whole text) at the end. */
static bool id_take(const char *name, size_t *len, const char *word, uint32_t *ret_id)
{
    size_t at = *len, n = strlen(word);
    uint64_t id = 0, factor = 1;

    for (; at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9' && factor < 1000000000000; at--) {
        id += (uint64_t)(name[at - 1] - '0') * factor;
        factor *= 10;
    }
    if (at == *len || id == 0 || id > UINT32_MAX || at < n || memcmp(name + at - n, word, n) != 0)
        return false;
    at -= n;
    if (at > 0 && name[at - 1] != ' ')
        return false;
    *ret_id = (uint32_t)id;
    *len = at > 0 ? at - 1 : 0;
    return true;
}

void fb_thread_ids_take(const char *name, size_t *len, uint32_t *ret_tid, uint32_t *ret_pid)
{
    *ret_tid = *ret_pid = 0;
    (void)id_take(name, len, "pid=", ret_pid);
    (void)id_take(name, len, "tid=", ret_tid);
}

void fb_frame_words_take(struct fb_frame *f, const struct fb_json_text *kind,
                         const struct fb_json_text *tier)
{
    char word[16];

    if (kind->len < sizeof word) {
        memcpy(word, kind->text, kind->len);
        word[kind->len] = '\0';
        (void)fb_frame_kind_parse(word, &f->kind);
    }
    for (int i = FB_TIER_INTERPRETED; i <= FB_TIER_C2; i++) {
        if (fb_json_text_is(tier, fb_tier_text((enum fb_tier)i)))
            f->tier = (enum fb_tier)i;
    }
}

uint32_t fb_module_of_path(struct fb_index *modules, struct fb_profile *p, uint32_t path)
{
    uint64_t hash = fb_hash_mix(path + 1);
    struct fb_index_cursor at = fb_index_seek(modules, hash);
    struct fb_module module = {.path = path, .unload_ns = INT64_MAX};
    uint32_t id;

    if (path == 0)
        return FB_NO_MODULE;
    while (fb_index_step(modules, &at, &id)) {
        if (p->modules[id].path == path)
            return id;
    }
    id = fb_profile_module_add(p, &module);
    fb_index_add(modules, hash, id);
    return id;
}

/* States in the array of stacks itself: 1 + the stack, 0 not seen, UINT32_MAX on the way. */
uint32_t *fb_stacks_of_nodes(struct fb_profile *p, const uint32_t *parent, const uint32_t *frame,
                             size_t n)
{
    uint32_t *stacks = fb_alloc_array(n, sizeof *stacks), *way = NULL;
    size_t room = 0, depth;
    bool circle = false;

    for (size_t i = 0; i < n && !circle; i++) {
        uint32_t at = (uint32_t)i, stack;

        for (depth = 0; at != UINT32_MAX && stacks[at] == 0; at = parent[at]) {
            fb_vec_reserve(&way, &room, depth + 1, sizeof *way);
            way[depth++] = at;
            stacks[at] = UINT32_MAX;
        }
        circle = at != UINT32_MAX && stacks[at] == UINT32_MAX;
        stack = at == UINT32_MAX || circle ? 0 : stacks[at] - 1;
        while (depth-- > 0) {
            fb_frame_id f = {frame[way[depth]]};

            if (f.n != 0)
                stack = fb_profile_stack_put(p, (fb_stack_id){stack}, f).n;
            stacks[way[depth]] = stack + 1;
        }
    }
    for (size_t i = 0; i < n; i++)
        stacks[i] -= 1;
    free(way);
    if (!circle)
        return stacks;
    free(stacks);
    return NULL;
}
