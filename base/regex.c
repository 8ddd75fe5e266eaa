#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/regex.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/literal.h"
#include "base/vec.h"

enum { MATCH_LIMIT = 200000, DEPTH_LIMIT = 2000 };

struct fb_regex {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *context;
    bool has_jit;
    struct fb_literals need;
    char *pattern;
};

enum fb_status fb_regex_new(const char *pattern, bool ignore_case, struct fb_regex **ret_regex,
                            struct fb_err *err)
{
    struct fb_regex *regex;
    int code;
    size_t offset, jit_bytes = 0;
    uint32_t options = PCRE2_NEVER_BACKSLASH_C | (ignore_case ? PCRE2_CASELESS : 0);
    pcre2_code *compiled =
        pcre2_compile((PCRE2_SPTR)pattern, strlen(pattern), options, &code, &offset, NULL);

    if (!compiled) {
        char why[160];

        (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
        return fb_fail(err, FB_EFORMAT, "pattern '%.200s%s': %s at offset %zu", pattern,
                       strlen(pattern) > 200 ? "..." : "", why, offset);
    }
    (void)pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
    regex = fb_alloc(sizeof *regex);
    regex->code = compiled;
    regex->pattern = fb_strdup(pattern);
    if (!ignore_case)
        fb_literals_find(&regex->need, pattern);
    regex->has_jit = pcre2_pattern_info(compiled, PCRE2_INFO_JITSIZE, &jit_bytes) == 0 && jit_bytes;
    regex->match = pcre2_match_data_create(1, NULL);
    regex->context = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(regex->context, MATCH_LIMIT);
    pcre2_set_depth_limit(regex->context, DEPTH_LIMIT);
    *ret_regex = regex;
    return FB_OK;
}

void fb_regex_free(struct fb_regex *regex)
{
    if (!regex)
        return;
    pcre2_code_free(regex->code);
    pcre2_match_data_free(regex->match);
    pcre2_match_context_free(regex->context);
    fb_literals_done(&regex->need);
    free(regex->pattern);
    free(regex);
}

enum fb_regex_found fb_regex_find(const struct fb_regex *regex, const char *text, size_t len)
{
    int r;

    if (!fb_literals_allow(&regex->need, text, len))
        return FB_REGEX_NO;
    r = (regex->has_jit ? pcre2_jit_match : pcre2_match)(regex->code, (PCRE2_SPTR)text, len, 0, 0,
                                                         regex->match, regex->context);
    if (r >= 0)
        return FB_REGEX_YES;
    return r == PCRE2_ERROR_NOMATCH ? FB_REGEX_NO : FB_REGEX_LIMIT;
}

bool fb_regex_match(const struct fb_regex *regex, const char *text, size_t len)
{
    return fb_regex_find(regex, text, len) == FB_REGEX_YES;
}

bool fb_regex_needs_literal(const struct fb_regex *regex)
{
    return fb_literals_least(&regex->need) > 0;
}

const char *fb_regex_pattern(const struct fb_regex *regex)
{
    return regex->pattern;
}
