#include "cli/names.h"

#include "cli/say.h"

/* What improved: each number with what it was before. */
static void say_outcome(const struct fb_symbolize_report *r, double nameless, const char *path)
{
    double before = r->samples > 0 ? 100.0 * r->unknown_samples_before / r->samples : 0;

    fb_say("%s: of %zu addresses %zu had a name and %zu have one now, %zu had a line and %zu have, "
           "%zu inlined functions were known and %zu are; functions without a name have %.1f %% of "
           "the CPU time, before %.1f %%",
           path, r->frames, r->already_named, r->already_named + r->named, r->lines_before,
           r->lines, r->inlined_before, r->inlined, nameless, before);
}

double fb_names_find(struct fb_profile *p, const struct fb_symbolizer_options *options,
                     const char *say_path)
{
    struct fb_symbolizer *s = fb_symbolizer_new(options);
    struct fb_symbolize_report report;
    double nameless;

    fb_symbolize_profile(s, p, &report);
    fb_profile_manifest_set(p, "symbolized", FB_VERSION);
    nameless = report.samples > 0 ? 100.0 * report.unknown_samples / report.samples : 0;
    if (say_path)
        say_outcome(&report, nameless, say_path);
    for (size_t i = 0; say_path && i < report.notes_count; i++)
        fb_say("%s: %s", say_path, report.notes[i]);
    fb_symbolize_report_done(&report);
    fb_symbolizer_free(s);
    return nameless;
}
