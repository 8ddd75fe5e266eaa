/* cfi.c - records and encodings of .eh_frame; its programs are run in cfi_run.c. */
#include "sampler/cfi.h"

#include "base/wire.h"
#include "sampler/cfi_read.h"

enum {
    PE_OMIT = 0xff,
    PE_FORMAT = 0x0f,
    PE_APPLY = 0x70,
    PE_PCREL = 0x10,
};

/* One record: [at, end) of the section, its body behind the length field. */
struct record {
    size_t at;
    size_t end;
    struct fb_wire_in in; /* the whole section up to end, at the id field */
};

enum record_kind { RECORD_END, RECORD_BAD, RECORD_GOOD };

static enum record_kind record_open(const struct fb_cfi *cfi, size_t at, struct record *ret_record)
{
    struct fb_wire_in in = {.data = cfi->bytes, .len = cfi->size, .pos = at};
    uint64_t length;

    if (at > cfi->size)
        return RECORD_END;
    length = fb_wire_get_le(&in, 4);
    if (in.bad || length == 0)
        return RECORD_END;
    if (length == 0xffffffff)
        length = fb_wire_get_le(&in, 8);
    if (in.bad || length > fb_wire_left(&in))
        return RECORD_END; /* nothing behind it can be found */
    ret_record->at = at;
    ret_record->end = in.pos + (size_t)length;
    in.len = ret_record->end;
    ret_record->in = in;
    return length < 4 ? RECORD_BAD : RECORD_GOOD;
}

uint64_t fb_cfi_read_pointer(const struct fb_cfi *cfi, struct fb_wire_in *in, uint8_t encoding)
{
    uint64_t here = cfi->address + in->pos;
    uint64_t value;

    switch (encoding & PE_FORMAT) {
    case 0x00:
    case 0x04:
    case 0x0c:
        value = fb_wire_get_le(in, 8);
        break;
    case 0x01:
        value = fb_cfi_read_uleb(in);
        break;
    case 0x02:
        value = fb_wire_get_le(in, 2);
        break;
    case 0x03:
        value = fb_wire_get_le(in, 4);
        break;
    case 0x09:
        value = (uint64_t)fb_cfi_read_sleb(in);
        break;
    case 0x0a:
        value = (uint64_t)(int64_t)(int16_t)fb_wire_get_le(in, 2);
        break;
    case 0x0b:
        value = (uint64_t)(int64_t)(int32_t)fb_wire_get_le(in, 4);
        break;
    default:
        in->bad = true;
        return 0;
    }
    if ((encoding & PE_APPLY) == PE_PCREL)
        value += here;
    else if ((encoding & PE_APPLY) != 0)
        in->bad = true;
    return value;
}

uint64_t fb_cfi_read_uleb(struct fb_wire_in *in)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte = fb_wire_get_u8(in);

        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    in->bad = true;
    return 0;
}

int64_t fb_cfi_read_sleb(struct fb_wire_in *in)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte = fb_wire_get_u8(in);

        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            if ((byte & 0x40) != 0 && shift + 7 < 64)
                value |= ~UINT64_C(0) << (shift + 7);
            return (int64_t)value;
        }
    }
    in->bad = true;
    return 0;
}

/* The fields that the letters behind 'z' announce; their bytes are skipped as a whole by the
 * caller, so an unknown letter only ends the reading of them. */
static void augmentation_read(const struct fb_cfi *cfi, struct fb_wire_in *in,
                              const uint8_t *letter, struct fb_cfi_cie *cie)
{
    for (; *letter != 0; letter++) {
        switch (*letter) {
        case 'R':
            cie->pointer_encoding = fb_wire_get_u8(in);
            break;
        case 'L':
            fb_wire_get_u8(in);
            break;
        case 'P':
            fb_cfi_read_pointer(cfi, in, fb_wire_get_u8(in) & PE_FORMAT);
            break;
        case 'S':
            cie->signal_frame = true;
            break;
        case 'B': /* return addresses are signed with key B: stripped either way */
        case 'G': /* memory tagging */
            break;
        default:
            return;
        }
    }
}

/* The string of letters; NULL and bad if it does not end inside the record. */
static const uint8_t *letters_read(struct fb_wire_in *in)
{
    const uint8_t *letters = in->data + in->pos;

    while (fb_wire_get_u8(in) != 0)
        ;
    return in->bad ? NULL : letters;
}

static uint64_t cie_id(const struct fb_cfi *cfi)
{
    return cfi->debug ? 0xffffffff : 0;
}

