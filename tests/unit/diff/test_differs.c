/* What differs between the arms: facts of a manifest, and what follows from what. */
#include <string.h>

#include "diff/facts.h"
#include "world.h"

/* A profile of the given keys and values, NULL at the end. */
static struct fb_profile *profile_of(const char *const *items)
{
    struct fb_profile *p = fb_profile_new();

    for (; items[0] != NULL; items += 2)
        fb_profile_manifest_set(p, items[0], items[1]);
    return p;
}

static struct fb_differs *differs_of(const char *const *control, const char *const *variant,
                                     const struct fb_lever *lever)
{
    struct fb_profile *c = profile_of(control), *v = profile_of(variant);
    struct fb_diff_arm arms[] = {{.profile = c}, {.is_variant = true, .profile = v}};
    struct fb_differs *d = fb_differs_new(arms, 2, lever);

    fb_profile_free(c);
    fb_profile_free(v);
    return d;
}

static const struct fb_lever no_lever;

static void values_are(const struct fb_differs *d, const char *name, const char *control,
                       const char *variant)
{
    for (size_t i = 0; i < d->count; i++) {
        if (strcmp(d->items[i].name, name) != 0)
            continue;
        if (control == NULL)
            assert_null(d->items[i].control);
        else
            assert_string_equal(d->items[i].control, control);
        if (variant == NULL)
            assert_null(d->items[i].variant);
        else
            assert_string_equal(d->items[i].variant, variant);
        return;
    }
    fail_msg("%s does not differ", name);
}

static void two_runs_of_one_setting_differ_in_nothing(void **state)
{
    const char *const control[] = {"command",
                                   "java -Xmx1g -jar a.jar --port=8080",
                                   "pid",
                                   "12",
                                   "start_wall_ns",
                                   "5",
                                   "env.HOSTNAME",
                                   "pod-a",
                                   "env.LISTEN",
                                   "0.0.0.0:8080",
                                   "cgroup_path",
                                   "/a",
                                   "container",
                                   "kubernetes",
                                   "host",
                                   "pod-a",
                                   NULL};
    const char *const variant[] = {"command",
                                   "java -Xmx1g -jar a.jar --port=8081",
                                   "pid",
                                   "13",
                                   "start_wall_ns",
                                   "6",
                                   "env.HOSTNAME",
                                   "pod-b",
                                   "env.LISTEN",
                                   "0.0.0.0:8081",
                                   "cgroup_path",
                                   "/b",
                                   "container",
                                   "kubernetes",
                                   "host",
                                   "pod-b",
                                   NULL};
    struct fb_differs *d = differs_of(control, variant, &no_lever);

    (void)state;
    assert_int_equal(d->count, 0);
    assert_true(d->is_known);
    assert_non_null(strstr(d->finding, "nothing differs"));
    fb_differs_free(d);
}

static void one_word_of_the_command_line_is_one_thing(void **state)
{
    const char *const control[] = {"command", "java -Dlink=false -jar a.jar", NULL};
    const char *const variant[] = {"command", "java -Dlink=true -jar a.jar", NULL};
    struct fb_differs *d = differs_of(control, variant, &no_lever);

    (void)state;
    assert_int_equal(d->own, 1);
    values_are(d, "-Dlink", "false", "true");
    assert_non_null(strstr(d->finding, "one thing differs"));
    fb_differs_free(d);
}

static void a_switch_of_the_jvm_implies_its_flag_and_collector(void **state)
{
    const char *const control[] = {"command", "java -Xmx1g A",        "jvm.collector",
                                   "Serial",  "jvm.flag.MaxHeapSize", "1073741824",
                                   NULL};
    const char *const variant[] = {
        "command", "java -Xmx2g -XX:+UseG1GC A", "jvm.collector", "G1", "jvm.flag.UseG1GC",
        "true",    "jvm.flag.MaxHeapSize",       "2147483648",    NULL};
    struct fb_differs *d = differs_of(control, variant, &no_lever);

    (void)state;
    values_are(d, "-Xmx", "1g", "2g");
    values_are(d, "-XX:UseG1GC", NULL, "on");
    values_are(d, "jvm.collector", "Serial", "G1");
    assert_int_equal(d->own, 2);
    assert_int_equal(d->count, 5);
    fb_differs_free(d);
}

