# A thread's last switch comes when it has no id any more: the kernel says -1.
. "$SUPPORT/lib.sh"
"$TEST_BIN/make-samples" dead dead.data
tacho script -i dead.data -F pid,tid,time | sed 2q
tacho report --stdio -q -i dead.data -n -s tid,tgid | sed '/./!d; s/ *$//'
tacho report --stdio -q -i dead.data -n -s pid | sed '/./!d; s/ *$//'
tacho report --json -i dead.data -s tid | grep '"tid": -1,'
