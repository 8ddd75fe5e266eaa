/* stack.c - what signal_safe.py must refuse: more stack than the budget, in a chain. */
int bad_deep(int n);

__attribute__((noinline)) static int bad_middle(int n)
{
    volatile char room[3000];

    room[n % 3000] = 1;
    return room[0];
}

int bad_deep(int n)
{
    volatile char room[3000];

    room[n % 3000] = 1;
    return bad_middle(n) + room[1];
}
