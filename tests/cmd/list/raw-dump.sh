# Bare names on one line; each of them is a word that -e takes.
tacho list --raw-dump sw >names
wc -l <names | tr -d " "
tr -s " " "\n" <names | grep -x -e page-faults -e faults -e task-clock | sort
