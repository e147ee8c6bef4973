# Both collectd examples: two sets of the second generation, one of the first, CPUs that do not exist.
tacho config import "$TEST_DATA/config/collectd-1.conf" |
	grep -v '^	{ label = "[0-9]*", cpus = "[0-9]*" },$' | sed -n '/^\[\[source/,$p'
echo ---
tacho config import "$TEST_DATA/config/collectd-2.conf" | sed -n '/^\[\[source/,$p'
