/* world.h - small profiles, steps and layers for the tests of diff/, in memory.
 *
 *     struct world w;
 *     world_init(&w, rules_json);
 *     struct fb_profile *p = world_arm(&w, false, seconds);      a control with one step
 *     world_samples(p, second, "main;work", count);
 *     diff = world_diff(&w, &options);                           closes the world
 *     world_done(&w, diff);
 *
 * Times start at WORLD_START_NS; every arm has steps of its own, which may be edited before
 * world_diff().  Rules: layers "a", "b", "c" take the leaf frames a*, b*, c*. */
#ifndef FB_TESTS_UNIT_DIFF_WORLD_H
#define FB_TESTS_UNIT_DIFF_WORLD_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "diff/diff.h"

#define WORLD_START_NS 1700000000000000000
#define WORLD_SECOND   1000000000

#define WORLD_RULES                                                                                \
    "{\"layers\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":\"other\"}],"       \
    "\"rules\":[{\"layer\":\"a\",\"leaf\":\"^a\"},{\"layer\":\"b\",\"leaf\":\"^b\"},"              \
    "{\"layer\":\"c\",\"leaf\":\"^c\"}]}"

enum { WORLD_ARMS_MAX = 12 };

struct world {
    struct fb_calltree tree;
    struct fb_functions fns;
    struct fb_layers *layers;
    uint16_t *layer_of_node;
    uint64_t *boundaries_of_node;
    struct fb_diff_arm arms[WORLD_ARMS_MAX];
    struct fb_profile *profiles[WORLD_ARMS_MAX];
    uint32_t *nodes[WORLD_ARMS_MAX];
    char labels[WORLD_ARMS_MAX][16];
    size_t count;
    struct fb_diff_input in;
};

/* A generator with a fixed seed: splitmix64. */
struct world_random {
    uint64_t state;
};

