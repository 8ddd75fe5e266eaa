/* plugin.c - a library to be loaded and unloaded: calls back below a frame of its own.
 *
 * Also compiled without .eh_frame, with .debug_frame alone: then what is written by hand is too. */
__attribute__((visibility("default"))) unsigned plugin_call(unsigned depth, void (*leaf)(void));

__attribute__((noinline)) unsigned plugin_call(unsigned depth, void (*leaf)(void))
{
    volatile char room[40];

    room[depth % 40] = (char)depth;
    if (depth == 0)
        leaf();
    else
        plugin_call(depth - 1, leaf);
    return (unsigned)room[depth % 40];
}

#if defined(__x86_64__)
/* Has no frame pointer, and keeps rbp's place for other things. */
__asm__(".text\n.globl plugin_by_hand\n.type plugin_by_hand, @function\nplugin_by_hand:\n"
        ".cfi_startproc\n\tpushq %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbp, 0\n"
        "\tsubq $48, %rsp\n.cfi_adjust_cfa_offset 48\n\txorl %ebp, %ebp\n\tcall *%rsi\n"
        "\taddq $48, %rsp\n.cfi_adjust_cfa_offset -48\n\tpopq %rbp\n"
        ".cfi_adjust_cfa_offset -8\n.cfi_restore rbp\n\txorl %eax, %eax\n\tret\n"
        ".cfi_endproc\n.size plugin_by_hand, . - plugin_by_hand\n");
#endif
