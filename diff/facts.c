/* facts.c - manifest, modules and steps of an arm as facts. */
#include "diff/facts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "diff/words.h"

static void add_n(struct fb_facts *facts, enum fb_fact_class class, const char *name, size_t n,
                  const char *value)
{
    struct fb_fact *f;

    fb_vec_reserve(&facts->items, &facts->room, facts->count + 1, sizeof *facts->items);
    f = &facts->items[facts->count++];
    f->class = class;
    f->order = facts->count;
    f->name = fb_strndup(name, n);
    f->value = fb_strdup(value);
}

static void add(struct fb_facts *facts, enum fb_fact_class class, const char *name,
                const char *value)
{
    add_n(facts, class, name, strlen(name), value);
}

void fb_facts_done(struct fb_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        free(facts->items[i].name);
        free(facts->items[i].value);
    }
    free(facts->items);
    *facts = (struct fb_facts){0};
}

/* ---- the command line ---- */

/* Options of which the value is written to the option itself. */
static const char *const joined[] = {"-Xmx", "-Xms", "-Xmn", "-Xss", "-Xloggc", "-XX:"};

/* The length of the name in a word such as "-Xmx1g", "-Dk=v", "--rate=5", "KEY=v". */
static size_t name_length(const char *word)
{
    const char *equals = strchr(word, '=');

    if (equals != NULL && equals != word)
        return (size_t)(equals - word);
    for (size_t i = 0; i + 1 < sizeof joined / sizeof joined[0]; i++)
        if (strncmp(word, joined[i], strlen(joined[i])) == 0)
            return strlen(joined[i]);
    return strlen(word);
}

/* "-XX:+Flag" and "-XX:-Flag" are the two values of one fact. */
static bool add_switch(struct fb_facts *facts, enum fb_fact_class class, const char *word)
{
    char *name;

    if (strncmp(word, "-XX:", 4) != 0 || (word[4] != '+' && word[4] != '-'))
        return false;
    name = fb_format("-XX:%s", word + 5);
    add(facts, class, name, word[4] == '+' ? "on" : "off");
    free(name);
    return true;
}

/* Blanks in it: a value, whatever else is in it. */
static bool is_text(const char *word)
{
    return word[0] == '\0' || strpbrk(word, " \t\n") != NULL;
}

/* A word that begins with an option or a key, be it "--opt=some text". */
static bool is_named(const char *word)
{
    size_t n = name_length(word);
    const char *blank = strpbrk(word, " \t\n");

    if (blank != NULL && (word[n] != '=' || blank < word + n))
        return false;
    return word[0] == '-' || word[n] == '=';
}

/* One word, and whether the next one was its value. */
static bool add_word(struct fb_facts *facts, enum fb_fact_class class, const char *word,
                     const char *next)
{
    size_t n = name_length(word);

    if (!is_named(word)) {
        add(facts, class, "arguments", word);
        return false;
    }
    if (add_switch(facts, class, word))
        return false;
    if (word[n] != '\0') {
        add_n(facts, class, word, n, word[n] == '=' ? word + n + 1 : word + n);
        return false;
    }
    /* "-c FILE": whether a program takes the next word as its value is not known, and as long as
     * both arms are read alike it does not matter. */
    if (next != NULL && (is_text(next) || !is_named(next))) {
        add(facts, class, word, next);
        return true;
    }
    add(facts, class, word, "given");
    return false;
}

void fb_facts_add_command(struct fb_facts *facts, enum fb_fact_class class, const char *command)
{
    struct fb_words w;

    fb_words_split(command, &w);
    if (w.count > 0)
        add(facts, class, "program", w.items[0]);
    for (size_t i = 1; i < w.count; i++)
        i += add_word(facts, class, w.items[i], i + 1 < w.count ? w.items[i + 1] : NULL);
    fb_words_done(&w);
}

/* ---- the manifest ---- */

static bool is_in(const char *word, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    size_t n = strlen(text), m = strlen(with);

    return n >= m && strcmp(text + n - m, with) == 0;
}

/* What the JVM has made of its other flags and of the machine is no setting. */
static bool is_ergonomics(const char *key, const char *value)
{
    return begins(key, "jvm.flag.") && ends(value, "(ergonomics)");
}

/* Different in any two runs, or told by another fact. */
static const char *const no_facts[] = {
    "pid",        "ppid",       "start_monotonic_ns", "start_wall_ns",   "duration_ns",
    "comment",    "run_root",   "parent_writer",      "cgroup_path",     "cwd",
    "symbolized", "clock_lack", "kernel_frames",      "clock_fallbacks", "hz_got",
    "tick_hz",    "exe",        "jvm.command",        "jvm.vm",          "jvm.jars",
    NULL};

