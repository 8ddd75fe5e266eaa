/* tables.h - the tables that libjvm.so exports about its own structures.
 *
 *     if (fb_jvm_tables_read(&reader, start, &tables, &why))
 *         found = fb_jvm_tables_field(&tables, "CodeBlob", "_size", &field);
 *     fb_jvm_tables_free(&tables);
 *
 * Context: normal.  All memory is read through a struct fb_self_read: a truncated or a false
 * library is an answer, never a fault.  Nothing of the loader is called: the dynamic symbols are
 * read where they are mapped.  All is copied once (some 2,000 entries, 3 ms), so that later
 * questions read nothing. */
#ifndef FB_SAMPLER_JVM_TABLES_H
#define FB_SAMPLER_JVM_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/pages.h"
#include "sampler/self_read.h"

enum { FB_JVM_NAME_MAX = 128 }; /* of a type, field or constant, with its NUL */

enum fb_jvm_table { FB_JVM_STRUCTS, FB_JVM_TYPES, FB_JVM_INTS, FB_JVM_LONGS, FB_JVM_TABLE_COUNT };

struct fb_jvm_tables {
    struct fb_pages pages; /* the entries of all tables, then their names */
    uint32_t first[FB_JVM_TABLE_COUNT + 1];
};

struct fb_jvm_field {
    bool is_static;
    uint64_t offset;
    uint64_t address; /* of a static one */
};

/* The sentence's end about a library that has only the name of a JVM: nothing to complain of. */
#define FB_JVM_IS_NONE "is no JVM"

/* start: where the first byte of the library's file is mapped.  False: *ret_why is a sentence's end
 * that stays, as "exports no gHotSpotVMStructs". */
bool fb_jvm_tables_read(const struct fb_self_read *reader, uint64_t start,
                        struct fb_jvm_tables *ret_tables, const char **ret_why);
void fb_jvm_tables_free(struct fb_jvm_tables *tables);

bool fb_jvm_tables_field(const struct fb_jvm_tables *tables, const char *type, const char *field,
                         struct fb_jvm_field *ret_field);
bool fb_jvm_tables_size(const struct fb_jvm_tables *tables, const char *type, uint64_t *ret_size);
bool fb_jvm_tables_constant(const struct fb_jvm_tables *tables, const char *name,
                            int64_t *ret_value);

#endif
