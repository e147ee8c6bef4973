tacho list -o names --raw-dump sw
grep -c page-faults names
tacho list -o none/names sw
