# A pattern, a part of a name, and words that match nothing.
tacho list "page-fau*"
tacho list --no-desc page-fault | grep -v :
for words in page-fautls "sw qqqqqqqqqqqqqqqq" swx; do
	status=0
	tacho list --no-desc $words >/dev/null || status=$?
	echo "status $status"
done
