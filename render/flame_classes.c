#include "render/flame_classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* MANY: modules and packages with a class of their own, the heaviest; the others share the class
 * of their colour.  CHIPS_MOST: of these in the legend. */
enum { MANY = 60, CHIPS_MOST = 12, PACKAGE_DEPTH = 3 };

static const char *const color_names[FB_FLAME_COLOR_COUNT] = {[FB_FLAME_BY_LAYER] = "layer",
                                                              [FB_FLAME_BY_KIND] = "kind",
                                                              [FB_FLAME_BY_MODULE] = "module",
                                                              [FB_FLAME_BY_PACKAGE] = "package",
                                                              [FB_FLAME_BY_TIER] = "tier"};

const char *fb_flame_color_text(enum fb_flame_color color)
{
    return color_names[color];
}

bool fb_flame_color_parse(const char *text, enum fb_flame_color *ret_color)
{
    for (int i = 0; i < FB_FLAME_COLOR_COUNT; i++)
        if (strcmp(color_names[i], text) == 0) {
            *ret_color = (enum fb_flame_color)i;
            return true;
        }
    return false;
}

static void classes_room(struct fb_flame_classes *c, size_t count)
{
    c->count = count + 1;
    c->tints = fb_alloc_array(c->count, sizeof *c->tints);
    c->names = fb_alloc_array(c->count, sizeof *c->names);
    c->tints[count] = fb_palette_none;
    c->names[count] = fb_strdup("");
}

static void by_layer(struct fb_flame_classes *c, const struct fb_flame_input *in)
{
    classes_room(c, fb_layers_count(in->layers));
    for (size_t i = 0; i + 1 < c->count; i++) {
        c->tints[i] = fb_palette_fill(fb_layers_get(in->layers, i)->color);
        c->names[i] = fb_strdup(fb_layers_get(in->layers, i)->name);
    }
}

static void by_kind(struct fb_flame_classes *c, const struct fb_flame_input *in)
{
    classes_room(c, FB_FRAME_KIND_COUNT);
    for (int i = 0; i < FB_FRAME_KIND_COUNT; i++) {
        c->tints[i] = fb_palette_kinds[i];
        c->names[i] = fb_strdup(fb_frame_kind_text((enum fb_frame_kind)i));
    }
    for (size_t f = 0; f < in->fns->count; f++)
        c->of_function[f] = (uint16_t)in->fns->items[f].kind;
}

static void by_tier(struct fb_flame_classes *c, const struct fb_flame_input *in)
{
    classes_room(c, FB_TIER_COUNT);
    for (int i = 0; i < FB_TIER_COUNT; i++) {
        c->tints[i] = fb_palette_tiers[i];
        c->names[i] = fb_strdup(fb_tier_text((enum fb_tier)i));
    }
    for (size_t f = 0; f < in->fns->count; f++)
        c->of_function[f] = (uint16_t)fb_function_tier(&in->fns->items[f]);
}

/* ---- by name: modules, packages ---- */

struct group {
    uint32_t string; /* its name */
    double self;
    uint16_t class_number;
};

struct groups {
    struct fb_strings strings; /* ids of these are ids of `items` */
    struct group *items;
    size_t room;
    uint32_t *of_function;
};

static void group_name(const struct fb_flame_input *in, uint32_t function, struct fb_buf *out)
{
    const struct fb_strings *strings = &in->fns->strings;
    const char *module = fb_strings_get(strings, in->fns->items[function].module);

    if (in->color == FB_FLAME_BY_PACKAGE)
        fb_package_name(in->fns, function, PACKAGE_DEPTH, out);
    else
        fb_buf_puts(out, module[0] != '\0' ? module : "(no module)");
}

static void groups_make(struct groups *g, const struct fb_flame_input *in)
{
    struct fb_buf name = {0};

    fb_strings_init(&g->strings);
    g->of_function = fb_alloc_array(in->fns->count, sizeof *g->of_function);
    for (uint32_t f = 1; f < in->fns->count; f++) {
        name.len = 0;
        group_name(in, f, &name);
        g->of_function[f] = fb_strings_put(&g->strings, name.data ? name.data : "", name.len);
        fb_vec_reserve(&g->items, &g->room, g->of_function[f] + 1u, sizeof *g->items);
        g->items[g->of_function[f]] = (struct group){.string = g->of_function[f]};
    }
    fb_buf_done(&name);
    for (size_t i = 0; i < in->weights_count; i++) {
        uint32_t f = in->tree->nodes[in->weights[i].node].function;

        if (in->weights[i].node != 0)
            g->items[g->of_function[f]].self += in->weights[i].weight;
    }
}

static int by_self(const void *a, const void *b, void *strings)
{
    const struct group *x = *(const struct group *const *)a, *y = *(const struct group *const *)b;

    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    return strcmp(fb_strings_get(strings, x->string), fb_strings_get(strings, y->string));
}

/* The colour of a name, unless a heavier one has it: the next that is free. */
static size_t color_take(const struct fb_string *name, size_t rank, bool taken[FB_PALETTE_NAMES])
{
    size_t color = fb_palette_of_name(name->text, name->len);

    while (rank < FB_PALETTE_NAMES && taken[color])
        color = (color + 1) % FB_PALETTE_NAMES;
    taken[color] = true;
    return color;
}

