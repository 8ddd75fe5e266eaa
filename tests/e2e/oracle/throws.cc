// throws.cc - C++ that throws all the time, from below frames with things to destroy.
#include <ctime>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct holder {
    std::string text;
    explicit holder(unsigned n) : text(std::to_string(n) + " is held") {}
    ~holder() { text.clear(); }
};

__attribute__((noinline)) unsigned thrower(unsigned depth, unsigned n)
{
    holder h(n);

    if (depth == 0)
        throw std::runtime_error(h.text);
    return thrower(depth - 1, n + 1) + static_cast<unsigned>(h.text.size());
}

__attribute__((noinline)) unsigned catcher(unsigned n)
{
    try {
        return thrower(n % 12, n);
    } catch (const std::exception &e) {
        return static_cast<unsigned>(std::string(e.what()).size());
    }
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? std::atof(argv[1]) : 1;
    std::map<std::string, std::vector<unsigned>> seen;
    unsigned n = 0;

    while (static_cast<double>(std::clock()) / CLOCKS_PER_SEC < seconds)
        for (int i = 0; i < 200; i++) {
            auto &v = seen[std::to_string(n % 1000)];

            v.push_back(catcher(n++));
            if (v.size() > 100)
                v.clear();
        }
    return 0;
}
