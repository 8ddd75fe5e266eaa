/* layout.h - where the JVM keeps what we read: one struct, filled from the tables it exports.
 *
 *     if (!fb_jvm_layout_fill(&tables, &reader, &layout, &why)) ...     one sentence: what is wrong
 *
 * Context: normal (filled); the copy that signal/vm.h has published is read in the handler.
 *
 * HotSpot exports gHotSpotVMStructs, ...Types, ...IntConstants and ...LongConstants for the
 * serviceability agent: names of types and fields with their offsets, sizes and addresses.  Each
 * member of the struct is one row of the table in layout.c: {member, what it is, type, field,
 * bytes, need}.  Where a field moved between releases a member has several rows: the first that
 * is there counts.  What no table gives, and we must know all the same, is in layout_known.h with
 * its range of JDKs.
 *
 * An offset is accepted if the whole field lies inside its type's size (where the type's size is
 * exported), an address if it can be read.  A member that is not there is FB_JVM_ABSENT (offsets,
 * sizes, constants) or 0 (addresses); a required one that is not there is the reason why nothing
 * of the JVM is walked. */
#ifndef FB_SAMPLER_JVM_LAYOUT_H
#define FB_SAMPLER_JVM_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/jvm/tables.h"

enum { FB_JVM_ABSENT = -1 };

/* Offsets and sizes in bytes; members that end in _at are addresses of static fields. */
struct fb_jvm_layout {
    int32_t release; /* 17, 21, 25 ...: of Abstract_VM_Version */

    /* code heaps */
    uint64_t heaps_at; /* GrowableArray<CodeHeap*>* */
    uint64_t code_low_at, code_high_at;
    int32_t array_length, array_data; /* of a GrowableArray */
    int32_t heap_memory, heap_segments, heap_log2_segment;
    int32_t space_low, space_high; /* of a VirtualSpace */
    int32_t block_used, block_size;

    /* code blobs */
    int32_t blob_name, blob_size, blob_frame_complete, blob_frame_size;
    int32_t blob_code_begin;           /* JDK 17-22: an address ...            */
    int32_t blob_code_offset;          /* 23+: ... or an offset from the blob  */
    int32_t blob_frame_complete_bytes; /* 4, or 2 from 23 on */
    int32_t blob_mutable_data, blob_relocation_size;

    /* nmethods */
    int32_t nmethod_method, nmethod_level, nmethod_compile_id, nmethod_state;
    int32_t nmethod_metadata_offset;
    int32_t nmethod_pcs_offset, nmethod_pcs_end_offset; /* the second: 17-22 */
    int32_t nmethod_scopes_begin;                       /* 17-22: an address */
    int32_t nmethod_scopes_offset;                      /* 23+               */
    int32_t nmethod_immutable_data;                     /* 23+               */
    int32_t nmethod_entry, nmethod_entry_offset;        /* verified entry: address, or offset */
    int32_t nmethod_deopt, nmethod_deopt_offset;        /* the same                           */
    int32_t nmethod_deopt_mh, nmethod_deopt_mh_offset;
    int32_t nmethod_original_pc_offset;
    int32_t pc_desc_size;

    /* stubs */
    uint64_t call_stub_return_at;
    uint64_t interpreter_at; /* StubQueue* */
    int32_t queue_buffer, queue_limit, codelet_size, codelet_description;
    int32_t call_wrapper_anchor;
    int32_t entry_frame_wrapper; /* in words from fp; not exported on arm64: see signal/cpu.h */

    /* methods and names */
    int32_t method_const, method_code, method_size; /* the last is the type's */
    int32_t const_pool, const_name, const_signature, const_idnum, const_code_size, const_size;
    int32_t pool_holder, pool_size;
    int32_t klass_name;
    int32_t symbol_length, symbol_body, symbol_hash;

    /* threads */
    uint64_t thread_list_at; /* ThreadsList*; 11: JavaThread*, each of which knows the next one */
    int32_t list_length, list_threads;
    int32_t thread_next; /* 11 */
    int32_t thread_osthread, thread_stack_base, thread_stack_size, thread_anchor;
    int32_t thread_vframes, thread_state, thread_object;
    int32_t thread_continuation, thread_virtual; /* 21+ */
    int32_t osthread_tid;
    int32_t anchor_sp, anchor_pc, anchor_fp;
    int32_t vframes_caller, vframes_original;
    uint64_t continuation_return_at; /* 21+ */
    int32_t continuation_size;

    /* objects of the heap: a virtual thread's frames */
    int32_t object_class, object_narrow_class;
    int32_t klass_super, klass_layout, klass_next;
    uint64_t class_base_at, class_shift_at;
    uint64_t loaders_at; /* ClassLoaderData* */
    int32_t loader_next, loader_classes;

    /* flags */
    uint64_t flags_at, flag_count_at; /* JVMFlag*, size_t */
    int32_t flag_name, flag_address, flag_origin, flag_type, flag_size;

    /* What the helper alone reads: lines, names of threads, the manifest, the VM's own counters.
     * Nothing of it must be there. */
    int32_t const_flags, const_bytes, const_has_lines; /* ... of _flags: the bit */
    int32_t pool_source_file, class_source_file;       /* the second: 11 */
    int32_t thread_object_handle;              /* "OopHandle" is the type of thread_object */
    uint64_t thread_class_at, string_class_at; /* InstanceKlass* */
    int32_t class_fields, class_field_count;   /* 17-20: Array<u2>* of FieldInfo, u2 */
    int32_t class_field_stream;                /* 21+: Array<u1>*, compressed        */
    int32_t class_pool;
    uint64_t oop_base_at, oop_shift_at;
    uint64_t z_globals_at;
    int32_t z_load_shift, z_address_offset_mask; /* both: addresses of values */
    uint64_t release_text_at, vm_info_at, java_command_at;
    uint64_t vm_args_at, vm_arg_count_at, vm_flags_at, vm_flag_count_at;
    uint64_t perf_start_at, perf_top_at, perf_initialized_at, perf_prologue_at;
    int32_t perf_used, perf_entry_offset, perf_entry_count;
    uint64_t heap_at; /* CollectedHeap* */
};

/* False: *ret_why is a sentence's end, as tables.h has them, good until the next call. */
bool fb_jvm_layout_fill(const struct fb_jvm_tables *tables, const struct fb_self_read *reader,
                        struct fb_jvm_layout *ret_layout, const char **ret_why);

#endif
