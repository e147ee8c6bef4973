#ifndef TACHO_JIT_H
#define TACHO_JIT_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * The maps of running JIT compilers, /tmp/perf-PID.map: names and addresses of the functions that they have compiled.
 * Some runtimes write them as they compile. A Java virtual machine (HotSpot), of Java 17 or later, does so if it is
 * asked to, by the protocol that jcmd speaks. In a container, /tmp and PID are those of the container.
 */

/* Whether the process can be asked: it has libjvm.so mapped, and HotSpot's thread that handles SIGQUIT. Returns 1, 0, or
 * a negative errno with a sentence in *e: -ESRCH, -EACCES, or -EOPNOTSUPP if it is a JVM that refuses to be attached to. */
TACHO_API int tacho_jvm_check(int pid, struct tacho_error *e);

/* Calls `fn` for each process for which tacho_jvm_check() returns 1. If `fn` returns non-zero, stops and returns that;
 * otherwise 0 or a negative errno. */
TACHO_API int tacho_jvm_each(int (*fn)(void *arg, int pid), void *arg);

/* Asks a JVM to write its map, and waits until it is written. The signal SIGQUIT, which starts HotSpot's listener, is
 * only sent to a process that tacho_jvm_check() accepts. Needs the JVM's user or root. Returns 0, or a negative errno with
 * a sentence in *e: -ENOTSUP if its Java is older than 17, -ETIMEDOUT, -EACCES, -EPERM, -ESRCH ... */
TACHO_API int tacho_jvm_write_map(int pid, unsigned timeout_ms, struct tacho_error *e);

/* Copies the map of a process that has another root directory or pid namespace to /tmp/perf-PID.map, where it is found
 * after the process has ended. Returns 1 if it was copied; 0 if there is no map, it has not changed since it was copied, or
 * the process writes it there by itself; or a negative errno with a sentence in *e: -EACCES, -EPERM if the map belongs to
 * somebody else ... */
TACHO_API int tacho_jit_fetch_map(int pid, struct tacho_error *e);

TACHO_END_DECLS
#endif
