# The answer is the line that `version --build-options` has, and the status agrees with it.
tacho version --build-options | sed 1d >all
while read -r name rest; do
	name=${name%:} status=0
	tacho check feature "$name" >line || status=$?
	case $(cat line) in
	*"$name: [ on  ]"*) [ $status = 0 ] || echo "$name is on, yet $status" ;;
	*"$name: [ OFF ]"*) [ $status = 1 ] || echo "$name is off, yet $status" ;;
	*) echo "no line for $name" ;;
	esac
	grep -qxF "$(cat line)" all
	tacho check -q feature "$name" >quiet && [ $status = 0 ] || [ $status = 1 ]
	[ ! -s quiet ] || echo "not quiet about $name"
done <all
tacho check feature ZLIB,have_zstd_support || true
for words in "" feature nonsense "feature zsdt" "-q feature zsdt" "feature qqqqqqqq"; do
	status=0
	tacho check $words || status=$?
	echo "status $status"
done
