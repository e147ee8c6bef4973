# If it is started under the name perf, its output and messages say perf.
ln -s "$TACHO" perf
./perf --version
./perf -v
./perf lsit || echo "status $?"
./perf list --nonsense || echo "status $?"
./perf check -h | head -1
