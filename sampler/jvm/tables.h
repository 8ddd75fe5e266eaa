/* tables.h - the tables that libjvm.so exports about its own structures.
 *
 *     if (fb_jvm_tables_find(&reader, start, bias, &tables))
 *         found = fb_jvm_tables_field(&tables, "CodeBlob", "_size", &field);
 *
 * Context: normal.  All memory is read through a struct fb_self_read: a truncated or a false
 * library is an answer, never a fault.  Nothing of the loader is called: the dynamic symbols are
 * read where they are mapped. */
#ifndef FB_SAMPLER_JVM_TABLES_H
#define FB_SAMPLER_JVM_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/self_read.h"

enum { FB_JVM_NAME_MAX = 128 }; /* of a type, field or constant, with its NUL */

/* One of the tables: an array of entries of `stride` bytes that ends with an empty name. */
struct fb_jvm_table {
    uint64_t entries;
    uint64_t stride;
    uint64_t name;  /* offset of the const char* of the type, or of the constant's name */
    uint64_t field; /* structs: of the field's name */
    uint64_t is_static;
    uint64_t offset; /* structs: of the offset; types: of the size; constants: of the value */
    uint64_t address;
    uint32_t count;
};

struct fb_jvm_tables {
    const struct fb_self_read *reader;
    struct fb_jvm_table structs, types, ints, longs;
};

struct fb_jvm_field {
    bool is_static;
    uint64_t offset;
    uint64_t address; /* of a static one */
};

/* start: where the first byte of the library's file is mapped.  False: *ret_why is a sentence. */
bool fb_jvm_tables_find(const struct fb_self_read *reader, uint64_t start,
                        struct fb_jvm_tables *ret_tables, const char **ret_why);

bool fb_jvm_tables_field(const struct fb_jvm_tables *tables, const char *type, const char *field,
                         struct fb_jvm_field *ret_field);
bool fb_jvm_tables_size(const struct fb_jvm_tables *tables, const char *type, uint64_t *ret_size);
bool fb_jvm_tables_constant(const struct fb_jvm_tables *tables, const char *name,
                            int64_t *ret_value);

#endif
