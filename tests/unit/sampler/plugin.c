/* plugin.c - a library to be loaded and unloaded: calls back below a frame of its own. */
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
