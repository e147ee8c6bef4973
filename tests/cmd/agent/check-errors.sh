# A misspelt event, too many file descriptors, an invalid configuration.
. "$SUPPORT/lib.sh"
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
printf '[[source]]\nname = "a"\nevents = ["page-fautls", "page-faults"]\n' >tacho.toml
tacho agent --check -c tacho.toml >out && exit 1 || [ $? = 1 ]
grep 'page-fa' out
printf '[agent]\nmax_fds = 3\n' >tacho.toml
tacho agent --check -c tacho.toml >out && exit 1 || [ $? = 1 ]
grep 'error' out
tacho agent --check -c /dev/null --set profile.event=cylces >out && exit 1 || [ $? = 1 ]
grep 'error' out
tacho agent --check --listen nowhere || [ $? = 1 ]
tacho agent --check --set agent.listen= || [ $? = 1 ]
tacho agent --check -c none || [ $? = 1 ]
cat >tacho.toml <<'END'
[[source]]
name = "x"
events = ["page-faults"]
[[trigger]]
name = "faults"
when = "rate(page-faults) > 1000"
END
tacho agent --check -c tacho.toml | grep '^trigger'
