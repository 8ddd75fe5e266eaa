/* Real runs.  nginx at 20,000 requests a second for 40 s: C2 and C3 alike, V1 and V2 with sendfile
 * off.  A service on the JVM at 4,800 a second for 60 s: C, V, K and J, two runs alike of each.
 * Pairs alike must be quiet within the stated error rate, the others must find the copy.
 *
 * The runs are kept outside the tree, where FB_SHARED says; without them the tests are skipped,
 * visibly. */
#include "base/buf.h"
#include "base/file.h"
#include "diff/distribution.h"
#include "world.h"

static const char *const rules =
    "{\"layers\":[{\"name\":\"copy\"},{\"name\":\"network\"},{\"name\":\"files\"},"
    "{\"name\":\"memory\"},{\"name\":\"wake\"},{\"name\":\"entry\"},{\"name\":\"nginx\"},"
    "{\"name\":\"libc\"},{\"name\":\"other\"}],\"rules\":["
    "{\"layer\":\"copy\",\"kind\":\"kernel\",\"leaf\":\"copy|csum\"},"
    "{\"layer\":\"files\",\"kind\":\"kernel\",\"leaf\":\"splice|sendfile|filemap|vfs|read|path|"
    "lookup|dentry|inode|open|stat|getname|filp\"},"
    "{\"layer\":\"memory\",\"kind\":\"kernel\",\"leaf\":\"slab|alloc|free|page|memset\"},"
    "{\"layer\":\"wake\",\"kind\":\"kernel\",\"leaf\":\"epoll|ep_|wake|sched|spin\"},"
    "{\"layer\":\"entry\",\"kind\":\"kernel\",\"leaf\":\"pvm|entry|syscall|sys_|exit_to\"},"
    "{\"layer\":\"network\",\"kind\":\"kernel\"},"
    "{\"layer\":\"nginx\",\"leaf\":\"^ngx|^\\\\[nginx\"},"
    "{\"layer\":\"libc\",\"leaf\":\".\"}]}";

/* JIT and GC work is told by its thread, which samples_read() makes the root frame. */
static const char *const jvm_rules =
    "{\"layers\":[{\"name\":\"JIT\"},{\"name\":\"GC\"},{\"name\":\"Clojure\"},{\"name\":\"JSON\"},"
    "{\"name\":\"Jetty\"},{\"name\":\"app\"},{\"name\":\"Java\"},{\"name\":\"native\"},"
    "{\"name\":\"other\"}],\"rules\":["
    "{\"layer\":\"JIT\",\"under\":\"^C[12] Comp\"},"
    "{\"layer\":\"GC\",\"under\":\"^(VM Thread|GC |VM Periodic|Reference Handler|Signal)\"},"
    "{\"layer\":\"Clojure\",\"leaf\":\"^clojure/\"},"
    "{\"layer\":\"JSON\",\"leaf\":\"^(com/fasterxml|cheshire)\"},"
    "{\"layer\":\"Jetty\",\"leaf\":\"^(org/eclipse/jetty|javax/servlet|ring/)\"},"
    "{\"layer\":\"app\",\"leaf\":\"^(server|user)[$./]\"},"
    "{\"layer\":\"Java\",\"leaf\":\"^(java|jdk|sun)/\"},"
    "{\"layer\":\"native\",\"leaf\":\".\"}],\"boundaries\":["
    "{\"layer\":\"JSON\",\"frames\":\"^cheshire.core[$]generate_string\"}]}";

static char *runs_folder(void)
{
    const char *shared = getenv("FB_SHARED");
    char *path = shared ? fb_format("%s/reference/ab", shared)
                        : fb_format("%s/../../shared/reference/ab", FB_FIXTURES);

    return path;
}

static bool has_runs(void)
{
    char *folder = runs_folder(), *file = fb_format("%s/nginx/C2/run.json", folder);
    FILE *f = fopen(file, "r");
    bool found = f != NULL;

    if (f)
        fclose(f);
    free(folder);
    free(file);
    return found;
}

