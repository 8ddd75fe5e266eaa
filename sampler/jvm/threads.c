/* threads.c - see threads.h. */
#include "sampler/jvm/threads.h"

#include <string.h>

#include "sampler/clock.h"
#include "sampler/jvm/fields.h"
#include "sampler/jvm/flags.h"
#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/reading.h"
#include "sampler/jvm/signal/vm.h"
#include "sampler/jvm/utf8.h"
#include "sampler/pages.h"
#include "sampler/self_read.h"

enum {
    THREADS_MAX = 16384,
    LIST_AGE_NS = 500000000,
    CHARS_MAX = FB_JVM_THREAD_NAME,
    COMM_MAX = 15,
    COMM_LEAST = 3, /* letters in front of ".." */
};

/* How objects are made up in this JVM. */
static struct {
    bool tried;
    bool known;
    bool narrow; /* references are 32 bits, packed */
    bool z;
    uint64_t base;
    uint32_t shift;
    uint32_t array_length; /* offsets in a byte[] */
    uint32_t array_bytes;
    uint32_t thread_name; /* in a Thread */
    uint32_t string_value;
    uint32_t string_coder;
} form;

/* Who is which JavaThread, sorted by tid. */
struct member {
    int32_t tid;
    uint64_t thread;
};

static struct fb_pages members;
static uint32_t member_count;
static uint64_t members_ns;

/* --- the form of objects -----------------------------------------------------------------------
 */

static bool class_of(uint64_t at, uint64_t *ret_class)
{
    return at != 0 && fb_jvm_read_64(at, ret_class) && fb_jvm_is_pointer(*ret_class);
}

static void arrays_form(bool compact, bool narrow_classes)
{
    form.array_length = compact ? 8 : narrow_classes ? 12 : 16;
    form.array_bytes = form.array_length + 4;
    if (form.array_length == 16 && fb_jvm.layout.release < FB_JVM_RELEASE_DENSE_ARRAYS)
        form.array_bytes = 24;
}

static bool references_form(const struct fb_self_read *reader)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    bool narrow_classes = true;
    bool compact = false;

    if (!fb_jvm_flag_bool(reader, l, "UseCompressedOops", &form.narrow))
        return false;
    fb_jvm_flag_bool(reader, l, "UseCompressedClassPointers", &narrow_classes);
    fb_jvm_flag_bool(reader, l, "UseCompactObjectHeaders", &compact);
    fb_jvm_flag_bool(reader, l, "UseZGC", &form.z);
    arrays_form(compact, narrow_classes);
    return !form.narrow || (l->oop_base_at != 0 && l->oop_shift_at != 0 &&
                            fb_jvm_read_64(l->oop_base_at, &form.base) &&
                            fb_jvm_read_32(l->oop_shift_at, &form.shift) && form.shift <= 8);
}

static void form_find(void)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    struct fb_self_read reader;
    uint64_t thread_class;
    uint64_t string_class;

    form.tried = true;
    if (l->thread_object < 0 ||
        (l->release >= FB_JVM_RELEASE_HANDLES && l->thread_object_handle < 0) ||
        !class_of(l->thread_class_at, &thread_class) ||
        !class_of(l->string_class_at, &string_class))
        return;
    fb_self_read_open(&reader);
    form.known = references_form(&reader) &&
                 fb_jvm_field_find(thread_class, "name", "Ljava/lang/String;", &form.thread_name) &&
                 fb_jvm_field_find(string_class, "value", "[B", &form.string_value) &&
                 fb_jvm_field_find(string_class, "coder", "B", &form.string_coder);
    fb_self_read_close(&reader);
}

/* --- from a thread to its name -----------------------------------------------------------------
 */

