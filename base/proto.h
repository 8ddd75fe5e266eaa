/* proto.h - the fields of a protobuf message, in place: nothing is copied or allocated.
 *
 *     struct fb_wire_in in = {.data = bytes, .len = n};
 *     struct fb_proto_field f;
 *     while (fb_proto_next(&in, &f)) {
 *         if (f.number == 2 && f.wire == FB_PROTO_BYTES)
 *             in_message(f.data, f.len);
 *     }
 *     if (in.bad) ...                       cut, or no protobuf
 *
 * Groups are bad.  A repeated number may come packed (FB_PROTO_BYTES of varints) or one by one:
 * take both with fb_proto_numbers(). */
#ifndef FB_BASE_PROTO_H
#define FB_BASE_PROTO_H

#include "base/wire.h"

enum fb_proto_wire {
    FB_PROTO_VARINT = 0,
    FB_PROTO_FIXED64 = 1,
    FB_PROTO_BYTES = 2,
    FB_PROTO_FIXED32 = 5,
};

struct fb_proto_field {
    uint32_t number;
    enum fb_proto_wire wire;
    uint64_t value;      /* of a number                  */
    const uint8_t *data; /* of FB_PROTO_BYTES, borrowed  */
    size_t len;
};

/* As fb_wire_get_varint(), the short ones first. */
static inline uint64_t fb_proto_varint(struct fb_wire_in *in)
{
    if (!in->bad && in->pos < in->len && in->data[in->pos] < 0x80)
        return in->data[in->pos++];
    return fb_wire_get_varint(in);
}

/* The next field; false at the end, and where in->bad is set. */
static inline bool fb_proto_next(struct fb_wire_in *in, struct fb_proto_field *ret)
{
    uint64_t tag;

    if (in->bad || in->pos >= in->len)
        return false;
    tag = fb_proto_varint(in);
    ret->number = (uint32_t)(tag >> 3);
    ret->wire = (enum fb_proto_wire)(tag & 7);
    ret->data = NULL;
    ret->len = 0;
    if (tag >> 3 == 0 || tag >> 32 != 0) {
        in->bad = true;
    } else if (ret->wire == FB_PROTO_VARINT) {
        ret->value = fb_proto_varint(in);
    } else if (ret->wire == FB_PROTO_BYTES) {
        uint64_t n = fb_proto_varint(in);

        if (in->bad || n > in->len - in->pos) {
            in->bad = true;
            return false;
        }
        ret->value = 0;
        ret->data = in->data + in->pos;
        ret->len = (size_t)n;
        in->pos += (size_t)n;
    } else if (ret->wire == FB_PROTO_FIXED64 || ret->wire == FB_PROTO_FIXED32) {
        ret->value = fb_wire_get_le(in, ret->wire == FB_PROTO_FIXED64 ? 8 : 4);
    } else {
        in->bad = true;
    }
    return !in->bad;
}

/* The numbers of one field, packed or not: *rest is at first {0}. */
static inline bool fb_proto_numbers(const struct fb_proto_field *f, struct fb_wire_in *rest,
                                    uint64_t *ret_value)
{
    if (f->wire != FB_PROTO_BYTES) {
        if (rest->pos > 0)
            return false;
        rest->pos = 1;
        *ret_value = f->value;
        return true;
    }
    rest->data = f->data;
    rest->len = f->len;
    if (rest->bad || rest->pos >= rest->len)
        return false;
    *ret_value = fb_proto_varint(rest);
    return !rest->bad;
}

/* ---- writing; sizes come first, so that nothing is copied twice ---- */

static inline size_t fb_proto_varint_size(uint64_t v)
{
    size_t n = 1;

    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

#endif
