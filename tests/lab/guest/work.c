/*
 * work [N [M]]: a program whose instructions are known. hot() runs a loop of N (ten million) rounds
 * of two instructions, cold() one of M (a quarter of N) rounds; nothing else takes time. `middle`
 * calls both, so that call chains have a depth.
 */
#include <stdint.h>
#include <stdlib.h>

#if defined(__aarch64__)
#define LOOP "1: subs %0, %0, #1\n\tb.ne 1b"
#elif defined(__x86_64__)
#define LOOP "1: sub $1, %0\n\tjne 1b"
#else
#error "no loop for this machine"
#endif

__attribute__((noinline)) static void hot(uint64_t rounds)
{
	__asm__ volatile(LOOP : "+r"(rounds) : : "cc");
}

__attribute__((noinline)) static void cold(uint64_t rounds)
{
	__asm__ volatile(LOOP : "+r"(rounds) : : "cc");
}

__attribute__((noinline)) static void middle(uint64_t n, uint64_t m)
{
	hot(n);
	cold(m);
	__asm__ volatile("");	/* no tail call */
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
	uint64_t m = argc > 2 ? strtoull(argv[2], NULL, 10) : n / 4;

	if (n && m)
		middle(n, m);
	return 0;
}
