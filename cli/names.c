#include "cli/names.h"

#include "cli/say.h"

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
        fb_say("%s: of %zu addresses %zu had a name and %zu have one now; functions without a name "
               "have %.1f %% of the CPU time",
               say_path, report.frames, report.already_named, report.already_named + report.named,
               nameless);
    for (size_t i = 0; say_path && i < report.notes_count; i++)
        fb_say("%s: %s", say_path, report.notes[i]);
    fb_symbolize_report_done(&report);
    fb_symbolizer_free(s);
    return nameless;
}
