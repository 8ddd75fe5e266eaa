/* chunks.c - see chunks.h. */
#include "sampler/jvm/chunks.h"

#include <stddef.h>
#include <string.h>

#include "sampler/jvm/fields.h"
#include "sampler/jvm/flags.h"
#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/reading.h"
#include "sampler/jvm/signal/chunk.h"
#include "sampler/jvm/signal/vm.h"

enum {
    LOADERS_MAX = 1 << 18,
    CLASSES_MAX = 1 << 16,
    TRIES_MAX = 8, /* its classes may still come */
    OBJECT_MAX = 4096,
};

static struct fb_jvm_chunks_form form;
static unsigned tries;
static bool published;

/* Collectors that move nothing but while all threads stand. */
static const char *const still[] = {"UseSerialGC", "UseParallelGC", "UseG1GC", "UseEpsilonGC"};

static bool flag(const struct fb_self_read *reader, const char *name)
{
    bool value = false;

    return fb_jvm_flag_bool(reader, &fb_jvm.layout, name, &value) && value;
}

static bool packed_form(uint64_t base_at, uint64_t shift_at, uint64_t *ret_base,
                        uint32_t *ret_shift)
{
    return base_at != 0 && shift_at != 0 && fb_jvm_read_64(base_at, ret_base) &&
           fb_jvm_read_32(shift_at, ret_shift) && *ret_shift <= 16;
}

static bool objects_find(const struct fb_self_read *reader)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    bool is_still = false;
    int32_t at;

    for (size_t i = 0; i < sizeof still / sizeof still[0]; i++)
        is_still |= flag(reader, still[i]);
    if (!is_still || flag(reader, "UseCompactObjectHeaders"))
        return false;
    form.narrow_oops = flag(reader, "UseCompressedOops");
    form.narrow_classes = flag(reader, "UseCompressedClassPointers");
    at = form.narrow_classes ? l->object_narrow_class : l->object_class;
    form.class_at = (uint32_t)at;
    form.super_at = (uint32_t)l->klass_super;
    return at >= 0 && l->klass_super >= 0 &&
           (!form.narrow_oops ||
            packed_form(l->oop_base_at, l->oop_shift_at, &form.oop_base, &form.oop_shift)) &&
           (!form.narrow_classes ||
            packed_form(l->class_base_at, l->class_shift_at, &form.class_base, &form.class_shift));
}

static bool is_named(uint64_t class, const char *text)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    size_t n = strlen(text);
    uint64_t symbol;
    uint16_t length;
    uint8_t byte;

    if (!fb_jvm_field_64(class, l->klass_name, &symbol) || !fb_jvm_is_pointer(symbol) ||
        !fb_jvm_field_16(symbol, l->symbol_length, &length) || length != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!fb_jvm_read_8(symbol + (uint32_t)l->symbol_body + i, &byte) ||
            byte != (uint8_t)text[i])
            return false;
    return true;
}

/* The boot loader's is the first that was made and the last of the list. */
static bool boot_loader_find(uint64_t *ret_data)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint64_t next;

    if (l->loaders_at == 0 || !fb_jvm_read_64(l->loaders_at, &next))
        return false;
    for (unsigned i = 0; i < LOADERS_MAX && fb_jvm_is_pointer(next); i++) {
        *ret_data = next;
        if (!fb_jvm_field_64(next, l->loader_next, &next))
            return false;
        if (next == 0)
            return true;
    }
    return false;
}

static bool classes_find(void)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint64_t class;

    if (l->klass_next < 0 || !boot_loader_find(&class) ||
        !fb_jvm_field_64(class, l->loader_classes, &class))
        return false;
    for (unsigned i = 0; i < CLASSES_MAX && fb_jvm_is_pointer(class); i++) {
        if (is_named(class, "jdk/internal/vm/StackChunk"))
            form.chunk_class = class;
        else if (is_named(class, "jdk/internal/vm/Continuation"))
            form.continuation_class = class;
        if (form.chunk_class != 0 && form.continuation_class != 0)
            return true;
        if (!fb_jvm_field_64(class, l->klass_next, &class))
            return false;
    }
    return false;
}

static bool fields_find(void)
{
    static const char reference[] = "Ljdk/internal/vm/StackChunk;";
    uint64_t chunk = form.chunk_class;
    uint32_t bytes;

    form.has_arguments = !fb_jvm_field_find(chunk, "bottom", "I", &form.bottom_at);
    if ((form.has_arguments && !fb_jvm_field_find(chunk, "argsize", "I", &form.bottom_at)) ||
        !fb_jvm_field_find(chunk, "size", "I", &form.size_at) ||
        !fb_jvm_field_find(chunk, "sp", "I", &form.sp_at) ||
        !fb_jvm_field_find(chunk, "parent", reference, &form.parent_at) ||
        !fb_jvm_field_find(form.continuation_class, "tail", reference, &form.tail_at) ||
        !fb_jvm_field_32(chunk, fb_jvm.layout.klass_layout, &bytes) || bytes > OBJECT_MAX)
        return false;
    /* The lowest bits of an object's size are flags; the frames are behind all fields. */
    form.stack = bytes & ~7u;
    return form.stack > form.size_at && form.stack > form.sp_at && form.stack > form.bottom_at &&
           form.stack > form.parent_at;
}

void fb_jvm_chunks_look(const struct fb_self_read *reader)
{
    if (published || tries == TRIES_MAX || fb_jvm.layout.continuation_return_at == 0 ||
        !fb_jvm_may_read())
        return;
    tries++;
    published = objects_find(reader) && classes_find() && fields_find();
    if (published)
        fb_jvm_chunks_publish(&form);
}
