/* Help, usage and man pages, all made from the rows of the commands. */
#include <ctype.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/say.h"
#include "steps/steps.h"

#define FB_TEXT_WIDTH 78

static void put_option_left(struct fb_buf *out, const struct fb_option *o)
{
    if (o->letter)
        fb_buf_printf(out, "-%c, ", o->letter);
    else
        fb_buf_puts(out, "    ");
    fb_buf_printf(out, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
}

/* Wraps paragraphs (separated by blank lines). */
static void put_wrapped_to(struct fb_buf *out, const char *text, size_t width)
{
    size_t column = 0;

    while (*text) {
        size_t n = strcspn(text, " \n");

        if (n > 0) {
            if (column > 0 && column + 1 + n > width) {
                fb_buf_putc(out, '\n');
                column = 0;
            }
            if (column > 0)
                fb_buf_putc(out, ' ');
            fb_buf_add(out, text, n);
            column += n + (column > 0);
            text += n;
        } else if (strncmp(text, "\n\n", 2) == 0) {
            fb_buf_puts(out, "\n\n");
            column = 0;
            text += 2;
        } else {
            text++;
        }
    }
    fb_buf_putc(out, '\n');
}

static void put_wrapped(struct fb_buf *out, const char *text)
{
    put_wrapped_to(out, text, FB_TEXT_WIDTH);
}

static int say(struct fb_buf *out)
{
    int status = fb_say_bytes(out->data, out->len);

    fb_buf_done(out);
    return status;
}

int fb_help_version(void)
{
    static const char text[] = "flamebank " FB_VERSION "\n";

    return fb_say_bytes(text, sizeof text - 1);
}

int fb_help_all(void)
{
    struct fb_buf out = {0};

    fb_buf_puts(&out, "flamebank: know what a change costs, per request, with error bars.\n\n"
                      "usage: flamebank COMMAND [ARGUMENT]...\n\n");
    for (const struct fb_command *const *c = fb_commands; *c; c++)
        fb_buf_printf(&out, "  %-10s %s\n", (*c)->name, (*c)->what);
    fb_buf_puts(&out, "\n'flamebank help COMMAND' explains one; 'flamebank help formats' lists the "
                      "file formats,\n'flamebank help presets' the layer rules, 'flamebank help "
                      "limits' the thresholds of steps.\n"
                      "Exit status: 0 done, 1 the answer is no, 2 usage, 3 the work failed.\n");
    return say(&out);
}

int fb_help_command(const struct fb_command *c)
{
    struct fb_buf out = {0};

    fb_buf_printf(&out, "usage: flamebank %s %s\n\n", c->name, c->usage);
    put_wrapped(&out, c->text);
    if (c->options)
        fb_buf_puts(&out, "\noptions:\n");
    for (const struct fb_option *o = c->options; o && o->name; o++) {
        struct fb_buf left = {0};

        put_option_left(&left, o);
        fb_buf_printf(&out, "  %-24s %s\n", left.data, o->what);
        fb_buf_done(&left);
    }
    if (c->example)
        fb_buf_printf(&out, "\nexample:\n  %s\n", c->example);
    return say(&out);
}

static void put_format(struct fb_buf *out, const char *name, const char *what, const char *suffix)
{
    fb_buf_printf(out, "  %-15s %s", name, what);
    if (suffix)
        fb_buf_printf(out, " (%s)", suffix);
    fb_buf_putc(out, '\n');
}

/* What a format of the second list has no place for: the rest of a profile is held. */
static void put_unheld(struct fb_buf *out, unsigned holds)
{
    struct fb_buf text = {0}, wrapped = {0};
    const char *line;

    fb_buf_puts(&text, "cannot hold: ");
    fb_holds_text(FB_HOLDS_ALL & ~holds, &text);
    if (holds != FB_HOLDS_ALL) {
        put_wrapped_to(&wrapped, text.data, FB_TEXT_WIDTH - 18);
        for (line = wrapped.data; *line; line = strchr(line, '\n') + 1)
            fb_buf_printf(out, "                  %.*s\n", (int)strcspn(line, "\n"), line);
    }
    fb_buf_done(&text);
    fb_buf_done(&wrapped);
}

static int help_formats(void)
{
    const char *name, *what;
    struct fb_buf out = {0};

    fb_buf_puts(&out, "profiles that are read (told by their content, or --from):\n");
    for (const struct fb_reader *r = fb_readers; r->name; r++)
        put_format(&out, r->name, r->what, NULL);
    fb_buf_puts(&out, "\nprofiles that are written (told by the ending, or --to):\n");
    for (const struct fb_writer *w = fb_writers; w->name; w++) {
        put_format(&out, w->name, w->what, w->suffix);
        put_unheld(&out, w->holds);
    }
    fb_buf_puts(&out, "\nsteps that are read (told by their content):\n");
    for (size_t i = 0; (name = fb_steps_format(i, &what)) != NULL; i++)
        put_format(&out, name, what, NULL);
    return say(&out);
}

static int help_presets(void)
{
    struct fb_buf out = {0};

    for (const struct fb_layers_preset *p = fb_layers_presets; p->name; p++)
        fb_buf_printf(&out, "  %-10s %s\n", p->name, p->what);
    return say(&out);
}

static int help_limits(void)
{
    struct fb_buf out = {0};

    fb_buf_puts(&out, "thresholds of the marks of steps, to be changed by --limit NAME=VALUE:\n");
    for (size_t i = 0; i < FB_LIMIT_COUNT; i++)
        fb_buf_printf(&out, "  %-16s %6g  %-11s %s\n", fb_limits[i].name, fb_limits[i].value,
                      fb_limits[i].marks, fb_limits[i].what);
    return say(&out);
}

/* ---- man pages ---- */

static void put_roff(struct fb_buf *out, const char *text)
{
    bool line_start = true;

    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            fb_buf_puts(out, "\\&");
        if (*text == '\\')
            fb_buf_puts(out, "\\e");
        else if (*text == '-')
            fb_buf_puts(out, "\\-");
        else if (*text == '\n' && text[1] == '\n')
            fb_buf_puts(out, "\n.PP"), line_start = false;
        else
            fb_buf_putc(out, *text);
        line_start = *text == '\n';
    }
}

