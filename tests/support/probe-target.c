/*
 * A program to probe: functions whose calls are known, and static probes with and without a semaphore, as the macros of
 * sys/sdt.h make them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOTE(provider, name, semaphore, args)                                                      \
	".pushsection .note.stapsdt,\"?\",\"note\"\n"                                              \
	".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"                                              \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n"                                                \
	"993: .8byte 990b, _.stapsdt.base, " semaphore "\n"                                        \
	".asciz \"" provider "\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n"                      \
	"994: .balign 4\n.popsection\n"                                                            \
	".ifndef _.stapsdt.base\n"                                                                 \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                    \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"                 \
	".size _.stapsdt.base, 1\n.popsection\n.endif\n"

__attribute__((section(".probes"), used)) volatile uint16_t work_semaphore;

__attribute__((noinline)) int add(int a, int b)
{
	__asm__ volatile("" ::: "memory");
	return a + b;
}

__attribute__((noinline)) const char *greet(const char *name)
{
	__asm__ volatile("" ::: "memory");
	return name;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5;

	for (int i = 0; i < n; i++) {
		add(i, 2 * i);
		__asm__ volatile("990: nop\n" NOTE("demo", "plain", "0", "-4@%0 8@$7") ::"r"(i));
		if (work_semaphore)
			__asm__ volatile("990: nop\n" NOTE("demo", "counted", "work_semaphore", "-4@%0") ::"r"(i));
	}
	__asm__ volatile("990: nop\n" NOTE("demo", "plain", "0", "-4@%0 8@$8") ::"r"(n));
	greet(argv[0]);
	printf("%u\n", (unsigned)work_semaphore);
	return 0;
}
