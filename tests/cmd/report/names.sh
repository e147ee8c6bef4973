# Samples that had other names: pid and tgid show the last one of the thread and of its process, also
# where no sample had that; comm the one of each sample. perf shows the same.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
cat >w.c <<'C'
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
static void touch(const char *name, long pages) {
	prctl(PR_SET_NAME, name);
	char *p = mmap(0, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, pages * 4096, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		p[i * 4096] = 1;
}
static void *other(void *arg) { touch("helper", 700); prctl(PR_SET_NAME, "helped"); return arg; }
int main(void) {
	pthread_t t;
	touch("early", 1000);
	touch("later", 2000);
	pthread_create(&t, 0, other, 0);
	pthread_join(t, 0);
	prctl(PR_SET_NAME, "in-the-end");
}
C
record() {
	cc -O1 -pthread -o w w.c
	live_perf record -q -e page-faults:u -c 10 -o file ./w
}
stored file record
for keys in pid comm,pid comm; do
	perf report --stdio -i file -s $keys 2>/dev/null | grep '^ .*%' | tr -s ' ' | sort >perf.txt
	tacho report --stdio -i file -s $keys | grep '^ .*%' | tr -s ' ' | sort >own.txt
	diff perf.txt own.txt || fail "-s $keys: not the same"
done
[ "$(tacho report --stdio -i file -s pid | grep -c '[0-9]:\(in-the-end\|helped\) *$')" = 2 ] || fail "pid"
[ "$(tacho report --stdio -i file -s tgid | grep '%' | sed 's/.*[0-9]:\([a-z-]*\) *$/\1/')" = in-the-end ] ||
	fail "tgid: $(tacho report --stdio -i file -s tgid)"
