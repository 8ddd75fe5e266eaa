/* bench_layers: CPU time to classify 100,000 distinct frames by 40 rules, and to bucket 1,000,000
 * samples once they are classified.
 *
 * Beside it, in the same run: the same rules without the literal prefilter, and the floor, one
 * search for a word through all names (what reading them costs). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/vec.h"
#include "layers/layers.h"

enum { FRAMES = 100000, SAMPLES = 1000000, ROUNDS = 5 };

static double cpu_ms(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_utime.tv_sec * 1e3 + (double)use.ru_utime.tv_usec / 1e3 +
           (double)use.ru_stime.tv_sec * 1e3 + (double)use.ru_stime.tv_usec / 1e3;
}

/* Names as a JVM server has them: three of four are methods, the rest C and C++. */
static void put_frames(struct fb_functions *fns, struct fb_calltree *tree)
{
    static const char *const packages[] = {
        "java/util/concurrent", "io/netty/channel", "org/eclipse/jetty/server",
        "com/acme/orders",      "clojure/lang",     "com/fasterxml/jackson/core",
        "io/grpc/internal",     "sun/nio/ch",       "org/acme/lib/deep/er",
        "jdk/internal/misc",    "reitit/ring",      "com/google/protobuf"};
    static const char *const natives[] = {"G1ParScanThreadState::copy",
                                          "PhaseChaitin::Split",
                                          "__libc_write",
                                          "Monitor::lock",
                                          "ngx_http_variable",
                                          "std::vector<int>::push_back",
                                          "do_syscall",
                                          "inflate"};
    unsigned seed = 1;

    for (int i = 0; i < FRAMES; i++) {
        char name[160];
        unsigned r = (unsigned)rand_r(&seed);

        if (i % 4 != 0)
            (void)snprintf(name, sizeof name, "%s/Type%uFactory.method%dHandler", packages[r % 12],
                           r % 4001, i);
        else
            (void)snprintf(name, sizeof name, "%s_%d", natives[r % 8], i);
        (void)fb_calltree_child(tree, (uint32_t)((unsigned)rand_r(&seed) % tree->count),
                                fb_functions_put(fns, FB_FRAME_NATIVE, "", name));
    }
}

/* 40 rules of the usual shapes; `prefix` goes in front of each pattern. */
static struct fb_layers *make_rules(const char *prefix)
{
    static const char *const shapes[] = {"^(write|read|epoll_wait|accept4|futex|send%d)$",
                                         "^org/eclipse/jet%d/",
                                         "^com\\\\.fasterxml\\\\.jack%d\\\\.",
                                         "(GC|G1|Par)%dScanThread",
                                         "^(Phase|Compile|C2)%d[A-Z]\\\\w*::",
                                         "^clojure[./]l%d[./]",
                                         "::Hash%dMap",
                                         "^\\\\w+/impl%d/[^/]+\\\\.run$"};
    struct fb_buf text = {0};
    struct fb_layers *layers = NULL;
    struct fb_err err;

    fb_buf_puts(&text, "{\"layers\": [{\"name\": \"a\"}], \"rules\": [");
    for (int i = 0; i < 40; i++) {
        char pattern[120];

        (void)snprintf(pattern, sizeof pattern, shapes[i % 8], i);
        fb_buf_printf(&text, "%s{\"layer\": \"a\", \"%s\": \"%s%s\"}", i ? ", " : "",
                      i % 10 == 9 ? "under" : "leaf", prefix, pattern);
    }
    fb_buf_puts(&text, "]}");
    if (fb_layers_parse(text.data, text.len, "bench", &layers, &err) != FB_OK) {
        fprintf(stderr, "bench_layers: %s\n", err.text);
        exit(3);
    }
    fb_buf_done(&text);
    return layers;
}

/* The least of some rounds. */
static double classify_ms(const struct fb_layers *layers, const struct fb_calltree *tree,
                          const struct fb_functions *fns)
{
    double least = 1e9;

    for (int i = 0; i < ROUNDS; i++) {
        struct fb_layers_applied applied;
        struct fb_err err;
        double start = cpu_ms(), spent;

        if (fb_layers_apply(layers, tree, fns, NULL, &applied, &err) != FB_OK)
            exit(3);
        spent = cpu_ms() - start;
        least = spent < least ? spent : least;
        fb_layers_applied_done(&applied);
    }
    return least;
}

static double floor_ms(const struct fb_functions *fns)
{
    double least = 1e9;
    size_t found = 0;

    for (int i = 0; i < ROUNDS; i++) {
        double start = cpu_ms(), spent;

        for (size_t f = 1; f < fns->count; f++) {
            const struct fb_string *name = &fns->strings.items[fns->items[f].name];

            found += memmem(name->text, name->len, "nowhere", 7) != NULL;
        }
        spent = cpu_ms() - start;
        least = spent < least ? spent : least;
    }
    return found == 0 ? least : 0;
}

static double bucket_ms(const struct fb_layers *layers, const struct fb_calltree *tree,
                        const struct fb_functions *fns)
{
    uint16_t *layer = fb_layers_assign(layers, tree, fns);
    uint32_t *node_of_stack = fb_alloc_array(tree->count, sizeof *node_of_stack);
    struct fb_profile *p = fb_profile_new();
    unsigned seed = 2;
    double least = 1e9;

    fb_profile_samples_reserve(p, SAMPLES);
    for (uint32_t i = 0; i < tree->count; i++)
        node_of_stack[i] = i;
    for (int i = 0; i < SAMPLES; i++)
        fb_profile_sample_add(p, i, 0,
                              (fb_stack_id){(uint32_t)((size_t)rand_r(&seed) % tree->count)}, 1);
    for (int i = 0; i < ROUNDS; i++) {
        double start = cpu_ms(), spent, *self, *sum;

        self = fb_calltree_self(tree, p, node_of_stack, INT64_MIN, INT64_MAX);
        sum = fb_layers_sum(layers, tree, layer, self);
        spent = cpu_ms() - start;
        least = spent < least ? spent : least;
        free(self);
        free(sum);
    }
    fb_profile_free(p);
    free(node_of_stack);
    free(layer);
    return least;
}

int main(void)
{
    struct fb_layers *rules = make_rules(""), *unfiltered = make_rules("(?-i)");
    struct fb_functions fns;
    struct fb_calltree tree;
    double ours, plain, floor;

    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    put_frames(&fns, &tree);
    ours = classify_ms(rules, &tree, &fns);
    plain = classify_ms(unfiltered, &tree, &fns);
    floor = floor_ms(&fns);
    printf("%d frames x 40 rules          %6.1f ms CPU (target: 150), %.1f x the floor\n", FRAMES,
           ours, ours / floor);
    printf("the same without prefilter       %6.1f ms CPU, %.1f x ours\n", plain, plain / ours);
    printf("floor: one search through names  %6.1f ms CPU\n", floor);
    for (const struct fb_layers_preset *p = fb_layers_presets; p->name; p++) {
        struct fb_layers *preset;
        struct fb_err err;

        if (fb_layers_load(p->name, &preset, &err) != FB_OK)
            return 3;
        ours = classify_ms(preset, &tree, &fns);
        printf("preset %-8s %4zu rules       %6.1f ms CPU, %.1f x the floor\n", p->name,
               fb_layers_rules_count(preset), ours, ours / floor);
        fb_layers_free(preset);
    }
    printf("%d samples into layers      %6.1f ms CPU (target: 30)\n", SAMPLES,
           bucket_ms(rules, &tree, &fns));
    fb_layers_free(rules);
    fb_layers_free(unfiltered);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    return 0;
}
