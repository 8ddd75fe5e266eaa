/* bench_unwind_rules.c - how much of the call frame information of real files is a rule of ours.
 *
 *     bench_unwind_rules FILE...
 *
 * For each: FDEs, those with a row that no rule expresses, by what is in the
 * way, and the CPU time that running all of them takes. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sampler/cfi.h"

struct count {
    unsigned rows;
    unsigned none; /* rows without a rule */
    uint64_t first;
};

static void on_row(void *ctx, uint64_t pc, const struct fb_rule *rule)
{
    struct count *count = ctx;

    count->rows++;
    if (rule->cfa != FB_CFA_NONE)
        return;
    if (count->none++ == 0)
        count->first = pc;
}

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void section_run(const char *path, struct fb_cfi *cfi)
{
    struct fb_cfi_fde fde;
    unsigned fdes = 0;
    unsigned bad = 0;
    unsigned rows = 0;
    unsigned none = 0;
    uint64_t first = 0;
    double start = cpu_ms();

    while (fb_cfi_next(cfi, &fde)) {
        struct count count = {0};

        fb_cfi_run(cfi, &fde, on_row, &count);
        fdes++;
        bad += count.none > 0;
        rows += count.rows;
        none += count.none;
        if (first == 0)
            first = count.first;
    }
    printf("%-22s %7u FDEs, %5.2f %% with a row that is no rule; %8u rows, %7.4f %%; %6.1f ms",
           strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path, fdes,
           fdes > 0 ? 100.0 * bad / fdes : 0.0, rows, rows > 0 ? 100.0 * none / rows : 0.0,
           cpu_ms() - start);
    if (bad > 0)
        printf(" (first at %lx)", (unsigned long)first);
    printf("\n");
}

static void file_run(const char *path, const uint8_t *bytes, size_t size)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)bytes;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(bytes + header->e_shoff);
    const Elf64_Shdr *names = &sections[header->e_shstrndx];

    for (unsigned i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i];
        struct fb_cfi cfi = {.bytes = bytes + s->sh_offset,
                             .size = s->sh_size,
                             .address = s->sh_addr,
                             .machine = header->e_machine == EM_AARCH64 ? FB_MACHINE_AARCH64
                                                                        : FB_MACHINE_X86_64};

        if (s->sh_type != SHT_NOBITS && s->sh_offset + s->sh_size <= size &&
            strcmp((const char *)bytes + names->sh_offset + s->sh_name, ".eh_frame") == 0)
            section_run(path, &cfi);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
        struct stat st;
        void *bytes = MAP_FAILED;

        if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(Elf64_Ehdr))
            bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED || memcmp(bytes, ELFMAG, SELFMAG) != 0)
            printf("%s: not here, not read\n", argv[i]);
        else
            file_run(argv[i], bytes, (size_t)st.st_size);
        if (bytes != MAP_FAILED)
            munmap(bytes, (size_t)st.st_size);
        if (fd >= 0)
            close(fd);
    }
    return 0;
}
