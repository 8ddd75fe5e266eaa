/* Opening ELF files through libelf, which checks every offset of theirs against the size. */
#include "symbolize/elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

/* SHN_LORESERVE sections and more exist, but not in anything that is mapped to run. */
enum { CODE_MAX = 4096, BUILD_ID_BYTES_MAX = 64 };

static char *hex(const unsigned char *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    char *text = fb_alloc(2 * n + 1);

    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * n] = 0;
    return text;
}

static int by_start(const void *a, const void *b)
{
    const struct fb_elf_code *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static void read_code(struct fb_elf_file *file)
{
    size_t room = 0;

    for (Elf_Scn *s = NULL; (s = elf_nextscn(file->elf, s)) && file->code_count < CODE_MAX;) {
        GElf_Shdr header;

        if (!gelf_getshdr(s, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
            !(header.sh_flags & SHF_ALLOC) || header.sh_size == 0 ||
            header.sh_size > UINT64_MAX - header.sh_addr)
            continue;
        fb_vec_reserve(&file->code, &room, file->code_count + 1, sizeof *file->code);
        file->code[file->code_count++] =
            (struct fb_elf_code){header.sh_addr, header.sh_addr + header.sh_size};
    }
    if (file->code_count > 0)
        qsort(file->code, file->code_count, sizeof *file->code, by_start);
}

/* The common end of all ways to open: reads what every user needs, or fails and frees. */
static enum fb_status finish(struct fb_elf_file *file, bool may_be_object,
                             struct fb_elf_file **ret_file, struct fb_err *err)
{
    GElf_Ehdr header;
    const void *id = NULL;
    ssize_t id_size;

    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header)) {
        fb_fail(err, FB_EFORMAT, "'%s' is no ELF file", file->path);
        fb_elf_file_close(file);
        return FB_EFORMAT;
    }
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN &&
        !(may_be_object && header.e_type == ET_REL)) {
        fb_fail(err, FB_EFORMAT, "'%s' is an ELF file, but no executable or shared library",
                file->path);
        fb_elf_file_close(file);
        return FB_EFORMAT;
    }
    file->machine = header.e_machine;
    id_size = dwelf_elf_gnu_build_id(file->elf, &id);
    if (id_size < 0 || id_size > BUILD_ID_BYTES_MAX)
        id_size = 0;
    file->build_id = hex(id, (size_t)id_size);
    read_code(file);
    *ret_file = file;
    return FB_OK;
}

static enum fb_status open_path(const char *path, bool may_be_object, struct fb_elf_file **ret_file,
                                struct fb_err *err)
{
    struct fb_elf_file *file;
    struct stat st;
    /* O_NONBLOCK: the path comes from a bank, and a FIFO must not hold us. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        bool missing = errno == ENOENT || errno == ENOTDIR;

        fb_fail_errno(err, "cannot open '%s'", path);
        return missing ? (err->status = FB_ENOTFOUND) : FB_EIO;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return fb_fail(err, FB_EFORMAT, "'%s' is no regular file", path);
    }
    file = fb_alloc(sizeof *file);
    file->path = fb_strdup(path);
    file->fd = fd;
    elf_version(EV_CURRENT);
    file->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    /* A program may have thousands of .dwo files: more than descriptors. */
    if (may_be_object && file->elf && elf_cntl(file->elf, ELF_C_FDREAD) == 0) {
        close(fd);
        file->fd = -1;
    }
    return finish(file, may_be_object, ret_file, err);
}

enum fb_status fb_elf_file_open(const char *path, struct fb_elf_file **ret_file, struct fb_err *err)
{
    return open_path(path, false, ret_file, err);
}

enum fb_status fb_elf_file_open_debug(const char *path, struct fb_elf_file **ret_file,
                                      struct fb_err *err)
{
    return open_path(path, true, ret_file, err);
}

enum fb_status fb_elf_file_take(void *image, size_t n, const char *name,
                                struct fb_elf_file **ret_file, struct fb_err *err)
{
    struct fb_elf_file *file = fb_alloc(sizeof *file);

    file->path = fb_strdup(name);
    file->fd = -1;
    file->image = image;
    elf_version(EV_CURRENT);
    file->elf = n > 0 ? elf_memory(image, n) : NULL;
    return finish(file, false, ret_file, err);
}

void fb_elf_file_close(struct fb_elf_file *file)
{
    if (!file)
        return;
    elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    free(file->image);
    free(file->build_id);
    free(file->code);
    free(file->path);
    free(file);
}

const struct fb_elf_code *fb_elf_file_code(const struct fb_elf_file *file, uint64_t address)
{
    for (size_t i = 0; i < file->code_count && file->code[i].start <= address; i++)
        if (address < file->code[i].end)
            return &file->code[i];
    return NULL;
}

static Elf_Scn *find_section(const struct fb_elf_file *file, const char *name,
                             GElf_Shdr *ret_header)
{
    size_t names;

    if (elf_getshdrstrndx(file->elf, &names) != 0)
        return NULL;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(file->elf, s));) {
        const char *own;

        if (gelf_getshdr(s, ret_header) &&
            (own = elf_strptr(file->elf, names, ret_header->sh_name)) && strcmp(own, name) == 0)
            return s;
    }
    return NULL;
}

bool fb_elf_file_address(const struct fb_elf_file *file, uint64_t offset, uint64_t *ret_address)
{
    size_t n;
    GElf_Phdr segment;

    if (elf_getphdrnum(file->elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
        if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            offset < segment.p_offset || offset - segment.p_offset >= segment.p_filesz)
            continue;
        *ret_address = segment.p_vaddr + (offset - segment.p_offset);
        return true;
    }
    return false;
}

bool fb_elf_file_section(const struct fb_elf_file *file, const char *name, GElf_Shdr *ret_header,
                         Elf_Data **ret_data)
{
    Elf_Scn *s = find_section(file, name, ret_header);

    if (!s || ret_header->sh_type == SHT_NOBITS)
        return false;
    /* Raw: no conversion of byte order, no view by section type. */
    *ret_data = elf_rawdata(s, NULL);
    return *ret_data && (*ret_data)->d_buf && (*ret_data)->d_size > 0;
}

bool fb_elf_file_has_section(const struct fb_elf_file *file, const char *name)
{
    GElf_Shdr header;

    return find_section(file, name, &header) != NULL;
}
