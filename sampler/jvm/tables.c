/* tables.c - dynamic symbols, then entries, then names.  See tables.h. */
#include "sampler/jvm/tables.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

enum {
    PHDRS_MAX = 32,
    DYNAMIC_MAX = 128,
    SYMBOLS_MAX = 65536, /* libjvm has some 500 dynamic ones, a static JDK some thousand */
    SYMBOLS_ROUND = 64,
    ENTRIES_MAX = 4096, /* of one table */
    STRIDE_MAX = 256,
    NAMES_BYTES = 512 << 10,
};

/* What the library exports: each is a word. */
enum variable {
    STRUCTS,
    STRUCT_STRIDE,
    STRUCT_TYPE,
    STRUCT_FIELD,
    STRUCT_STATIC,
    STRUCT_OFFSET,
    STRUCT_ADDRESS,
    TYPES,
    TYPE_STRIDE,
    TYPE_NAME,
    TYPE_SIZE,
    INTS,
    INT_STRIDE,
    INT_NAME,
    INT_VALUE,
    LONGS,
    LONG_STRIDE,
    LONG_NAME,
    LONG_VALUE,
    VARIABLE_COUNT
};

static const char *const variable_names[VARIABLE_COUNT] = {
    [STRUCTS] = "gHotSpotVMStructs",
    [STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
    [STRUCT_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
    [STRUCT_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
    [STRUCT_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
    [STRUCT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
    [STRUCT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
    [TYPES] = "gHotSpotVMTypes",
    [TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
    [TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
    [TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
    [INTS] = "gHotSpotVMIntConstants",
    [INT_STRIDE] = "gHotSpotVMIntConstantEntryArrayStride",
    [INT_NAME] = "gHotSpotVMIntConstantEntryNameOffset",
    [INT_VALUE] = "gHotSpotVMIntConstantEntryValueOffset",
    [LONGS] = "gHotSpotVMLongConstants",
    [LONG_STRIDE] = "gHotSpotVMLongConstantEntryArrayStride",
    [LONG_NAME] = "gHotSpotVMLongConstantEntryNameOffset",
    [LONG_VALUE] = "gHotSpotVMLongConstantEntryValueOffset",
};

static const char prefix[] = "gHotSpotVM";

/* What a table's entries are made of, as variables; -1: it has no such part. */
static const struct {
    int8_t entries, stride, name, field, is_static, value, address;
    uint8_t value_bytes;
} table_forms[FB_JVM_TABLE_COUNT] = {
    [FB_JVM_STRUCTS] = {STRUCTS, STRUCT_STRIDE, STRUCT_TYPE, STRUCT_FIELD, STRUCT_STATIC,
                        STRUCT_OFFSET, STRUCT_ADDRESS, 8},
    [FB_JVM_TYPES] = {TYPES, TYPE_STRIDE, TYPE_NAME, -1, -1, TYPE_SIZE, -1, 8},
    [FB_JVM_INTS] = {INTS, INT_STRIDE, INT_NAME, -1, -1, INT_VALUE, -1, 4},
    [FB_JVM_LONGS] = {LONGS, LONG_STRIDE, LONG_NAME, -1, -1, LONG_VALUE, -1, 8},
};

struct entry {
    uint32_t name; /* offsets into the names */
    uint32_t field;
    uint64_t value;
    uint64_t address;
    bool is_static;
};

enum { ENTRIES_BYTES = FB_JVM_TABLE_COUNT * ENTRIES_MAX * sizeof(struct entry) };

/* The dynamic symbols of the library. */
struct symbols {
    uint64_t bias;
    uint64_t symtab;
    uint64_t strtab;
    uint64_t strtab_bytes;
};

static bool read_all(const struct fb_self_read *reader, uint64_t address, void *to, size_t size)
{
    return fb_self_read(reader, address, to, size) == size;
}

/* A NUL-terminated name of printable ASCII; its length, or 0. */
static size_t read_name(const struct fb_self_read *reader, uint64_t address,
                        char ret_name[FB_JVM_NAME_MAX])
{
    size_t got = fb_self_read(reader, address, ret_name, FB_JVM_NAME_MAX);
    size_t n = 0;

    while (n < got && ret_name[n] >= ' ' && ret_name[n] <= '~')
        n++;
    return n < got && ret_name[n] == '\0' ? n : 0;
}

/* --- the library's symbols ------------------------------------------------------- */

static bool dynamic_find(const struct fb_self_read *reader, uint64_t start, uint64_t *ret_bias,
                         uint64_t *ret_dynamic)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) phdrs[PHDRS_MAX];
    uint64_t low = UINT64_MAX;
    uint64_t dynamic = 0;

    if (!read_all(reader, start, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof phdrs[0] || header.e_phnum > PHDRS_MAX ||
        !read_all(reader, start + header.e_phoff, phdrs, header.e_phnum * sizeof phdrs[0]))
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        if (phdrs[i].p_type == PT_LOAD && phdrs[i].p_vaddr < low)
            low = phdrs[i].p_vaddr;
        if (phdrs[i].p_type == PT_DYNAMIC)
            dynamic = phdrs[i].p_vaddr;
    }
    *ret_bias = start - (low & ~UINT64_C(4095));
    *ret_dynamic = *ret_bias + dynamic;
    return dynamic != 0;
}

/* The loader has made the addresses absolute; where one has not (musl), they are below the bias. */
static bool symbols_find(const struct fb_self_read *reader, uint64_t start, struct symbols *ret)
{
    uint64_t dynamic;
    ElfW(Dyn) entry;

    *ret = (struct symbols){0};
    if (!dynamic_find(reader, start, &ret->bias, &dynamic))
        return false;
    for (unsigned i = 0; i < DYNAMIC_MAX; i++) {
        if (!read_all(reader, dynamic + i * sizeof entry, &entry, sizeof entry) ||
            entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_SYMTAB)
            ret->symtab = entry.d_un.d_ptr;
        else if (entry.d_tag == DT_STRTAB)
            ret->strtab = entry.d_un.d_ptr;
        else if (entry.d_tag == DT_STRSZ)
            ret->strtab_bytes = entry.d_un.d_val;
    }
    if (ret->symtab != 0 && ret->symtab < ret->bias)
        ret->symtab += ret->bias;
    if (ret->strtab != 0 && ret->strtab < ret->bias)
        ret->strtab += ret->bias;
    return ret->symtab != 0 && ret->strtab > ret->symtab && ret->strtab_bytes > 0;
}

static void symbol_take(const struct fb_self_read *reader, const struct symbols *s,
                        const ElfW(Sym) * symbol, uint64_t values[VARIABLE_COUNT], bool *is_jvm)
{
    char name[FB_JVM_NAME_MAX];

    if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= s->strtab_bytes ||
        read_name(reader, s->strtab + symbol->st_name, name) == 0)
        return;
    *is_jvm = *is_jvm || strcmp(name, "JNI_CreateJavaVM") == 0;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_size != 8 ||
        strncmp(name, prefix, sizeof prefix - 1) != 0)
        return;
    for (unsigned i = 0; i < VARIABLE_COUNT; i++)
        if (strcmp(name, variable_names[i]) == 0 &&
            !read_all(reader, s->bias + symbol->st_value, &values[i], 8))
            values[i] = UINT64_MAX;
}

/* Linkers put the names right behind the symbols, so that their start bounds the symbols' count. */
static void variables_read(const struct fb_self_read *reader, const struct symbols *s,
                           uint64_t values[VARIABLE_COUNT], bool *ret_is_jvm)
{
    ElfW(Sym) round[SYMBOLS_ROUND];
    uint64_t count = (s->strtab - s->symtab) / sizeof round[0];

    memset(values, 0xff, VARIABLE_COUNT * sizeof values[0]);
    *ret_is_jvm = false;
    if (count > SYMBOLS_MAX)
        count = SYMBOLS_MAX;
    for (uint64_t at = 0; at < count; at += SYMBOLS_ROUND) {
        size_t n = count - at < SYMBOLS_ROUND ? (size_t)(count - at) : SYMBOLS_ROUND;

        if (!read_all(reader, s->symtab + at * sizeof round[0], round, n * sizeof round[0]))
            return;
        for (size_t i = 0; i < n; i++)
            symbol_take(reader, s, &round[i], values, ret_is_jvm);
    }
}

/* --- the entries of a table ------------------------------------------------------ */

struct copy {
    struct entry *entries;
    uint32_t count;
    char *names;
    uint32_t names_len;
};

/* Equal names that follow each other are kept once. */
static bool name_keep(struct copy *c, const char *name, size_t n, uint32_t before, uint32_t *ret_at)
{
    if (c->names_len > 0 && strcmp(c->names + before, name) == 0) {
        *ret_at = before;
        return true;
    }
    if (c->names_len + n + 1 > NAMES_BYTES)
        return false;
    *ret_at = c->names_len;
    memcpy(c->names + c->names_len, name, n + 1);
    c->names_len += (uint32_t)n + 1;
    return true;
}

static bool name_take(const struct fb_self_read *reader, struct copy *c, uint64_t address,
                      uint32_t before, uint32_t *ret_at)
{
    char name[FB_JVM_NAME_MAX];
    size_t n = read_name(reader, address, name);

    return n > 0 && name_keep(c, name, n, before, ret_at);
}

static uint64_t part(const uint8_t *raw, const uint64_t values[VARIABLE_COUNT], int variable,
                     unsigned bytes)
{
    uint64_t value = 0;

    if (variable >= 0)
        memcpy(&value, raw + values[variable], bytes);
    return value;
}

/* False: the table's end, or nothing that can be an entry. */
static bool entry_take(const struct fb_self_read *reader, struct copy *c, enum fb_jvm_table t,
                       const uint64_t values[VARIABLE_COUNT], const uint8_t *raw)
{
    struct entry *e = &c->entries[c->count];
    const struct entry *before = c->count > 0 ? e - 1 : e;

    *e =
        (struct entry){.value = part(raw, values, table_forms[t].value, table_forms[t].value_bytes),
                       .address = part(raw, values, table_forms[t].address, 8),
                       .is_static = part(raw, values, table_forms[t].is_static, 4) != 0};
    if (!name_take(reader, c, part(raw, values, table_forms[t].name, 8), before->name, &e->name))
        return false;
    if (table_forms[t].field >= 0 &&
        !name_take(reader, c, part(raw, values, table_forms[t].field, 8), e->name, &e->field))
        return false;
    c->count++;
    return true;
}

/* Does the part lie inside the entry? */
static bool inside(const uint64_t values[VARIABLE_COUNT], int variable, uint64_t bytes,
                   uint64_t stride)
{
    return variable < 0 || (values[variable] < stride && stride - values[variable] >= bytes);
}

static bool table_read(const struct fb_self_read *reader, struct copy *c, enum fb_jvm_table t,
                       const uint64_t values[VARIABLE_COUNT])
{
    uint64_t stride = values[table_forms[t].stride];
    uint32_t first = c->count;
    uint8_t raw[STRIDE_MAX];

    if (values[table_forms[t].entries] == UINT64_MAX || stride > STRIDE_MAX ||
        !inside(values, table_forms[t].name, 8, stride) ||
        !inside(values, table_forms[t].field, 8, stride) ||
        !inside(values, table_forms[t].is_static, 4, stride) ||
        !inside(values, table_forms[t].address, 8, stride) ||
        !inside(values, table_forms[t].value, table_forms[t].value_bytes, stride))
        return false;
    for (uint32_t i = 0; i < ENTRIES_MAX; i++)
        if (!read_all(reader, values[table_forms[t].entries] + i * stride, raw, stride) ||
            !entry_take(reader, c, t, values, raw))
            break;
    return c->count > first;
}

bool fb_jvm_tables_read(const struct fb_self_read *reader, uint64_t start,
                        struct fb_jvm_tables *ret_tables, const char **ret_why)
{
    uint64_t values[VARIABLE_COUNT];
    struct symbols symbols;
    struct copy c = {.count = 0};
    bool is_jvm;

    *ret_tables = (struct fb_jvm_tables){.first = {0}};
    if (!symbols_find(reader, start, &symbols)) {
        *ret_why = "has no dynamic symbols that can be read";
        return false;
    }
    variables_read(reader, &symbols, values, &is_jvm);
    if (values[STRUCTS] == UINT64_MAX || values[TYPES] == UINT64_MAX) {
        *ret_why = is_jvm ? "exports no gHotSpotVMStructs" : FB_JVM_IS_NONE;
        return false;
    }
    if (!fb_pages_map(&ret_tables->pages, ENTRIES_BYTES + NAMES_BYTES)) {
        *ret_why = "cannot be read for want of memory";
        return false;
    }
    c.entries = ret_tables->pages.data;
    c.names = (char *)ret_tables->pages.data + ENTRIES_BYTES;
    for (unsigned t = 0; t < FB_JVM_TABLE_COUNT; t++) {
        ret_tables->first[t] = c.count;
        if (!table_read(reader, &c, t, values)) {
            fb_jvm_tables_free(ret_tables);
            *ret_why = "exports tables that cannot be read";
            return false;
        }
    }
    ret_tables->first[FB_JVM_TABLE_COUNT] = c.count;
    return true;
}

void fb_jvm_tables_free(struct fb_jvm_tables *tables)
{
    fb_pages_free(&tables->pages);
}

/* field: NULL for tables without. */
static const struct entry *entry_find(const struct fb_jvm_tables *tables, enum fb_jvm_table t,
                                      const char *name, const char *field)
{
    const struct entry *entries = tables->pages.data;
    const char *names = (const char *)tables->pages.data + ENTRIES_BYTES;

    for (uint32_t i = tables->first[t]; i < tables->first[t + 1]; i++)
        if (strcmp(names + entries[i].name, name) == 0 &&
            (field == NULL || strcmp(names + entries[i].field, field) == 0))
            return &entries[i];
    return NULL;
}

bool fb_jvm_tables_field(const struct fb_jvm_tables *tables, const char *type, const char *field,
                         struct fb_jvm_field *ret_field)
{
    const struct entry *e = entry_find(tables, FB_JVM_STRUCTS, type, field);

    if (e != NULL)
        *ret_field = (struct fb_jvm_field){e->is_static, e->value, e->address};
    return e != NULL;
}

bool fb_jvm_tables_size(const struct fb_jvm_tables *tables, const char *type, uint64_t *ret_size)
{
    const struct entry *e = entry_find(tables, FB_JVM_TYPES, type, NULL);

    if (e != NULL)
        *ret_size = e->value;
    return e != NULL;
}

bool fb_jvm_tables_constant(const struct fb_jvm_tables *tables, const char *name,
                            int64_t *ret_value)
{
    const struct entry *e = entry_find(tables, FB_JVM_INTS, name, NULL);

    if (e != NULL) {
        *ret_value = (int32_t)e->value;
        return true;
    }
    e = entry_find(tables, FB_JVM_LONGS, name, NULL);
    if (e != NULL)
        *ret_value = (int64_t)e->value;
    return e != NULL;
}