static void skip_without_runs(void)
{
    if (has_runs())
        return;
    print_message("SKIPPED: no reference runs (set FB_SHARED)\n");
    skip();
}

static void read_text(const char *run, const char *file, struct fb_buf *out)
{
    char *folder = runs_folder(), *path = fb_format("%s/%s/%s", folder, run, file);
    struct fb_err err;

    if (fb_file_read_unpacked(path, out, &err) != FB_OK)
        fail_msg("%s", err.text);
    free(folder);
    free(path);
}

/* "name_[k]" is a kernel frame. */
static fb_frame_id frame_put(struct fb_profile *p, const char *text, size_t n)
{
    struct fb_frame f = {.kind = FB_FRAME_NATIVE};

    if (n > 4 && memcmp(text + n - 4, "_[k]", 4) == 0) {
        f.kind = FB_FRAME_KERNEL;
        n -= 4;
    }
    f.name = fb_strings_put(&p->strings, text, n);
    return fb_profile_frame_put(p, &f);
}

/* A line: epoch_ms TAB thread TAB root;...;leaf */
static void samples_read(struct fb_profile *p, const char *run)
{
    struct fb_buf text = {0};

    read_text(run, "profile.tsv.gz", &text);
    for (char *line = text.data; line && *line;) {
        char *end = strchrnul(line, '\n'), *thread = strchr(line, '\t') + 1;
        char *stack = strchr(thread, '\t') + 1;
        fb_stack_id s = FB_STACK_ROOT;

        if (strncmp(thread, "qtp", 3) != 0) /* all request threads are one */
            s = fb_profile_stack_put(p, s, frame_put(p, thread, (size_t)(stack - 1 - thread)));

        for (char *at = stack; at < end;) {
            char *stop = memchr(at, ';', (size_t)(end - at));

            stop = stop ? stop : end;
            s = fb_profile_stack_put(p, s, frame_put(p, at, (size_t)(stop - at)));
            at = stop + 1;
        }
        fb_profile_sample_add(p, (int64_t)strtoll(line, NULL, 10) * 1000000, 1, s, 1);
        line = *end ? end + 1 : end;
    }
    fb_buf_done(&text);
}

/* Rows of numbers after one line of headings; returns how many. */
static size_t table_read(const char *run, const char *file, size_t columns, double *values,
                         size_t rows_max)
{
    struct fb_buf text = {0};
    size_t rows = 0;
    char *at;

    read_text(run, file, &text);
    at = strchr(text.data, '\n') + 1;
    while (*at && rows < rows_max) {
        char *end = strchrnul(at, '\n');

        for (size_t i = 0; i < columns; i++)
            values[rows * columns + i] = strtod(at, &at);
        rows++;
        at = *end ? end + 1 : end;
    }
    fb_buf_done(&text);
    return rows;
}

static void run_add(struct world *w, const char *run, bool is_variant)
{
    struct fb_profile *p = world_arm_bare(w, is_variant);
    double counters[80 * 2], delivered[80 * 4], requests = 0;
    size_t rows = table_read(run, "counters.tsv", 2, counters, 80), requests_rows;
    uint32_t group = fb_profile_counter_put(p, "cgroup.cpu_ns", "ns", FB_COUNTER_CUMULATIVE);
    uint32_t process = fb_profile_counter_put(p, "process.cpu_ns", "ns", FB_COUNTER_CUMULATIVE);
    struct fb_step *s;

    samples_read(p, run);
    for (size_t i = 0; i < rows; i++) {
        size_t row = fb_profile_counter_row_add(p, (int64_t)counters[2 * i]);

        p->counters.items[group].values[row] = (int64_t)counters[2 * i + 1];
        p->counters.items[process].values[row] = (int64_t)counters[2 * i + 1];
    }
    requests_rows = table_read(run, "delivered.tsv", 4, delivered, 80);
    for (size_t i = 0; i < requests_rows; i++)
        requests += delivered[4 * i + 3];
    s = world_step_add(w->arms[w->count - 1].steps, "load", 1000, 0, rows - 1);
    s->start_ns = s->load_start_ns = p->counters.time_ns[0];
    s->end_ns = s->load_end_ns = p->counters.time_ns[rows - 1];
    s->delivered = requests;
    s->cpu_s = (counters[2 * (rows - 1) + 1] - counters[1]) / 1e9;
    s->cpu_source = "cgroup";
    fb_profile_span_update(p);
    (void)fb_steps_add_counters(w->arms[w->count - 1].steps, p);
    if (s->cpu_se > 0.02) /* as fb_steps_judge() does, without its marks for a first step */
        s->health |= FB_STEP_UNSTEADY;
}

