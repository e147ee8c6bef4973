# What every kernel has, as text.
tacho list sw
