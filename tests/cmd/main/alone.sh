# Without a command: what there is, and the status of a command line that lacks one.
tacho
