#include <stdlib.h>

#include "base/file.h"
#include "cli/account.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/say.h"
#include "symbolize/symbolize.h"

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
    if (r == FB_OK)
        fb_say("%s: %zu samples of weight %llu written as %s", out_path, p->samples.count,
               (unsigned long long)fb_profile_weight(p), writer->name);
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
    .text = "Reads IN ('-' is standard input; gzip and zstd are unpacked) and writes OUT. A bank "
            "written so is packed. 'flamebank help formats' lists the formats.",
    .options = options,
    .example = "flamebank convert run.fbank run.folded",
    .least = 2,
    .most = 2,
    .run = run,
};
