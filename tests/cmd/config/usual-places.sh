# Without -c: the user's own file; without that and the system's, the built-in configuration.
[ ! -e /etc/tacho/tacho.toml ] || { echo "this machine has an /etc/tacho/tacho.toml"; exit 77; }
unset XDG_CONFIG_HOME
tacho config | head -n 1
mkdir -p "$HOME/.config/tacho" other/tacho
echo '[agent]' >"$HOME/.config/tacho/tacho.toml"
tacho config | head -n 1
echo '[agent]' >other/tacho/tacho.toml
XDG_CONFIG_HOME=$PWD/other tacho config | head -n 1
rm "$HOME/.config/tacho/tacho.toml"
tacho config show | grep -c '^\[\[source\]\]'
