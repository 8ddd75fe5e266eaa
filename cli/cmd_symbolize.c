#include "cli/commands.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/say.h"

static int run(const struct fb_args *args)
{
    const char *path = args->items[0], *out = fb_args_get(args, "output");
    struct fb_symbolizer_options options = {.debug_dir = fb_args_get(args, "debug-dir"),
                                            .again = true,
                                            .no_inlined = fb_args_has(args, "no-inlines")};
    struct fb_bank_damage damage;
    struct fb_profile *p;
    struct fb_err err;
    enum fb_status r = fb_bank_read(path, &p, &damage, &err);

    if (r != FB_OK)
        return fb_say_error(&err);
    if (fb_bank_is_damaged(&damage) && !out) {
        fb_profile_free(p);
        fb_say("%s: is damaged (%s), so it is not written over; give another file with --output",
               path, damage.first);
        return FB_EXIT_FAILED;
    }
    (void)fb_names_find(p, &options, path);
    r = fb_bank_write(p, out ? out : path, &err);
    fb_profile_free(p);
    return r == FB_OK ? FB_EXIT_DONE : fb_say_error(&err);
}

static const struct fb_option options_list[] = {
    {"debug-dir", 0, "DIR", "look for separate debug files here first"},
    {"no-inlines", 0, NULL, "no frames of functions that were inlined"},
    {"output", 'o', "FILE", "write the named bank there, not back into FILE"},
    {0}};

const struct fb_command fb_command_symbolize = {
    .name = "symbolize",
    .usage = "FILE [--debug-dir DIR] [--no-inlines] [--output FILE]",
    .what = "names for raw addresses, written back into the bank",
    .text = "Finds the functions of all addresses, also of those that have a name already, so that "
            "an old bank gets better names, lines and inlined functions once debug files are at "
            "hand, and says what improved. The raw addresses stay in the bank. 'record' does this "
            "at its end. docs/symbols.md says where files are looked for.",
    .options = options_list,
    .example = "flamebank symbolize run.fbank --debug-dir /srv/debug",
    .least = 1,
    .most = 1,
    .run = run,
};
