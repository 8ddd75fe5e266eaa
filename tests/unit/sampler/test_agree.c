/* test_agree.c - real programs, each with agree.c preloaded: two unwinders, the same stacks. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define AGREE_LIBRARY FB_BUILD "/tests/sampler_agree.so"
#define AGREE_COUNTS  FB_BUILD "/tests/sampler_agree.out"

enum { SECONDS_MAX = 60 };

struct counts {
    unsigned samples, same, oracle_short, ours_short, differ, root;
};

static void child_run(char *const argv[])
{
    int null = open("/dev/null", O_WRONLY);

    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    setenv("AGREE_OUT", AGREE_COUNTS, 1);
    setenv("LD_PRELOAD", AGREE_LIBRARY, 1);
    alarm(SECONDS_MAX);
    execv(argv[0], argv);
    _exit(127);
}

static void program_check(const char *const *argv, unsigned samples_min)
{
    struct counts c = {0};
    int status = -1;
    FILE *in;
    pid_t pid;

    if (access(argv[0], X_OK) != 0) {
        print_message("%s: not here, not checked\n", argv[0]);
        return;
    }
    unlink(AGREE_COUNTS);
    pid = fork();
    if (pid == 0)
        child_run((char *const *)(uintptr_t)argv);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    in = fopen(AGREE_COUNTS, "r");
    assert_non_null(in);
    assert_int_equal(fscanf(in, "%u %u %u %u %u %u", &c.samples, &c.same, &c.oracle_short,
                            &c.ours_short, &c.differ, &c.root),
                     6);
    fclose(in);
    print_message("%s: %u samples, %u the same, %u shorter in libunwind, %u shorter in ours, "
                  "%u differ\n",
                  argv[0], c.samples, c.same, c.oracle_short, c.ours_short, c.differ);
    assert_true(c.samples >= samples_min);
    assert_int_equal(c.differ, 0);
    /* The resolver of lazy binding is the one place where ours stops early. */
    assert_true(c.ours_short * 50 <= c.samples + 50);
    assert_true(c.oracle_short * 50 <= c.samples);
    assert_int_equal(c.root + c.ours_short, c.samples);
}

static void perl_stacks_are_the_same(void **ctx)
{
    static const char *const argv[] = {
        "/usr/bin/perl", "-e",
        "my %h; for my $i (1..1500000) { $h{'k'.($i % 5000)} .= \"x$i\"; my @s = sort { $a cmp $b "
        "} "
        "map { \"$_$i\" } 1..5 if $i % 10 == 0; $h{$i % 100} =~ s/x(\\d)/y$1/g if $i % 7 == 0; }",
        NULL};

    (void)ctx;
    program_check(argv, 20);
}

static void python_stacks_are_the_same(void **ctx)
{
    static const char *const argv[] = {
        "/usr/bin/python3", "-c",
        "import json, re\n"
        "d = {str(i): [i, {'a': i * 2}] for i in range(3000)}\n"
        "for k in range(150):\n"
        "    s = json.dumps(d); e = json.loads(s); sorted(e.items(), key=lambda t: t[1][0])\n"
        "    re.sub(r'(\\d+)', lambda m: m.group(1)[::-1], s[:20000])\n",
        NULL};

    (void)ctx;
    program_check(argv, 20);
}

static void compressor_stacks_are_the_same(void **ctx)
{
    static const char *const argv[] = {"/usr/bin/gzip", "-9", "-c", AGREE_LIBRARY, NULL};

    (void)ctx;
    program_check(argv, 2);
}

static void cryptography_stacks_are_the_same(void **ctx)
{
    static const char *const argv[] = {"/usr/bin/openssl", "speed", "-seconds", "1",
                                       "rsa2048",          NULL};

    (void)ctx;
    program_check(argv, 100);
}

static void compiler_stacks_are_the_same(void **ctx)
{
    static const char *const argv[] = {"/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
                                       "-O3",
                                       "-quiet",
                                       "-o",
                                       "/dev/null",
                                       "-I/usr/include/x86_64-linux-gnu",
                                       FB_FIXTURES "/../tests/unit/sampler/stacks.c",
                                       "-I" FB_FIXTURES "/..",
                                       "-D_GNU_SOURCE",
                                       NULL};

    (void)ctx;
    program_check(argv, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perl_stacks_are_the_same),
        cmocka_unit_test(python_stacks_are_the_same),
        cmocka_unit_test(compressor_stacks_are_the_same),
        cmocka_unit_test(cryptography_stacks_are_the_same),
        cmocka_unit_test(compiler_stacks_are_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