static struct fb_diff *pair_diff(struct world *w, const char *control, const char *variant,
                                 bool is_jvm)
{
    world_init(w, is_jvm ? jvm_rules : rules);
    run_add(w, control, false);
    run_add(w, variant, true);
    return world_diff(w, &(struct fb_diff_options){.frames_max = 1000, .is_jvm = is_jvm});
}

static void print_rows(const struct fb_diff_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct fb_diff_row *r = &rows[i];

        print_message("  %-24s %6.2f %6.2f %%  %7.4f %7.4f ms  d %+.3f (%+.3f %+.3f) deff %.1f %s "
                      "%s\n",
                      r->name, 100 * r->control.share, 100 * r->variant.share, r->control.ms,
                      r->variant.ms, r->d, r->d_lo, r->d_hi, r->control.deff,
                      fb_verdict_word(r->verdict), r->reason);
    }
}

static size_t count_diffs(const struct fb_diff_row *rows, size_t count, size_t *judged)
{
    size_t diffs = 0;

    for (size_t i = 0; i < count; i++) {
        *judged += rows[i].verdict != FB_VERDICT_NONE && rows[i].verdict != FB_VERDICT_BURSTY;
        diffs += rows[i].verdict == FB_VERDICT_DIFF || rows[i].verdict == FB_VERDICT_ABSENT;
    }
    return diffs;
}

static size_t count_claims(const struct fb_diff_row *rows, size_t count)
{
    size_t claims = 0;

    for (size_t i = 0; i < count; i++)
        claims += rows[i].verdict != FB_VERDICT_NONE && rows[i].verdict != FB_VERDICT_NOT_SEEN &&
                  rows[i].verdict != FB_VERDICT_BURSTY;
    return claims;
}

/* A window in which the machine's speed moved has no verdict on ms; shares do not depend on it. */
static void unsteady_check(const struct world *w, const struct fb_diff_step *s)
{
    unsigned health = 0;

    for (size_t i = 0; i < w->count; i++)
        health |= w->arms[i].steps->items[0].health;
    print_message("  %s\n", health & FB_STEP_UNSTEADY ? "UNSTEADY" : "steady");
    if (health & FB_STEP_UNSTEADY)
        assert_false(s->on_ms);
}

/* DIFF layers of pairs alike: no more than 5 % at the binomial 99 % bound. */
static void alike_check(const char *const pairs[][2], size_t count, bool is_jvm)
{
    size_t layers = 0, layer_diffs = 0, frames = 0, frame_diffs = 0, allowed = 0;

    for (size_t i = 0; i < count; i++) {
        struct world w;
        struct fb_diff *diff = pair_diff(&w, pairs[i][0], pairs[i][1], is_jvm);
        const struct fb_diff_step *s = &diff->steps[0];

        print_message("%s against %s%s\n", pairs[i][0], pairs[i][1],
                      s->on_ms ? ", by ms" : ", by share");
        print_rows(s->layers, s->layers_count);
        if (is_jvm) /* one pair of JVM arms ranks frames and judges none */
            assert_int_equal(count_claims(s->frames, s->frames_count), 0);
        unsteady_check(&w, s);
        layer_diffs += count_diffs(s->layers, s->layers_count, &layers);
        frame_diffs += count_diffs(s->frames, s->frames_count, &frames);
        world_done(&w, diff);
    }
    while (fb_binomial_cdf((double)allowed, (double)layers, 0.05) < 0.99)
        allowed++;
    print_message("layers: %zu DIFF of %zu (bound %zu); frames: %zu DIFF of %zu\n", layer_diffs,
                  layers, allowed, frame_diffs, frames);
    assert_true(layers >= 10);
    assert_true(layer_diffs <= allowed);
    assert_true(frame_diffs <= 1 + frames / 100);
}

