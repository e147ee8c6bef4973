# An Alumet file as its users have it: the same events under the same names.
cp "$TEST_DATA/config/alumet.toml" .
tacho config import alumet.toml
