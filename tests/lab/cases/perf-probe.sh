# proves: perf's own tests of `perf probe` pass when tacho is called perf: options, ranges, blacklisted functions, kprobes that
# proves: are added, listed, counted, recorded and removed
# guest: arch=amd64 kernel=sid memory=1024 perf-tests=yes

mount -t debugfs none /sys/kernel/debug
export PATH=/perf-bin:$PATH TESTLOG_VERBOSITY=1
cd /perf-tests
bash ./perftool-testsuite_probe.sh >/out/log 2>&1 || true
tr -d '\033' </out/log | grep -c '\-\- \[ PASS' | sed 's/^[4-9][0-9]$/more than 40/'
# Two of them need debug information of the kernel; without it they fail for perf itself, which fails one more.
tr -d '\033' </out/log | grep '\-\- \[ FAIL' | grep -v -e ':: perf probe -l' -e 'non-existing variable' || true
tr -d '\033' </out/log | grep -o '## \[ PASS \] ##.*SUMMARY'
cat /sys/kernel/tracing/kprobe_events | wc -l
