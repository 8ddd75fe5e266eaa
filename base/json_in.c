/* The window holds what is unread.  A token is looked at only when it is whole in the window (a
 * number, a literal: TOKEN bytes; a string: as long as it is), so no state is kept within one. */
#include "base/json_in.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { WINDOW = 256 * 1024, TOKEN = 512 };

void fb_json_in_start(struct fb_json_in *in, const void *bytes, size_t n)
{
    *in = (struct fb_json_in){.at = bytes, .end = (const char *)bytes + n, .offset = n};
    if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        in->at += 3;
}

void fb_json_in_start_source(struct fb_json_in *in, struct fb_source *source)
{
    *in = (struct fb_json_in){.source = source};
    fb_vec_reserve(&in->window, &in->window_room, WINDOW, 1);
    in->at = in->end = in->window;
}

void fb_json_in_done(struct fb_json_in *in)
{
    free(in->window);
    free(in->nest);
    fb_buf_done(&in->text);
    *in = (struct fb_json_in){0};
}

/* After this nothing is left to read. */
static void stop(struct fb_json_in *in)
{
    in->at = in->end;
    in->source = NULL;
}

void fb_json_in_wrong(struct fb_json_in *in, const char *fmt, ...)
{
    unsigned long long byte = in->offset - (uint64_t)(in->end - in->at);
    char why[400];
    va_list args;

    if (in->failed || in->cut)
        return;
    va_start(args, fmt);
    (void)vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    (void)fb_fail(&in->err, FB_EFORMAT, "byte %llu: %s", byte, why);
    in->failed = true;
    stop(in);
}

static void ends_early(struct fb_json_in *in, const char *expected)
{
    if (in->cut_ok && !in->failed) {
        in->cut = true;
        stop(in);
        return;
    }
    fb_json_in_wrong(in, "the JSON ends where %s was expected", expected);
}

enum fb_status fb_json_in_fail(const struct fb_json_in *in, const char *name, struct fb_err *err)
{
    *err = in->err;
    return fb_within(err, "%s", name);
}

static void copy_flush(struct fb_json_in *in)
{
    if (in->copy) {
        fb_buf_add(in->copy, in->copy_from, (size_t)(in->at - in->copy_from));
        in->copy_from = in->at;
    }
}

/* More bytes behind what is unread, which moves to the start of the window.  False at the end. */
static bool refill(struct fb_json_in *in)
{
    size_t left = (size_t)(in->end - in->at), n = 0;
    enum fb_status r;

    if (!in->source)
        return false;
    copy_flush(in);
    memmove(in->window, in->at, left);
    fb_vec_reserve(&in->window, &in->window_room, left + WINDOW / 2, 1);
    r = fb_source_read(in->source, in->window + left, in->window_room - left, &n, &in->err);
    in->at = in->copy_from = in->window;
    in->end = in->at + left + (r == FB_OK ? n : 0);
    in->offset += r == FB_OK ? n : 0;
    if (r != FB_OK) {
        in->failed = true;
        stop(in);
    } else if (n == 0) {
        in->source = NULL;
    }
    return n > 0 && r == FB_OK;
}

static inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Moves to the next byte that is no blank; 0 at the end of the text. */
static inline char next_byte(struct fb_json_in *in)
{
    for (;;) {
        while (in->at < in->end && is_space(*in->at))
            in->at++;
        if (in->at < in->end)
            return *in->at;
        if (!refill(in))
            return '\0';
    }
}

/* The same before a number or a literal, all of which is then in the window. */
static inline char next_token(struct fb_json_in *in)
{
    char c = next_byte(in);

    while (in->end - in->at < TOKEN && refill(in))
        ;
    return c;
}

static enum fb_json_kind kind_of(char c)
{
    switch (c) {
    case '{':
        return FB_JSON_OBJECT;
    case '[':
        return FB_JSON_ARRAY;
    case '"':
        return FB_JSON_STRING;
    case 't':
    case 'f':
        return FB_JSON_BOOL;
    case 'n':
        return FB_JSON_NULL;
    case '-':
        return FB_JSON_NUMBER;
    default:
        return c >= '0' && c <= '9' ? FB_JSON_NUMBER : FB_JSON_MISSING;
    }
}