static void what_a_jvm_made_of_its_flags_is_no_setting(void **state)
{
    const char *const control[] = {"command",
                                   "java -Xmx1g A",
                                   "jvm.heap_max_bytes",
                                   "1073741824",
                                   "jvm.flag.MaxNewSize",
                                   "357564416 (ergonomics)",
                                   "jvm.walk",
                                   "yes",
                                   NULL};
    const char *const variant[] = {"command",
                                   "java -Xmx2g A",
                                   "jvm.heap_max_bytes",
                                   "2147483648",
                                   "jvm.flag.MaxNewSize",
                                   "715784192 (ergonomics)",
                                   "jvm.walk",
                                   "yes",
                                   NULL};
    struct fb_differs *d = differs_of(control, variant, &no_lever);

    (void)state;
    assert_int_equal(d->own, 1);
    assert_int_equal(d->count, 2);
    values_are(d, "jvm.heap_max_bytes", "1073741824", "2147483648");
    fb_differs_free(d);
}

static void an_image_implies_its_builds(void **state)
{
    const char *const control[] = {"label.image_digest", "sha256:1", NULL};
    const char *const variant[] = {"label.image_digest", "sha256:2", NULL};
    struct fb_profile *c = profile_of(control), *v = profile_of(variant);
    struct fb_diff_arm arms[] = {{.profile = c}, {.is_variant = true, .profile = v}};
    struct fb_differs *d;

    (void)state;
    fb_profile_module_add(c, &(struct fb_module){.path = fb_strings_put_z(&c->strings, "/lib/x.so"),
                                                 .build_id = fb_strings_put_z(&c->strings, "aa")});
    fb_profile_module_add(v, &(struct fb_module){.path = fb_strings_put_z(&v->strings, "/lib/x.so"),
                                                 .build_id = fb_strings_put_z(&v->strings, "bb")});
    d = fb_differs_new(arms, 2, &no_lever);
    values_are(d, "x.so", "aa", "bb");
    assert_int_equal(d->count, 2);
    assert_int_equal(d->own, 1);
    fb_differs_free(d);
    fb_profile_free(c);
    fb_profile_free(v);
}

/* The one command line, and the other; the fact that differs and its two values. */
static const char *const scripts[][5] = {
    {"bash -c 'while :; do i=$((i + 1)); done' x", "bash -c 'while :; do i=$((i + 2)); done' x",
     "-c", "while :; do i=$((i + 1)); done", "while :; do i=$((i + 2)); done"},
    {"/bin/sh -ec while :; do i=1 work; done", "/bin/sh -ec while :; do i=2 work; done", "-ec",
     "while :; do i=1 work; done", "while :; do i=2 work; done"}, /* of a bank without quotes */
    {"a --name 'x = y'", "a --name 'x = z'", "--name", "x = y", "x = z"},
    {"a '--name=x  y'", "a '--name=x  z'", "--name", "x  y", "x  z"},
    {"a '' 'k v=1'", "a '' 'k v=2'", "arguments", " k v=1", " k v=2"},
    {"a -m 'it'\\''s'", "a -m \"it's so\"", "-m", "it's", "it's so"},
    {"a -m it's", "a -m its", "-m", "it's", "its"},
};

static void a_word_with_blanks_is_one_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        const char *const c[] = {"command", scripts[i][0], NULL};
        const char *const v[] = {"command", scripts[i][1], NULL};
        struct fb_differs *d = differs_of(c, v, &no_lever);

        assert_int_equal(d->count, 1);
        values_are(d, scripts[i][2], scripts[i][3], scripts[i][4]);
        fb_differs_free(d);
    }
}