/* A value of an address of ZGC's; its pointers carry colours. */
static bool z_value(int32_t field, uint64_t *ret_value)
{
    uint64_t globals;
    uint64_t at;

    return field >= 0 && fb_jvm.layout.z_globals_at != 0 &&
           fb_jvm_read_64(fb_jvm.layout.z_globals_at, &globals) &&
           fb_jvm_field_64(globals, field, &at) && fb_jvm_read_64(at, ret_value);
}

/* In 17 every colour of an address is mapped.  With generations the colours are shifted out: all of
 * them on aarch64; on x86-64 up to the one bit that says when the reference was last looked at,
 * which for a field that nobody reads is not now. */
static uint64_t uncoloured(uint64_t reference)
{
    uint64_t shift;

    if (!form.z || !z_value(fb_jvm.layout.z_load_shift, &shift) || shift >= 32)
        return reference;
#if defined(__x86_64__)
    if ((reference >> FB_JVM_Z_REMAPPED & 15) == 0)
        return 0;
    shift = FB_JVM_Z_REMAPPED + 1u +
            (unsigned)__builtin_ctz((unsigned)(reference >> FB_JVM_Z_REMAPPED & 15));
#endif
    return reference >> shift;
}

static bool reference_at(uint64_t address, uint64_t *ret_object)
{
    uint32_t packed;

    if (form.narrow) {
        if (!fb_jvm_read_32(address, &packed) || packed == 0)
            return false;
        *ret_object = form.base + ((uint64_t)packed << form.shift);
    } else {
        if (!fb_jvm_read_64(address, ret_object))
            return false;
        *ret_object = uncoloured(*ret_object);
    }
    return fb_jvm_is_pointer(*ret_object);
}

/* The Thread of a JavaThread: behind a handle, whose reference is a whole word. */
static bool object_of(uint64_t thread, uint64_t *ret_object)
{
    uint64_t handle;

    if (!fb_jvm_field_64(thread, fb_jvm.layout.thread_object, &handle) ||
        !fb_jvm_is_pointer(handle))
        return false;
    *ret_object = handle;
    if (fb_jvm.layout.release >= FB_JVM_RELEASE_HANDLES && !fb_jvm_read_64(handle, ret_object))
        return false;
    *ret_object = uncoloured(*ret_object);
    return fb_jvm_is_pointer(*ret_object);
}

static void utf8_put(struct fb_text *t, uint32_t c)
{
    char bytes[FB_JVM_UTF8_MAX];
    size_t n = fb_jvm_utf8_letter(c < ' ' || c == 0x7f ? '?' : c, bytes);

    if (t->len + n < t->cap) /* no letter in part */
        fb_text_add(t, bytes, n);
    else
        t->cut = true;
}

static bool latin1_put(struct fb_text *t, uint64_t bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count && !t->cut; i++) {
        uint8_t c;

        if (!fb_jvm_read_8(bytes + i, &c))
            return false;
        utf8_put(t, c);
    }
    return true;
}

static bool utf16_put(struct fb_text *t, uint64_t bytes, uint32_t count)
{
    for (uint32_t i = 0; i + 1 < count && !t->cut; i += 2) {
        uint16_t high;
        uint16_t low;
        uint32_t c;

        if (!fb_jvm_read_16(bytes + i, &high))
            return false;
        c = high;
        if (high >> 10 == 0x36 && i + 3 < count && fb_jvm_read_16(bytes + i + 2, &low) &&
            low >> 10 == 0x37) {
            c = 0x10000 + ((high & 0x3ffu) << 10 | (low & 0x3ffu));
            i += 2;
        }
        utf8_put(t, c);
    }
    return true;
}

static bool string_put(struct fb_text *t, uint64_t string)
{
    uint64_t array;
    uint32_t length;
    uint8_t coder;

    if (!reference_at(string + form.string_value, &array) ||
        !fb_jvm_read_8(string + form.string_coder, &coder) || coder > 1 ||
        !fb_jvm_read_32(array + form.array_length, &length) || length == 0 || length > INT32_MAX)
        return false;
    if (length > 2 * CHARS_MAX)
        length = 2 * CHARS_MAX;
    return coder == 0 ? latin1_put(t, array + form.array_bytes, length)
                      : utf16_put(t, array + form.array_bytes, length);
}