enum fb_json_kind fb_json_in_peek(struct fb_json_in *in)
{
    return kind_of(next_byte(in));
}

/* ---- brackets ---- */

static bool open_bracket(struct fb_json_in *in, char bracket)
{
    char c = next_byte(in);
    size_t byte = in->depth / 8;
    uint8_t bit = (uint8_t)(1u << (in->depth % 8));

    if (c != bracket) {
        if (c == '\0' && in->at == in->end)
            ends_early(in, bracket == '{' ? "an object" : "an array");
        else
            fb_json_in_wrong(in, "%s was expected", bracket == '{' ? "an object" : "an array");
        return false;
    }
    if (in->depth == FB_JSON_IN_DEPTH) {
        fb_json_in_wrong(in, "nesting of at most %d was expected", FB_JSON_IN_DEPTH);
        return false;
    }
    fb_vec_reserve(&in->nest, &in->nest_room, byte + 1, 1);
    in->nest[byte] = (uint8_t)(bracket == '{' ? in->nest[byte] | bit : in->nest[byte] & ~bit);
    in->depth++;
    in->at++;
    in->first = true;
    return true;
}

bool fb_json_in_object(struct fb_json_in *in)
{
    return open_bracket(in, '{');
}

bool fb_json_in_array(struct fb_json_in *in)
{
    return open_bracket(in, '[');
}

static inline void close_bracket(struct fb_json_in *in)
{
    in->at++;
    in->depth--;
    in->first = false;
}

/* To the next member or item, past its comma; false at the closing bracket, which is taken. */
static inline bool next_member(struct fb_json_in *in, char closing)
{
    char c = next_byte(in);

    if (c == closing) {
        close_bracket(in);
        return false;
    }
    if (!in->first) {
        if (c != ',') {
            if (in->at == in->end)
                ends_early(in, closing == ']' ? "',' or ']'" : "',' or '}'");
            else
                fb_json_in_wrong(in, "',' or '%c' was expected", closing);
            return false;
        }
        in->at++;
        c = next_byte(in);
    }
    if (in->at == in->end) {
        ends_early(in, closing == ']' ? "a value" : "a key");
        return false;
    }
    if (c == closing && in->cut_ok) {
        close_bracket(in);
        return false;
    }
    in->first = false;
    return true;
}

bool fb_json_in_item(struct fb_json_in *in)
{
    return next_member(in, ']');
}

bool fb_json_in_key(struct fb_json_in *in, struct fb_json_text *ret_key)
{
    *ret_key = (struct fb_json_text){"", 0};
    if (!next_member(in, '}'))
        return false;
    if (!fb_json_in_string(in, ret_key))
        return false;
    /* The colon may be in the next window: the key is kept aside then. */
    if (in->at == in->end || *in->at != ':') {
        if (ret_key->text != in->text.data) {
            in->text.len = 0;
            fb_buf_add(&in->text, ret_key->text, ret_key->len);
            ret_key->text = in->text.data;
        }
        if (next_byte(in) != ':') {
            if (in->at == in->end)
                ends_early(in, "':'");
            else
                fb_json_in_wrong(in, "':' was expected after a key");
            return false;
        }
    }
    in->at++;
    return true;
}

/* ---- strings ---- */

/* Where the string that begins at in->at + 1 ends, or NULL where the window has not all of it. */
static const char *string_end(const struct fb_json_in *in, size_t *scanned, bool *escaped)
{
    const char *p = in->at + 1 + *scanned;

    for (; p < in->end; p++) {
        if (*p == '"')
            return p;
        if (*p == '\\') {
            *escaped = true;
            if (p + 1 == in->end)
                break;
            p++;
        }
    }
    *scanned = (size_t)(p - in->at) - 1;
    return NULL;
}

