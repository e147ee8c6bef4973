# Errors give the position and a suggestion.
try() {
	printf '%b' "$1" >tacho.toml
	shift
	tacho config -c tacho.toml "$@" && exit 1 || [ $? = 1 ]
}
try '[agent]\nlistn = []\n'
try '[[source]]\nevents = ["cycles"]\nper = "sockets"\n'
try '[agent]\nlisten = "x\n'
try '[[source]]\nevents = ["cycles"]\ninterval = "1us"\n'
try '' --set agent.listn=1
try 'LoadPlugin intel_pmu\n<Plugin intel_pmu>\n  Cores 0\n</Plugin>\n'
try '[plugins.perf]\npol_interval = "1s"\n'
tacho config -c none.toml || [ $? = 1 ]
tacho config import || [ $? = 129 ]
tacho config shaw || [ $? = 129 ]
tacho config show more || [ $? = 129 ]
tacho config import -c a b || [ $? = 129 ]
tacho config --oops || [ $? = 129 ]