static void runs_alike_stay_within_the_stated_error_rate(void **state)
{
    static const char *const pairs[][2] = {{"nginx/C2", "nginx/C3"}, {"nginx/V1", "nginx/V2"}};

    (void)state;
    skip_without_runs();
    alike_check(pairs, 2, false);
}

/* Every process of a JVM inlines other methods: the floors of layers are wider, and one pair gives
 * no verdict on frames. */
static void jvm_runs_alike_stay_within_the_stated_error_rate(void **state)
{
    static const char *const pairs[][2] = {{"rest/C1", "rest/C2"},
                                           {"rest/V1", "rest/V2"},
                                           {"rest/K1", "rest/K2"},
                                           {"rest/J1", "rest/J2"}};

    (void)state;
    skip_without_runs();
    alike_check(pairs, 4, true);
}

/* Two runs against two, each side with one of either setting: nothing differs, and of the frames no
 * more than two are false. */
static void two_jvm_pairs_alike_have_two_false_frames_at_most(void **state)
{
    static const char *const sides[][4] = {{"rest/C1", "rest/V1", "rest/C2", "rest/V2"},
                                           {"rest/C1", "rest/V2", "rest/C2", "rest/V1"},
                                           {"rest/K1", "rest/J1", "rest/K2", "rest/J2"},
                                           {"rest/K1", "rest/J2", "rest/K2", "rest/J1"}};

    (void)state;
    skip_without_runs();
    for (size_t i = 0; i < 4; i++) {
        size_t judged = 0, diffs;
        struct fb_diff *diff;
        struct world w;

        world_init(&w, jvm_rules);
        for (size_t k = 0; k < 4; k++)
            run_add(&w, sides[i][k], k >= 2);
        diff = world_diff(&w, &(struct fb_diff_options){.frames_max = 1000, .is_jvm = true});
        diffs = count_diffs(diff->steps[0].frames, diff->steps[0].frames_count, &judged);
        print_message("%s %s against %s %s: %zu DIFF of %zu frames\n", sides[i][0], sides[i][1],
                      sides[i][2], sides[i][3], diffs, judged);
        assert_true(judged >= 50);
        assert_true(diffs <= 2);
        world_done(&w, diff);
    }
}

/* sendfile off: what was spliced is copied.  Every A/B pair says so. */
static void sendfile_off_is_found_as_copying(void **state)
{
    static const char *const controls[] = {"nginx/C2", "nginx/C3"}, *const variants[] = {
                                                                        "nginx/V1", "nginx/V2"};

    (void)state;
    skip_without_runs();
    for (size_t i = 0; i < 4; i++) {
        struct world w;
        struct fb_diff *diff = pair_diff(&w, controls[i / 2], variants[i % 2], false);
        const struct fb_diff_row *copy = world_layer(diff, 0, "copy");

        if (i == 0) {
            print_rows(diff->steps[0].layers, diff->steps[0].layers_count);
            print_rows(diff->steps[0].frames,
                       diff->steps[0].frames_count < 30 ? diff->steps[0].frames_count : 30);
        }
        assert_int_equal(copy->verdict, FB_VERDICT_DIFF);
        assert_true(copy->change > 0.5);
        world_done(&w, diff);
    }
}

