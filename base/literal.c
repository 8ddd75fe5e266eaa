/* A pattern is read as alternatives of sequences of items.  A sequence needs each of its items that
 * is not optional, so any run of plain characters in it, or any group whose alternatives all need
 * something, will do; the best is kept: at the start of the text first (one look at a byte
 * decides), then the longest.
 *
 * Whatever is not known by name here (flags, references, \Q, verbs) ends the analysis without an
 * answer. */
#include "base/literal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { DEPTH_MAX = 20, RUN_MAX = 64, SEARCHED_MAX = 4 };

struct reader {
    const char *at;
    int depth;
    bool gave_up;
};

struct run { /* plain characters in a row */
    char text[RUN_MAX];
    size_t len;
    bool at_start;
};

static void drop(struct fb_literals *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->text[i]);
    l->count = 0;
    l->at_start = false;
}

void fb_literals_done(struct fb_literals *l)
{
    drop(l);
}

size_t fb_literals_least(const struct fb_literals *l)
{
    size_t least = l->count > 0 ? SIZE_MAX : 0;

    for (size_t i = 0; i < l->count; i++)
        least = l->len[i] < least ? l->len[i] : least;
    return least;
}

/* Whether a says more than b. */
static bool is_better(const struct fb_literals *a, const struct fb_literals *b)
{
    if (a->count == 0 || fb_literals_least(a) == 0)
        return false;
    if (b->count == 0)
        return true;
    if (a->at_start != b->at_start)
        return a->at_start;
    return fb_literals_least(a) > fb_literals_least(b);
}

/* *best becomes the better of both; the other is freed. */
static void take_better(struct fb_literals *best, struct fb_literals *other)
{
    if (is_better(other, best)) {
        struct fb_literals swap = *best;

        *best = *other;
        *other = swap;
    }
    drop(other);
}

static void flush(struct run *run, struct fb_literals *best)
{
    struct fb_literals one = {.count = run->len > 0, .at_start = run->at_start};

    if (run->len > 0) {
        one.text[0] = fb_strndup(run->text, run->len);
        one.len[0] = run->len;
        take_better(best, &one);
    }
    run->len = 0;
    run->at_start = false;
}

static void skip_class(struct reader *r)
{
    r->at++; /* [ */
    if (*r->at == '^')
        r->at++;
    if (*r->at == ']')
        r->at++;
    while (*r->at && *r->at != ']') {
        if (r->at[0] == '[' && (r->at[1] == ':' || r->at[1] == '.' || r->at[1] == '=')) {
            const char *end = strchr(r->at + 2, ']');

            r->at = end ? end + 1 : r->at + strlen(r->at);
        } else if (r->at[0] == '\\' && r->at[1] != '\0') {
            r->gave_up |= r->at[1] == 'Q' || r->at[1] == 'E';
            r->at += 2;
        } else {
            r->at++;
        }
    }
    if (*r->at)
        r->at++;
    else
        r->gave_up = true;
}

/* Moves over a quantifier.  Returns whether the item before it may be missing; *ret_many: it may be
 * there more than once. */
static bool skip_quantifier(struct reader *r, bool *ret_many)
{
    bool optional = false;
    char *end;

    *ret_many = false;
    if (*r->at == '?' || *r->at == '*' || *r->at == '+') {
        optional = *r->at != '+';
        *ret_many = *r->at != '?';
        r->at++;
    } else if (*r->at == '{' && (isdigit((unsigned char)r->at[1]) || r->at[1] == ',')) {
        optional = strtol(r->at + 1, &end, 10) == 0;
        *ret_many = true;
        end = strchr(r->at, '}');
        r->at = end ? end + 1 : r->at + strlen(r->at);
    } else {
        return false;
    }
    if (*r->at == '?' || *r->at == '+') /* lazy, possessive */
        r->at++;
    return optional;
}

static void alternatives(struct reader *r, bool at_start, struct fb_literals *ret_need);

/* Behind "(": what kind of group.  False for one that asserts nothing that is kept. */
static bool group_open(struct reader *r, bool *ret_zero_width)
{
    *ret_zero_width = false;
    if (r->at[0] == '*') {
        r->gave_up = true;
        return false;
    }
    if (r->at[0] != '?')
        return true;
    r->at++;
    if (*r->at == ':' || *r->at == '>' || *r->at == '|') {
        r->at++;
        return true;
    }
    if (r->at[0] == '=' || r->at[0] == '!' ||
        (r->at[0] == '<' && (r->at[1] == '=' || r->at[1] == '!'))) {
        r->at += r->at[0] == '<' ? 2 : 1;
        *ret_zero_width = true;
        return true;
    }
    r->gave_up = true; /* names, flags, references, conditions */
    return false;
}

static void group(struct reader *r, bool at_start, struct run *run, struct fb_literals *best)
{
    struct fb_literals need = {0};
    bool zero_width, many;

    flush(run, best);
    r->at++; /* ( */
    if (!group_open(r, &zero_width) || ++r->depth > DEPTH_MAX) {
        r->gave_up = true;
        return;
    }
    alternatives(r, at_start && !zero_width, &need);
    r->depth--;
    if (*r->at != ')') {
        r->gave_up = true;
        drop(&need);
        return;
    }
    r->at++;
    if (skip_quantifier(r, &many) || zero_width)
        drop(&need);
    take_better(best, &need);
}

