/* Rows of the views: packages by name, and inclusive weights against the plain definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "stack.h"

static const struct {
    const char *frame;
    size_t depth;
    const char *package;
} packages[] = {
    {"java/lang/String.length", 3, "java.lang"},
    {"java.util.concurrent.locks.Lock.lock", 3, "java.util.concurrent"},
    {"java.util.concurrent.locks.Lock.lock", 2, "java.util"},
    {"java.util.concurrent.locks.Lock.lock(Ljava/lang/Object)V", 9, "java.util.concurrent.locks"},
    {"clojure/core$map.invoke", 3, "clojure"},
    {"com/acme/box/Box$$Lambda$7/0x00007fc0.apply", 9, "com.acme.box"},
    {"com.acme.box.Box$$Lambda/0x00007fc0.apply", 9, "com.acme.box"},
    {"com.acme.box.Box$$Lambda.0x00007fc0.apply", 9, "com.acme.box"},
    {"app/Box.open", 3, "app"},
    {"runtime.mallocgc", 3, "runtime"},
    {"net/http.(*conn).serve", 3, "net/http"},
    {"github.com/acme/box/v2.(*Box).Open", 3, "github.com/acme/box"},
    {"std::vector<int, std::allocator<int> >::push_back(int)", 2, "std::vector"},
    {"void std::sort<int*>(int*, int*)", 3, "std"},
    {"google::protobuf::internal::Parse(int)", 2, "google::protobuf"},
    {"core::str::trim", 1, "core"},
    {"main", 3, "(no package)"},
    {"libz.so!deflate", 3, "libz.so"},
    {"app!tcp_sendmsg_[k]", 3, "[kernel]"},
    {"Foo.bar", 3, "(no package)"},
    {"libc.so.6", 3, "(no package)"},
    {"/usr/lib/x.py", 3, "(no package)"},
};

static void packages_are_found_in_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        struct fb_functions fns;
        struct fb_calltree tree;
        struct fb_buf text = {0};
        uint32_t node;

        fb_functions_init(&fns);
        fb_calltree_init(&tree);
        node = stack_put(&tree, &fns, packages[i].frame);
        fb_package_name(&fns, tree.nodes[node].function, packages[i].depth, &text);
        if (strcmp(text.data, packages[i].package) != 0)
            fail_msg("%s: expected '%s', got '%s'", packages[i].frame, packages[i].package,
                     text.data);
        fb_buf_done(&text);
        fb_calltree_done(&tree);
        fb_functions_done(&fns);
    }
}

static unsigned next(uint64_t *seed, unsigned most)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*seed >> 33) % most);
}

struct world {
    struct fb_functions fns;
    struct fb_calltree tree;
    double *self;
};

static void world_init(struct world *w, uint64_t *seed)
{
    fb_functions_init(&w->fns);
    fb_calltree_init(&w->tree);
    for (unsigned i = 0; i < 300; i++) {
        uint32_t parent = next(seed, (unsigned)w->tree.count);
        bool is_thread = parent == 0 && next(seed, 2);
        char name[16];

        (void)snprintf(name, sizeof name, is_thread ? "[f%u]" : "f%u", next(seed, 12));
        (void)fb_calltree_child(&w->tree, parent,
                                fb_functions_put(&w->fns,
                                                 is_thread ? FB_FRAME_MARK : FB_FRAME_NATIVE,
                                                 next(seed, 2) ? "m" : "", name));
    }
    w->self = fb_alloc_array(w->tree.count, sizeof *w->self);
    for (size_t n = 0; n < w->tree.count; n++)
        w->self[n] = next(seed, 50);
}

static void world_done(struct world *w)
{
    free(w->self);
    fb_calltree_done(&w->tree);
    fb_functions_done(&w->fns);
}

/* The plain definition: each stack once for each key that a frame of it has. */
static double inclusive(const struct world *w, const struct fb_keys *keys, uint32_t key)
{
    double sum = 0;

    for (uint32_t leaf = 0; leaf < w->tree.count; leaf++) {
        uint32_t at = leaf;
        bool has = leaf == 0 && keys->of_node[0] == key;

        for (; at != 0; at = w->tree.nodes[at].parent) {
            bool is_thread = w->tree.nodes[at].parent == 0 &&
                             fb_function_is_thread(&w->fns, w->tree.nodes[at].function, NULL);

            has |= keys->of_node[at] == key && (!is_thread || at == leaf);
        }
        sum += has ? w->self[leaf] : 0;
    }
    return sum;
}