static void put_utf8(struct fb_buf *out, uint32_t c)
{
    if (c < 0x80) {
        fb_buf_putc(out, (char)c);
    } else if (c < 0x800) {
        fb_buf_putc(out, (char)(0xc0 | c >> 6));
        fb_buf_putc(out, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        fb_buf_putc(out, (char)(0xe0 | c >> 12));
        fb_buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        fb_buf_putc(out, (char)(0x80 | (c & 0x3f)));
    } else {
        fb_buf_putc(out, (char)(0xf0 | c >> 18));
        fb_buf_putc(out, (char)(0x80 | (c >> 12 & 0x3f)));
        fb_buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        fb_buf_putc(out, (char)(0x80 | (c & 0x3f)));
    }
}

static bool hex4(const char *p, const char *end, uint32_t *ret_v)
{
    uint32_t v = 0;

    if (end - p < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (digit < 0)
            return false;
        v = v << 4 | (uint32_t)digit;
    }
    *ret_v = v;
    return true;
}

/* The character of \uXXXX at p (behind the 'u'), a pair of surrogates as one; half a pair becomes
 * U+FFFD.  The bytes used, 0 where it is none. */
static size_t unicode_escape(const char *p, const char *end, uint32_t *ret_c)
{
    uint32_t c, low;

    if (!hex4(p, end, &c))
        return 0;
    *ret_c = c;
    if (c < 0xd800 || c > 0xdfff)
        return 4;
    *ret_c = 0xfffd;
    if (c > 0xdbff || end - p < 10 || p[4] != '\\' || p[5] != 'u' || !hex4(p + 6, end, &low) ||
        low < 0xdc00 || low > 0xdfff)
        return 4;
    *ret_c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    return 10;
}

static bool unescape(struct fb_buf *out, const char *p, const char *end)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";

    out->len = 0;
    while (p < end) {
        const char *stop = memchr(p, '\\', (size_t)(end - p)), *letter;
        uint32_t c;
        size_t used;

        fb_buf_add(out, p, (size_t)((stop ? stop : end) - p));
        if (!stop)
            break;
        p = stop + 1; /* there is a byte: string_end() has seen it */
        letter = *p ? strchr(letters, *p) : NULL;
        if (letter) {
            fb_buf_putc(out, bytes[letter - letters]);
            p++;
            continue;
        }
        used = *p == 'u' ? unicode_escape(p + 1, end, &c) : 0;
        if (used == 0)
            return false;
        put_utf8(out, c);
        p += 1 + used;
    }
    return true;
}

/* The end of the string at in->at, all of it in the window; NULL after a failure. */
static const char *string_whole(struct fb_json_in *in, bool *escaped)
{
    size_t scanned = 0;
    const char *stop;

    *escaped = false;
    while (!(stop = string_end(in, &scanned, escaped))) {
        if (scanned > FB_JSON_IN_STRING) {
            fb_json_in_wrong(in, "a string of at most %d bytes was expected", FB_JSON_IN_STRING);
            return NULL;
        }
        if (!refill(in)) {
            ends_early(in, "the end of a string");
            return NULL;
        }
    }
    return stop;
}

bool fb_json_in_string(struct fb_json_in *in, struct fb_json_text *ret_text)
{
    const char *stop;
    bool escaped;

    *ret_text = (struct fb_json_text){"", 0};
    if (next_byte(in) != '"') {
        if (in->at == in->end)
            ends_early(in, "a string");
        else
            fb_json_in_wrong(in, "a string was expected");
        return false;
    }
    stop = string_whole(in, &escaped);
    if (!stop)
        return false;
    *ret_text = (struct fb_json_text){in->at + 1, (size_t)(stop - in->at) - 1};
    if (escaped) {
        if (!unescape(&in->text, in->at + 1, stop)) {
            fb_json_in_wrong(in, "a string has an escape that JSON does not know");
            return false;
        }
        *ret_text = (struct fb_json_text){in->text.data ? in->text.data : "", in->text.len};
    }
    in->at = stop + 1;
    return true;
}

/* ---- numbers ---- */

struct number {
    uint64_t digits; /* without point, the first 19 */
    int exponent;    /* of ten                      */
    bool negative, is_whole, is_exact;
    size_t len;
};

