/* say.c - see say.h. */
#include "sampler/say.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler/text.h"

static struct stat stderr_at_start;
static bool stderr_known;
static bool said_in_run;

void fb_say_init(void)
{
    stderr_known = fstat(STDERR_FILENO, &stderr_at_start) == 0;
}

/* Neither allocates nor takes a lock; glibc's strerror() would. */
const char *fb_say_reason(int reason)
{
#ifdef __GLIBC__
    const char *text = strerrordesc_np(reason);

    return text != NULL ? text : "unknown error";
#else
    return strerror(reason);
#endif
}

static void write_all(int fd, const struct fb_text *t)
{
    /* Nothing can be done about a closed or full stderr. */
    if (write(fd, t->data, t->len) < 0)
        return;
}

void fb_say_plain(const char *text)
{
    char line[1024];
    struct fb_text t = {.data = line, .cap = sizeof line};

    fb_text_str(&t, "flamebank: ");
    fb_text_str(&t, text);
    fb_text_str(&t, "\n");
    write_all(STDERR_FILENO, &t);
}

static bool is_stderr(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_dev == stderr_at_start.st_dev &&
           st.st_ino == stderr_at_start.st_ino;
}

void fb_say_line(const char *text)
{
    if (stderr_known && is_stderr(STDERR_FILENO))
        fb_say_plain(text);
}

static int stderr_borrow(void)
{
    int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    int fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, STDERR_FILENO, 0);

    if (process >= 0)
        close(process);
    if (fd >= 0 && !is_stderr(fd)) {
        close(fd);
        return -1;
    }
    return fd;
}

void fb_say(enum fb_say_when when, const char *subject, const char *what, const char *object,
            int reason)
{
    char line[1024];
    struct fb_text t = {.data = line, .cap = sizeof line - 80};
    int fd;

    if (!stderr_known || (when == FB_SAY_ONCE_A_RUN && said_in_run))
        return;
    said_in_run = true;
    fb_text_str(&t, "flamebank: '");
    fb_text_str(&t, subject);
    fb_text_str(&t, "' ");
    fb_text_str(&t, what);
    if (object != NULL) {
        fb_text_str(&t, " '");
        fb_text_str(&t, object);
        fb_text_str(&t, "'");
    }
    t.cap = sizeof line;
    if (reason != 0) {
        fb_text_str(&t, " (");
        fb_text_str(&t, fb_say_reason(reason));
        fb_text_str(&t, ")");
    }
    fb_text_str(&t, "\n");
    fd = stderr_borrow();
    if (fd < 0)
        return;
    write_all(fd, &t);
    close(fd);
}
