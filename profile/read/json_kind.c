#include "profile/read/json_kind.h"

#include <string.h>

#include "base/json_in.h"

/* Whether the object that comes next has one of the keys (NULL at the end); it is taken. */
static bool has_key(struct fb_json_in *in, const char *const *keys)
{
    struct fb_json_text key;
    bool found = false;

    if (fb_json_in_peek(in) != FB_JSON_OBJECT) {
        fb_json_in_skip(in);
        return false;
    }
    for (fb_json_in_object(in); fb_json_in_key(in, &key); fb_json_in_skip(in)) {
        for (size_t i = 0; keys[i]; i++)
            found = found || fb_json_text_is(&key, keys[i]);
        if (found)
            return true; /* the rest is of no interest to anybody */
    }
    return found;
}

static bool first_item_has_key(struct fb_json_in *in, const char *const *keys)
{
    return fb_json_in_array(in) && fb_json_in_item(in) && has_key(in, keys);
}

static const char *const of_frames[] = {"frames", NULL};
static const char *const of_event[] = {"ph", NULL};
static const char *const of_gecko[] = {"threads", "meta", "libs", "processes", NULL};
static const char *const of_meta[] = {"processType", "preprocessedProfileVersion", "interval",
                                      "stackwalk", NULL};
static const char *const of_node[] = {"callFrame", "functionName", NULL};
static const char *const of_head[] = {"functionName", "hitCount", NULL};

/* What a key of the outermost object says; its value is taken. */
static enum fb_json_profile kind_by_key(struct fb_json_in *in, const struct fb_json_text *key)
{
    struct fb_json_text text;

    if (fb_json_text_is(key, "flamebearer") || fb_json_text_is(key, "levels") ||
        fb_json_text_is(key, "numTicks") || fb_json_text_is(key, "maxSelf"))
        return FB_JSON_PROFILE_FLAMEBEARER;
    if (fb_json_text_is(key, "traceEvents") || fb_json_text_is(key, "stackFrames"))
        return FB_JSON_PROFILE_TRACE;
    if (fb_json_text_is(key, "$schema")) {
        fb_json_in_string_or(in, &text);
        return memmem(text.text, text.len, "speedscope", 10) ? FB_JSON_PROFILE_SPEEDSCOPE
                                                             : FB_JSON_PROFILE_NONE;
    }
    if (fb_json_text_is(key, "profiles"))
        return FB_JSON_PROFILE_SPEEDSCOPE;
    if (fb_json_text_is(key, "shared"))
        return has_key(in, of_frames) ? FB_JSON_PROFILE_SPEEDSCOPE : FB_JSON_PROFILE_FIREFOX;
    if (fb_json_text_is(key, "meta"))
        return has_key(in, of_meta) ? FB_JSON_PROFILE_FIREFOX : FB_JSON_PROFILE_NONE;
    if (fb_json_text_is(key, "profile"))
        return has_key(in, of_gecko) ? FB_JSON_PROFILE_FIREFOX : FB_JSON_PROFILE_NONE;
    if (fb_json_text_is(key, "nodes") && fb_json_in_peek(in) == FB_JSON_ARRAY)
        return first_item_has_key(in, of_node) ? FB_JSON_PROFILE_CPUPROFILE : FB_JSON_PROFILE_NONE;
    if (fb_json_text_is(key, "head"))
        return has_key(in, of_head) ? FB_JSON_PROFILE_CPUPROFILE : FB_JSON_PROFILE_NONE;
    fb_json_in_skip(in);
    return FB_JSON_PROFILE_NONE;
}

bool fb_json_looks_so(const void *head, size_t n)
{
    static const char order[] = "[{\"";
    const char *text = head;
    size_t step = 0;

    for (size_t i = 0; i < n && step < 3; i++) {
        if (strchr(" \t\r\n", text[i]) && text[i])
            continue;
        if (step == 0 && text[i] == '{')
            step = 1;
        if (text[i] != order[step])
            return false;
        step++;
    }
    return step == 3;
}

enum fb_json_profile fb_json_profile_kind(const void *head, size_t n)
{
    enum fb_json_profile kind = FB_JSON_PROFILE_NONE;
    struct fb_json_in in;
    struct fb_json_text key;

    fb_json_in_start(&in, head, n);
    in.cut_ok = true;
    if (fb_json_in_peek(&in) == FB_JSON_ARRAY)
        kind = first_item_has_key(&in, of_event) ? FB_JSON_PROFILE_TRACE : FB_JSON_PROFILE_NONE;
    else if (fb_json_in_peek(&in) == FB_JSON_OBJECT && fb_json_in_object(&in))
        while (kind == FB_JSON_PROFILE_NONE && fb_json_in_key(&in, &key))
            kind = kind_by_key(&in, &key);
    fb_json_in_done(&in);
    return kind;
}
