# The four ways to the options of a command say the same, and fit 80 columns.
tacho list -h >a
tacho list --help >b
tacho help list >c
tacho --help list >d
cmp a b
cmp a c
cmp a d
for name in $(tacho --list-cmds); do
	tacho "$name" -h >text
	head -1 text | grep -q "^usage: tacho $name " || echo "no usage line for $name"
	awk "length > 80 { print \"too long: \" \$0 }" text
done
tacho help --all | grep -c "^usage:" >n
[ "$(cat n)" -gt 4 ]
tacho help lits
