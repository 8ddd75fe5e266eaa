#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/render/written.h"

/* A step of which nothing is known but its name and rate. */
static struct fb_step blank(char *name, double offered)
{
    struct fb_step s = {.name = name, .mode = (char *)(uintptr_t) "", .offered = offered};

    s.secs = s.sent = s.delivered = s.not_sent = s.errors = NAN;
    s.p50_s = s.p90_s = s.p99_s = s.p999_s = s.p99_point = s.p999_point = NAN;
    s.p50_point = s.p90_point = NAN;
    s.stated_delivered_per_s = s.stated_knee_per_s = s.stated_ms_per_request = NAN;
    s.cpu_s = s.throttled_s = s.cpu_span_s = s.heap_bytes = s.rss_bytes = s.conns = NAN;
    s.node_busy = s.client_throttled_s = s.uptime_before_s = s.uptime_after_s = NAN;
    s.speed_change = s.samples = s.sample_cpu_s = s.yield = s.cpu_se = s.cpu_lag1 = s.gc_share =
        NAN;
    return s;
}

static struct fb_step measured(char *name, double offered)
{
    struct fb_step s = blank(name, offered);

    s.secs = 110;
    s.delivered = offered * 110 - 11;
    s.not_sent = 11;
    s.p50_s = 0.00205;
    s.p99_s = 0.0125;
    s.p999_s = 0.1;
    s.cpu_s = 33;
    s.cpu_span_s = 110;
    s.throttled_s = 7.85;
    s.heap_bytes = 62.0 * 1048576;
    s.rss_bytes = 411.6 * 1048576;
    s.cpu_source = "cgroup";
    return s;
}

static char warmup_name[] = "200 (warmup)", plain_name[] = "3000", odd_name[] = "gzip";
static char source[] = "run.log";

static void columns_and_decimals_are_those_that_users_publish(void **state)
{
    struct fb_step items[2] = {measured(warmup_name, 200), measured(plain_name, 3000)};
    struct fb_steps steps = {
        .source = source, .format = "t", .onset_s = NAN, .items = items, .count = 2};
    struct fb_table *t;
    char why[] = "the warm-up itself";

    (void)state;
    items[0].warmup = true;
    items[0].health = FB_STEP_WARMUP;
    items[0].why = why;
    items[1].delivered = NAN;
    t = fb_render_steps(&steps);
    assert_table(
        t, "md",
        "### Steps of run.log\n\n"
        "| offered | delivered/s | p50 ms | p99 ms | p999 ms | knee/s | cpu ms/req | throttled s "
        "| heap MB | rss MB | cores | health |\n"
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | :--- "
        "|\n"
        "| 200 (warmup) | 199.9 | 2.05 | 12.50 | 100.00 | 0.1 | 1.501 | 7.8 | 62 | 412 "
        "| 0.30 | WARMUP |\n"
        "| 3000 | n/a | 2.05 | 12.50 | 100.00 | 0.1 | n/a | 7.8 | 62 | 412 | 0.30 | healthy |\n"
        "\n200 (warmup): the warm-up itself\n"
        "\ncpu ms/req from: cgroup.\n");
    fb_table_free(t);
}

static void missing_reads_na_and_never_zero(void **state)
{
    struct fb_step items[1] = {blank(plain_name, 3000)};
    struct fb_steps steps = {
        .source = source, .format = "t", .onset_s = NAN, .items = items, .count = 1};
    struct fb_table *t = fb_render_steps(&steps);

    (void)state;
    assert_table(
        t, "text",
        "Steps of run.log\n\n"
        "                      p50  p99  p999             cpu  throttled  heap  rss\n"
        "offered  delivered/s   ms   ms    ms  knee/s  ms/req          s    MB   MB  cores  "
        "health\n"
        "────────────────────────────────────────────────────────────────────────────────"
        "──────────\n"
        "   3000          n/a  n/a  n/a   n/a     n/a     n/a        n/a   n/a  n/a    n/a  "
        "healthy\n");
    fb_table_free(t);
}

static void names_and_connections_have_columns_where_they_are_known(void **state)
{
    struct fb_step items[2] = {measured(odd_name, 3000), measured(odd_name, NAN)};
    struct fb_steps steps = {
        .source = source, .format = "t", .onset_s = NAN, .items = items, .count = 2};
    struct fb_table *t;
    char *text;

    (void)state;
    items[0].conns = 40;
    t = fb_render_steps(&steps);
    text = written(t, "md");
    assert_non_null(strstr(text, "| step | offered | delivered/s |"));
    assert_non_null(strstr(text, "| rss MB | conns | cores | health |"));
    assert_non_null(strstr(text, "| gzip | 3000 | 2999.9 |"));
    assert_non_null(strstr(text, "| 412 | 40 | 0.30 | healthy |"));
    assert_non_null(strstr(text, "| gzip | n/a | n/a |"));
    free(text);
    fb_table_free(t);
}

static void sick_steps_are_muted_and_kept(void **state)
{
    struct fb_step items[2] = {measured(plain_name, 3000), measured(plain_name, 3000)};
    struct fb_steps steps = {
        .source = source, .format = "t", .onset_s = NAN, .items = items, .count = 2};
    struct fb_table *t;
    char *text;

    (void)state;
    items[0].health = FB_STEP_FIRST;
    items[1].health = FB_STEP_SHED;
    t = fb_render_steps(&steps);
    text = written(t, "json");
    assert_non_null(strstr(text, "\"health\": \"FIRST\""));
    assert_non_null(strstr(strstr(text, "\"health\": \"FIRST\""), "\"muted\": true}"));
    assert_non_null(strstr(strstr(text, "\"health\": \"SHED\""), "\"muted\": false}"));
    free(text);
    fb_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_and_decimals_are_those_that_users_publish),
        cmocka_unit_test(missing_reads_na_and_never_zero),
        cmocka_unit_test(names_and_connections_have_columns_where_they_are_known),
        cmocka_unit_test(sick_steps_are_muted_and_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