/* Reads the number at p; len 0 where there is none. */
static void scan_number(const char *p, const char *end, struct number *n)
{
    const char *start = p;
    int used = 0;
    long exponent = 0;
    bool any = false, minus = false;

    *n = (struct number){.is_whole = true, .is_exact = true};
    if (p < end && *p == '-') {
        n->negative = true;
        p++;
    }
    for (; p < end; p++) {
        if (*p >= '0' && *p <= '9') {
            any = true;
            if (used < 19) {
                n->digits = n->digits * 10 + (uint64_t)(*p - '0');
                used += n->digits > 0;
                n->exponent -= !n->is_whole;
            } else {
                n->is_exact = n->is_exact && *p == '0';
                n->exponent += n->is_whole;
            }
        } else if (*p == '.' && n->is_whole && any) {
            n->is_whole = false;
        } else {
            break;
        }
    }
    if (!any || (!n->is_whole && p[-1] == '.'))
        return;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        n->is_whole = false;
        if (p < end && (*p == '+' || *p == '-'))
            minus = *p++ == '-';
        if (p == end || *p < '0' || *p > '9')
            return;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            exponent = exponent < 10000 ? exponent * 10 + (*p - '0') : exponent;
        n->exponent += (int)(minus ? -exponent : exponent);
    }
    n->len = (size_t)(p - start);
}

static double number_value(const struct number *n, const char *text)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    char copy[TOKEN + 1];
    double v;

    /* Two exact operands and one rounding: the nearest double. */
    if (n->is_exact && n->digits <= (uint64_t)1 << 53 && n->exponent >= -22 && n->exponent <= 22) {
        v = (double)n->digits;
        v = n->exponent < 0 ? v / tens[-n->exponent] : v * tens[n->exponent];
        return n->negative ? -v : v;
    }
    memcpy(copy, text, n->len);
    copy[n->len] = '\0';
    return strtod(copy, NULL);
}

/* The number that comes next, taken; false where there is none. */
static bool take_number(struct fb_json_in *in, struct number *ret_n, const char **ret_text)
{
    char c = next_token(in);

    scan_number(in->at, in->end, ret_n);
    *ret_text = in->at;
    if (ret_n->len == 0 || ret_n->len > TOKEN) {
        if (in->at == in->end || (c == '-' && in->at + 1 == in->end))
            ends_early(in, "a number");
        else
            fb_json_in_wrong(in, "a number was expected");
        return false;
    }
    if (in->cut_ok && in->at + ret_n->len == in->end && !in->source && in->depth > 0) {
        ends_early(in, "the rest of a number"); /* "ts": 12|34 */
        return false;
    }
    in->at += ret_n->len;
    return true;
}

bool fb_json_in_double(struct fb_json_in *in, double *ret_v)
{
    struct number n;
    const char *text;

    *ret_v = 0;
    if (!take_number(in, &n, &text))
        return false;
    *ret_v = number_value(&n, text);
    return true;
}

static bool int_of(struct fb_json_in *in, const struct number *n, const char *text, int64_t *ret_v)
{
    double v;

    if (n->is_whole && n->exponent == 0 && n->digits <= INT64_MAX) {
        *ret_v = n->negative ? -(int64_t)n->digits : (int64_t)n->digits;
        return true;
    }
    v = nearbyint(number_value(n, text));
    if (!(v >= -9.2233720368547e18 && v <= 9.2233720368547e18)) {
        fb_json_in_wrong(in, "a number of at most 9.2e18 was expected");
        return false;
    }
    *ret_v = (int64_t)v;
    return true;
}

bool fb_json_in_int(struct fb_json_in *in, int64_t *ret_v)
{
    struct number n;
    const char *text;

    *ret_v = 0;
    return take_number(in, &n, &text) && int_of(in, &n, text, ret_v);
}

bool fb_json_in_next_int(struct fb_json_in *in, int64_t *ret_v)
{
    const char *p = in->at;

    /* "12," with no blanks and all of it in the window: nearly every number there is. */
    if (!in->first && in->end - p > TOKEN && *p == ',') {
        uint64_t v = 0;
        const char *start = ++p;

        while (*p >= '0' && *p <= '9' && p - start < 18)
            v = v * 10 + (uint64_t)(*p++ - '0');
        if (p > start && (*p == ',' || *p == ']')) {
            *ret_v = (int64_t)v;
            in->at = p;
            return true;
        }
    }
    *ret_v = 0;
    return fb_json_in_item(in) && fb_json_in_int(in, ret_v);
}

/* ---- values of any kind ---- */

double fb_json_in_double_or(struct fb_json_in *in, double fallback)
{
    double v = fallback;

    if (fb_json_in_peek(in) != FB_JSON_NUMBER)
        fb_json_in_skip(in);
    else if (!fb_json_in_double(in, &v))
        return fallback;
    return v;
}