/* One arm's table of steps. */
static struct fb_steps *steps_by(const char *generator)
{
    char *text = fb_format("offered\tstart\tend\tdelivered\tgenerator\n"
                           "100\t1788725520\t1788725620\t100\t%s\n",
                           generator);
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    if (fb_steps_parse(text, strlen(text), "x.tsv", &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    free(text);
    return steps;
}

static void settings_of_the_generator_are_compared(void **state)
{
    static const char *const given[][2] = {
        {"wrk2 -R{rate} -d{seconds} -t2 -s 'a b.lua' http://h:80/",
         "wrk2 -R{rate} -d{seconds} -t4 -s 'a c.lua' http://h:81/"}, /* the port is left out */
        {"oha --http2 -q {rate}", "oha -q {rate}"},
        {"oha --http2 -q {rate}", ""}}; /* unknown is not another one */
    static const size_t differ[] = {3, 1, 0};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const char *const none[] = {"cpus", "2", NULL};
        struct fb_profile *p = profile_of(none);
        struct fb_steps *c = steps_by(given[i][0]), *v = steps_by(given[i][1]);
        struct fb_diff_arm arms[] = {{.profile = p, .steps = c},
                                     {.profile = p, .steps = v, .is_variant = true}};
        struct fb_differs *d = fb_differs_new(arms, 2, &no_lever);

        assert_int_equal(d->count, differ[i]);
        if (i == 0)
            values_are(d, "-s", "a b.lua", "a c.lua");
        else if (i == 1)
            values_are(d, "--http2", "given", NULL);
        fb_differs_free(d);
        d = fb_differs_new((struct fb_diff_arm[]){arms[0], arms[0]}, 2, &no_lever);
        assert_int_equal(d->count, 0);
        fb_differs_free(d);
        fb_steps_free(c);
        fb_steps_free(v);
        fb_profile_free(p);
    }
}

static enum fb_lever_state lever_state(const char *control, const char *variant, const char *lever)
{
    const char *const c[] = {"command", control, NULL}, *const v[] = {"command", variant, NULL};
    struct fb_differs *d = differs_of(c, v, &(struct fb_lever){.text = lever});
    enum fb_lever_state state = d->lever;

