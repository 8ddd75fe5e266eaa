/* heap.c - what signal_safe.py must refuse: the heap, reached without sigsafe.h. */
#include <stdlib.h>

void *bad_heap(void);

void *bad_heap(void)
{
    return malloc(16);
}
