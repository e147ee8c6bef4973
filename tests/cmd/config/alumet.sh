# A user's Alumet file: the same events under the same names.
cp "$TEST_DATA/config/alumet.toml" .
tacho config import alumet.toml
