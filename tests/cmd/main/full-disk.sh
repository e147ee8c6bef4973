# Output that cannot be written is a failure with a message.
[ -c /dev/full ] || { echo "# skip: there is no /dev/full"; exit 77; }
for args in --version --help "help list" "check feature zstd" "list sw" "--complete bash"; do
	status=0
	tacho $args >/dev/full || status=$?
	echo "status $status"
done