int64_t fb_json_in_int_or(struct fb_json_in *in, int64_t fallback)
{
    int64_t v = fallback;

    if (fb_json_in_peek(in) != FB_JSON_NUMBER)
        fb_json_in_skip(in);
    else if (!fb_json_in_int(in, &v))
        return fallback;
    return v;
}

bool fb_json_in_bool_or(struct fb_json_in *in, bool fallback)
{
    char c = next_byte(in);

    fb_json_in_skip(in);
    return c == 't' || (c != 'f' && fallback);
}

void fb_json_in_string_or(struct fb_json_in *in, struct fb_json_text *ret_text)
{
    *ret_text = (struct fb_json_text){"", 0};
    if (fb_json_in_peek(in) != FB_JSON_STRING)
        fb_json_in_skip(in);
    else
        (void)fb_json_in_string(in, ret_text);
}

static bool skip_literal(struct fb_json_in *in, const char *word)
{
    size_t n = strlen(word), left = (size_t)(in->end - in->at);

    if (left < n && memcmp(in->at, word, left) == 0) {
        ends_early(in, "the rest of a word");
        return false;
    }
    if (left < n || memcmp(in->at, word, n) != 0) {
        fb_json_in_wrong(in, "a value was expected");
        return false;
    }
    in->at += n;
    return true;
}

static bool skip_scalar(struct fb_json_in *in)
{
    char c = next_token(in);
    struct number n;
    const char *text;
    bool escaped;

    switch (kind_of(c)) {
    case FB_JSON_STRING:
        text = string_whole(in, &escaped);
        if (text)
            in->at = text + 1;
        return text != NULL;
    case FB_JSON_NUMBER:
        return take_number(in, &n, &text);
    case FB_JSON_BOOL:
        return skip_literal(in, c == 't' ? "true" : "false");
    case FB_JSON_NULL:
        return skip_literal(in, "null");
    case FB_JSON_MISSING:
    case FB_JSON_ARRAY:
    case FB_JSON_OBJECT:
        break;
    }
    if (in->at == in->end)
        ends_early(in, "a value");
    else
        fb_json_in_wrong(in, "a value was expected");
    return false;
}

/* Everything up to the bracket that closes level `depth`. */
static void skip_nested(struct fb_json_in *in, size_t depth)
{
    while (in->depth > depth) {
        char c = next_byte(in), wanted;
        bool escaped;
        const char *stop;

        switch (c) {
        case '"':
            stop = string_whole(in, &escaped);
            if (!stop)
                return;
            in->at = stop + 1;
            break;
        case '{':
        case '[':
            if (!open_bracket(in, c))
                return;
            break;
        case '}':
        case ']':
            wanted = in->nest[(in->depth - 1) / 8] >> ((in->depth - 1) % 8) & 1 ? '}' : ']';
            if (c != wanted) {
                fb_json_in_wrong(in, "'%c' was expected", wanted);
                return;
            }
            close_bracket(in);
            break;
        default:
            if (in->at == in->end) {
                ends_early(in, "a closing bracket");
                return;
            }
            in->at++;
            break;
        }
    }
}

void fb_json_in_skip(struct fb_json_in *in)
{
    size_t depth = in->depth;
    char c = next_byte(in);

    if (c != '{' && c != '[')
        (void)skip_scalar(in);
    else if (open_bracket(in, c))
        skip_nested(in, depth);
}

void fb_json_in_raw(struct fb_json_in *in, struct fb_buf *out)
{
    (void)next_byte(in);
    in->copy = out;
    in->copy_from = in->at;
    fb_json_in_skip(in);
    if (!in->failed && !in->cut)
        copy_flush(in);
    in->copy = NULL;
}

void fb_json_in_end(struct fb_json_in *in)
{
    if (in->failed || in->cut)
        return;
    (void)next_byte(in);
    if (in->at < in->end)
        fb_json_in_wrong(in, "the end of the JSON was expected");
}

bool fb_json_text_is(const struct fb_json_text *t, const char *word)
{
    return strlen(word) == t->len && memcmp(t->text, word, t->len) == 0;
}