/* A backslash: a plain character, or a class or an assertion that has none; false gives up. */
static bool escape(struct reader *r, char *ret_plain)
{
    char c = r->at[1];

    *ret_plain = '\0';
    if (c == '\0')
        return false;
    r->at += 2;
    if (!isalnum((unsigned char)c)) {
        *ret_plain = c;
        return (unsigned char)c < 0x80;
    }
    return strchr("wWdDsSbBAzZhHvVRNnrtf", c) != NULL;
}

/* A plain character, with what quantifies it. */
static void character(struct reader *r, char c, struct run *run, struct fb_literals *best)
{
    const char *before = r->at;
    bool many, optional = skip_quantifier(r, &many);

    if (optional) {
        flush(run, best);
        return;
    }
    if (run->len == RUN_MAX)
        flush(run, best);
    run->text[run->len++] = c;
    if (r->at != before)
        flush(run, best);
}

static void sequence(struct reader *r, bool at_start, struct fb_literals *ret_need)
{
    struct run run = {.at_start = at_start};
    bool many, first = true;

    while (*r->at && *r->at != '|' && *r->at != ')' && !r->gave_up) {
        char c = *r->at;

        if (c == '^' && first) {
            r->at++;
            run.at_start = at_start = true;
            continue;
        }
        if (c == '(') {
            group(r, at_start && first && run.len == 0, &run, ret_need);
        } else if (c == '[' || c == '.' || c == '^' || c == '$') {
            flush(&run, ret_need);
            if (c == '[')
                skip_class(r);
            else
                r->at++;
            (void)skip_quantifier(r, &many);
        } else if (c == '\\') {
            if (!escape(r, &c)) {
                r->gave_up = true;
            } else if (c != '\0') {
                character(r, c, &run, ret_need);
            } else {
                flush(&run, ret_need);
                (void)skip_quantifier(r, &many);
            }
        } else {
            r->at++;
            character(r, c, &run, ret_need);
        }
        first = false;
    }
    flush(&run, ret_need);
}

/* What one of the alternatives needs, each of them having a need. */
static void alternatives(struct reader *r, bool at_start, struct fb_literals *ret_need)
{
    bool known = true;

    ret_need->at_start = true;
    for (;;) {
        struct fb_literals one = {0};

        sequence(r, at_start, &one);
        known =
            known && !r->gave_up && one.count > 0 && ret_need->count + one.count <= FB_LITERALS_MAX;
        for (size_t i = 0; i < one.count && known; i++) {
            ret_need->text[ret_need->count] = fb_strndup(one.text[i], one.len[i]);
            ret_need->len[ret_need->count++] = one.len[i];
        }
        ret_need->at_start = ret_need->at_start && one.at_start;
        drop(&one);
        if (*r->at != '|' || r->gave_up)
            break;
        r->at++;
    }
    if (!known)
        drop(ret_need);
}

/* The byte of a word that names of code have least. */
static size_t rarest(const char *text, size_t len)
{
    static const char common[] = "etaoinrslcdpumg.hfyb/_vkSC:ITAwEPxRjzqLOBDFGHKMNQUVWXYZJ";
    size_t best = 0, best_rank = 0;

    for (size_t i = 0; i < len; i++) {
        const char *at = memchr(common, text[i], sizeof common - 1);
        size_t rank = at ? (size_t)(at - common) + 1 : sizeof common;

        if (rank > best_rank) {
            best_rank = rank;
            best = i;
        }
    }
    return best;
}

/* memmem() prepares a table for each search, which costs more than these short searches. */
static bool holds(const char *text, size_t len, const char *word, size_t word_len, size_t rare)
{
    const char *at = text + rare, *end;

    if (word_len > len)
        return false;
    end = text + (len - word_len) + rare + 1;
    while ((at = memchr(at, word[rare], (size_t)(end - at))) != NULL) {
        if (memcmp(at - rare, word, word_len) == 0)
            return true;
        if (++at == end)
            break;
    }
    return false;
}

void fb_literals_find(struct fb_literals *ret_literals, const char *pattern)
{
    struct reader r = {.at = pattern};

    memset(ret_literals, 0, sizeof *ret_literals);
    alternatives(&r, false, ret_literals);
    /* Looking for many words takes longer than the pattern itself. */
    if (r.gave_up || *r.at != '\0' ||
        (!ret_literals->at_start && ret_literals->count > SEARCHED_MAX))
        drop(ret_literals);
    for (size_t i = 0; i < ret_literals->count; i++) {
        unsigned char c = (unsigned char)ret_literals->text[i][0];

        ret_literals->rare[i] = rarest(ret_literals->text[i], ret_literals->len[i]);
        ret_literals->first[c / 64] |= UINT64_C(1) << c % 64;
    }
}

bool fb_literals_allow(const struct fb_literals *l, const char *text, size_t len)
{
    if (l->count == 0)
        return true;
    if (l->at_start) {
        unsigned char c = len > 0 ? (unsigned char)text[0] : 0;

        if (len == 0 || !(l->first[c / 64] >> c % 64 & 1))
            return false;
        return l->count > 1 || (len >= l->len[0] && memcmp(text, l->text[0], l->len[0]) == 0);
    }
    for (size_t i = 0; i < l->count; i++)
        if (holds(text, len, l->text[i], l->len[i], l->rare[i]))
            return true;
    return false;
}
