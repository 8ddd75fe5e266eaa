#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "sampler/cgroup.h"

static char root[64];
static char scratch[1 << 17];

/* Writes text to root/path, making its folders. */
static void put(const char *path, const char *text)
{
    char whole[512];
    FILE *f;

    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *at = whole + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(whole, 0700);
        *at = '/';
    }
    f = fopen(whole, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int fresh_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/fb-cgroup-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int remove_root(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

static void version_2_is_read_in_microseconds(void **state)
{
    struct fb_cgroup cg;
    struct fb_cgroup_now now;
    uint64_t quota;

    (void)state;
    put("/proc/self/cgroup", "0::/system.slice/arm.service\n");
    put("/proc/self/mountinfo",
        "22 1 0:5 / /proc rw - proc proc rw\n"
        "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    put("/sys/fs/cgroup/system.slice/arm.service/cpu.stat",
        "usage_usec 123456\nuser_usec 100000\nsystem_usec 23456\nnr_periods 10\nnr_throttled 3\n"
        "throttled_usec 777\n");
    put("/sys/fs/cgroup/system.slice/arm.service/memory.current", "4096000\n");
    put("/sys/fs/cgroup/system.slice/arm.service/cpu.max", "150000 100000\n");
    put("/sys/fs/cgroup/system.slice/arm.service/cpu.pressure",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=5150\n");
    fb_cgroup_find(&cg, root, scratch, sizeof scratch);
    fb_cgroup_read(&cg, &now);
    assert_true(now.has_cpu && now.has_throttling && now.has_memory);
    assert_true(now.cpu_ns == 123456000);
    assert_true(now.throttled_ns == 777000);
    assert_int_equal(now.throttled_count, 3);
    assert_int_equal(now.periods, 10);
    assert_int_equal(now.memory_bytes, 4096000);
    assert_true(fb_cgroup_cpu_pressure(&cg, &quota));
    assert_true(quota == 5150000);
    assert_false(fb_cgroup_memory_pressure(&cg, &quota));
    assert_true(fb_cgroup_quota(&cg, &quota));
    assert_int_equal(quota, 1500);
    assert_string_equal(cg.name, "/system.slice/arm.service");
}

static void version_2_without_a_limit_has_no_quota(void **state)
{
    struct fb_cgroup cg;
    uint64_t quota;

    (void)state;
    put("/proc/self/cgroup", "0::/\n");
    put("/proc/self/mountinfo", "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/sys/fs/cgroup/cpu.max", "max 100000\n");
    fb_cgroup_find(&cg, root, scratch, sizeof scratch);
    assert_false(fb_cgroup_quota(&cg, &quota));
}

static void version_1_is_read_by_controller(void **state)
{
    struct fb_cgroup cg;
    struct fb_cgroup_now now;
    uint64_t quota;

    (void)state;
    put("/proc/self/cgroup", "8:memory:/pods/a\n4:cpu,cpuacct:/pods/a\n1:name=systemd:/x\n");
    put("/proc/self/mountinfo",
        "32 31 0:29 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "33 31 0:30 / /cg/memory rw,relatime master:9 - cgroup memory rw,memory\n");
    put("/cg/cpu,cpuacct/pods/a/cpuacct.usage", "987654321\n");
    put("/cg/cpu,cpuacct/pods/a/cpu.stat", "nr_periods 5\nnr_throttled 2\nthrottled_time 42\n");
    put("/cg/cpu,cpuacct/pods/a/cpu.cfs_quota_us", "50000\n");
    put("/cg/cpu,cpuacct/pods/a/cpu.cfs_period_us", "100000\n");
    put("/cg/memory/pods/a/memory.usage_in_bytes", "77\n");
    fb_cgroup_find(&cg, root, scratch, sizeof scratch);
    fb_cgroup_read(&cg, &now);
    assert_true(now.has_cpu && now.has_throttling && now.has_memory);
    assert_true(now.cpu_ns == 987654321 && now.throttled_ns == 42 && now.throttled_count == 2);
    assert_int_equal(now.memory_bytes, 77);
    assert_true(fb_cgroup_quota(&cg, &quota));
    assert_int_equal(quota, 500);
    put("/cg/cpu,cpuacct/pods/a/cpu.cfs_quota_us", "-1\n");
    assert_false(fb_cgroup_quota(&cg, &quota));
    /* the memory group of more processes than the arm's */
    put("/proc/self/cgroup", "8:memory:/\n4:cpu,cpuacct:/pods/a\n1:name=systemd:/x\n");
    put("/cg/memory/memory.usage_in_bytes", "7700000000\n");
    fb_cgroup_find(&cg, root, scratch, sizeof scratch);
    fb_cgroup_read(&cg, &now);
    assert_true(now.has_cpu && !now.has_memory);
}

/* A container without a cgroup namespace: the host's path is not below the mount. */
static void a_path_that_is_not_visible_falls_back_to_the_mount(void **state)
{
    struct fb_cgroup cg;
    struct fb_cgroup_now now;

    (void)state;
    put("/proc/self/cgroup", "4:cpuacct:/docker/0123\n");
    put("/proc/self/mountinfo",
        "32 31 0:29 /docker/0123 /cg/cpuacct rw - cgroup cgroup rw,cpuacct\n");
    put("/cg/cpuacct/cpuacct.usage", "5\n");
    fb_cgroup_find(&cg, root, scratch, sizeof scratch);
    fb_cgroup_read(&cg, &now);
    assert_true(now.has_cpu && now.cpu_ns == 5);
    put("/proc/self/mountinfo", "32 31 0:29 / /cg/cpuacct rw - cgroup cgroup rw,cpuacct\n");
    fb_cgroup_find(&cg, root, scratch, sizeof scratch);
    fb_cgroup_read(&cg, &now);
    assert_true(now.has_cpu && now.cpu_ns == 5);
}

static void what_is_nowhere_is_absent(void **state)
{
    struct fb_cgroup cg;
    struct fb_cgroup_now now;
    uint64_t quota;

    (void)state;
    fb_cgroup_find(&cg, root, scratch, sizeof scratch);
    fb_cgroup_read(&cg, &now);
    assert_false(now.has_cpu || now.has_throttling || now.has_memory);
    assert_false(fb_cgroup_quota(&cg, &quota));
}

/* Both /proc files cut at every byte: no answer may read outside them. */
static void cut_files_do_no_harm(void **state)
{
    static const char groups[] = "8:memory:/m\n4:cpu,cpuacct:/pods/a\n0::/u\n";
    static const char mounts[] = "32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
                                 "41 31 0:38 / /cg/u rw - cgroup2 cgroup2 rw\n";
    struct fb_cgroup cg;
    char text[256];

    (void)state;
    for (size_t n = 0; n < sizeof mounts; n++) {
        size_t g = n < sizeof groups ? n : sizeof groups - 1;

        snprintf(text, sizeof text, "%.*s", (int)g, groups);
        put("/proc/self/cgroup", text);
        snprintf(text, sizeof text, "%.*s", (int)n, mounts);
        put("/proc/self/mountinfo", text);
        fb_cgroup_find(&cg, root, scratch, sizeof scratch);
        assert_false(cg.cpu.found); /* none of the folders exists */
    }
}

#define CGROUP_TEST(name) cmocka_unit_test_setup_teardown(name, fresh_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CGROUP_TEST(version_2_is_read_in_microseconds),
        CGROUP_TEST(version_2_without_a_limit_has_no_quota),
        CGROUP_TEST(version_1_is_read_by_controller),
        CGROUP_TEST(a_path_that_is_not_visible_falls_back_to_the_mount),
        CGROUP_TEST(what_is_nowhere_is_absent),
        CGROUP_TEST(cut_files_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
