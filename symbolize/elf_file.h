/* elf_file.h - one opened ELF file: its build ID and its sections of code.
 *
 *     r = fb_elf_file_open("/usr/lib/libz.so.1", &file, err);
 *     ... file->build_id, file->code ...
 *     fb_elf_file_close(file);
 *
 * Everything that is borrowed from it (names, section data) dies with it.  Executables and shared
 * libraries only, of any class and byte order.  The file is mapped, not read: pages that nobody
 * asks for cost nothing. */
#ifndef FB_SYMBOLIZE_ELF_FILE_H
#define FB_SYMBOLIZE_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct fb_elf_code { /* an executable section, [start, end) in ELF virtual addresses */
    uint64_t start, end;
};

struct fb_elf_file {
    char *path; /* as it was opened                          */
    int fd;     /* -1: from memory, or of debug data only    */
    Elf *elf;
    void *image;    /* owned bytes of a file from memory         */
    char *build_id; /* lower-case hex, "" none                   */
    uint16_t machine;
    struct fb_elf_code *code; /* by start                                  */
    size_t code_count;
};

/* *ret_file is yours.  FB_ENOTFOUND: there is no such file; FB_EFORMAT: no ELF file of ours. */
enum fb_status fb_elf_file_open(const char *path, struct fb_elf_file **ret_file,
                                struct fb_err *err);

/* The same for a file that only holds debug data of another, which may be an object file (.dwo). */
enum fb_status fb_elf_file_open_debug(const char *path, struct fb_elf_file **ret_file,
                                      struct fb_err *err);

/* The same from n bytes of malloc()ed memory, which become the file's (freed also on failure). */
enum fb_status fb_elf_file_take(void *image, size_t n, const char *name,
                                struct fb_elf_file **ret_file, struct fb_err *err);

void fb_elf_file_close(struct fb_elf_file *file);

/* The section of code that holds the address, or NULL. */
const struct fb_elf_code *fb_elf_file_code(const struct fb_elf_file *file, uint64_t address);

/* The ELF virtual address that a byte of the file is loaded at; false where it is in no segment. */
bool fb_elf_file_address(const struct fb_elf_file *file, uint64_t offset, uint64_t *ret_address);

/* The first section of that name that has bytes in this file; false if there is none.
 * *ret_data is borrowed, its d_buf not NULL. */
bool fb_elf_file_section(const struct fb_elf_file *file, const char *name, GElf_Shdr *ret_header,
                         Elf_Data **ret_data);

/* Whether a section of that name is there, with or without bytes. */
bool fb_elf_file_has_section(const struct fb_elf_file *file, const char *name);

#endif
