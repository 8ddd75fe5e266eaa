#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* File and function names can hold any byte: none of them may steer a terminal or forge a line. */
static void put_plain(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        bool is_c1 = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;

        if (*at < ' ' || *at == 0x7f || is_c1)
            (void)fprintf(stderr, "\\x%02x", is_c1 ? at[1] : at[0]);
        else
            (void)fputc(*at, stderr);
        at += is_c1;
    }
}

void fb_say(const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        text = NULL;
    va_end(ap);
    (void)fputs("flamebank: ", stderr);
    put_plain(text ? text : fmt);
    (void)fputc('\n', stderr);
    free(text);
}

int fb_say_error(const struct fb_err *err)
{
    fb_say("%s", err->text);
    return err->status == FB_EUSAGE ? FB_EXIT_USAGE : FB_EXIT_FAILED;
}

bool fb_say_in_color(const struct fb_args *args)
{
    const char *when = fb_args_get(args, "color"), *no = getenv("NO_COLOR");

    if (when && strcmp(when, "always") == 0)
        return true;
    if ((when && strcmp(when, "never") == 0) || (no && no[0] != '\0'))
        return false;
    return isatty(STDOUT_FILENO) == 1;
}

int fb_say_bytes(const void *bytes, size_t n)
{
    struct fb_err err;

    if (fb_fd_write(STDOUT_FILENO, "standard output", bytes, n, &err) != FB_OK)
        return fb_say_error(&err);
    return FB_EXIT_DONE;
}

static enum fb_status find_writer(const struct fb_args *args, const struct fb_table_writer **ret_w,
                                  struct fb_err *err)
{
    const char *format = fb_args_get(args, "format"), *color = fb_args_get(args, "color");

    if (color && strcmp(color, "auto") != 0 && strcmp(color, "always") != 0 &&
        strcmp(color, "never") != 0)
        return fb_fail(err, FB_EUSAGE, "'--color %s': auto, always or never was expected", color);
    *ret_w = fb_table_writer_find(format ? format : "text");
    if (!*ret_w)
        return fb_fail(err, FB_EUSAGE, "'--format %s': text, md, csv or json was expected", format);
    return FB_OK;
}

int fb_say_tables(const struct fb_args *args, struct fb_table **tables, size_t count)
{
    const struct fb_table_writer *writer;
    struct fb_buf out = {0};
    struct fb_err err;
    int status;

    if (find_writer(args, &writer, &err) != FB_OK) {
        status = fb_say_error(&err);
    } else {
        writer->write((const struct fb_table *const *)tables, count, fb_say_in_color(args), &out);
        status = fb_say_bytes(out.data ? out.data : "", out.len);
    }
    for (size_t i = 0; i < count; i++)
        fb_table_free(tables[i]);
    fb_buf_done(&out);
    return status;
}
