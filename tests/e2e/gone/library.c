/* The library's work is in a function that it does not export. */
#include <stdint.h>

uint64_t library_work(uint64_t rounds);

__attribute__((noinline)) static uint64_t hidden_work(uint64_t rounds)
{
    volatile uint64_t sum = 0;

    for (uint64_t i = 0; i < rounds; i++)
        sum = sum + (i ^ sum);
    return sum;
}

uint64_t library_work(uint64_t rounds)
{
    return hidden_work(rounds) + 1;
}
