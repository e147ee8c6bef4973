# An event that occurs twice, in one source or in two that exec merges, is counted once.
. "$SUPPORT/lib.sh"
tacho stat -x, -e page-faults true 2>err || skip "may not count: $(cat err)"
cat >tacho.toml <<'END'
[[source]]
name = "a"
events = ["page-faults", "{page-faults,minor-faults}", "faults", "page-faults"]
[[source]]
name = "b"
events = ["page-faults", "{faults,page-faults}"]
END
tacho agent -c tacho.toml exec -- true 2>out
awk '{ n[$2]++; count[$2] = $1 }
     END { if (n["page-faults"] != 1 || n["faults"] != 1 || !count["faults"]) exit 1
           if (count["page-faults"] != count["faults"]) exit 1 }' out || { cat out; exit 1; }
