# proves: variables and members in a module by its debug information, at the entry, on a line and on return
# proves: the addresses in the definitions are right wherever the module was loaded
# guest: arch=amd64 kernel=bookworm libdw=yes
# modules: probe_lab

load probe_lab
file=/modules/probe_lab.ko
parameter=/sys/module/probe_lab/parameters/item
tacho probe -m $file -D 'lab_take item->value count'
tacho probe -q -m $file 'entry=lab_take count item->value item->name:string item->small item->large'
tacho probe -q -m $file 'back=lab_take%return $retval:s32'
# A line where the variable can be read, as -V says it.
line=$(tacho probe -m $file -V lab_take | sed -n 's/.*	sum	(.*can be read at line \([0-9]*\))/\1/p')
tacho probe -q -m $file "line=lab_take:${line:-0} sum" 2>/dev/null && echo 'a local variable on a line'
tacho record -q -e 'probe:*' -o p.data sh -c "echo 41 >$parameter"
tacho script -i p.data -F event,trace | sed 's/^ *//; s/  */ /g; s/([0-9a-f]*)/(ADDRESS)/; s/([0-9a-f]* <- [0-9a-f]*)/(TO <- FROM)/'
cat $parameter
tacho probe -l | sed 's/^ *//; s/  */ /g' | grep -v line
tacho probe -q -d '*'
cat /sys/kernel/tracing/kprobe_events | wc -l
