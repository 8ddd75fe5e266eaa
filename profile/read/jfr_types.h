/* jfr_types.h - the classes of one JFR chunk, as its metadata describe them, and their values.
 *
 *     r = fb_jfr_classes_read(&classes, payload of the metadata event, err);
 *     class = fb_jfr_class_find(&classes, id);
 *     program = fb_jfr_program(&classes, class, names, n);     which fields are wanted
 *     ok = fb_jfr_value_read(&classes, program, &in, values);  values[k]: the field names[k]
 *     fb_jfr_classes_done(&classes);
 *
 * Values have no marks of their own, so whatever is not wanted is read past by its description.
 * Nested structures are flattened into one list of steps when a program is made; the number of
 * steps and the depth of lists are bounded, and every element of a list has at least a byte.
 * Private to profile/read/jfr*.c. */
#ifndef FB_PROFILE_READ_JFR_TYPES_H
#define FB_PROFILE_READ_JFR_TYPES_H

#include "base/arena.h"
#include "base/err.h"
#include "base/index.h"
#include "base/wire.h"

enum { FB_JFR_SLOTS = 12 };

/* A field that was wanted; zero where the class has no such field. */
struct fb_jfr_value {
    uint64_t number;
    struct fb_jfr_text { /* of a string */
        const uint8_t *data;
        size_t len;
        uint8_t coding; /* enum fb_jfr_coding */
    } text;
    struct fb_wire_in list; /* at the first of `number` elements */
};

enum fb_jfr_coding {
    FB_JFR_NULL = 0,
    FB_JFR_EMPTY = 1,
    FB_JFR_POOL = 2, /* `len` is the key in the pool of strings */
    FB_JFR_UTF8 = 3,
    FB_JFR_CHARS = 4, /* len varints, one for each UTF-16 unit */
    FB_JFR_LATIN1 = 5,
};

struct fb_jfr_field {
    const char *name;
    uint64_t type;
    bool is_pooled, is_list;
};

struct fb_jfr_class {
    uint64_t id;
    const char *name;      /* "jdk.types.Symbol" */
    uint32_t first, count; /* of fields[] */
    uint32_t skip_program; /* made when first needed; 0: not yet */
    bool is_compiling;
};

struct fb_jfr_step;

struct fb_jfr_classes {
    const char **names; /* all strings of the metadata */
    size_t names_count;
    struct fb_arena arena;
    struct fb_jfr_field *fields;
    size_t fields_count, fields_room;
    struct fb_jfr_class *items;
    size_t count, room;
    struct fb_index index;
    struct fb_jfr_step *steps;
    size_t steps_count, steps_room;
    struct fb_jfr_program {
        uint32_t first, count; /* of steps[] */
    } * programs;              /* [0] is none */
    size_t programs_count, programs_room;
};

/* LEB128 whose ninth byte has eight bits. */
static inline uint64_t fb_jfr_varint(struct fb_wire_in *in)
{
    uint64_t v = 0;

    for (unsigned shift = 0; !in->bad && shift <= 56; shift += 7) {
        uint8_t b;

        if (in->pos >= in->len)
            break;
        b = in->data[in->pos++];
        if (shift == 56)
            return v | (uint64_t)b << 56;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return v;
    }
    in->bad = true;
    return 0;
}

/* Bad where a string is cut or of no known coding. */
struct fb_jfr_text fb_jfr_text_read(struct fb_wire_in *in);

/* `in` begins behind the event's type. */
enum fb_status fb_jfr_classes_read(struct fb_jfr_classes *c, struct fb_wire_in in,
                                   struct fb_err *err);
void fb_jfr_classes_done(struct fb_jfr_classes *c);

/* NULL where there is none; borrowed until the next chunk. */
struct fb_jfr_class *fb_jfr_class_find(struct fb_jfr_classes *c, uint64_t id);
struct fb_jfr_class *fb_jfr_class_named(struct fb_jfr_classes *c, const char *name);
bool fb_jfr_class_has(const struct fb_jfr_classes *c, const struct fb_jfr_class *class,
                      const char *field);

/* A program for the class with slot k for its field names[k] (n <= FB_JFR_SLOTS); 0 where the class
 * is too deep or large, or refers to classes that do not exist. */
uint32_t fb_jfr_program(struct fb_jfr_classes *c, const struct fb_jfr_class *class,
                        const char *const *names, size_t n);
/* The one that wants nothing. */
uint32_t fb_jfr_skip_program(struct fb_jfr_classes *c, struct fb_jfr_class *class);

/* The same for the elements of a wanted list, whose own program wants nothing yet. */
uint32_t fb_jfr_element_program(struct fb_jfr_classes *c, const struct fb_jfr_class *class,
                                const char *list, const char *const *names, size_t n);

/* Reads one value; values may be NULL where nothing is wanted.  False (and in->bad) where it does
 * not fit. */
bool fb_jfr_value_read(const struct fb_jfr_classes *c, uint32_t program, struct fb_wire_in *in,
                       struct fb_jfr_value *values);

/* The same for fields that are all numbers (or keys), as those of samples and frames are:
 * numbers[k] is that of slot k, and keeps its value where the class has no such field. */
bool fb_jfr_numbers_read(const struct fb_jfr_classes *c, uint32_t program, struct fb_wire_in *in,
                         uint64_t *numbers);

#endif
