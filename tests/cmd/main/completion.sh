# The scripts parse, and bash answers from them.
for shell in bash zsh fish; do
	tacho --complete $shell >script.$shell
	grep -q list script.$shell
	if command -v $shell >/dev/null; then
		$shell -n script.$shell
	fi
done
cat >try.bash <<"END"
source ./script.bash
compopt() { :; }
try() {
	COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
	_tacho tacho
	printf "%s->" "$1"
	printf " %s" "${COMPREPLY[@]}"
	echo
}
touch some-file
try "tacho li"
try "tacho list --raw"
try "tacho list -o some"
try "tacho list --output=some"
try "tacho help vers"
try "tacho agent "
try "tacho agent c"
try "tacho agent ctl re"
try "tacho agent --chec"
try "tacho check "
try "tacho list page-f"
_tacho_try_event() { val=$1 tacho=tacho COMPREPLY=(); _tacho_events; echo "$1-> ${COMPREPLY[*]}"; }
_tacho_try_event page-fa
_tacho_try_event cs,page-fa
END
bash try.bash
if command -v fish >/dev/null; then
	HOME=$PWD fish --no-config -c "source ./script.fish; complete -C\"tacho list --raw\"" >fish.out
	grep -q -e --raw-dump fish.out
fi
tacho --complete ksh
