/* image.c - program headers to segments, notes and .eh_frame. */
#include "sampler/image.h"

#include <string.h>
#include <sys/auxv.h>

#include "base/wire.h"
#include "sampler/cfi_read.h"
#include "sampler/table.h"

enum {
    NOTE_BYTES_MAX = 4096, /* of one note segment */
    VDSO_TEXT_MAX = 16384,
    READ_ROUND = 256 << 10,
    PE_OMIT = 0xff,
    PE_DATAREL = 0x30,
    PE_APPLY = 0x70,
};

static void range_add(uint64_t *start, uint64_t *end, uint64_t from, uint64_t to)
{
    if (*end == *start) {
        *start = from;
        *end = to;
        return;
    }
    if (from < *start)
        *start = from;
    if (to > *end)
        *end = to;
}

bool fb_image_locate(const ElfW(Phdr) * phdrs, size_t count, uint64_t bias,
                     struct fb_image *ret_image)
{
    struct fb_image image = {.bias = bias};

    for (size_t i = 0; i < count; i++) {
        uint64_t from = bias + phdrs[i].p_vaddr;
        uint64_t to = from + phdrs[i].p_memsz;

        if (to <= from)
            continue;
        if (phdrs[i].p_type == PT_LOAD)
            range_add(&image.start, &image.end, from, to);
        if (phdrs[i].p_type == PT_LOAD && (phdrs[i].p_flags & PF_X) != 0)
            range_add(&image.text_start, &image.text_end, from, to);
        if (phdrs[i].p_type == PT_GNU_EH_FRAME) {
            image.eh_hdr = from;
            image.eh_hdr_size = phdrs[i].p_memsz;
        }
    }
    *ret_image = image;
    return image.end > image.start;
}

/* Looks through the notes of one segment; align is 4 or 8. */
static bool notes_search(struct fb_image *image, const uint8_t *bytes, size_t size, size_t align)
{
    struct fb_wire_in in = {.data = bytes, .len = size};

    while (fb_wire_left(&in) >= 12) {
        size_t name_size = (size_t)fb_wire_get_le(&in, 4);
        size_t desc_size = (size_t)fb_wire_get_le(&in, 4);
        uint64_t type = fb_wire_get_le(&in, 4);
        size_t name_padded = (name_size + 3) & ~(size_t)3;
        const uint8_t *name = fb_wire_get_bytes(&in, name_padded);
        const uint8_t *desc;

        if (align == 8 && in.pos % 8 != 0)
            fb_wire_get_bytes(&in, 8 - in.pos % 8);
        desc = fb_wire_get_bytes(&in, desc_size);
        if (name == NULL || desc == NULL)
            return false;
        if (type == NT_GNU_BUILD_ID && name_size == 4 && memcmp(name, "GNU", 4) == 0 &&
            desc_size <= sizeof image->build_id) {
            memcpy(image->build_id, desc, desc_size);
            image->build_id_size = desc_size;
            return true;
        }
        if (in.pos % align != 0)
            fb_wire_get_bytes(&in, align - in.pos % align);
    }
    return false;
}

void fb_image_build_id_read(struct fb_image *image, const ElfW(Phdr) * phdrs, size_t count,
                            const struct fb_self_read *reader)
{
    uint8_t bytes[NOTE_BYTES_MAX];

    for (size_t i = 0; i < count; i++) {
        size_t size = phdrs[i].p_memsz < sizeof bytes ? phdrs[i].p_memsz : sizeof bytes;

        if (phdrs[i].p_type != PT_NOTE)
            continue;
        size = fb_self_read(reader, image->bias + phdrs[i].p_vaddr, bytes, size);
        if (notes_search(image, bytes, size, phdrs[i].p_align == 8 ? 8 : 4))
            return;
    }
}