static void two_pairs_find_it_too(void **state)
{
    struct world w;
    struct fb_diff *diff;
    const struct fb_diff_row *copy;

    (void)state;
    skip_without_runs();
    world_init(&w, rules);
    run_add(&w, "nginx/C2", false);
    run_add(&w, "nginx/C3", false);
    run_add(&w, "nginx/V1", true);
    run_add(&w, "nginx/V2", true);
    diff = world_diff(&w, NULL);
    copy = world_layer(diff, 0, "copy");
    assert_int_equal(diff->pairs, 2);
    assert_int_equal(copy->verdict, FB_VERDICT_DIFF);
    assert_true(copy->change > 0.5);
    assert_int_equal(world_layer(diff, 0, "network")->verdict, FB_VERDICT_DIFF);
    world_done(&w, diff);
}

/* K against J: every second request generates its JSON twice, so that work is 1.5 times as much.
 * The leaf layer JSON differs as much between runs of one arm; its boundary tells. */
static void more_json_is_found_at_its_boundary_where_the_leaf_layer_misleads(void **state)
{
    static const char *const controls[] = {"rest/K1", "rest/K2"}, *const variants[] = {"rest/J1",
                                                                                       "rest/J2"};
    double leaf_least = INFINITY, leaf_most = -INFINITY;

    (void)state;
    skip_without_runs();
    for (size_t i = 0; i < 4; i++) {
        struct world w;
        struct fb_diff *diff = pair_diff(&w, controls[i / 2], variants[i % 2], true);
        const struct fb_diff_row *boundary = &diff->steps[0].boundaries[0];
        double leaf = log(world_layer(diff, 0, "JSON")->variant.share /
                          world_layer(diff, 0, "JSON")->control.share);

        print_rows(boundary, 1);
        print_rows(world_layer(diff, 0, "JSON"), 1);
        leaf_least = fmin(leaf_least, leaf);
        leaf_most = fmax(leaf_most, leaf);
        assert_int_equal(boundary->verdict, FB_VERDICT_DIFF);
        assert_false(world_layer(diff, 0, "JSON")->is_moved);
        /* in K1 against J2 the layer reads less, where there is more of it; but it is no DIFF, so
         * that the rest of the boundary may be what grew */
        assert_false(world_layer(diff, 0, "JSON")->is_moved_in_part);
        assert_true(boundary->d_lo <= 0.36 && 0.36 <= boundary->d_hi); /* the share's truth */
        world_done(&w, diff);
    }
    print_message("leaf layer: d from %+.2f to %+.2f\n", leaf_least, leaf_most);
    assert_true(leaf_most - leaf_least > 0.3);
}

/* K1 against K2 and J1 against J2: the boundary stays. */
static void runs_alike_agree_at_the_boundary(void **state)
{
    static const char *const pairs[][2] = {{"rest/K1", "rest/K2"}, {"rest/J1", "rest/J2"}};
    size_t marked = 0;

    (void)state;
    skip_without_runs();
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        struct fb_diff *diff = pair_diff(&w, pairs[i][0], pairs[i][1], true);

        print_rows(diff->steps[0].boundaries, 1);
        print_rows(world_layer(diff, 0, "JSON"), 1);
        assert_int_not_equal(diff->steps[0].boundaries[0].verdict, FB_VERDICT_DIFF);
        assert_false(world_layer(diff, 0, "JSON")->is_moved_in_part);
        if (world_layer(diff, 0, "JSON")->verdict == FB_VERDICT_DIFF) {
            assert_true(world_layer(diff, 0, "JSON")->is_moved);
            marked++;
        }
        world_done(&w, diff);
    }
    assert_int_equal(marked, 1); /* J: the leaf layer halves, and is told to be moved */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_alike_stay_within_the_stated_error_rate),
        cmocka_unit_test(jvm_runs_alike_stay_within_the_stated_error_rate),
        cmocka_unit_test(two_jvm_pairs_alike_have_two_false_frames_at_most),
        cmocka_unit_test(sendfile_off_is_found_as_copying),
        cmocka_unit_test(two_pairs_find_it_too),
        cmocka_unit_test(more_json_is_found_at_its_boundary_where_the_leaf_layer_misleads),
        cmocka_unit_test(runs_alike_agree_at_the_boundary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
