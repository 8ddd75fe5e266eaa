/* DWARF 5, section 6.2. */
#include "symbolize/dwarf_lines.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbolize/dwarf_form.h"

enum { FORMATS_MAX = 16, OVERLAP_STEPS = 8 };

struct row {
    uint64_t address;
    uint32_t file, line;
};

struct sequence { /* rows whose addresses rise up to `end` */
    uint64_t start, end;
    size_t first, count;
};

struct file_name {
    const char *name;
    uint64_t folder;
    char *path; /* once it was asked for */
};

struct fb_line_table {
    struct fb_dwarf_unit unit; /* with the table's own size of offsets: assemblers may differ */
    uint16_t version;
    uint8_t min_length, opcode_base, line_range;
    int8_t line_base;
    struct fb_wire_in lengths; /* operands of the standard opcodes */
    const char **folders;
    size_t folders_count, folders_room;
    struct file_name *files;
    size_t files_count, files_room;
    struct row *rows;
    size_t rows_count, rows_room;
    struct sequence *sequences; /* by start */
    size_t sequences_count, sequences_room;
    bool sorted;
};

struct machine { /* the registers that we need */
    uint64_t address, file, line;
    size_t first; /* row of this sequence */
    bool rising;
};

static void add_folder(struct fb_line_table *t, const char *name)
{
    fb_vec_reserve(&t->folders, &t->folders_room, t->folders_count + 1, sizeof *t->folders);
    t->folders[t->folders_count++] = name;
}

static void add_file(struct fb_line_table *t, const char *name, uint64_t folder)
{
    fb_vec_reserve(&t->files, &t->files_room, t->files_count + 1, sizeof *t->files);
    t->files[t->files_count++] = (struct file_name){.name = name, .folder = folder};
}

static const char *inline_text(struct fb_wire_in *in)
{
    const uint8_t *start = in->data + in->pos, *end;

    end = in->bad ? NULL : memchr(start, 0, in->len - in->pos);
    if (!end) {
        in->bad = true;
        return "";
    }
    in->pos = (size_t)(end - in->data) + 1;
    return (const char *)start;
}

/* Up to version 4; folder 0 and file 0 are not in the lists. */
static void read_old_names(struct fb_line_table *t, struct fb_wire_in *in)
{
    const char *name;

    add_folder(t, t->unit.comp_dir);
    while ((name = inline_text(in))[0])
        add_folder(t, name);
    add_file(t, NULL, 0);
    while (!in->bad && (name = inline_text(in))[0]) {
        add_file(t, name, fb_wire_get_varint(in));
        (void)fb_wire_get_varint(in);
        (void)fb_wire_get_varint(in);
    }
}

/* One list of version 5: formats, count, entries. */
static void read_new_list(struct fb_line_table *t, struct fb_wire_in *in, bool are_files)
{
    uint64_t types[FORMATS_MAX], forms[FORMATS_MAX], count;
    uint8_t formats = fb_wire_get_u8(in);

    if (formats > FORMATS_MAX) {
        in->bad = true;
        return;
    }
    for (size_t i = 0; i < formats; i++) {
        types[i] = fb_wire_get_varint(in);
        forms[i] = fb_wire_get_varint(in);
    }
    count = fb_wire_get_varint(in);
    if (formats == 0 || count > fb_wire_left(in)) /* an entry has bytes */
        in->bad |= count > 0;
    for (uint64_t n = 0; n < count && !in->bad; n++) {
        const char *name = NULL;
        uint64_t folder = 0;

        for (size_t i = 0; i < formats && !in->bad; i++) {
            struct fb_dwarf_value value;
            uint64_t at = in->pos;

            if (forms[i] > UINT16_MAX) {
                in->bad = true;
                break;
            }
            fb_dwarf_value_read(&t->unit, in, (uint16_t)forms[i], 0, &value);
            if (types[i] == DW_LNCT_path && value.form == DW_FORM_string && !in->bad)
                name = (const char *)in->data + at;
            else if (types[i] == DW_LNCT_path)
                name = fb_dwarf_text(&t->unit, &value);
            else if (types[i] == DW_LNCT_directory_index)
                folder = value.n;
        }
        if (are_files)
            add_file(t, name, folder);
        else
            add_folder(t, name ? name : "");
    }
}

