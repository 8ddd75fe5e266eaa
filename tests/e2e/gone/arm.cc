// An arm in its own folder: ROUNDS of work in a function of the program and one of its library.
#include <cstdint>
#include <cstdlib>

extern "C" uint64_t library_work(uint64_t rounds);

namespace shop {
template <typename T> struct Cart {
    __attribute__((noinline)) static T total(T rounds)
    {
        volatile T sum = 0;

        for (T i = 0; i < rounds; i++)
            sum = sum + (i ^ sum);
        return sum;
    }
};
} // namespace shop

int main(int argc, char **argv)
{
    uint64_t own = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1;
    uint64_t library = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1;

    return shop::Cart<uint64_t>::total(own) + library_work(library) == 1;
}
