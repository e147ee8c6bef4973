# Under the name perf it calls itself perf, in answers and in messages.
ln -s "$TACHO" perf
./perf --version
./perf -v
./perf lsit || echo "status $?"
./perf list --nonsense || echo "status $?"
./perf check -h | head -1