/* Where .eh_frame starts, from the first bytes of .eh_frame_hdr; 0 if it does not say. */
static uint64_t eh_frame_find(const struct fb_image *image, const struct fb_self_read *reader)
{
    uint8_t bytes[16];
    size_t size = image->eh_hdr_size < sizeof bytes ? image->eh_hdr_size : sizeof bytes;
    struct fb_cfi cfi = {.bytes = bytes, .address = image->eh_hdr};
    struct fb_wire_in in = {.data = bytes, .pos = 4};
    uint8_t encoding;
    uint64_t address;

    in.len = fb_self_read(reader, image->eh_hdr, bytes, size);
    if (in.len < 8 || bytes[0] != 1 || bytes[1] == PE_OMIT)
        return 0;
    encoding = bytes[1];
    if ((encoding & PE_APPLY) == PE_DATAREL) {
        encoding &= (uint8_t)~PE_APPLY;
        address = image->eh_hdr + fb_cfi_read_pointer(&cfi, &in, encoding);
    } else {
        address = fb_cfi_read_pointer(&cfi, &in, encoding);
    }
    return in.bad ? 0 : address;
}

static uint64_t segment_end(const ElfW(Phdr) * phdrs, size_t count, uint64_t bias, uint64_t address)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t from = bias + phdrs[i].p_vaddr;

        if (phdrs[i].p_type == PT_LOAD && address >= from && address - from < phdrs[i].p_memsz)
            return from + phdrs[i].p_memsz;
    }
    return address;
}

bool fb_image_eh_frame_find(const struct fb_image *image, const ElfW(Phdr) * phdrs, size_t count,
                            const struct fb_self_read *reader, uint64_t *ret_address,
                            uint64_t *ret_room)
{
    *ret_address = image->eh_hdr != 0 ? eh_frame_find(image, reader) : 0;
    *ret_room = segment_end(phdrs, count, image->bias, *ret_address) - *ret_address;
    return *ret_address != 0 && *ret_room > 0;
}

/* Follows the length fields in the bytes read so far: the end of the section if its terminator is
 * among them, else 0 and *pos at the record that is not whole yet. */
static size_t terminator_find(const uint8_t *bytes, size_t size, size_t *pos)
{
    while (size - *pos >= 4) {
        uint64_t length = fb_wire_load_le(bytes + *pos, 4);
        size_t head = 4;

        if (length == 0)
            return *pos + 4;
        if (length == 0xffffffff) {
            if (size - *pos < 12)
                return 0;
            length = fb_wire_load_le(bytes + *pos + 4, 8);
            head = 12;
        }
        if (length > size - *pos - head)
            return 0;
        *pos += head + (size_t)length;
    }
    return 0;
}

bool fb_image_eh_frame_read(const struct fb_image *image, const ElfW(Phdr) * phdrs, size_t count,
                            const struct fb_self_read *reader, struct fb_pages *ret_pages,
                            struct fb_cfi *ret_cfi)
{
    struct fb_pages pages = {0};
    uint64_t address;
    uint64_t room;
    size_t size = 0;
    size_t pos = 0;
    size_t end = 0;

    if (!fb_image_eh_frame_find(image, phdrs, count, reader, &address, &room))
        return false;
    if (room > FB_IMAGE_EH_FRAME_MAX)
        room = FB_IMAGE_EH_FRAME_MAX;
    while (end == 0 && size < room) {
        size_t ask = room - size < READ_ROUND ? (size_t)room - size : READ_ROUND;
        size_t got;

        if (!fb_pages_reserve(&pages, size + ask))
            break;
        got = fb_self_read(reader, address + size, (uint8_t *)pages.data + size, ask);
        size += got;
        end = terminator_find(pages.data, size, &pos);
        if (got < ask)
            break;
    }
    if (end == 0)
        end = pos; /* no terminator: the whole records */
    if (end == 0) {
        fb_pages_free(&pages);
        return false;
    }
    *ret_pages = pages;
    *ret_cfi = (struct fb_cfi){
        .bytes = pages.data, .size = end, .address = address, .machine = FB_MACHINE_HOST};
    return true;
}

uint64_t fb_image_trampoline_find(const struct fb_image *image, const struct fb_self_read *reader)
{
    uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
    uint8_t code[VDSO_TEXT_MAX];
    uint64_t size = image->text_end - image->text_start;
    size_t at;

    if (FB_MACHINE_HOST != FB_MACHINE_AARCH64 || vdso < image->start || vdso >= image->end)
        return 0;
    size = fb_self_read(reader, image->text_start, code, size < sizeof code ? size : sizeof code);
    at = fb_table_trampoline_search(code, size);
    return at < size ? image->text_start + at : 0;
}
