/* layout.c - one row a field.  See layout.h. */
#include "sampler/jvm/layout.h"

#include <stddef.h>
#include <string.h>

#include "sampler/jvm/layout_known.h"
#include "sampler/text.h"

enum { OFFSET_MAX = 1 << 16 };

enum row_kind {
    OFFSET,   /* of an instance field: int32_t              */
    ADDRESS,  /* of a static field: uint64_t                */
    SIZE,     /* of a type: int32_t                         */
    CONSTANT, /* an int or long constant: int32_t           */
};

enum row_need {
    MUST,  /* without it nothing of the JVM is walked                                   */
    MAY,   /* newer or older releases alone have it, or it is worth little              */
    ONE_OF /* it or the row behind it, which is so marked too                             */
};

struct row {
    uint16_t member; /* offset in struct fb_jvm_layout */
    uint8_t kind;
    uint8_t bytes; /* of the field */
    uint8_t need;
    const char *type;
    const char *field;
};

#define ROW(member, kind, bytes, need, type, field)                                                \
    {                                                                                              \
        offsetof(struct fb_jvm_layout, member), kind, bytes, need, type, field                     \
    }

static const struct row rows[] = {
    ROW(heaps_at, ADDRESS, 8, MUST, "CodeCache", "_heaps"),
    ROW(code_low_at, ADDRESS, 8, MUST, "CodeCache", "_low_bound"),
    ROW(code_high_at, ADDRESS, 8, MUST, "CodeCache", "_high_bound"),
    ROW(array_length, OFFSET, 4, MUST, "GrowableArrayBase", "_len"),
    ROW(array_length, OFFSET, 4, MUST, "GenericGrowableArray", "_len"), /* before 16 */
    ROW(array_data, OFFSET, 8, MUST, "GrowableArray<int>", "_data"),
    ROW(heap_memory, OFFSET, 64, MUST, "CodeHeap", "_memory"),
    ROW(heap_segments, OFFSET, 64, MUST, "CodeHeap", "_segmap"),
    ROW(heap_log2_segment, OFFSET, 4, MUST, "CodeHeap", "_log2_segment_size"),
    ROW(space_low, OFFSET, 8, MUST, "VirtualSpace", "_low"),
    ROW(space_high, OFFSET, 8, MUST, "VirtualSpace", "_high"),
    ROW(block_used, OFFSET, 1, MUST, "HeapBlock::Header", "_used"),
    ROW(block_size, SIZE, 0, MUST, "HeapBlock", NULL),

    ROW(blob_name, OFFSET, 8, MUST, "CodeBlob", "_name"),
    ROW(blob_size, OFFSET, 4, MUST, "CodeBlob", "_size"),
    ROW(blob_frame_complete, OFFSET, 2, MUST, "CodeBlob", "_frame_complete_offset"),
    ROW(blob_frame_size, OFFSET, 4, MUST, "CodeBlob", "_frame_size"),
    ROW(blob_code_begin, OFFSET, 8, ONE_OF, "CodeBlob", "_code_begin"),
    ROW(blob_code_offset, OFFSET, 4, ONE_OF, "CodeBlob", "_code_offset"),
    ROW(blob_mutable_data, OFFSET, 8, MAY, "CodeBlob", "_mutable_data"),
    ROW(blob_relocation_size, OFFSET, 4, MAY, "CodeBlob", "_relocation_size"),

    ROW(nmethod_method, OFFSET, 8, MUST, "nmethod", "_method"),
    ROW(nmethod_method, OFFSET, 8, MUST, "CompiledMethod", "_method"), /* before 23 */
    ROW(nmethod_level, OFFSET, 1, MAY, "nmethod", "_comp_level"),
    ROW(nmethod_compile_id, OFFSET, 4, MUST, "nmethod", "_compile_id"),
    ROW(nmethod_metadata_offset, OFFSET, 2, ONE_OF, "nmethod", "_metadata_offset"),
    ROW(blob_mutable_data, OFFSET, 8, ONE_OF, "CodeBlob", "_mutable_data"),
    ROW(nmethod_pcs_offset, OFFSET, 4, MUST, "nmethod", "_scopes_pcs_offset"),
    ROW(nmethod_pcs_end_offset, OFFSET, 4, ONE_OF, "nmethod", "_dependencies_offset"),
    ROW(nmethod_scopes_offset, OFFSET, 4, ONE_OF, "nmethod", "_scopes_data_offset"),
    ROW(nmethod_scopes_begin, OFFSET, 8, ONE_OF, "CompiledMethod", "_scopes_data_begin"),
    ROW(nmethod_scopes_offset, OFFSET, 4, ONE_OF, "nmethod", "_scopes_data_offset"),
    ROW(nmethod_immutable_data, OFFSET, 8, MAY, "nmethod", "_immutable_data"),
    ROW(nmethod_entry, OFFSET, 8, ONE_OF, "nmethod", "_verified_entry_point"),
    ROW(nmethod_entry_offset, OFFSET, 2, ONE_OF, "nmethod", "_verified_entry_offset"),
    ROW(nmethod_deopt, OFFSET, 8, MAY, "CompiledMethod", "_deopt_handler_begin"),
    ROW(nmethod_deopt_offset, OFFSET, 4, MAY, "nmethod", "_deopt_handler_offset"),
    ROW(nmethod_deopt_offset, OFFSET, 4, MAY, "nmethod", "_deopt_handler_entry_offset"),
    ROW(nmethod_deopt_mh, OFFSET, 8, MAY, "CompiledMethod", "_deopt_mh_handler_begin"),
    ROW(nmethod_deopt_mh_offset, OFFSET, 4, MAY, "nmethod", "_deopt_mh_handler_offset"),
    ROW(nmethod_original_pc_offset, OFFSET, 4, MUST, "nmethod", "_orig_pc_offset"),
    ROW(pc_desc_size, SIZE, 0, MUST, "PcDesc", NULL),

    ROW(call_stub_return_at, ADDRESS, 8, MUST, "StubRoutines", "_call_stub_return_address"),
    ROW(interpreter_at, ADDRESS, 8, MUST, "AbstractInterpreter", "_code"),
    ROW(queue_buffer, OFFSET, 8, MUST, "StubQueue", "_stub_buffer"),
    ROW(queue_limit, OFFSET, 4, MUST, "StubQueue", "_buffer_limit"),
    ROW(codelet_size, OFFSET, 4, MAY, "InterpreterCodelet", "_size"),
    ROW(codelet_description, OFFSET, 8, MAY, "InterpreterCodelet", "_description"),
    ROW(call_wrapper_anchor, OFFSET, 24, MUST, "JavaCallWrapper", "_anchor"),
    ROW(entry_frame_wrapper, CONSTANT, 0, MAY, "frame::entry_frame_call_wrapper_offset", NULL),

    ROW(method_const, OFFSET, 8, MUST, "Method", "_constMethod"),
    ROW(method_code, OFFSET, 8, MAY, "Method", "_code"),
    ROW(method_size, SIZE, 0, MUST, "Method", NULL),
    ROW(const_pool, OFFSET, 8, MUST, "ConstMethod", "_constants"),
    ROW(const_name, OFFSET, 2, MUST, "ConstMethod", "_name_index"),
    ROW(const_signature, OFFSET, 2, MUST, "ConstMethod", "_signature_index"),
    ROW(const_idnum, OFFSET, 2, MAY, "ConstMethod", "_method_idnum"),
    ROW(const_code_size, OFFSET, 2, MUST, "ConstMethod", "_code_size"),
    ROW(const_size, SIZE, 0, MUST, "ConstMethod", NULL),
    ROW(pool_holder, OFFSET, 8, MUST, "ConstantPool", "_pool_holder"),
    ROW(pool_size, SIZE, 0, MUST, "ConstantPool", NULL),
    ROW(klass_name, OFFSET, 8, MUST, "Klass", "_name"),
    ROW(symbol_length, OFFSET, 2, MUST, "Symbol", "_length"),
    ROW(symbol_body, OFFSET, 1, MUST, "Symbol", "_body"),
    ROW(symbol_hash, OFFSET, 4, MAY, "Symbol", "_hash_and_refcount"),

    ROW(thread_list_at, ADDRESS, 8, MUST, "ThreadsSMRSupport", "_java_thread_list"),
    ROW(thread_list_at, ADDRESS, 8, MUST, "Threads", "_thread_list"), /* 11: of threads */
    ROW(list_length, OFFSET, 4, ONE_OF, "ThreadsList", "_length"),
    ROW(thread_next, OFFSET, 8, ONE_OF, "JavaThread", "_next"),
    ROW(list_threads, OFFSET, 8, ONE_OF, "ThreadsList", "_threads"),
    ROW(thread_next, OFFSET, 8, ONE_OF, "JavaThread", "_next"),
    ROW(thread_osthread, OFFSET, 8, MUST, "JavaThread", "_osthread"),
    ROW(thread_osthread, OFFSET, 8, MUST, "Thread", "_osthread"),
    ROW(thread_stack_base, OFFSET, 8, MUST, "JavaThread", "_stack_base"),
    ROW(thread_stack_base, OFFSET, 8, MUST, "Thread", "_stack_base"),
    ROW(thread_stack_size, OFFSET, 8, MUST, "JavaThread", "_stack_size"),
    ROW(thread_stack_size, OFFSET, 8, MUST, "Thread", "_stack_size"),
    ROW(thread_anchor, OFFSET, 24, MUST, "JavaThread", "_anchor"),
    ROW(thread_vframes, OFFSET, 8, MAY, "JavaThread", "_vframe_array_head"),
    ROW(thread_state, OFFSET, 4, MAY, "JavaThread", "_thread_state"),
    ROW(thread_object, OFFSET, 8, MAY, "JavaThread", "_threadObj"),
    ROW(thread_continuation, OFFSET, 8, MAY, "JavaThread", "_cont_entry"),
    ROW(thread_virtual, OFFSET, 8, MAY, "JavaThread", "_vthread"),
    ROW(osthread_tid, OFFSET, 4, MUST, "OSThread", "_thread_id"),
    ROW(anchor_sp, OFFSET, 8, MUST, "JavaFrameAnchor", "_last_Java_sp"),
    ROW(anchor_pc, OFFSET, 8, MUST, "JavaFrameAnchor", "_last_Java_pc"),
    ROW(anchor_fp, OFFSET, 8, MUST, "JavaFrameAnchor", "_last_Java_fp"),
    ROW(vframes_caller, OFFSET, 24, MAY, "vframeArray", "_caller"),
    ROW(vframes_original, OFFSET, 24, MAY, "vframeArray", "_original"),
    ROW(continuation_return_at, ADDRESS, 8, MAY, "ContinuationEntry", "_return_pc"),
    ROW(continuation_size, SIZE, 0, MAY, "ContinuationEntry", NULL),

    ROW(object_class, OFFSET, 8, MAY, "oopDesc", "_metadata._klass"),
    ROW(object_narrow_class, OFFSET, 4, MAY, "oopDesc", "_metadata._compressed_klass"),
    ROW(klass_super, OFFSET, 8, MAY, "Klass", "_super"),
    ROW(klass_layout, OFFSET, 4, MAY, "Klass", "_layout_helper"),
    ROW(klass_next, OFFSET, 8, MAY, "Klass", "_next_link"),
    ROW(class_base_at, ADDRESS, 8, MAY, "CompressedKlassPointers", "_base"),
    ROW(class_base_at, ADDRESS, 8, MAY, "CompressedKlassPointers", "_narrow_klass._base"),
    ROW(class_shift_at, ADDRESS, 4, MAY, "CompressedKlassPointers", "_shift"),
    ROW(class_shift_at, ADDRESS, 4, MAY, "CompressedKlassPointers", "_narrow_klass._shift"),
    ROW(loaders_at, ADDRESS, 8, MAY, "ClassLoaderDataGraph", "_head"),
    ROW(loader_next, OFFSET, 8, MAY, "ClassLoaderData", "_next"),
    ROW(loader_classes, OFFSET, 8, MAY, "ClassLoaderData", "_klasses"),

    ROW(flags_at, ADDRESS, 8, MAY, "JVMFlag", "flags"),
    ROW(flag_count_at, ADDRESS, 8, MAY, "JVMFlag", "numFlags"),
    ROW(flag_name, OFFSET, 8, MAY, "JVMFlag", "_name"),
    ROW(flag_address, OFFSET, 8, MAY, "JVMFlag", "_addr"),
    ROW(flag_origin, OFFSET, 4, MAY, "JVMFlag", "_flags"),
    ROW(flag_type, OFFSET, 4, MAY, "JVMFlag", "_type"),
    ROW(flag_size, SIZE, 0, MAY, "JVMFlag", NULL),

    ROW(const_flags, OFFSET, 2, MAY, "ConstMethod", "_flags"),
    ROW(const_flags, OFFSET, 4, MAY, "ConstMethod", "_flags._flags"), /* from 21 on */
    ROW(const_bytes, OFFSET, 4, MAY, "ConstMethod", "_constMethod_size"),
    ROW(const_has_lines, CONSTANT, 0, MAY, "ConstMethod::_has_linenumber_table", NULL),
    ROW(const_has_lines, CONSTANT, 0, MAY, "ConstMethodFlags::_misc_has_linenumber_table", NULL),
    ROW(pool_source_file, OFFSET, 2, MAY, "ConstantPool", "_source_file_name_index"),
    ROW(class_source_file, OFFSET, 2, MAY, "InstanceKlass", "_source_file_name_index"), /* 11 */
    ROW(thread_object_handle, SIZE, 0, MAY, "OopHandle", NULL),
    ROW(thread_class_at, ADDRESS, 8, MAY, "vmClasses",
        "_klasses[static_cast<int>(vmClassID::Thread_klass_knum)]"),
    ROW(string_class_at, ADDRESS, 8, MAY, "vmClasses",
        "_klasses[static_cast<int>(vmClassID::String_klass_knum)]"),
    ROW(thread_class_at, ADDRESS, 8, MAY, "SystemDictionary", /* 11, as the next one */
        "_well_known_klasses[SystemDictionary::Thread_klass_knum]"),
    ROW(string_class_at, ADDRESS, 8, MAY, "SystemDictionary",
        "_well_known_klasses[SystemDictionary::String_klass_knum]"),
    ROW(class_fields, OFFSET, 8, MAY, "InstanceKlass", "_fields"),
    ROW(class_field_count, OFFSET, 2, MAY, "InstanceKlass", "_java_fields_count"),
    ROW(class_field_stream, OFFSET, 8, MAY, "InstanceKlass", "_fieldinfo_stream"),
    ROW(class_pool, OFFSET, 8, MAY, "InstanceKlass", "_constants"),
    ROW(oop_base_at, ADDRESS, 8, MAY, "CompressedOops", "_base"),
    ROW(oop_base_at, ADDRESS, 8, MAY, "CompressedOops", "_narrow_oop._base"), /* before 22 */
    ROW(oop_shift_at, ADDRESS, 4, MAY, "CompressedOops", "_shift"),
    ROW(oop_shift_at, ADDRESS, 4, MAY, "CompressedOops", "_narrow_oop._shift"),
    ROW(oop_base_at, ADDRESS, 8, MAY, "Universe", "_narrow_oop._base"), /* 11 */
    ROW(oop_shift_at, ADDRESS, 4, MAY, "Universe", "_narrow_oop._shift"),
    ROW(z_globals_at, ADDRESS, 8, MAY, "ZGlobalsForVMStructs", "_instance_p"),
    ROW(z_load_shift, OFFSET, 8, MAY, "ZGlobalsForVMStructs", "_ZPointerLoadShift"),
    ROW(z_address_offset_mask, OFFSET, 8, MAY, "ZGlobalsForVMStructs", "_ZAddressOffsetMask"),
    ROW(release_text_at, ADDRESS, 8, MAY, "Abstract_VM_Version", "_s_vm_release"),
    ROW(vm_info_at, ADDRESS, 8, MAY, "Abstract_VM_Version", "_s_internal_vm_info_string"),
    ROW(java_command_at, ADDRESS, 8, MAY, "Arguments", "_java_command"),
    ROW(vm_args_at, ADDRESS, 8, MAY, "Arguments", "_jvm_args_array"),
    ROW(vm_arg_count_at, ADDRESS, 4, MAY, "Arguments", "_num_jvm_args"),
    ROW(vm_flags_at, ADDRESS, 8, MAY, "Arguments", "_jvm_flags_array"),
    ROW(vm_flag_count_at, ADDRESS, 4, MAY, "Arguments", "_num_jvm_flags"),
    ROW(perf_start_at, ADDRESS, 8, MAY, "PerfMemory", "_start"),
    ROW(perf_top_at, ADDRESS, 8, MAY, "PerfMemory", "_top"),
    ROW(perf_initialized_at, ADDRESS, 4, MAY, "PerfMemory", "_initialized"),
    ROW(perf_prologue_at, ADDRESS, 8, MAY, "PerfMemory", "_prologue"),
    ROW(perf_used, OFFSET, 4, MAY, "PerfDataPrologue", "used"),
    ROW(perf_entry_offset, OFFSET, 4, MAY, "PerfDataPrologue", "entry_offset"),
    ROW(perf_entry_count, OFFSET, 4, MAY, "PerfDataPrologue", "num_entries"),
    ROW(heap_at, ADDRESS, 8, MAY, "Universe", "_collectedHeap"),
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* One sentence at a time: the helper alone fills. */
static char why_text[2 * FB_JVM_NAME_MAX + 64];

static const char *why(const char *before, const struct row *row, const char *behind)
{
    struct fb_text t = {.data = why_text, .cap = sizeof why_text};

    fb_text_str(&t, before);
    fb_text_str(&t, row->type);
    if (row->field != NULL) {
        fb_text_str(&t, "::");
        fb_text_str(&t, row->field);
    }
    fb_text_str(&t, behind);
    return why_text;
}

static bool is_wide(const struct row *row)
{
    return row->kind == ADDRESS;
}

static bool is_set(const struct fb_jvm_layout *layout, const struct row *row)
{
    const char *at = (const char *)layout + row->member;

    if (is_wide(row))
        return *(const uint64_t *)(const void *)at != 0;
    return *(const int32_t *)(const void *)at != FB_JVM_ABSENT;
}

static void set(struct fb_jvm_layout *layout, const struct row *row, uint64_t value)
{
    char *at = (char *)layout + row->member;

    if (is_wide(row))
        *(uint64_t *)(void *)at = value;
    else
        *(int32_t *)(void *)at = (int32_t)value;
}

enum found { NOT_THERE, FOUND, WRONG };

/* An instance field lies inside its type, and where its size demands. */
static enum found offset_read(const struct fb_jvm_tables *tables, const struct row *row,
                              uint64_t *ret_value)
{
    unsigned align = row->bytes >= 8 ? 8 : row->bytes;
    struct fb_jvm_field field;
    uint64_t size = 0;

    if (!fb_jvm_tables_field(tables, row->type, row->field, &field))
        return NOT_THERE;
    *ret_value = field.offset;
    if (field.is_static || field.offset % align != 0 || field.offset >= OFFSET_MAX)
        return WRONG;
    if (fb_jvm_tables_size(tables, row->type, &size) && size > 0 &&
        field.offset + row->bytes > size)
        return WRONG;
    return FOUND;
}

static enum found address_read(const struct fb_jvm_tables *tables, const struct row *row,
                               uint64_t *ret_value)
{
    struct fb_jvm_field field;

    if (!fb_jvm_tables_field(tables, row->type, row->field, &field))
        return NOT_THERE;
    *ret_value = field.address;
    return field.is_static && field.address % row->bytes == 0 && field.address >= OFFSET_MAX
               ? FOUND
               : WRONG;
}

static enum found row_read(const struct fb_jvm_tables *tables, const struct row *row,
                           uint64_t *ret_value)
{
    int64_t constant;

    switch ((enum row_kind)row->kind) {
    case OFFSET:
        return offset_read(tables, row, ret_value);
    case ADDRESS:
        return address_read(tables, row, ret_value);
    case SIZE:
        if (!fb_jvm_tables_size(tables, row->type, ret_value))
            return NOT_THERE;
        return *ret_value > 0 && *ret_value < OFFSET_MAX ? FOUND : WRONG;
    case CONSTANT:
        if (!fb_jvm_tables_constant(tables, row->type, &constant))
            return NOT_THERE;
        *ret_value = (uint64_t)constant;
        return constant > -OFFSET_MAX && constant < OFFSET_MAX ? FOUND : WRONG;
    }
    return WRONG;
}

static bool rows_read(const struct fb_jvm_tables *tables, struct fb_jvm_layout *layout,
                      const char **ret_why)
{
    for (unsigned i = 0; i < ROW_COUNT; i++) {
        uint64_t value = 0;
        enum found found;

        if (is_set(layout, &rows[i]))
            continue;
        found = row_read(tables, &rows[i], &value);
        if (found == WRONG) {
            *ret_why = why("says of ", &rows[i], " what cannot be");
            return false;
        }
        if (found == FOUND)
            set(layout, &rows[i], value);
    }
    return true;
}

/* Every member that must be there is, and of each pair one. */
static bool rows_check(const struct fb_jvm_layout *layout, const char **ret_why)
{
    for (unsigned i = 0; i < ROW_COUNT; i++) {
        const struct row *row = &rows[i];
        bool any = row->need == MAY || is_set(layout, row);

        if (row->need == ONE_OF)
            any |= is_set(layout, &rows[++i]);
        if (!any) {
            *ret_why = why("does not say where ", row, " is");
            return false;
        }
    }
    return true;
}

/* The release, which decides about what no table says (layout_known.h). */
static bool release_read(const struct fb_jvm_tables *tables, const struct fb_self_read *reader,
                         struct fb_jvm_layout *layout)
{
    struct fb_jvm_field field;
    int32_t release;

    if (!fb_jvm_tables_field(tables, "Abstract_VM_Version", "_vm_major_version", &field) ||
        !field.is_static ||
        fb_self_read(reader, field.address, &release, sizeof release) != sizeof release)
        return false;
    layout->release = release;
    return release >= FB_JVM_RELEASE_MIN && release <= FB_JVM_RELEASE_MAX;
}

bool fb_jvm_layout_fill(const struct fb_jvm_tables *tables, const struct fb_self_read *reader,
                        struct fb_jvm_layout *ret_layout, const char **ret_why)
{
    memset(ret_layout, 0xff, sizeof *ret_layout);
    for (unsigned i = 0; i < ROW_COUNT; i++)
        if (is_wide(&rows[i]))
            set(ret_layout, &rows[i], 0);
    if (!release_read(tables, reader, ret_layout)) {
        *ret_why = "is of a release that is not known";
        return false;
    }
    ret_layout->blob_frame_complete_bytes =
        ret_layout->release >= FB_JVM_RELEASE_SHORT_OFFSETS ? 2 : 4;
    return rows_read(tables, ret_layout, ret_why) && rows_check(ret_layout, ret_why);
}
