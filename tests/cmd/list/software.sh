# The software events, which every kernel has, as text.
tacho list sw
