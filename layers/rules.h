/* rules.h - the compiled form of a rules file, inside this folder.
 *
 *     sources.c   the file and what it includes, as JSON documents
 *     parse.c     layers, groups, and the order in which documents are read
 *     tests.c     one object of tests: patterns, words, `not`
 *     match.c     which rule decides a stack
 *
 * A rule is a conjunction of tests; a test that holds several patterns is true if any of them
 * matches.  `leaf`, `module`, `kind`, `tier` depend on the leaf function alone; the others have one
 * bit each over all rules, so that the matcher keeps a set of bits on every node. */
#ifndef FB_LAYERS_RULES_H
#define FB_LAYERS_RULES_H

#include "base/buf.h"
#include "base/json.h"
#include "base/regex.h"
#include "layers/layers.h"

enum {
    FB_LAYERS_TEXT_MAX = 1 << 20, /* bytes of a rules file                              */
    FB_LAYERS_MAX = 64,           /* layers of a file and its includes, "other" aside   */
    FB_LAYERS_RULES_MAX = 2000,   /* rules of a file and its includes                   */
    FB_LAYERS_PATTERNS_MAX = 64,  /* patterns of one test                               */
    FB_LAYERS_SOURCES_MAX = 32,   /* files that one includes, directly or not           */
    FB_LAYERS_BOUNDARIES_MAX = 64,
    FB_LAYERS_NAME_MAX = 16 << 10, /* bytes of a name that patterns see                 */
    FB_LAYERS_GIVEN_UP_MAX = 100,  /* matches given up before the whole is              */
};

#define FB_LAYERS_OTHER "other"

/* ---- tests ---- */

/* What a pattern is tried on: the leaf's name, its module ... */
enum fb_part {
    FB_PART_LEAF,
    FB_PART_ANY,
    FB_PART_MODULE,
    FB_PART_UNDER,
    FB_PART_ROOT,
    FB_PART_THREAD,
    FB_PART_COUNT
};

/* Class paths are matched with dots (names.h); `dotted` is the pattern with each '/' made to match
 * either separator, NULL where it has none. */
struct fb_pattern {
    struct fb_regex *plain, *dotted;
};

struct fb_patterns { /* any of them matches; count 0: the test is not asked */
    struct fb_pattern *items;
    size_t count;
};

struct fb_tests {
    struct fb_patterns on[FB_PART_COUNT];
    uint32_t bit[FB_PART_COUNT]; /* of any, under, root, thread; undefined where not asked */
    uint32_t kinds;              /* bit set of enum fb_frame_kind; 0: not asked */
    uint32_t tiers;              /* bit set of enum fb_tier; 0: not asked */
};

struct fb_rule {
    struct fb_tests is, is_not; /* passes if `is` holds and (if has_not) `is_not` does not */
    bool has_not;
    bool to_caller; /* charge: caller */
};

static inline bool fb_part_is_of_stack(enum fb_part part)
{
    return part != FB_PART_LEAF && part != FB_PART_MODULE;
}

/* Parses the tests of v into *ret_rule and appends them to text.  `keys`: what else the object may
 * hold, blank-separated with blanks at both ends.  ret_rule is fb_rule_done() also on failure. */
enum fb_status fb_rule_parse(const struct fb_json *v, const char *keys, uint32_t *bits,
                             struct fb_rule *ret_rule, struct fb_buf *text, struct fb_err *err);
void fb_rule_done(struct fb_rule *rule);

enum fb_status fb_patterns_parse(const struct fb_json *object, const char *key,
                                 struct fb_patterns *ret_patterns, struct fb_buf *text,
                                 struct fb_err *err);
/* Both regexes are yours, also on failure. */
enum fb_status fb_pattern_compile(const char *text, struct fb_pattern *ret_pattern,
                                  struct fb_err *err);
void fb_patterns_done(struct fb_patterns *patterns);
enum fb_status fb_kinds_parse(const struct fb_json *object, uint32_t *ret_kinds,
                              struct fb_buf *text, struct fb_err *err);

/* Sentences about a value of the wrong type, and about a key that nobody reads. */
enum fb_status fb_json_want(const struct fb_json *v, enum fb_json_kind kind, const char *what,
                            const char *expected, struct fb_err *err);
enum fb_status fb_json_only_keys(const struct fb_json *object, const char *keys,
                                 struct fb_err *err);

/* ---- sources ---- */

struct fb_source { /* one file: the named one first, then what it includes, depth first */
    char *name;
    struct fb_json_doc *doc;
};

struct fb_sources {
    struct fb_source items[FB_LAYERS_SOURCES_MAX];
    size_t count;
};

/* Parses text as the file `name` and reads what it includes.  fb_sources_done() also on failure. */
enum fb_status fb_sources_load(struct fb_sources *sources, const char *text, size_t len,
                               const char *name, struct fb_err *err);
void fb_sources_done(struct fb_sources *sources);

/* Whether a name of rules is a path (it has a '/' or ends in ".json") and not a preset's. */
bool fb_rules_name_is_path(const char *name);
/* The text of a preset or a file, appended to out. */
enum fb_status fb_rules_read(const char *name, struct fb_buf *out, struct fb_err *err);

/* ---- the whole ---- */

struct fb_boundary_tests {
    struct fb_patterns frames, module;
    uint32_t kinds;
};

struct fb_layers {
    char *name;
    struct fb_layer *layers; /* "other" last */
    size_t count;
    struct fb_layer_group *groups;
    size_t groups_count, groups_room;
    struct fb_layer_rule *rules;
    struct fb_rule *tests; /* by rule */
    size_t rules_count;
    struct fb_rule *transparent;
    struct fb_layer_rule *transparent_rules; /* texts, by transparent */
    size_t transparent_count;
    struct fb_boundary *boundaries;
    struct fb_boundary_tests *boundary_tests;
    size_t boundaries_count;
    uint32_t bits; /* tests that have a bit */
    bool charge_caller;
    bool needs_threads;
    char *files[FB_LAYERS_SOURCES_MAX]; /* names of the sources */
    size_t files_count;
};

/* ---- names ---- */

/* A name as patterns see it: class paths with dots ("java/lang/String.x" as "java.lang.String.x"),
 * everything else as it is.  `scratch` holds the rewritten text. */
struct fb_name_view {
    const char *text;
    size_t len;
    bool is_dotted; /* a class path: use fb_pattern.dotted where there is one */
};
struct fb_name_view fb_name_view(const char *text, size_t len, struct fb_buf *scratch);

/* A pattern in which each '/' also matches '.'; yours; NULL where it has no '/'. */
char *fb_pattern_dotted(const char *pattern);

#endif