/* The same of the environment: the shell's and the session's own, and the sampler's place. */
static const char *const no_variables[] = {"_",
                                           "PWD",
                                           "OLDPWD",
                                           "SHLVL",
                                           "HOSTNAME",
                                           "POD_NAME",
                                           "POD_IP",
                                           "POD_UID",
                                           "INVOCATION_ID",
                                           "JOURNAL_STREAM",
                                           "WINDOWID",
                                           "SSH_AUTH_SOCK",
                                           "SSH_CLIENT",
                                           "SSH_TTY",
                                           "SSH_CONNECTION",
                                           "COLUMNS",
                                           "LINES",
                                           "TMUX",
                                           "TMUX_PANE",
                                           "FLAMEBANK_OUT",
                                           "FLAMEBANK_RUN",
                                           "FLAMEBANK_LABELS",
                                           "FLAMEBANK_ENV",
                                           "TERM",
                                           NULL};

/* Labels that name a run instead of saying how it was made. */
static const char *const no_labels[] = {"arm",   "name", "pair",  "run", "replicate",
                                        "order", "pod",  "round", NULL};

static const char *const image_labels[] = {"image", "image_digest", "digest", NULL};

static const struct {
    const char *key;
    enum fb_fact_class class;
} keyed[] = {
    {"clock_asked", FB_FACT_SAMPLER},       {"clock_got", FB_FACT_SAMPLER},
    {"hz_asked", FB_FACT_SAMPLER},          {"interval_ns", FB_FACT_SAMPLER},
    {"flamebank_version", FB_FACT_SAMPLER}, {"jvm.walk", FB_FACT_SAMPLER},
    {"jvm.nonsafepoints", FB_FACT_SAMPLER}, {"jvm.counters", FB_FACT_SAMPLER},
};

/* Of the variables that Kubernetes makes of each service. */
static bool is_service(const char *name)
{
    return strstr(name, "_SERVICE_HOST") != NULL || strstr(name, "_SERVICE_PORT") != NULL ||
           strstr(name, "_PORT_") != NULL;
}

static enum fb_fact_class class_of(const char *key)
{
    for (size_t i = 0; i < sizeof keyed / sizeof keyed[0]; i++)
        if (strcmp(key, keyed[i].key) == 0)
            return keyed[i].class;
    return begins(key, "jvm.") ? FB_FACT_JVM : FB_FACT_MACHINE;
}

/* "PATH BYTES [crc32:...]", from behind, since a path may have blanks: the blank behind the path.
 */
static const char *jar_bytes(const char *value)
{
    const char *hash = strstr(value, " crc32:");
    const char *at = hash != NULL ? hash : value + strlen(value);

    while (at > value && *--at != ' ')
        ;
    return at;
}

/* A jar's name without its version: "netty-buffer" of "/srv/netty-buffer-4.1.100.Final.jar", so
 * that another version of a library is one fact with two values. */
static void add_jar(struct fb_facts *facts, const char *value)
{
    const char *path_end = jar_bytes(value), *name;
    size_t n;

    for (name = path_end; name > value && name[-1] != '/';)
        name--;
    n = (size_t)(path_end - name);
    for (size_t i = 1; i + 1 < n; i++) {
        if (name[i] == '-' && isdigit((unsigned char)name[i + 1])) {
            n = i;
            break;
        }
    }
    if (n == (size_t)(path_end - name) && n > 4 && strncasecmp(path_end - 4, ".jar", 4) == 0)
        n -= 4;
    add_n(facts, FB_FACT_JAR, name, n, value);
}

bool fb_facts_is_same_jar(const char *control, const char *variant)
{
    return strcmp(jar_bytes(control), jar_bytes(variant)) == 0;
}

static void add_item(struct fb_facts *facts, const char *key, const char *value, bool in_container)
{
    if (strcmp(key, "command") == 0) {
        fb_facts_add_command(facts, FB_FACT_COMMAND, value);
    } else if (begins(key, "jvm.jar.")) {
        add_jar(facts, value);
    } else if (begins(key, "env.")) {
        if (!is_in(key + 4, no_variables) && !is_service(key + 4))
            add(facts, FB_FACT_ENVIRONMENT, key + 4, value);
    } else if (begins(key, "label.")) {
        if (is_in(key + 6, image_labels))
            add(facts, FB_FACT_IMAGE, key + 6, value);
        else if (!is_in(key + 6, no_labels))
            add(facts, FB_FACT_LABEL, key + 6, value);
    } else if (strcmp(key, "host") == 0) {
        if (!in_container) /* there it is the pod's */
            add(facts, FB_FACT_MACHINE, key, value);
    } else if (!is_in(key, no_facts) && !is_ergonomics(key, value)) {
        add(facts, class_of(key), key, value);
    }
}

