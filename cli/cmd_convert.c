#include <stdlib.h>

#include "base/file.h"
#include "cli/account.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/say.h"
#include "symbolize/symbolize.h"

/* What the profile has and the format of OUT has no place for. */
static void say_unheld(const struct fb_profile *p, const struct fb_writer *writer, const char *path)
{
    unsigned unheld = fb_profile_holds(p) & ~writer->holds;
    struct fb_buf text = {0};

    fb_holds_text(unheld, &text);
    if (unheld != 0)
        fb_say("%s: %s cannot hold: %s", path, writer->name, text.data);
    fb_buf_done(&text);
}

static int run(const struct fb_args *args)
{
    const char *in = args->items[0], *out_path = args->items[1];
    const struct fb_writer *writer;
    struct fb_profile *p;
    struct fb_buf out = {0};
    struct fb_err err;
    enum fb_status r;

    if (fb_writer_find(fb_args_get(args, "to"), out_path, &writer, &err) != FB_OK ||
        fb_load_profile(args, in, fb_args_get(args, "from"), &p, &err) != FB_OK)
        return fb_say_error(&err);
    fb_account_say(p, in);
    writer->write(p, fb_args_has(args, "raw-names") ? NULL : fb_name_canonical, &out);
    r = fb_file_write(out_path, out.data ? out.data : "", out.len, &err);
    if (r == FB_OK) {
        fb_say("%s: %zu samples of weight %llu written as %s", out_path, p->samples.count,
               (unsigned long long)fb_profile_weight(p), writer->name);
        say_unheld(p, writer, out_path);
    }
    fb_buf_done(&out);
    fb_profile_free(p);
    return r == FB_OK ? FB_EXIT_DONE : fb_say_error(&err);
}

static const struct fb_option options[] = {
    {"from", 0, "FORMAT", "format of IN (default: told by its content)"},
    {"to", 0, "FORMAT", "format of OUT (default: told by its ending)"},
    FB_OPTIONS_READ,
    FB_OPTIONS_NAMES,
    {0}};

const struct fb_command fb_command_convert = {
    .name = "convert",
    .usage = "IN OUT [--from FORMAT] [--to FORMAT]",
    .what = "a profile from any format that is read to any that is written",
    .text = "Reads IN ('-' is standard input; gzip and zstd are unpacked) and writes OUT ('-' with "
            "--to is standard output). Says how many samples were read and written, what was left "
            "out, and what the profile has that the format of OUT cannot hold. A bank written so "
            "is packed. 'flamebank help formats' lists the formats.\n\n"
            "A file may hold several events or values of its samples: they are never added up. "
            "--type reads one; without it, it is the only one, or the one that the format itself "
            "names as its default, which is said; else they are listed.",
    .options = options,
    .example = "flamebank convert cpu.pb.gz cpu.folded --type samples",
    .least = 2,
    .most = 2,
    .run = run,
};
