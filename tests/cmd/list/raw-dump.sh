# Only names, on one line; -e accepts each of them.
tacho list --raw-dump sw >names
wc -l <names | tr -d " "
tr -s " " "\n" <names | grep -x -e page-faults -e faults -e task-clock | sort
