/* Starts the arm with the preload, waits for it, then names and packs what it banked. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/vec.h"
#include "cli/banks.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/say.h"
#include "cli/target.h"

#define FB_PRELOAD_NAME "libflamebank.so"

static volatile sig_atomic_t child;

/* A signal to `record` is meant for the arm; what the terminal sends, the arm gets by itself. */
static void forward(int signo, siginfo_t *info, void *context)
{
    (void)context;
    if (child > 0 && info->si_code <= 0)
        (void)kill((pid_t)child, signo);
}

/* Beside this program: ../lib/flamebank as installed and as built. */
static enum fb_status find_preload(char **ret_path, struct fb_err *err)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    if (n <= 0)
        return fb_fail_errno(err, "/proc/self/exe: cannot be read");
    self[n] = '\0';
    slash = strrchr(self, '/');
    *ret_path = fb_format("%.*s/../lib/flamebank/" FB_PRELOAD_NAME, (int)(slash - self), self);
    if (access(*ret_path, R_OK) == 0) {
        char *real = realpath(*ret_path, NULL);

        if (real) {
            free(*ret_path);
            *ret_path = real;
        }
        if (strpbrk(*ret_path, " :") == NULL)
            return FB_OK;
        (void)fb_fail(err, FB_EUNSUPPORTED,
                      "%s: LD_PRELOAD cannot carry a path with a space or a colon; install "
                      "flamebank elsewhere",
                      *ret_path);
        free(*ret_path);
        return FB_EUNSUPPORTED;
    }
    (void)fb_fail(err, FB_ENOTFOUND, "%s: the preload library is not where it was installed",
                  *ret_path);
    free(*ret_path);
    return FB_ENOTFOUND;
}

/* --output, or <program>.<UTC time>.<pid>.fbank here. */
static char *output_of(const struct fb_args *args, const char *program)
{
    const char *given = fb_args_get(args, "output"), *base = strrchr(program, '/');
    char when[32];
    time_t now = time(NULL);
    struct tm tm;

    if (given)
        return fb_strdup(given);
    (void)strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
    return fb_format("%s.%s.%ld.fbank", base ? base + 1 : program, when, (long)getpid());
}

static enum fb_status check_output(const struct fb_args *args, const char *path, struct fb_err *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? fb_strndup(path, (size_t)(slash - path) + 1) : fb_strdup(".");
    enum fb_status r = FB_OK;

    if (access(folder, W_OK) != 0)
        r = fb_fail_errno(err, "%s: cannot be written", path);
    else if (access(path, F_OK) == 0 && !fb_args_has(args, "force"))
        r = fb_fail(err, FB_EUSAGE, "%s: exists; give another name, or --force to replace it",
                    path);
    else if (access(path, F_OK) == 0 && unlink(path) != 0)
        r = fb_fail_errno(err, "%s: cannot be replaced", path);
    free(folder);
    return r;
}

static enum fb_status check_clock(const struct fb_args *args, struct fb_err *err)
{
    const char *clock = fb_args_get(args, "clock"), *label;
    double hz = 0;

    if (clock && strcmp(clock, "cpu") != 0 && strcmp(clock, "itimer") != 0 &&
        strcmp(clock, "perf") != 0 && strcmp(clock, "wall") != 0)
        return fb_fail(err, FB_EUSAGE, "'--clock %s': cpu, itimer, perf or wall was expected",
                       clock);
    for (size_t i = 0; (label = fb_args_nth(args, "label", i)) != NULL; i++) {
        if (label[0] == '=' || !strchr(label, '=') || strchr(label, ','))
            return fb_fail(err, FB_EUSAGE, "'--label %s': K=V without a comma was expected", label);
    }
    return fb_args_number(args, "hz", 1, 10000, &hz, err);
}

/* '%' is special in FLAMEBANK_OUT. */
static char *escape_pattern(const char *path)
{
    struct fb_buf out = {0};

    for (; *path; path++) {
        fb_buf_putc(&out, *path);
        if (*path == '%')
            fb_buf_putc(&out, '%');
    }
    return fb_buf_take(&out);
}

static void set_labels(const struct fb_args *args)
{
    struct fb_buf all = {0};
    const char *label, *before = getenv("FLAMEBANK_LABELS");

    if (before && before[0] != '\0')
        fb_buf_puts(&all, before);
    for (size_t i = 0; (label = fb_args_nth(args, "label", i)) != NULL; i++)
        fb_buf_printf(&all, "%s%s", all.len ? "," : "", label);
    if (all.len > 0)
        (void)setenv("FLAMEBANK_LABELS", all.data, 1);
    fb_buf_done(&all);
}

static uint64_t set_environment(const struct fb_args *args, const char *preload, const char *out)
{
    const char *before = getenv("LD_PRELOAD");
    char *all =
        before && before[0] != '\0' ? fb_format("%s:%s", preload, before) : fb_strdup(preload);
    char *pattern = escape_pattern(out);
    uint64_t run_id = 0;

    while (run_id == 0)
        (void)!getrandom(&run_id, sizeof run_id, 0);
    (void)setenv("LD_PRELOAD", all, 1);
    (void)setenv("FLAMEBANK_OUT", pattern, 1);
    (void)unsetenv("FLAMEBANK_OFF");
    if (fb_args_has(args, "clock"))
        (void)setenv("FLAMEBANK_CLOCK", fb_args_get(args, "clock"), 1);
    if (fb_args_has(args, "hz"))
        (void)setenv("FLAMEBANK_HZ", fb_args_get(args, "hz"), 1);
    set_labels(args);
    free(all);
    free(pattern);
    return run_id;
}