/* Leaves `in` at the program, its end cut to the table's. */
static bool read_header(struct fb_line_table *t, struct fb_wire_in *in)
{
    uint64_t length = fb_wire_get_le(in, 4), header;

    t->unit.offset_size = 4;
    if (length == 0xffffffff) {
        length = fb_wire_get_le(in, 8);
        t->unit.offset_size = 8;
    }
    if (in->bad || length > fb_wire_left(in))
        return false;
    in->len = in->pos + (size_t)length;
    t->version = (uint16_t)fb_wire_get_le(in, 2);
    if (t->version < 2 || t->version > 5)
        return false;
    if (t->version >= 5)
        (void)fb_wire_get_le(in, 2); /* sizes of an address and of a segment */
    header = fb_wire_get_le(in, t->unit.offset_size);
    if (header > fb_wire_left(in))
        return false;
    header += in->pos;
    t->min_length = fb_wire_get_u8(in);
    if (t->version >= 4)
        (void)fb_wire_get_u8(in); /* operations of an instruction: 1 but on VLIW machines */
    (void)fb_wire_get_u8(in);     /* whether a row begins a statement */
    t->line_base = (int8_t)fb_wire_get_u8(in);
    t->line_range = fb_wire_get_u8(in);
    t->opcode_base = fb_wire_get_u8(in);
    t->lengths = *in;
    if (t->opcode_base == 0 || t->line_range == 0 || !fb_wire_get_bytes(in, t->opcode_base - 1u))
        return false;
    if (t->version >= 5) {
        read_new_list(t, in, false);
        read_new_list(t, in, true);
    } else {
        read_old_names(t, in);
    }
    if (in->bad)
        return false;
    in->pos = (size_t)header;
    return true;
}

static void add_row(struct fb_line_table *t, struct machine *m)
{
    if (t->rows_count > m->first && t->rows[t->rows_count - 1].address > m->address)
        m->rising = false;
    fb_vec_reserve(&t->rows, &t->rows_room, t->rows_count + 1, sizeof *t->rows);
    t->rows[t->rows_count++] =
        (struct row){m->address, m->file > UINT32_MAX ? 0 : (uint32_t)m->file,
                     m->line > INT32_MAX ? 0 : (uint32_t)m->line};
}

/* A sequence that falls is broken; one at 0 is of a function that the linker dropped. */
static void end_sequence(struct fb_line_table *t, struct machine *m)
{
    size_t count = t->rows_count - m->first;
    uint64_t start = count > 0 ? t->rows[m->first].address : 0;

    if (count == 0 || !m->rising || start == 0 || m->address <= start) {
        t->rows_count = m->first;
    } else {
        struct sequence *last =
            t->sequences_count > 0 ? &t->sequences[t->sequences_count - 1] : NULL;

        t->sorted = t->sorted && (!last || last->start <= start);
        fb_vec_reserve(&t->sequences, &t->sequences_room, t->sequences_count + 1,
                       sizeof *t->sequences);
        t->sequences[t->sequences_count++] = (struct sequence){start, m->address, m->first, count};
    }
    *m = (struct machine){.file = 1, .line = 1, .first = t->rows_count, .rising = true};
}

static void run_extended(struct fb_line_table *t, struct fb_wire_in *in, struct machine *m)
{
    uint64_t size = fb_wire_get_varint(in);
    struct fb_wire_in own = *in;

    if (size == 0 || !fb_wire_get_bytes(in, (size_t)size))
        return;
    own.len = own.pos + (size_t)size;
    switch (fb_wire_get_u8(&own)) {
    case DW_LNE_end_sequence:
        end_sequence(t, m);
        break;
    case DW_LNE_set_address:
        m->address = fb_wire_get_le(&own, size - 1 > 8 ? 8 : (unsigned)(size - 1));
        break;
    case DW_LNE_define_file:
        add_file(t, inline_text(&own), fb_wire_get_varint(&own));
        break;
    default:
        break;
    }
}

