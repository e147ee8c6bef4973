for name in lsit zzzzzzzz ""; do
	status=0
	tacho "$name" -e x || status=$?
	echo "status $status"
done