static void every_key_counts_a_stack_once(void **state)
{
    static const enum fb_by by[] = {FB_BY_FRAME, FB_BY_MODULE, FB_BY_TIER, FB_BY_THREAD,
                                    FB_BY_PACKAGE};
    uint64_t seed = 5;

    (void)state;
    for (int round = 0; round < 20; round++) {
        struct world w;
        double all = 0;

        world_init(&w, &seed);
        for (size_t n = 0; n < w.tree.count; n++)
            all += w.self[n];
        for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
            double *own, *total, sum = 0;
            struct fb_keys keys;

            fb_keys_make(&keys, by[i], 3, NULL, NULL, &w.tree, &w.fns);
            fb_calltree_by_key(&w.tree, &w.fns, keys.of_node, keys.count, w.self, &own, &total);
            for (uint32_t k = 0; k < keys.count; k++) {
                sum += own[k];
                assert_true(own[k] <= total[k]);
                assert_true(total[k] == inclusive(&w, &keys, k));
            }
            assert_true(sum == all);
            free(own);
            free(total);
            fb_keys_done(&keys);
        }
        world_done(&w);
    }
}

static void the_topmost_match_stands_for_the_stack(void **state)
{
    uint64_t seed = 9;

    (void)state;
    for (int round = 0; round < 20; round++) {
        uint8_t *matches = NULL, *topmost;
        double *total, sum = 0, plain = 0;
        struct fb_err err;
        struct world w;

        world_init(&w, &seed);
        assert_int_equal(fb_frames_match("^f[1-4]$", &w.fns, &matches, &err), FB_OK);
        topmost = fb_frames_topmost(&w.tree, matches);
        total = fb_calltree_total(&w.tree, w.self);
        for (uint32_t leaf = 1; leaf < w.tree.count; leaf++) {
            bool has = false;

            sum += topmost[leaf] ? total[leaf] : 0;
            for (uint32_t at = leaf; at != 0; at = w.tree.nodes[at].parent)
                has |= matches[w.tree.nodes[at].function];
            plain += has ? w.self[leaf] : 0;
        }
        assert_true(plain > 0 && sum == plain);
        free(total);
        free(topmost);
        free(matches);
        world_done(&w);
    }
}

/* ---- rules, against their plain meaning ---- */

struct plain_test { /* one key and the number in "f<number>$" */
    unsigned key, number;
};

enum { KEYS = 5 };
static const char *const keys_text[KEYS] = {"leaf", "any", "under", "root", "thread"};

/* The frames of a node, outermost first, without its thread. */
static size_t frames_of(const struct world *w, uint32_t node, uint32_t *frames,
                        uint32_t *ret_thread)
{
    size_t count = 0;

    *ret_thread = 0;
    for (uint32_t at = node; at != 0; at = w->tree.nodes[at].parent)
        frames[count++] = w->tree.nodes[at].function;
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t swap = frames[i];

        frames[i] = frames[count - 1 - i];
        frames[count - 1 - i] = swap;
    }
    if (count > 0 && fb_function_is_thread(&w->fns, frames[0], NULL)) {
        *ret_thread = frames[0];
        memmove(frames, frames + 1, --count * sizeof *frames);
    }
    return count;
}

static bool is_named(const struct world *w, uint32_t function, unsigned number)
{
    const char *name = fb_function_name(&w->fns, function);

    return function != 0 && (unsigned)atoi(name + (name[0] == '[' ? 2 : 1)) == number;
}

static bool plain_passes(const struct world *w, const struct plain_test *t, uint32_t node)
{
    uint32_t frames[400], thread;
    size_t count = frames_of(w, node, frames, &thread), from = 0, to = count;
    bool is_thread_leaf = count == 0;

    if (t->key == 4)
        return is_named(w, thread, t->number);
    if (is_thread_leaf)
        return false; /* its name has brackets */
    if (t->key == 0)
        from = count - 1;
    else if (t->key == 2)
        to = count - 1;
    else if (t->key == 3)
        to = 1;
    for (size_t i = from; i < to; i++)
        if (is_named(w, frames[i], t->number))
            return true;
    return false;
}

struct plain_rule {
    struct plain_test is[2], is_not;
    bool has_two, has_not, to_caller;
};

static void put_plain(struct fb_buf *out, const struct plain_test *t)
{
    fb_buf_printf(out, "\"%s\": \"^f%u$\"", keys_text[t->key], t->number);
}

static struct fb_layers *plain_rules(struct plain_rule *rules, size_t count, uint64_t *seed)
{
    struct fb_buf text = {0};
    struct fb_layers *layers = NULL;
    struct fb_err err = {0};