/* --- who is who --------------------------------------------------------------------------------
 */

static struct member *member_at(uint32_t i)
{
    return (struct member *)members.data + i;
}

static void member_add(int32_t tid, uint64_t thread)
{
    uint32_t i = member_count++;

    for (; i > 0 && member_at(i - 1)->tid > tid; i--)
        *member_at(i) = *member_at(i - 1);
    *member_at(i) = (struct member){tid, thread};
}

static bool tid_of(uint64_t thread, uint32_t *ret_tid)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint64_t system;

    return fb_jvm_field_64(thread, l->thread_osthread, &system) && fb_jvm_is_pointer(system) &&
           fb_jvm_field_32(system, l->osthread_tid, ret_tid);
}

/* The list has the newest first, and tids mostly fall along it: the last ones are added first. */
static void members_read(uint64_t now_ns)
{
    struct fb_jvm_members list;
    struct member *raw;
    uint64_t first;
    uint64_t thread;
    uint32_t count = 0;
    uint32_t tid;

    members_ns = now_ns;
    member_count = 0;
    if (!fb_jvm_read_64(fb_jvm.layout.thread_list_at, &first) ||
        !fb_jvm_members_begin(&list, first) ||
        !fb_pages_reserve(&members, 2 * THREADS_MAX * sizeof(struct member)))
        return;
    raw = member_at(THREADS_MAX);
    while (count < THREADS_MAX && fb_jvm_members_next(&list, &thread))
        if (fb_jvm_is_pointer(thread) && tid_of(thread, &tid))
            raw[count++] = (struct member){(int32_t)tid, thread};
    for (; count > 0; count--)
        member_add(raw[count - 1].tid, raw[count - 1].thread);
}

static bool member_find(int32_t tid, uint64_t *ret_thread)
{
    uint32_t low = 0;
    uint32_t high = member_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (member_at(middle)->tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == member_count || member_at(low)->tid != tid)
        return false;
    *ret_thread = member_at(low)->thread;
    return true;
}

/* It is still that thread: the list may be old. */
static bool thread_find(int32_t tid, uint64_t *ret_thread)
{
    uint64_t now_ns = fb_clock_now();
    uint32_t seen;

    for (int i = 0; i < 2; i++) {
        if (member_find(tid, ret_thread) && tid_of(*ret_thread, &seen) && (int32_t)seen == tid)
            return true;
        if (now_ns - members_ns < LIST_AGE_NS)
            return false;
        members_read(now_ns);
    }
    return false;
}

bool fb_jvm_thread_agrees(const char *comm, const char *name)
{
    const char *dots = strstr(comm, "..");
    size_t n = strlen(comm);
    size_t len = strlen(name);
    size_t end;

    if (n > 0 && len >= n && memcmp(comm, name, n) == 0)
        return n == len || n == COMM_MAX;
    if (dots == NULL || n != COMM_MAX || dots - comm < COMM_LEAST || len <= COMM_MAX)
        return false;
    end = n - (size_t)(dots - comm) - 2;
    return memcmp(comm, name, (size_t)(dots - comm)) == 0 &&
           memcmp(dots + 2, name + len - end, end) == 0;
}

bool fb_jvm_thread_name(int32_t tid, const char *comm, struct fb_text *ret_name)
{
    uint64_t thread;
    uint64_t object;
    uint64_t string;

    if (!fb_jvm_active() || !fb_jvm_may_read())
        return false;
    if (!form.tried)
        form_find();
    return form.known && thread_find(tid, &thread) && object_of(thread, &object) &&
           reference_at(object + form.thread_name, &string) && string_put(ret_name, string) &&
           fb_jvm_thread_agrees(comm, ret_name->data);
}