static inline uint64_t world_u64(struct world_random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline double world_uniform(struct world_random *r)
{
    return ((double)(world_u64(r) >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller. */
static inline double world_normal(struct world_random *r)
{
    double u = world_uniform(r), v = world_uniform(r);

    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Knuth's product below 30, the rounded normal above. */
static inline unsigned world_poisson(struct world_random *r, double mean)
{
    double limit = exp(-mean), product = 1;
    unsigned n = 0;

    if (mean > 30) {
        double x = mean + sqrt(mean) * world_normal(r);

        return x > 0 ? (unsigned)(x + 0.5) : 0;
    }
    for (;;) {
        product *= world_uniform(r);
        if (product <= limit)
            return n;
        n++;
    }
}

static inline unsigned world_binomial(struct world_random *r, unsigned n, double p)
{
    unsigned hits = 0;

    for (unsigned i = 0; i < n; i++)
        hits += world_uniform(r) < p;
    return hits;
}

static inline void world_init(struct world *w, const char *rules)
{
    struct fb_err err;

    memset(w, 0, sizeof *w);
    fb_calltree_init(&w->tree);
    fb_functions_init(&w->fns);
    if (fb_layers_parse(rules, strlen(rules), "test", &w->layers, &err) != FB_OK)
        fail_msg("%s", err.text);
}

static inline struct fb_step *world_step_add(struct fb_steps *steps, const char *name,
                                             double offered, size_t from_second, size_t seconds)
{
    struct fb_step *s;

    fb_vec_reserve(&steps->items, &steps->room, steps->count + 1, sizeof *steps->items);
    s = &steps->items[steps->count++];
    memset(s, 0, sizeof *s);
    s->name = fb_strdup(name);
    s->mode = "";
    s->why = fb_strdup("");
    s->start_ns = s->load_start_ns = WORLD_START_NS + (int64_t)from_second * WORLD_SECOND;
    s->end_ns = s->load_end_ns = s->start_ns + (int64_t)seconds * WORLD_SECOND;
    s->secs = (double)seconds;
    s->offered = offered;
    s->delivered = offered * (double)seconds;
    s->sent = s->not_sent = s->errors = s->p50_s = s->p90_s = s->p99_s = s->p999_s = NAN;
    s->p99_point = s->p999_point = s->cpu_s = s->throttled_s = s->heap_bytes = NAN;
    s->rss_bytes = s->conns = s->node_busy = s->client_throttled_s = NAN;
    s->uptime_before_s = s->uptime_after_s = s->speed_change = NAN;
    s->samples = s->sample_cpu_s = s->yield = NAN;
    s->cpu_span_s = (double)seconds;
    s->cpu_se = s->cpu_lag1 = NAN;
    return s;
}

/* An arm without steps: add them to arms[i].steps. */
static inline struct fb_profile *world_arm_bare(struct world *w, bool is_variant)
{
    struct fb_profile *p = fb_profile_new();
    struct fb_diff_arm *arm = &w->arms[w->count];

    assert_true(w->count < WORLD_ARMS_MAX);
    p->has_times = true;
    p->run_id = 100 + w->count;
    snprintf(w->labels[w->count], sizeof w->labels[w->count], "%s%zu",
             is_variant ? "variant" : "control", w->count);
    arm->is_variant = is_variant;
    arm->label = w->labels[w->count];
    arm->profile = w->profiles[w->count++] = p;
    arm->steps = fb_alloc(sizeof *arm->steps);
    arm->steps->source = fb_strdup("test steps");
    arm->steps->format = "tsv";
    return p;
}

/* An arm with one step of `seconds` at 1000 per second, CPU unknown. */
static inline struct fb_profile *world_arm(struct world *w, bool is_variant, size_t seconds)
{
    struct fb_profile *p = world_arm_bare(w, is_variant);

    (void)world_step_add(w->arms[w->count - 1].steps, "1000", 1000, 0, seconds);
    return p;
}

static inline struct fb_step *world_last_step(struct world *w)
{
    struct fb_steps *steps = w->arms[w->count - 1].steps;

    return &steps->items[steps->count - 1];
}

static inline fb_stack_id world_stack(struct fb_profile *p, const char *folded,
                                      enum fb_frame_kind kind)
{
    fb_stack_id s = FB_STACK_ROOT;

    for (const char *at = folded; *at != '\0';) {
        size_t n = strcspn(at, ";");
        struct fb_frame frame = {.kind = kind, .name = fb_strings_put(&p->strings, at, n)};

        s = fb_profile_stack_put(p, s, fb_profile_frame_put(p, &frame));
        at += n + (at[n] == ';');
    }
    return s;
}

/* `count` samples spread over one second. */
static inline void world_samples(struct fb_profile *p, size_t second, const char *folded,
                                 unsigned count)
{
    fb_stack_id stack = world_stack(p, folded, FB_FRAME_NATIVE);

    for (unsigned i = 0; i < count; i++)
        fb_profile_sample_add(p,
                              WORLD_START_NS + (int64_t)second * WORLD_SECOND +
                                  (int64_t)i * WORLD_SECOND / (int64_t)count,
                              1, stack, 1);
}

static inline void world_close(struct world *w)
{
    for (size_t i = 0; i < w->count; i++) {
        uint32_t *functions = fb_functions_add(&w->fns, w->profiles[i], NULL);

        w->nodes[i] = fb_calltree_add(&w->tree, w->profiles[i], functions);
        w->arms[i].node_of_stack = w->nodes[i];
        free(functions);
    }
    w->layer_of_node = fb_layers_assign(w->layers, &w->tree, &w->fns);
    w->boundaries_of_node = fb_layers_boundaries(w->layers, &w->tree, &w->fns);
    w->in = (struct fb_diff_input){.arms = w->arms,
                                   .arms_count = w->count,
                                   .tree = &w->tree,
                                   .fns = &w->fns,
                                   .layers = w->layers,
                                   .layer_of_node = w->layer_of_node,
                                   .boundaries_of_node = w->boundaries_of_node};
}

static inline struct fb_diff *world_diff(struct world *w, const struct fb_diff_options *options)
{
    struct fb_diff *diff = NULL;
    struct fb_err err;

    world_close(w);
    if (fb_diff_new(&w->in, options, &diff, &err) != FB_OK)
        fail_msg("%s", err.text);
    return diff;
}

static inline void world_done(struct world *w, struct fb_diff *diff)
{
    fb_diff_free(diff);
    for (size_t i = 0; i < w->count; i++) {
        fb_profile_free(w->profiles[i]);
        fb_steps_free(w->arms[i].steps);
        free(w->nodes[i]);
    }
    free(w->layer_of_node);
    free(w->boundaries_of_node);
    fb_layers_free(w->layers);
    fb_functions_done(&w->fns);
    fb_calltree_done(&w->tree);
}

static inline const struct fb_diff_row *world_layer(const struct fb_diff *diff, size_t step,
                                                    const char *name)
{
    for (size_t i = 0; i < diff->steps[step].layers_count; i++)
        if (strcmp(diff->steps[step].layers[i].name, name) == 0)
            return &diff->steps[step].layers[i];
    fail_msg("no layer %s", name);
    return NULL;
}

static inline const struct fb_diff_row *world_frame(const struct fb_diff *diff, size_t step,
                                                    const char *name)
{
    for (size_t i = 0; i < diff->steps[step].frames_count; i++)
        if (strcmp(diff->steps[step].frames[i].name, name) == 0)
            return &diff->steps[step].frames[i];
    fail_msg("no frame %s", name);
    return NULL;
}

#endif