    fb_buf_puts(&text, "{\"layers\": [{\"name\": \"a\"}], \"rules\": [");
    for (size_t i = 0; i < count; i++) {
        struct plain_rule *r = &rules[i];

        *r = (struct plain_rule){
            .has_two = next(seed, 2), .has_not = next(seed, 2), .to_caller = next(seed, 3) == 0};
        r->is[0] = (struct plain_test){next(seed, KEYS), next(seed, 12)};
        r->is[1] =
            (struct plain_test){(r->is[0].key + 1 + next(seed, KEYS - 1)) % KEYS, next(seed, 12)};
        r->is_not = (struct plain_test){next(seed, KEYS), next(seed, 12)};
        fb_buf_printf(&text, "%s{\"layer\": \"a\", ", i ? ", " : "");
        put_plain(&text, &r->is[0]);
        if (r->has_two) {
            fb_buf_puts(&text, ", ");
            put_plain(&text, &r->is[1]);
        }
        if (r->has_not) {
            fb_buf_puts(&text, ", \"not\": {");
            put_plain(&text, &r->is_not);
            fb_buf_putc(&text, '}');
        }
        fb_buf_puts(&text, r->to_caller ? ", \"charge\": \"caller\"}" : "}");
    }
    fb_buf_puts(&text, "]}");
    if (fb_layers_parse(text.data, text.len, "plain", &layers, &err) != FB_OK)
        fail_msg("%s", err.text);
    fb_buf_done(&text);
    return layers;
}

static uint16_t plain_first(const struct world *w, const struct plain_rule *rules, size_t count,
                            uint32_t node)
{
    for (size_t i = 0; i < count; i++) {
        const struct plain_rule *r = &rules[i];

        if (plain_passes(w, &r->is[0], node) && (!r->has_two || plain_passes(w, &r->is[1], node)) &&
            (!r->has_not || !plain_passes(w, &r->is_not, node)))
            return (uint16_t)i;
    }
    return FB_NO_RULE;
}

/* As the manual says it: as if the stack ended in the caller, and so on up; where no caller is
 * left, as if nothing were transparent. */
static uint16_t plain_decides(const struct world *w, const struct plain_rule *rules, size_t count,
                              uint32_t node)
{
    uint16_t own = plain_first(w, rules, count, node);
    uint32_t at = node, frames[400], thread;

    for (;;) {
        uint16_t rule = plain_first(w, rules, count, at);

        if (rule == FB_NO_RULE || !rules[rule].to_caller)
            return rule;
        at = w->tree.nodes[at].parent;
        if (frames_of(w, at, frames, &thread) == 0)
            return own;
    }
}

static void the_matcher_means_what_the_manual_says(void **state)
{
    uint64_t seed = 17;
    size_t decided = 0, charged = 0;

    (void)state;
    for (int round = 0; round < 60; round++) {
        struct plain_rule rules[8];
        struct fb_layers_options to_caller = {.charge = FB_CHARGE_CALLER};
        struct fb_layers_applied self, caller;
        struct fb_layers_passing passing;
        struct fb_layers *layers;
        struct fb_err err;
        struct world w;

        world_init(&w, &seed);
        layers = plain_rules(rules, 8, &seed);
        assert_int_equal(fb_layers_apply(layers, &w.tree, &w.fns, NULL, &self, &err), FB_OK);
        assert_int_equal(fb_layers_apply(layers, &w.tree, &w.fns, &to_caller, &caller, &err),
                         FB_OK);
        assert_int_equal(fb_layers_passing(layers, &w.tree, &w.fns, &passing, &err), FB_OK);
        for (uint32_t n = 1; n < w.tree.count; n++) {
            uint16_t first = plain_first(&w, rules, 8, n);

            assert_int_equal(self.rule[n], first);
            assert_int_equal(caller.rule[n], plain_decides(&w, rules, 8, n));
            assert_int_equal(passing.start[n] < passing.start[n + 1]
                                 ? passing.rules[passing.start[n]]
                                 : FB_NO_RULE,
                             first);
            decided += first != FB_NO_RULE;
            charged += caller.decider[n] != n;
        }
        fb_layers_applied_done(&self);
        fb_layers_applied_done(&caller);
        fb_layers_passing_done(&passing);
        fb_layers_free(layers);
        world_done(&w);
    }
    assert_true(decided > 3000 && charged > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packages_are_found_in_names),
        cmocka_unit_test(every_key_counts_a_stack_once),
        cmocka_unit_test(the_topmost_match_stands_for_the_stack),
        cmocka_unit_test(the_matcher_means_what_the_manual_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
