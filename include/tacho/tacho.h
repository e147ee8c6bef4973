/* Everything of libtacho. */
#ifndef TACHO_TACHO_H
#define TACHO_TACHO_H

#include <tacho/auxtrace.h>
#include <tacho/blockio.h>
#include <tacho/bpf.h>
#include <tacho/common.h>
#include <tacho/datatype.h>
#include <tacho/doctor.h>
#include <tacho/event.h>
#include <tacho/eventlist.h>
#include <tacho/evset.h>
#include <tacho/ftrace.h>
#include <tacho/jit.h>
#include <tacho/kernel.h>
#include <tacho/kmem.h>
#include <tacho/kvm.h>
#include <tacho/kwork.h>
#include <tacho/lock.h>
#include <tacho/metric.h>
#include <tacho/output.h>
#include <tacho/perfdata.h>
#include <tacho/probe.h>
#include <tacho/profile.h>
#include <tacho/profiler.h>
#include <tacho/record.h>
#include <tacho/recorder.h>
#include <tacho/region.h>
#include <tacho/report.h>
#include <tacho/sampler.h>
#include <tacho/sched.h>
#include <tacho/symbol.h>
#include <tacho/syscall.h>
#include <tacho/system.h>
#include <tacho/task_watch.h>
#include <tacho/timechart.h>
#include <tacho/trace.h>
#include <tacho/unwind.h>
#include <tacho/view.h>

#endif
