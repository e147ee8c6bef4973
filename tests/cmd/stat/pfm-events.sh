# libpfm4's names, by --pfm-events and by their prefix; an error message says that it comes from libpfm4.
ldconfig -p 2>/dev/null | grep -q libpfm.so.4 || { echo "# skip: there is no libpfm.so.4"; exit 77; }
export LIBPFM_ENCODE_INACTIVE=1
tacho stat -x, --pfm-events '{skx::INST_RETIRED:ANY_P, skx::L2_RQSTS:MISS:c=1},skx::BACLEARS' \
	-e pfm::skx::BACLEARS:u,page-faults:u true 2>&1 | cut -d, -f3
tacho stat --pfm-events skx::BACLEARS,skx::NOTHING true || echo "status $?"
