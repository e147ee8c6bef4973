# Without a command: the list of commands, and the exit status of a missing command.
tacho
