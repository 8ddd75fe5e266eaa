// A program of templates, lambdas and algorithms: most of its code is inlined somewhere.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace shop {

template <typename T> struct priced {
    T price;
    std::string name;
    explicit priced(T p) : price(p), name(std::to_string(p)) {}
    bool operator<(const priced &o) const { return price < o.price; }
    T with_tax(T rate) const { return price + price * rate / T(100); }
};

template <typename T, int N> T cheapest(std::vector<priced<T>> items)
{
    std::sort(items.begin(), items.end());
    T total{};
    std::for_each(items.begin(), items.begin() + std::min<size_t>(N, items.size()),
                  [&](const priced<T> &p) { total += p.with_tax(T(N)); });
    return total;
}

template <typename K, typename V> V sum_map(const std::map<K, V> &m)
{
    return std::accumulate(m.begin(), m.end(), V{}, [](V a, const auto &e) { return a + e.second; });
}

struct base {
    virtual ~base() = default;
    virtual int run(int n) const = 0;
};

template <int N> struct worker : base {
    int run(int n) const override
    {
        std::map<int, int> m;
        std::unordered_map<std::string, int> u;
        for (int i = 0; i < n; i++) {
            m[i % N] += i;
            u[std::to_string(i % (N + 3))]++;
        }
        auto fold = [&](auto &&f, int k) -> int { return k <= 0 ? 0 : f(f, k - 1) + m[k % N]; };
        return sum_map(m) + fold(fold, n) + int(u.size());
    }
};

using value = std::variant<int, double, std::string>;

static int weigh(const value &v)
{
    return std::visit(
        [](const auto &x) -> int {
            if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::string>)
                return int(x.size());
            else
                return int(x);
        },
        v);
}

template <typename... T> std::string join(const T &...parts)
{
    std::ostringstream out;
    ((out << parts << ','), ...);
    return out.str();
}

} // namespace shop

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 100;
    std::vector<std::unique_ptr<shop::base>> workers;
    std::vector<shop::priced<int>> ints;
    std::vector<shop::priced<double>> doubles;
    std::vector<shop::value> values{1, 2.5, std::string("three")};
    std::set<std::string> seen;
    std::function<int(int)> step = [&](int k) { return k * n; };

    workers.emplace_back(new shop::worker<3>);
    workers.emplace_back(new shop::worker<7>);
    workers.emplace_back(new shop::worker<11>);
    for (int i = 0; i < n; i++) {
        ints.emplace_back(i * 7919 % 1000);
        doubles.emplace_back(i * 0.5);
        seen.insert(shop::join(i, "x", i * 0.5));
    }
    long total = shop::cheapest<int, 5>(ints) + long(shop::cheapest<double, 9>(doubles));
    for (const auto &w : workers)
        total += w->run(n) + step(int(total));
    for (const auto &v : values)
        total += shop::weigh(v);
    std::printf("%ld %zu\n", total, seen.size());
    return 0;
}
