#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/say.h"

/* One line that is written over, on a terminal only. */
static void show_progress(void *data, const char *path, int64_t done, int64_t total)
{
    const char *base = strrchr(path, '/');

    (void)data;
    fprintf(stderr, "\r\033[Kfetching for %s: %.1f MB", base ? base + 1 : path, (double)done / 1e6);
    if (total > 0)
        fprintf(stderr, " of %.1f MB", (double)total / 1e6);
    (void)fflush(stderr);
}

/* Servers are those of --debuginfod, else of the environment; the library reads the environment. */
static enum fb_status fetch_options(const struct fb_args *args,
                                    struct fb_symbolizer_options *options, struct fb_err *err)
{
    const char *urls = fb_args_get(args, "debuginfod"), *had = getenv("DEBUGINFOD_URLS");
    double seconds = 60;

    if (fb_args_number(args, "fetch-seconds", 1, 86400, &seconds, err) != FB_OK)
        return err->status;
    if (urls && (!urls[0] || !strstr(urls, "://")))
        return fb_fail(err, FB_EUSAGE,
                       "'--debuginfod %s': the URL of a server was expected, such as "
                       "https://debuginfod.debian.net/",
                       urls);
    if (urls && setenv("DEBUGINFOD_URLS", urls, 1) != 0)
        return fb_fail_errno(err, "DEBUGINFOD_URLS cannot be set");
    if (!urls && (!had || !had[0]))
        return FB_OK;
    options->debuginfod_seconds = seconds;
    if (isatty(STDERR_FILENO))
        options->progress = show_progress;
    return FB_OK;
}

static int run(const struct fb_args *args)
{
    const char *path = args->items[0], *out = fb_args_get(args, "output");
    struct fb_symbolizer_options options = {.debug_dir = fb_args_get(args, "debug-dir"),
                                            .again = true,
                                            .root = fb_args_get(args, "root"),
                                            .no_inlined = fb_args_has(args, "no-inlines")};
    struct fb_bank_damage damage;
    struct fb_profile *p;
    struct fb_err err;
    enum fb_status r = fetch_options(args, &options, &err);

    if (r == FB_OK)
        r = fb_bank_read(path, &p, &damage, &err);
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
    {"root", 0, "DIR", "the arm's file system: an unpacked image, or /proc/PID/root"},
    {"debuginfod", 0, "URL", "ask these servers for what is missing (default: DEBUGINFOD_URLS)"},
    {"fetch-seconds", 0, "N", "time for all that is fetched (60)"},
    {"no-inlines", 0, NULL, "no frames of functions that were inlined"},
    {"output", 'o', "FILE", "write the named bank there, not back into FILE"},
    {0}};

const struct fb_command fb_command_symbolize = {
    .name = "symbolize",
    .usage = "FILE [--debug-dir DIR] [--root DIR] [--debuginfod URL] [--no-inlines] [-o FILE]",
    .what = "names for raw addresses, written back into the bank",
    .text =
        "Finds the functions of all addresses, also of those that have a name already, so that "
        "an old bank gets better names, lines and inlined functions once debug files are at "
        "hand, and says what improved. The raw addresses stay in the bank. 'record' does this "
        "at its end.\n\n"
        "Files are looked for at their paths, under --root, in the container of the arm while "
        "it runs, in --debug-dir and /usr/lib/debug by build ID and debug link, and last, where "
        "--debuginfod or DEBUGINFOD_URLS names servers, there. A file with another build ID "
        "than in the run is told, and not used. docs/symbols.md says more.",
    .options = options_list,
    .example = "flamebank symbolize run.fbank --debug-dir /srv/debug",
    .least = 1,
    .most = 1,
    .run = run,
};