static void add_manifest(struct fb_facts *facts, const struct fb_profile *p)
{
    bool in_container = fb_profile_manifest_get(p, "container") != NULL;

    for (size_t i = 0; i < p->manifest_count; i++)
        add_item(facts, fb_profile_text(p, p->manifest[i].key),
                 fb_profile_text(p, p->manifest[i].value), in_container);
}

/* ---- modules ---- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static void add_modules(struct fb_facts *facts, const struct fb_profile *p)
{
    for (size_t i = 1; i < p->modules_count; i++) {
        const struct fb_module *m = &p->modules[i];
        const char *name = base_of(fb_profile_text(p, m->path));

        if (m->build_id == 0 || name[0] == '[' || name[0] == '\0' || begins(name, "libflamebank"))
            continue;
        add(facts, FB_FACT_BUILD, name, fb_profile_text(p, m->build_id));
    }
}

/* ---- load ---- */

/* The value that all steps but the warm-up have, "" where they differ or none has it. */
static char *common(const struct fb_steps *steps, double (*of)(const struct fb_step *))
{
    double value = NAN;

    for (size_t i = 0; i < steps->count; i++) {
        double here = of(&steps->items[i]);

        if (steps->items[i].warmup || isnan(here))
            continue;
        if (!isnan(value) && here != value)
            return fb_strdup("");
        value = here;
    }
    return isnan(value) ? fb_strdup("") : fb_format("%.15g", value);
}

static double conns_of(const struct fb_step *s)
{
    return s->conns;
}

/* The generator's command line, with {rate} and {seconds} for what changes from step to step. */
static void add_generator(struct fb_facts *facts, const struct fb_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        if (steps->items[i].generator != NULL && steps->items[i].generator[0] != '\0') {
            fb_facts_add_command(facts, FB_FACT_LOAD, steps->items[i].generator);
            return;
        }
    }
}

static void add_load(struct fb_facts *facts, const struct fb_steps *steps)
{
    char *conns = common(steps, conns_of);

    add_generator(facts, steps);
    for (size_t i = 0; i < steps->count; i++) {
        if (steps->items[i].mode != NULL && steps->items[i].mode[0] != '\0') {
            add(facts, FB_FACT_LOAD, "mode", steps->items[i].mode);
            break;
        }
    }
    if (conns[0] != '\0')
        add(facts, FB_FACT_LOAD, "connections", conns);
    free(conns);
}

/* ---- order ---- */

static int compare(const void *a, const void *b)
{
    const struct fb_fact *x = a, *y = b;
    int by_name = strcmp(x->name, y->name);

    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    if (by_name != 0)
        return by_name;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* A module that is mapped twice is one; other values stand one after the other. */
static void join(struct fb_fact *into, struct fb_fact *f)
{
    if (f->class != FB_FACT_BUILD || strcmp(f->value, into->value) != 0) {
        char *both = fb_format("%s %s", into->value, f->value);

        free(into->value);
        into->value = both;
    }
    free(f->name);
    free(f->value);
}

void fb_facts_sort(struct fb_facts *facts)
{
    size_t last = 0;

    if (facts->count == 0)
        return;
    qsort(facts->items, facts->count, sizeof *facts->items, compare);
    for (size_t i = 1; i < facts->count; i++) {
        struct fb_fact *f = &facts->items[i], *before = &facts->items[last];

        if (f->class == before->class && strcmp(f->name, before->name) == 0)
            join(before, f);
        else
            facts->items[++last] = *f;
    }
    facts->count = last + 1;
}

static bool skip_port(const char **at)
{
    char *end;
    unsigned long n = strtoul(*at, &end, 10);

    *at = end;
    return n >= 1 && n <= 65535;
}

bool fb_facts_is_port(const char *name, const char *control, const char *variant)
{
    const char *a = control, *b = variant;

    /* The same text, but for one number: behind a colon, or of something called port. */
    while (*a != '\0' && *a == *b)
        a++, b++;
    while (a > control && isdigit((unsigned char)a[-1]))
        a--, b--;
    if (!isdigit((unsigned char)*a) || !isdigit((unsigned char)*b))
        return false;
    if ((a == control || a[-1] != ':') && strcasestr(name, "port") == NULL)
        return false;
    return skip_port(&a) && skip_port(&b) && strcmp(a, b) == 0;
}

void fb_facts_of_arm(const struct fb_diff_arm *arm, struct fb_facts *ret_facts)
{
    *ret_facts = (struct fb_facts){0};
    if (arm->profile != NULL) {
        add_manifest(ret_facts, arm->profile);
        add_modules(ret_facts, arm->profile);
    }
    if (arm->steps != NULL)
        add_load(ret_facts, arm->steps);
    fb_facts_sort(ret_facts);
}