/* The heaviest have classes of their own, by weight; behind them one a colour for all others. */
static void by_name(struct fb_flame_classes *c, const struct fb_flame_input *in)
{
    struct groups g = {0};
    struct group **ranked;
    bool taken[FB_PALETTE_NAMES] = {false};
    size_t count = 0, own;

    groups_make(&g, in);
    ranked = fb_alloc_array(g.strings.count, sizeof(struct group *));
    for (uint32_t f = 1; f < in->fns->count; f++) {
        struct group *at = &g.items[g.of_function[f]];

        if (at->class_number == 0) {
            at->class_number = 1; /* is in `ranked` */
            ranked[count++] = at;
        }
    }
    qsort_r(ranked, count, sizeof(struct group *), by_self, &g.strings);
    own = count < MANY ? count : MANY;
    classes_room(c, own + FB_PALETTE_NAMES);
    for (size_t i = 0; i < count; i++) {
        const struct fb_string *name = &g.strings.items[ranked[i]->string];
        size_t color = color_take(name, i, taken);

        ranked[i]->class_number = (uint16_t)(i < own ? i : own + color);
        if (i < own) {
            c->names[i] = fb_strdup(name->text);
            c->tints[i] = fb_palette_names[color];
        }
    }
    for (size_t i = 0; i < FB_PALETTE_NAMES; i++) {
        c->names[own + i] = fb_format("further %ss", fb_flame_color_text(in->color));
        c->tints[own + i] = fb_palette_names[i];
    }
    for (uint32_t f = 1; f < in->fns->count; f++)
        c->of_function[f] = g.items[g.of_function[f]].class_number;
    free(ranked);
    free(g.items);
    free(g.of_function);
    fb_strings_done(&g.strings);
}

/* Self weight by class; returns the sum. */
static double sums_make(const struct fb_flame_classes *c, const struct fb_flame_input *in,
                        double *sums)
{
    double all = 0;

    for (size_t i = 0; i < in->weights_count; i++) {
        sums[fb_flame_class_of(c, in, in->weights[i].node)] += in->weights[i].weight;
        all += in->weights[i].weight;
    }
    return all;
}

static void chip_add(struct fb_flame_classes *c, const char *name, double share,
                     unsigned class_number)
{
    c->chips[c->chips_count++] =
        (struct fb_svg_chip){fb_format("%s %.1f %%", name, 100 * share), class_number};
}

void fb_flame_classes_legend(struct fb_flame_classes *c, const struct fb_flame_input *in,
                             const struct fb_flame_layout *layout)
{
    bool is_many = in->color == FB_FLAME_BY_MODULE || in->color == FB_FLAME_BY_PACKAGE;
    uint8_t *has_box = fb_alloc(c->count);
    double *sums = fb_alloc_array(c->count, sizeof *sums), rest = 0;
    double all = sums_make(c, in->before_turn ? in->before_turn : in, sums);
    char *further = fb_format("further %ss", fb_flame_color_text(in->color));
    bool has_more = false;

    for (size_t i = 0; i < layout->count; i++)
        if (!layout->boxes[i].hidden)
            has_box[fb_flame_class_of(c, in, layout->boxes[i].node)] = 1;
    c->chips = fb_alloc_array(c->count + 1, sizeof *c->chips);
    for (size_t i = 0; i + 1 < c->count; i++) {
        if (!(sums[i] > 0) && !has_box[i])
            continue;
        if (is_many && (c->chips_count == CHIPS_MOST || i + 1 + FB_PALETTE_NAMES >= c->count)) {
            rest += sums[i];
            has_more = true;
            continue;
        }
        chip_add(c, c->names[i], all > 0 ? sums[i] / all : 0, (unsigned)i);
    }
    if (has_more)
        chip_add(c, further, all > 0 ? rest / all : 0, FB_SVG_NO_CLASS);
    free(further);
    free(sums);
    free(has_box);
}

void fb_flame_classes_init(struct fb_flame_classes *c, const struct fb_flame_input *in)
{
    *c = (struct fb_flame_classes){0};
    if (in->before_turn)
        in = in->before_turn; /* leaves are leaves there */
    if (in->color != FB_FLAME_BY_LAYER)
        c->of_function = fb_alloc_array(in->fns->count, sizeof *c->of_function);
    switch (in->color) {
    case FB_FLAME_BY_KIND:
        by_kind(c, in);
        break;
    case FB_FLAME_BY_TIER:
        by_tier(c, in);
        break;
    case FB_FLAME_BY_MODULE:
    case FB_FLAME_BY_PACKAGE:
        by_name(c, in);
        break;
    default:
        by_layer(c, in);
    }
}

void fb_flame_classes_done(struct fb_flame_classes *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->names[i]);
    for (size_t i = 0; i < c->chips_count; i++)
        free(c->chips[i].label);
    free(c->names);
    free(c->chips);
    free(c->tints);
    free(c->of_function);
    *c = (struct fb_flame_classes){0};
}
