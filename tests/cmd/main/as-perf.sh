# If it is started under the name perf, its output and messages say perf.
ln -s "$TACHO" perf
./perf --version
./perf -v
./perf lsit || echo "status $?"
./perf list --nonsense || echo "status $?"
./perf check -h | head -1
# Or if a script of that name runs it. A script that only happens to be in `_` has no effect.
mkdir bin
printf '#!/bin/sh\nexec "%s" "$@"\n' "$TACHO" >bin/perf
printf '#!/bin/sh\nexec "$@"\n' >perf-other
chmod +x bin/perf perf-other
PATH=$PWD/bin:$PATH bash -c 'perf version; true'
mkdir other
mv perf-other other/perf
bash -c 'other/perf "$TACHO" version; true'
