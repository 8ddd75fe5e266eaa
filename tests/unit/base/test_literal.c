/* The prefilter never refuses what matches, and knows what it should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/literal.h"
#include "base/regex.h"

/* The literals of a pattern in one line: "^read|write", "" if nothing is known. */
static const struct {
    const char *pattern, *need;
} rows[] = {
    {"deflate", "deflate"},
    {"^deflate", "^deflate"},
    {"^(read|write)$", "^read|write"},
    {"^(?:read|write)v?$", "^read|write"},
    {"^(un)?compress2?$", "compress"},
    {"^com\\.acme\\.", "^com.acme."},
    {"^org[./]eclipse[./]jetty", "^org"},
    {"x*deflate+y", "deflate"},
    {"a{2,3}bcd", "bcd"},
    {"abc?d", "ab"},
    {"^\\w+::malloc", "::malloc"},
    {"\\bGC\\b", "GC"},
    {"(?=abc)defg", "defg"},
    {"(?!abc)de", "de"},
    {"(?<=abc)de", "de"},
    {"(a|b)c?", "a|b"},
    {"(ab|cd|ef|gh|ij)", ""},
    {"^(ab|cd|ef|gh|ij)", "^ab|cd|ef|gh|ij"},
    {"(ab|)", ""},
    {".", ""},
    {"[a-z]+", ""},
    {"[]abc]x[^]]", "x"},
    {"[[:alpha:]/]x", "x"},
    {"(?i)abc", ""},
    {"\\Qa.b\\E", ""},
    {"(a)\\1", ""},
    {"(^a|b)", "a|b"},
    {"^a|^b", "^a|b"},
    {"(?<n>abc)", ""},
    {"a{,3}bc", "bc"},
    {"x\\d*y\\.z", "y.z"},
};

static void what_a_pattern_needs_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fb_literals need;
        struct fb_buf text = {0};

        fb_literals_find(&need, rows[i].pattern);
        fb_buf_puts(&text, need.count > 0 && need.at_start ? "^" : "");
        for (size_t k = 0; k < need.count; k++)
            fb_buf_printf(&text, "%s%s", k ? "|" : "", need.text[k]);
        if (strcmp(text.data ? text.data : "", rows[i].need) != 0)
            fail_msg("%s: expected '%s', got '%s'", rows[i].pattern, rows[i].need, text.data);
        fb_literals_done(&need);
        fb_buf_done(&text);
    }
}

static unsigned next(uint64_t *seed, unsigned most)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*seed >> 33) % most);
}

static void put_pattern(struct fb_buf *out, uint64_t *seed, int depth)
{
    static const char *const items[] = {"a",   "b",   "ab",    "bca", "[ab]",       "[^a]",
                                        ".",   "\\w", "\\.",   "\\b", "^",          "$",
                                        "\\/", "{",   "[]a/]", "/",   "[[:alpha:]]"};
    static const char *const groups[] = {"(", "(?:", "(?>", "(?=", "(?!", "(?<!"};
    static const char *const counts[] = {"", "", "", "", "*", "+", "?", "{0,2}", "{1,2}", "+?"};
    unsigned n = 1 + next(seed, 4);

    for (unsigned i = 0; i < n; i++) {
        if (i > 0 && next(seed, 5) == 0)
            fb_buf_putc(out, '|');
        if (depth > 0 && next(seed, 3) == 0) {
            const char *open = groups[next(seed, 6)];

            fb_buf_puts(out, open);
            if (strcmp(open, "(?<!") == 0)
                fb_buf_puts(out, "ab");
            else
                put_pattern(out, seed, depth - 1);
            fb_buf_putc(out, ')');
        } else {
            fb_buf_puts(out, items[next(seed, sizeof items / sizeof *items)]);
        }
        fb_buf_puts(out, counts[next(seed, sizeof counts / sizeof *counts)]);
    }
}

/* "(?-i)" in front ends the analysis, so that the pattern itself is asked. */
static void what_matches_is_never_refused(void **state)
{
    uint64_t seed = 11;
    size_t valid = 0, known = 0, matched = 0;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct fb_regex *filtered, *plain;
        struct fb_buf pattern = {0};
        struct fb_err err;

        fb_buf_puts(&pattern, "(?-i)");
        put_pattern(&pattern, &seed, 3);
        if (fb_regex_new(pattern.data + 5, false, &filtered, &err) == FB_OK) {
            assert_int_equal(fb_regex_new(pattern.data, false, &plain, &err), FB_OK);
            assert_false(fb_regex_needs_literal(plain));
            valid++;
            known += fb_regex_needs_literal(filtered);
            for (int k = 0; k < 30; k++) {
                char text[12];
                size_t len = next(&seed, sizeof text);

                for (size_t c = 0; c < len; c++)
                    text[c] = "aabbc./{"[next(&seed, 8)];
                matched += fb_regex_match(plain, text, len);
                if (fb_regex_find(filtered, text, len) != fb_regex_find(plain, text, len))
                    fail_msg("%s on '%.*s'", pattern.data + 5, (int)len, text);
            }
            fb_regex_free(filtered);
            fb_regex_free(plain);
        }
        fb_buf_done(&pattern);
    }
    assert_true(valid > 5000 && known > 1000 && matched > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_pattern_needs_is_found),
        cmocka_unit_test(what_matches_is_never_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
