# A recording of accesses to memory, from a writer that shares no code with tacho: `. "$SUPPORT/memory.sh"`, after
# stored.sh. Makes ./m and mem.data.
stored_c_program m -g "-fdebug-prefix-map=$PWD=/nowhere/src" <<'C'
#define NI __attribute__((noinline))
volatile long counters[24] __attribute__((aligned(64))) = { 1 };
volatile long table[4096] = { 1 };
NI long reader(int i) { return counters[i] + table[i]; }
NI void writer(int i) { counters[i]++; table[i] = i; }
void work(const char *how) { for (int i = 0; i < 24; i++) { writer(i); reader(i); } (void)how; }
C
stored mem.data "$SUPPORT/memory-recording" "$PWD/m" mem.data
