tacho --version
tacho version --build-options >all
sed -n 1p all
grep -c -v -E "^ *[A-Za-z0-9_-]+: \[ (on |OFF) \]  # HAVE_[A-Z0-9_]+" all
grep zstd: all
tacho -vv | cmp - all
tacho version extra
