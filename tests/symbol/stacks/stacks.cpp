/*
 * The same for C++: templates, virtual functions, lambdas, std::function, algorithms, exceptions that are thrown, caught and
 * rethrown, destructors that run while the stack is unwound.
 */
#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static volatile int sink;

extern "C" __attribute__((noinline)) void stop_here(int n)
{
	__asm__ volatile("" : : "r"(n) : "memory");
	sink += n;
}

template <int N> struct deep {
	static __attribute__((noinline)) int go(int n) { return deep<N - 1>::go(n + N) + sink; }
};
template <> struct deep<0> {
	static __attribute__((noinline)) int go(int n) { stop_here(n); return n + sink; }
};

struct shape {
	virtual ~shape() {}
	virtual int area(int n) const = 0;
};
struct square : shape {
	int area(int n) const override { stop_here(n); return n * n + sink; }
};

struct guard {
	~guard() { stop_here(5); }
};

__attribute__((noinline)) static void thrower(int n)
{
	guard g;
	std::string text(static_cast<size_t>(n) + 40, 'x');
	if (n > 2)
		throw std::runtime_error(text);
	thrower(n + 1);
}

__attribute__((noinline)) static void rethrower()
{
	try {
		thrower(0);
	} catch (const std::exception &) {
		stop_here(6);
		throw;
	}
}

int main()
{
	std::vector<int> v = { 5, 3, 9, 1 };
	std::unique_ptr<shape> s(new square);
	std::function<int(int)> f = [&](int n) { stop_here(n); return n + sink; };

	sink += deep<6>::go(1);
	sink += s->area(sink % 7);
	sink += f(3);
	std::sort(v.begin(), v.end(), [](int a, int b) { stop_here(a); return a < b; });
	std::for_each(v.begin(), v.end(), f);
	try {
		rethrower();
	} catch (const std::runtime_error &e) {
		stop_here(static_cast<int>(std::string(e.what()).size()));
	}
	return 0;
}