static int man_command(const struct fb_command *c)
{
    struct fb_buf out = {0};

    fb_buf_printf(&out, ".TH FLAMEBANK-");
    for (const char *at = c->name; *at; at++)
        fb_buf_putc(&out, (char)toupper((unsigned char)*at));
    fb_buf_printf(&out, " 1 \"\" \"flamebank " FB_VERSION "\"\n.nh\n.SH NAME\nflamebank\\-%s \\- ",
                  c->name);
    put_roff(&out, c->what);
    fb_buf_printf(&out, "\n.SH SYNOPSIS\n.B flamebank %s\n", c->name);
    put_roff(&out, c->usage);
    fb_buf_puts(&out, "\n.SH DESCRIPTION\n");
    put_roff(&out, c->text);
    if (c->options)
        fb_buf_puts(&out, "\n.SH OPTIONS");
    for (const struct fb_option *o = c->options; o && o->name; o++) {
        fb_buf_puts(&out, "\n.TP\n.B ");
        if (o->letter)
            fb_buf_printf(&out, "\\-%c, ", o->letter);
        fb_buf_puts(&out, "\\-\\-");
        put_roff(&out, o->name);
        if (o->value)
            fb_buf_printf(&out, " \\fI%s\\fR", o->value);
        fb_buf_putc(&out, '\n');
        put_roff(&out, o->what);
    }
    if (c->example) {
        fb_buf_puts(&out, "\n.SH EXAMPLE\n.nf\n");
        put_roff(&out, c->example);
        fb_buf_puts(&out, "\n.fi");
    }
    fb_buf_puts(&out, "\n.SH SEE ALSO\n.BR flamebank (1)\n");
    return say(&out);
}

static int man_all(void)
{
    struct fb_buf out = {0};

    fb_buf_puts(&out,
                ".TH FLAMEBANK 1 \"\" \"flamebank " FB_VERSION
                "\"\n.nh\n.SH NAME\nflamebank \\- know what a change costs, per request, with "
                "error bars\n.SH SYNOPSIS\n.B flamebank\nCOMMAND [ARGUMENT]...\n"
                ".SH COMMANDS");
    for (const struct fb_command *const *c = fb_commands; *c; c++) {
        fb_buf_printf(&out, "\n.TP\n.BR flamebank\\-%s (1)\n", (*c)->name);
        put_roff(&out, (*c)->what);
    }
    fb_buf_puts(&out, "\n.SH EXIT STATUS\n0 done; 1 the answer is no; 2 usage; 3 the work failed.\n"
                      ".B flamebank record\nexits as the recorded command did, 125 where it failed "
                      "itself, 126 and 127 as env(1).\n");
    return say(&out);
}

static int run(const struct fb_args *args)
{
    const char *topic = args->count ? args->items[0] : NULL;
    bool man = fb_args_has(args, "man");
    const struct fb_command *c;

    if (!topic)
        return man ? man_all() : fb_help_all();
    if (strcmp(topic, "formats") == 0 && !man)
        return help_formats();
    if (strcmp(topic, "presets") == 0 && !man)
        return help_presets();
    if (strcmp(topic, "limits") == 0 && !man)
        return help_limits();
    c = fb_command_find(topic);
    if (!c) {
        fb_say("'%s' is neither a command nor a topic (formats, presets, limits)", topic);
        return FB_EXIT_USAGE;
    }
    return man ? man_command(c) : fb_help_command(c);
}

static const struct fb_option options[] = {
    {"man", 0, NULL, "as a man page (roff)"},
    {0},
};

const struct fb_command fb_command_help = {
    .name = "help",
    .usage = "[COMMAND|formats|presets|limits] [--man]",
    .what = "explain a command, the file formats, the layer presets or the limits of steps",
    .text = "Prints what a command does and all its options. The man pages are made from the same "
            "source with --man.",
    .options = options,
    .example = "flamebank help diff",
    .most = 1,
    .run = run,
};