static bool cie_read(const struct fb_cfi *cfi, size_t at, struct fb_cfi_cie *ret_cie)
{
    struct fb_cfi_cie cie = {.at = at};
    struct record record;
    struct fb_wire_in *in = &record.in;
    const uint8_t *letters;
    uint8_t version;

    if (record_open(cfi, at, &record) != RECORD_GOOD || fb_wire_get_le(in, 4) != cie_id(cfi))
        return false;
    version = fb_wire_get_u8(in);
    letters = letters_read(in);
    if (letters == NULL || (version != 1 && version != 3 && version != 4))
        return false;
    if (version == 4) /* sizes of an address and of a segment selector */
        fb_wire_get_le(in, 2);
    cie.code_align = fb_cfi_read_uleb(in);
    cie.data_align = fb_cfi_read_sleb(in);
    cie.return_register = version == 1 ? fb_wire_get_u8(in) : fb_cfi_read_uleb(in);
    if (letters[0] == 'z') {
        uint64_t size = fb_cfi_read_uleb(in);
        struct fb_wire_in data = *in;

        cie.has_augmentation = true;
        if (fb_wire_get_bytes(in, (size_t)size) == NULL)
            return false;
        data.len = in->pos;
        augmentation_read(cfi, &data, letters + 1, &cie);
        if (data.bad)
            return false;
    } else if (letters[0] != 0) {
        return false;
    }
    cie.program = in->pos;
    cie.end = record.end;
    if (in->bad || cie.end - cie.program > FB_CFI_CIE_PROGRAM_MAX ||
        cie.pointer_encoding == PE_OMIT || cie.code_align > 256 || cie.data_align > 256 ||
        cie.data_align < -256)
        return false;
    cie.good = true;
    *ret_cie = cie;
    return true;
}

bool fb_cfi_cie_get(struct fb_cfi *cfi, size_t at)
{
    if (cfi->cie.good && cfi->cie.at == at)
        return true;
    cfi->cie.good = false;
    return cie_read(cfi, at, &cfi->cie);
}

/* The id of an FDE says where its CIE is: so far back, or in a .debug_frame its offset. */
static bool cie_locate(const struct fb_cfi *cfi, uint64_t id, size_t id_at, size_t *ret_cie)
{
    if (!cfi->debug && id > id_at)
        return false;
    *ret_cie = cfi->debug ? (size_t)id : id_at - (size_t)id;
    return true;
}

static bool fde_read(struct fb_cfi *cfi, struct record *record, uint64_t id, size_t id_at,
                     struct fb_cfi_fde *ret_fde)
{
    struct fb_wire_in *in = &record->in;
    uint64_t start;
    uint64_t length;
    size_t cie;

    if (!cie_locate(cfi, id, id_at, &cie) || !fb_cfi_cie_get(cfi, cie))
        return false;
    start = fb_cfi_read_pointer(cfi, in, cfi->cie.pointer_encoding);
    if (cfi->debug)
        start += cfi->bias;
    length = fb_cfi_read_pointer(cfi, in, cfi->cie.pointer_encoding & PE_FORMAT);
    if (cfi->cie.has_augmentation) {
        uint64_t size = fb_cfi_read_uleb(in);

        fb_wire_get_bytes(in, (size_t)size);
    }
    if (in->bad || start == 0 || length == 0 || length > UINT64_MAX - start)
        return false;
    ret_fde->start = start;
    ret_fde->end = start + length;
    ret_fde->cie = cfi->cie.at;
    ret_fde->program = in->pos;
    ret_fde->program_end = record->end;
    return true;
}

bool fb_cfi_cie_of(const struct fb_cfi *cfi, size_t at, size_t *ret_cie)
{
    struct record record;
    size_t id_at;
    uint64_t id;

    if (record_open(cfi, at, &record) != RECORD_GOOD)
        return false;
    id_at = record.in.pos;
    id = fb_wire_get_le(&record.in, 4);
    return id != cie_id(cfi) && cie_locate(cfi, id, id_at, ret_cie);
}

bool fb_cfi_at(struct fb_cfi *cfi, size_t at, struct fb_cfi_fde *ret_fde)
{
    struct record record;
    size_t id_at;
    uint64_t id;

    if (record_open(cfi, at, &record) == RECORD_GOOD) {
        id_at = record.in.pos;
        id = fb_wire_get_le(&record.in, 4);
        if (id != cie_id(cfi) && fde_read(cfi, &record, id, id_at, ret_fde))
            return true;
    }
    cfi->bad_records++;
    return false;
}

bool fb_cfi_next(struct fb_cfi *cfi, struct fb_cfi_fde *ret_fde)
{
    size_t at;

    return fb_cfi_next_at(cfi, &at, ret_fde);
}

bool fb_cfi_next_at(struct fb_cfi *cfi, size_t *ret_at, struct fb_cfi_fde *ret_fde)
{
    struct record record;
    enum record_kind kind;

    while ((kind = record_open(cfi, cfi->pos, &record)) != RECORD_END) {
        size_t id_at = record.in.pos;
        uint64_t id;

        cfi->pos = record.end;
        if (kind == RECORD_BAD) {
            cfi->bad_records++;
            continue;
        }
        id = fb_wire_get_le(&record.in, 4);
        if (id == cie_id(cfi))
            continue; /* a CIE: read when an FDE asks for it */
        *ret_at = record.at;
        if (fde_read(cfi, &record, id, id_at, ret_fde))
            return true;
        cfi->bad_records++;
    }
    return false;
}
