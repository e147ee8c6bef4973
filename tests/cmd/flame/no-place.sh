# If the picture cannot be written, the error comes before the command is run.
. "$SUPPORT/lib.sh"
refused 1 tacho flame -o missing/flame.svg -- touch ran
[ ! -e ran ] || fail "the command ran"
refused 1 tacho flame -o missing/flame.html --data kept -- touch ran
[ ! -e ran ] || fail "the command ran with --data"
