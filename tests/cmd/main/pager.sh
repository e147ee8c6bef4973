# On a terminal long output goes through the pager; colours only there, and not with NO_COLOR.
command -v python3 >/dev/null || { echo "# skip: there is no python3"; exit 77; }
cat >on-terminal.py <<'END'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
out = []
try:
    while data := os.read(fd, 65536):
        out.append(data)
except OSError:  # the terminal reports that its last user is gone
    pass
text = b"".join(out).decode().replace("\r", "").replace("\033", "ESC")
print(text.rstrip("\n"))
print("status", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
on_terminal() { python3 on-terminal.py env "$@" </dev/null; }
unset PAGER LESS
export TERM=xterm
on_terminal PAGER="sed s/^/paged:/" tacho -p version
on_terminal TACHO_PAGER="sed s/^/ours:/" PAGER=false tacho -p version
on_terminal PAGER="sed s/^/paged:/" tacho --no-pager version
on_terminal PAGER=no-such-pager-here tacho -p version
on_terminal PAGER= tacho -p version
on_terminal PAGER=cat tacho --help | grep Commands
on_terminal PAGER=cat NO_COLOR=1 tacho --help | grep Commands
on_terminal PAGER=cat TERM=dumb tacho --help | grep Commands
tacho --help | grep Commands
