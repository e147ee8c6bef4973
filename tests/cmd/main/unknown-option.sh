# Wrong usage is 129, before the command as well as behind it.
for args in --vresion -Z --no-pager=x "list --raw-dmup" "list -Z" "list --output" "version -q" "list --d"; do
	status=0
	tacho $args || status=$?
	echo "status $status"
done