static void run_standard(struct fb_line_table *t, struct fb_wire_in *in, struct machine *m,
                         uint8_t opcode)
{
    switch (opcode) {
    case DW_LNS_copy:
        add_row(t, m);
        break;
    case DW_LNS_advance_pc:
        m->address += fb_wire_get_varint(in) * t->min_length;
        break;
    case DW_LNS_advance_line:
        m->line += (uint64_t)fb_dwarf_sleb(in);
        break;
    case DW_LNS_set_file:
        m->file = fb_wire_get_varint(in);
        break;
    case DW_LNS_const_add_pc:
        m->address += (uint64_t)((255 - t->opcode_base) / t->line_range) * t->min_length;
        break;
    case DW_LNS_fixed_advance_pc:
        m->address += fb_wire_get_le(in, 2);
        break;
    default: /* columns, flags, what later versions add */
        for (uint8_t n = t->lengths.data[t->lengths.pos + opcode - 1u]; n > 0; n--)
            (void)fb_wire_get_varint(in);
        break;
    }
}

static void run_program(struct fb_line_table *t, struct fb_wire_in *in)
{
    struct machine m = {.file = 1, .line = 1, .rising = true};

    t->sorted = true;
    while (!in->bad && in->pos < in->len) {
        uint8_t opcode = in->data[in->pos++];

        if (opcode >= t->opcode_base) {
            uint8_t special = (uint8_t)(opcode - t->opcode_base);

            m.address += (uint64_t)(special / t->line_range) * t->min_length;
            m.line += (uint64_t)(int64_t)(t->line_base + special % t->line_range);
            add_row(t, &m);
        } else if (opcode == 0) {
            run_extended(t, in, &m);
        } else {
            run_standard(t, in, &m, opcode);
        }
    }
    t->rows_count = m.first; /* a sequence without an end has no last row */
}

static int by_start(const void *a, const void *b)
{
    const struct sequence *x = a, *y = b;

    if (x->start != y->start)
        return x->start > y->start ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

struct fb_line_table *fb_line_table_read(const struct fb_dwarf_unit *unit, uint64_t *budget)
{
    struct fb_wire_in in = fb_dwarf_cursor(unit->dwarf, FB_DWARF_LINE, unit->line_offset);
    struct fb_line_table *t = fb_alloc(sizeof *t);

    t->unit = *unit;
    if (fb_wire_left(&in) == 0 || !read_header(t, &in) || in.len - unit->line_offset > *budget) {
        fb_line_table_free(t);
        return NULL;
    }
    *budget -= in.len - unit->line_offset;
    run_program(t, &in);
    if (!t->sorted)
        qsort(t->sequences, t->sequences_count, sizeof *t->sequences, by_start);
    return t;
}

void fb_line_table_free(struct fb_line_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->files_count; i++)
        free(table->files[i].path);
    free(table->folders);
    free(table->files);
    free(table->rows);
    free(table->sequences);
    free(table);
}

static const struct row *find_row(const struct fb_line_table *t, const struct sequence *s,
                                  uint64_t address)
{
    size_t from = s->first, n = s->count;

    while (n > 0) {
        size_t half = n / 2;

        if (t->rows[from + half].address <= address) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return &t->rows[from - 1];
}

bool fb_line_table_find(const struct fb_line_table *table, uint64_t address, uint32_t *ret_file,
                        uint32_t *ret_line)
{
    size_t from = 0, n = table->sequences_count;

    while (n > 0) {
        size_t half = n / 2;

        if (table->sequences[from + half].start <= address) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    for (size_t i = from; i > 0 && from - i < OVERLAP_STEPS; i--) {
        if (address < table->sequences[i - 1].end) {
            const struct row *row = find_row(table, &table->sequences[i - 1], address);

            *ret_file = row->file;
            *ret_line = row->line;
            return true;
        }
    }
    return false;
}

/* A folder is under the unit's (folder 0 of version 5 is that one). */
static char *full_path(const struct fb_line_table *t, const struct file_name *f)
{
    const char *root = t->unit.comp_dir, *folder = "";

    if (f->name[0] == '/')
        return fb_strdup(f->name);
    if (f->folder < t->folders_count)
        folder = t->folders[f->folder];
    if (folder[0] == '/' || strcmp(folder, root) == 0)
        root = "";
    return fb_format("%s%s%s%s%s", root, root[0] ? "/" : "", folder, folder[0] ? "/" : "", f->name);
}

const char *fb_line_table_file(struct fb_line_table *table, uint32_t file)
{
    struct file_name *f = file < table->files_count ? &table->files[file] : NULL;

    if (!f || !f->name || !f->name[0])
        return NULL;
    if (!f->path)
        f->path = full_path(table, f);
    return f->path;
}
