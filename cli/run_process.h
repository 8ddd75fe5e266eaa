/* run_process.h - the programs that `flamebank run` starts: arms, generators, levers. */
#ifndef FB_CLI_RUN_PROCESS_H
#define FB_CLI_RUN_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct fb_process {
    pid_t pid;  /* 0: none, or over */
    int status; /* as a shell says it, once it is over */
};

/* SIGINT and SIGTERM are kept from ending us: fb_run_interrupted() says which one came, 0 none. */
void fb_run_signals(void);
int fb_run_interrupted(void);

/* Starts words[0], in a process group of its own; out and log: files that its output goes to (log
 * may be out; NULL: ours).  Fails where it cannot be executed. */
enum fb_status fb_process_start(char *const *words, const char *out, const char *log,
                                struct fb_process *ret_process, struct fb_err *err);
/* Whether it is over. */
bool fb_process_is_over(struct fb_process *process);
/* SIGTERM to the process; after wait_s SIGKILL to its group.  Returns its status. */
int fb_process_stop(struct fb_process *process, double wait_s);

/* The same clock as marks have. */
int64_t fb_run_now_ns(void);
void fb_run_sleep(double seconds);

#endif
