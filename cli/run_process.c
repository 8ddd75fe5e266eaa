#include "cli/run_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void note(int signo)
{
    interrupted = signo;
}

void fb_run_signals(void)
{
    struct sigaction action = {.sa_handler = note};

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
}

int fb_run_interrupted(void)
{
    return interrupted;
}

int64_t fb_run_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void fb_run_sleep(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds,
                         .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

    (void)nanosleep(&t, NULL);
}

static void redirect(const char *path, int fd)
{
    int to = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;

    if (to >= 0)
        (void)dup2(to, fd);
}

/* Never returns; what went wrong goes through the pipe, which exec closes. */
static void child_exec(char *const *words, const char *out, const char *log, int pipe_fd)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    int nothing = open("/dev/null", O_RDONLY), failed;

    (void)setpgid(0, 0);
    (void)sigaction(SIGINT, &usual, NULL);
    (void)sigaction(SIGTERM, &usual, NULL);
    (void)sigaction(SIGHUP, &usual, NULL);
    if (nothing >= 0)
        (void)dup2(nothing, STDIN_FILENO);
    redirect(out, STDOUT_FILENO);
    redirect(log, STDERR_FILENO);
    (void)execvp(words[0], words);
    failed = errno;
    (void)!write(pipe_fd, &failed, sizeof failed);
    _exit(127);
}

enum fb_status fb_process_start(char *const *words, const char *out, const char *log,
                                struct fb_process *ret_process, struct fb_err *err)
{
    int ends[2], failed = 0;
    ssize_t n;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return fb_fail_errno(err, "cannot make a pipe");
    pid = fork();
    if (pid < 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return fb_fail_errno(err, "cannot fork");
    }
    if (pid == 0)
        child_exec(words, out, log, ends[1]);
    (void)close(ends[1]);
    do
        n = read(ends[0], &failed, sizeof failed);
    while (n < 0 && errno == EINTR);
    (void)close(ends[0]);
    if (n == (ssize_t)sizeof failed) {
        (void)waitpid(pid, NULL, 0);
        return fb_fail(err, failed == ENOENT ? FB_ENOTFOUND : FB_EIO, "%s: cannot be executed: %s",
                       words[0], strerror(failed));
    }
    *ret_process = (struct fb_process){.pid = pid};
    return FB_OK;
}

bool fb_process_is_over(struct fb_process *process)
{
    int status;
    pid_t r;

    if (process->pid == 0)
        return true;
    r = waitpid(process->pid, &status, WNOHANG);
    if (r == 0 || (r < 0 && errno == EINTR))
        return false;
    process->status = r < 0               ? 125
                      : WIFEXITED(status) ? WEXITSTATUS(status)
                                          : 128 + WTERMSIG(status);
    process->pid = 0;
    return true;
}

int fb_process_stop(struct fb_process *process, double wait_s)
{
    static const double step_s = 0.02;
    pid_t group = process->pid;
    bool killed = false;

    if (group != 0)
        (void)kill(group, SIGTERM);
    while (!fb_process_is_over(process)) {
        if (wait_s <= 0 && !killed) {
            (void)kill(-group, SIGKILL);
            killed = true;
        }
        fb_run_sleep(step_s);
        wait_s -= step_s;
    }
    return process->status;
}