/* The run id, and the process that the run begins with. */
static void set_run(uint64_t run_id)
{
    char run[64];

    (void)snprintf(run, sizeof run, "%016" PRIx64 ".%ld", run_id, (long)getpid());
    (void)setenv("FLAMEBANK_RUN", run, 1);
}

/* Never returns. */
static void exec_arm(const char *program, const struct fb_args *args, uint64_t run_id)
{
    int status;

    set_run(run_id);
    (void)execv(program, (char *const *)(size_t)args->items);
    status = errno == ENOENT ? FB_EXIT_NOT_FOUND : FB_EXIT_CANNOT_RUN;
    fb_say("%s: cannot be executed: %s", program, strerror(errno));
    _exit(status);
}

static int wait_for(pid_t pid)
{
    static const int forwarded[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT};
    struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO};
    int status;

    child = pid;
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        (void)sigaction(forwarded[i], &action, NULL);
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return FB_EXIT_RECORD_FAILED;
    }
    child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Between fork and exec the arm has the signal actions that `record` was started with. */
static int run_arm(const struct fb_args *args, const char *program, const char *out,
                   uint64_t run_id)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    struct sigaction of_children;
    struct fb_bank_files files;
    pid_t pid;
    int status;

    /* Where it is ignored, children leave no status to wait for. */
    (void)sigaction(SIGCHLD, &usual, &of_children);
    pid = fork();

    if (pid < 0) {
        fb_say("cannot fork: %s", strerror(errno));
        return FB_EXIT_RECORD_FAILED;
    }
    if (pid == 0) {
        (void)sigaction(SIGCHLD, &of_children, NULL);
        exec_arm(program, args, run_id);
    }
    status = wait_for(pid);
    (void)unsetenv("LD_PRELOAD");
    fb_bank_files_find(out, run_id, &files);
    fb_bank_files_finish(&files, out, (long)pid);
    if (files.count == 0)
        fb_say("%s: nothing was banked", out);
    fb_bank_files_done(&files);
    return status;
}

static int exit_of(const struct fb_err *err)
{
    fb_say("%s", err->text);
    return FB_EXIT_RECORD_FAILED;
}

static int run(const struct fb_args *args)
{
    char *program = NULL, *preload = NULL, *out;
    struct fb_err err;
    enum fb_status r = check_clock(args, &err);
    int status;

    if (r != FB_OK)
        return exit_of(&err);
    r = fb_target_find(args->items[0], &program, &err);
    if (r != FB_OK) {
        fb_say("%s", err.text);
        return r == FB_ENOTFOUND ? FB_EXIT_NOT_FOUND
               : r == FB_EUSAGE  ? FB_EXIT_CANNOT_RUN
                                 : FB_EXIT_RECORD_FAILED;
    }
    if (find_preload(&preload, &err) != FB_OK) {
        free(program);
        return exit_of(&err);
    }
    out = output_of(args, program);
    if (check_output(args, out, &err) != FB_OK)
        status = exit_of(&err);
    else
        status = run_arm(args, program, out, set_environment(args, preload, out));
    free(out);
    free(preload);
    free(program);
    return status;
}

static const struct fb_option options[] = {
    {"output", 'o', "FILE", "the bank (default: PROGRAM.TIME.PID.fbank in this folder)"},
    {"force", 'f', NULL, "replace an existing FILE"},
    {"clock", 0, "CLOCK",
     "cpu: a timer per thread (default); itimer: the classic one; perf: with kernel frames; "
     "wall: of threads that wait, too"},
    {"hz", 0, "N", "samples per second of CPU time; wall: of each thread's time (99)"},
    {"label", 'l', "K=V", "a fact for the manifest; repeatable"},
    {0}};

const struct fb_command fb_command_record = {
    .name = "record",
    .usage = "[-o FILE] [--clock cpu|itimer|perf|wall] [--hz N] [--label K=V]... -- CMD [ARG]...",
    .what = "run a program under the sampler and bank its profile",
    .text =
        "Starts CMD with the sampler preloaded and waits for it. Each process of the run that used "
        "the CPU leaves a bank (FILE, then FILE with -2, -3 ...), readable at every moment; at the "
        "end the banks are symbolized and packed.\n\n"
        "Exits as CMD did (128 + n after signal n), 125 where record itself failed, 126 where CMD "
        "cannot be executed, 127 where it is not found. Signals that are sent to record go on to "
        "CMD. Static, set-uid, 32-bit and musl programs cannot be preloaded, and are refused "
        "before they start.\n\n"
        "These variables go on to the sampler; a program that is preloaded by hand takes "
        "FLAMEBANK_OUT, FLAMEBANK_CLOCK, FLAMEBANK_HZ and FLAMEBANK_LABELS (K=V,K=V) as well. "
        "FLAMEBANK_FOLLOW: what of fork,exec is followed (both), or none. FLAMEBANK_GUARD=1: "
        "whole stacks of coroutines, by a front of SIGSEGV and SIGBUS. FLAMEBANK_ENV: variables "
        "whose values may be in the manifest, with commas between them. "
        "FLAMEBANK_JVM_NONSAFEPOINTS=0: a JVM's DebugNonSafepoints stays as it is. The others "
        "are in docs/sampler-in-the-host.md.",
    .options = options,
    .repeats = "label",
    .example = "flamebank record -o control.fbank -- nginx -c $PWD/nginx.conf",
    .least = 1,
    .most = (size_t)-1,
    .has_tail = true,
    .run = run,
};