    fb_differs_free(d);
    return state;
}

static void a_lever_is_looked_for(void **state)
{
    (void)state;
    assert_int_equal(lever_state("a -Dlink=false", "a -Dlink=true", "link"), FB_LEVER_ALONE);
    assert_int_equal(lever_state("a -Dlink=false", "a -Dlink=true -v", "LINK"), FB_LEVER_AMONG);
    assert_int_equal(lever_state("a -Dlink=true", "a -Dlink=true -v", "link"), FB_LEVER_SAME);
    assert_int_equal(lever_state("a", "a -v", "link"), FB_LEVER_UNKNOWN);
}

static void a_setting_in_which_one_arms_runs_differ_is_told_apart(void **state)
{
    const char *const once[] = {"env.A", "1", "env.B", "x", NULL};
    const char *const again[] = {"env.A", "2", "env.B", "x", NULL};
    const char *const other[] = {"env.A", "1", "env.B", "y", NULL};
    struct fb_profile *p[] = {profile_of(once), profile_of(again), profile_of(other),
                              profile_of(other)};
    struct fb_diff_arm arms[4];
    struct fb_differs *d;

    (void)state;
    for (size_t i = 0; i < 4; i++)
        arms[i] = (struct fb_diff_arm){.profile = p[i], .is_variant = i >= 2};
    d = fb_differs_new(arms, 4, &no_lever);
    assert_int_equal(d->own, 1);
    assert_int_equal(d->count, 2);
    values_are(d, "B", "x", "y");
    values_are(d, "A", "1 | 2", NULL);
    fb_differs_free(d);
    for (size_t i = 0; i < 4; i++)
        fb_profile_free(p[i]);
}

static void profiles_without_a_manifest_are_not_the_same(void **state)
{
    const char *const none[] = {NULL};
    struct fb_differs *d = differs_of(none, none, &no_lever);

    (void)state;
    assert_false(d->is_known);
    assert_non_null(strstr(d->finding, "not known"));
    fb_differs_free(d);
}

static void a_port_is_a_number_behind_a_colon_or_of_that_name(void **state)
{
    (void)state;
    assert_true(fb_facts_is_port("--listen", "127.0.0.1:80", "127.0.0.1:8080"));
    assert_true(fb_facts_is_port("SERVER_PORT", "80", "81"));
    assert_true(fb_facts_is_port("arguments", "a:81 b", "a:82 b"));
    assert_false(fb_facts_is_port("--threads", "4", "8"));
    assert_false(fb_facts_is_port("--id", "a:70000", "a:80000"));
    assert_false(fb_facts_is_port("--listen", "a:80 x", "a:81 y"));
    assert_false(fb_facts_is_port("--url", "http://a1:80", "http://a2:80"));
}

/* The same library in another version is one fact; the same bytes elsewhere are none; what another
 * class path brings follows from it, other bytes at the same place do not. */
static void jars_differ_in_their_bytes(void **state)
{
    const char *const control[] = {"command",   "java -cp /a/x-1.2.jar:/a/y.jar:/a/z.jar M",
                                   "jvm.jar.1", "/a/x-1.2.jar 10 crc32:00000001",
                                   "jvm.jar.2", "/a/y.jar 20 crc32:00000002",
                                   "jvm.jar.3", "/a/z.jar 30 crc32:00000003",
                                   "jvm.jars",  "3",
                                   NULL,        NULL};
    const char *const variant[] = {"command",   "java -cp /a/x-1.3.jar:/b/y.jar:/a/z.jar M",
                                   "jvm.jar.1", "/a/x-1.3.jar 10 crc32:00000009",
                                   "jvm.jar.2", "/b/y.jar 20 crc32:00000002",
                                   "jvm.jar.3", "/a/z.jar 30 crc32:00000004",
                                   "jvm.jars",  "3",
                                   NULL,        NULL};
    struct fb_differs *d = differs_of(control, variant, &no_lever);

    (void)state;
    assert_int_equal(d->count, 3);
    assert_int_equal(d->own, 2);
    values_are(d, "x", "/a/x-1.2.jar 10 crc32:00000001", "/a/x-1.3.jar 10 crc32:00000009");
    values_are(d, "z", "/a/z.jar 30 crc32:00000003", "/a/z.jar 30 crc32:00000004");
    for (size_t i = 0; i < d->count; i++) {
        if (strcmp(d->items[i].name, "x") == 0)
            assert_string_equal(d->items[i].implied_by, "-cp");
        else
            assert_null(d->items[i].implied_by);
    }
    fb_differs_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jars_differ_in_their_bytes),
        cmocka_unit_test(two_runs_of_one_setting_differ_in_nothing),
        cmocka_unit_test(one_word_of_the_command_line_is_one_thing),
        cmocka_unit_test(a_switch_of_the_jvm_implies_its_flag_and_collector),
        cmocka_unit_test(what_a_jvm_made_of_its_flags_is_no_setting),
        cmocka_unit_test(an_image_implies_its_builds),
        cmocka_unit_test(a_word_with_blanks_is_one_value),
        cmocka_unit_test(settings_of_the_generator_are_compared),
        cmocka_unit_test(a_lever_is_looked_for),
        cmocka_unit_test(a_setting_in_which_one_arms_runs_differ_is_told_apart),
        cmocka_unit_test(profiles_without_a_manifest_are_not_the_same),
        cmocka_unit_test(a_port_is_a_number_behind_a_colon_or_of_that_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
