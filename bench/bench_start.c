/* bench_start.c - what the sampler adds to the start and the end of a program.
 *
 *     bench_start LIBRARY RUNS COMMAND [ARGUMENT]...
 *
 * CPU time of the whole process as wait4() has it, with and without the library
 * in turn; medians, and the least of each, which other load disturbs less. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS_MAX = 200, ENV_MAX = 500 };

static double milliseconds(const struct timeval *t)
{
    return (double)t->tv_sec * 1e3 + (double)t->tv_usec / 1e3;
}

/* CPU milliseconds of one run, negative if it failed. */
static double run(char **argv, char **environment)
{
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    int status = -1;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environment) != 0 ||
        wait4(pid, &status, 0, &usage) != pid || status != 0)
        return -1;
    posix_spawn_file_actions_destroy(&actions);
    return milliseconds(&usage.ru_utime) + milliseconds(&usage.ru_stime);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double ms[2][RUNS_MAX];
    static char *environment[ENV_MAX + 3];
    static char preload[4096];
    static char bank[64];
    int runs = argc > 3 ? atoi(argv[2]) : 0;
    int n = 0;

    if (runs < 1 || runs > RUNS_MAX)
        return 2;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[1]);
    snprintf(bank, sizeof bank, "FLAMEBANK_OUT=/tmp/bench-start.%d.fbank", (int)getpid());
    while (environ[n] != NULL && n < ENV_MAX) {
        environment[n] = environ[n];
        n++;
    }
    for (int i = -1; i < runs; i++) /* the first fills the page cache */
        for (int with = 0; with < 2; with++) {
            double cost;

            environment[n] = with ? preload : NULL;
            environment[n + 1] = with ? bank : NULL;
            cost = run(argv + 3, environment);
            unlink(strchr(bank, '=') + 1);
            if (cost < 0)
                return 1;
            if (i >= 0)
                ms[with][i] = cost;
        }
    qsort(ms[0], (size_t)runs, sizeof ms[0][0], compare);
    qsort(ms[1], (size_t)runs, sizeof ms[1][0], compare);
    printf("%-28s plain %7.1f ms, with the sampler %7.1f: %6.1f more (least of each: %.1f more)\n",
           argv[3] + (strrchr(argv[3], '/') != NULL ? strrchr(argv[3], '/') - argv[3] + 1 : 0),
           ms[0][runs / 2], ms[1][runs / 2], ms[1][runs / 2] - ms[0][runs / 2],
           ms[1][0] - ms[0][0]);
    return 0;
}
