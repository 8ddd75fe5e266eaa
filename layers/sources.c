/* A rules file and what it includes, each read once.
 *
 * The order is the law of precedence: a file, then its includes in their order, each followed by
 * its own.  A file that two others include counts where it comes first. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/vec.h"
#include "layers/presets.h"
#include "layers/rules.h"

struct chain { /* the files that are being read, innermost first */
    const char *name;
    const struct chain *outer;
};

bool fb_rules_name_is_path(const char *name)
{
    size_t n = strlen(name);

    return strchr(name, '/') || (n >= 5 && strcmp(name + n - 5, ".json") == 0);
}

static enum fb_status no_preset(const char *name, struct fb_err *err)
{
    struct fb_buf all = {0};

    for (const struct fb_layers_preset *p = fb_layers_presets; p->name; p++)
        fb_buf_printf(&all, "%s%s", p == fb_layers_presets ? "" : ", ", p->name);
    fb_fail(err, FB_ENOTFOUND,
            "no layer preset '%.100s' (built in: %s; the path of a rules file has a '/' or ends in "
            ".json)",
            name, all.data);
    fb_buf_done(&all);
    return FB_ENOTFOUND;
}

enum fb_status fb_rules_read(const char *name, struct fb_buf *out, struct fb_err *err)
{
    const struct fb_layers_preset *preset;

    if (fb_rules_name_is_path(name))
        return fb_file_read(name, out, err);
    preset = fb_layers_preset_find(name);
    if (!preset)
        return no_preset(name, err);
    fb_buf_add(out, preset->text, *preset->size);
    return FB_OK;
}

/* What `wanted`, written in the file `includer`, means from here; yours. */
static enum fb_status include_name(const char *wanted, const char *includer, char **ret_name,
                                   struct fb_err *err)
{
    const char *slash = strrchr(includer, '/');

    bool is_path = fb_rules_name_is_path(wanted);

    if (!is_path || (wanted[0] == '/' && fb_rules_name_is_path(includer))) {
        *ret_name = fb_strdup(wanted);
        return FB_OK;
    }
    if (!fb_rules_name_is_path(includer))
        return fb_fail(err, FB_EFORMAT,
                       "'include' of the path '%.100s', but '%s' is no file that it could be "
                       "relative to",
                       wanted, includer);
    *ret_name = slash ? fb_format("%.*s%s", (int)(slash - includer + 1), includer, wanted)
                      : fb_strdup(wanted);
    return FB_OK;
}

static enum fb_status load(struct fb_sources *sources, const char *text, size_t len,
                           const char *name, const struct chain *outer, struct fb_err *err);

/* One file has many paths: "a.json", "./a.json", links. */
static bool is_same(const char *a, const char *b)
{
    struct stat x, y;

    if (strcmp(a, b) == 0)
        return true;
    return fb_rules_name_is_path(a) && fb_rules_name_is_path(b) && stat(a, &x) == 0 &&
           stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool is_loaded(const struct fb_sources *sources, const char *name)
{
    for (size_t i = 0; i < sources->count; i++)
        if (is_same(sources->items[i].name, name))
            return true;
    return false;
}

static enum fb_status include(struct fb_sources *sources, const char *wanted,
                              const struct chain *chain, struct fb_err *err)
{
    struct fb_buf text = {.max = FB_LAYERS_TEXT_MAX};
    char *name = NULL;
    enum fb_status r = include_name(wanted, chain->name, &name, err);

    for (const struct chain *c = chain; r == FB_OK && c; c = c->outer)
        if (is_same(c->name, name)) {
            r = fb_fail(err, FB_EFORMAT, "'include' of '%s', which includes this file", name);
            break;
        }
    if (r == FB_OK && !is_loaded(sources, name)) {
        r = fb_rules_read(name, &text, err);
        if (r == FB_OK)
            r = load(sources, text.data ? text.data : "", text.len, name, chain, err);
    }
    fb_buf_done(&text);
    free(name);
    return r;
}

static enum fb_status load(struct fb_sources *sources, const char *text, size_t len,
                           const char *name, const struct chain *outer, struct fb_err *err)
{
    struct chain chain = {name, outer};
    const struct fb_json *list;
    struct fb_source *source;
    struct fb_json_doc *doc;
    enum fb_status r;
    bool is_list;

    if (len > FB_LAYERS_TEXT_MAX)
        return fb_fail(err, FB_ELIMIT, "%s: over %d bytes; a rules file has at most that many",
                       name, FB_LAYERS_TEXT_MAX);
    if (sources->count == FB_LAYERS_SOURCES_MAX)
        return fb_fail(err, FB_ELIMIT, "%s: is one include too many; at most %d were expected",
                       name, FB_LAYERS_SOURCES_MAX - 1);
    r = fb_json_parse(text, len, FB_JSON_STRICT, &doc, NULL, err);
    if (r != FB_OK)
        return fb_within(err, "%s", name);
    source = &sources->items[sources->count++];
    source->name = fb_strdup(name);
    source->doc = doc;
    list = fb_json_get(fb_json_root(doc), "include");
    is_list = fb_json_kind(list) == FB_JSON_ARRAY;
    for (size_t i = 0; list && r == FB_OK && i < (is_list ? fb_json_count(list) : 1); i++) {
        const struct fb_json *item = is_list ? fb_json_at(list, i) : list;

        r = fb_json_want(item, FB_JSON_STRING, is_list ? "an item of 'include'" : "'include'",
                         "the name of a preset, a path, or a list of them", err);
        if (r == FB_OK)
            r = include(sources, fb_json_string(item, ""), &chain, err);
        if (r != FB_OK)
            (void)fb_within(err, "%s", name);
    }
    return r;
}

enum fb_status fb_sources_load(struct fb_sources *sources, const char *text, size_t len,
                               const char *name, struct fb_err *err)
{
    sources->count = 0;
    return load(sources, text, len, name, NULL, err);
}

void fb_sources_done(struct fb_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        fb_json_free(sources->items[i].doc);
        free(sources->items[i].name);
    }
    sources->count = 0;
}
