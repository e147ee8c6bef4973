# One array; each object has its keys; what is not available has a reason.
command -v jq >/dev/null || { echo "# skip: there is no jq"; exit 77; }
tacho list -j >all.json
jq -e "type == \"array\" and length > 20" all.json
jq -e "map(select(.EventName)) | all(has(\"EventType\") and has(\"Available\"))" all.json
jq -e "map(select(.Available == false)) | all(.Reason | length > 0)" all.json
jq -r ".[] | select(.EventName == \"page-faults\") | .Unit, .EventAlias, .Encoding" all.json
jq -r ".[] | select(.EventName == \"task-clock\") | .ScaleUnit" all.json
tacho list -j -o some.json sw
jq -e "all(.Unit == \"software\")" some.json
