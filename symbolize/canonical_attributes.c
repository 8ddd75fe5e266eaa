/* What a rule cuts and somebody may want to know all the same: a row says which rule must have
 * fired and what the raw name has then. */
#include <string.h>

#include "symbolize/symbolize.h"

static const struct attribute {
    const char *rule, *mark; /* mark: within the raw name; NULL: the rule says enough */
    const char *attribute;
} attributes[] = {
    {"inlined", NULL, "inlined"},
    {"tier", "_[j]", "c2"},
    {"tier", "_[1]", "c1"},
    {"tier", "_[0]", "interpreted"},
    {"kernel-tag", NULL, "kernel"},
    {"plt", NULL, "plt"},
    {"clone", ".cold", "cold"},
    {"clone", ".part", "part"},
    {"clone", ".isra", "isra"},
    {"clone", ".constprop", "constprop"},
    {"clone", ".lto_priv", "lto"},
    {"clone", ".llvm.", "lto"},
    {"isa", NULL, "isa"},
    {"clojure", ".invokeStatic", "static"},
    {"clojure", ".invokePrim", "prim"},
    {"js-tier", "*", "optimized"},
    {"js-tier", "^", "baseline"},
    {"js-tier", "+", "maglev"},
    {"js-tier", "~", "interpreted"},
    {"dotnet-tier", "[Tier0]", "tier 0"},
    {"dotnet-tier", "[Tier1", "tier 1"},
    {"dotnet-tier", "[OptimizedTier1", "tier 1"},
    {"dotnet-tier", "[PreJIT]", "precompiled"},
    {"dotnet-tier", "[ReadyToRun]", "precompiled"},
};

void fb_name_attributes(const char *raw, size_t len, fb_name_rules fired, struct fb_buf *out)
{
    const char *last = NULL;

    for (size_t i = 0; fired != 0 && i < sizeof attributes / sizeof attributes[0]; i++) {
        const struct attribute *a = &attributes[i];

        if (!(fb_name_rules_named(a->rule) & fired) ||
            (a->mark && !memmem(raw, len, a->mark, strlen(a->mark))))
            continue;
        if (last && strcmp(last, a->attribute) == 0)
            continue;
        fb_buf_puts(out, last ? ", " : "");
        fb_buf_puts(out, a->attribute);
        last = a->attribute;
    }
}
