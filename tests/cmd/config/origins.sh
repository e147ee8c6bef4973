# The origin of each value: the file, its includes, the environment, --set; the rest is default.
mkdir conf.d
printf '[profile]\nfrequency = 99\n' >conf.d/profile.toml
cat >tacho.toml <<'END'
include = ["conf.d/*.toml"]
[agent]
listen = ["${ADDRESS:-127.0.0.1:9999}"]
token = "geheim"
[[source]]
name = "all"
events = ["page-faults"]
END
tacho config show -c tacho.toml --set source.all.interval=10ms --set agent.labels.dc=muc --show-origin
