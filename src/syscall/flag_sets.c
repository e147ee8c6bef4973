/*
 * Names of flags and other numbers in arguments of system calls. A set is used as a type in table.c, or by a printer.
 */
#include "syscall/syscall.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/falloc.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <linux/sockios.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

/* clang-format off */
#define F(name) { #name, (uint64_t)(name) },
#define V(name, value) { #name, value },

static const struct flag_name names_oflags[] = {
	F(O_RDONLY) F(O_WRONLY) F(O_RDWR) F(O_CREAT) F(O_EXCL) F(O_NOCTTY) F(O_TRUNC) F(O_APPEND) F(O_NONBLOCK)
	F(O_SYNC) F(O_ASYNC) F(O_DSYNC) F(O_DIRECT) V(O_LARGEFILE, 0100000) F(O_NOFOLLOW) F(O_NOATIME)
	F(O_CLOEXEC) F(O_PATH) F(O_TMPFILE) F(O_DIRECTORY)
};
static const struct flag_name names_new_flags[] = {
	F(O_CREAT) F(O_EXCL) F(O_NOCTTY) F(O_TRUNC) F(O_APPEND) F(O_NONBLOCK) F(O_SYNC) F(O_DIRECT) F(O_CLOEXEC)
};
static const struct flag_name names_whence[] = {
	F(SEEK_SET) F(SEEK_CUR) F(SEEK_END) F(SEEK_DATA) F(SEEK_HOLE)
};
static const struct flag_name names_prot[] = {
	F(PROT_NONE) F(PROT_READ) F(PROT_WRITE) F(PROT_EXEC) V(PROT_SEM, 8) F(PROT_GROWSDOWN) F(PROT_GROWSUP)
};
static const struct flag_name names_mmap[] = {
	F(MAP_FILE) F(MAP_SHARED) F(MAP_PRIVATE) F(MAP_SHARED_VALIDATE) F(MAP_FIXED) F(MAP_ANONYMOUS)
	V(MAP_32BIT, 0x40) F(MAP_GROWSDOWN) F(MAP_DENYWRITE) F(MAP_EXECUTABLE) F(MAP_LOCKED) F(MAP_NORESERVE)
	F(MAP_POPULATE) F(MAP_NONBLOCK) F(MAP_STACK) F(MAP_HUGETLB) V(MAP_SYNC, 0x80000)
	V(MAP_FIXED_NOREPLACE, 0x100000)
};
static const struct flag_name names_mremap[] = {
	F(MREMAP_MAYMOVE) F(MREMAP_FIXED) V(MREMAP_DONTUNMAP, 4)
};
static const struct flag_name names_msync[] = {
	F(MS_ASYNC) F(MS_INVALIDATE) F(MS_SYNC)
};
static const struct flag_name names_madvise[] = {
	F(MADV_NORMAL) F(MADV_RANDOM) F(MADV_SEQUENTIAL) F(MADV_WILLNEED) F(MADV_DONTNEED) F(MADV_FREE)
	F(MADV_REMOVE) F(MADV_DONTFORK) F(MADV_DOFORK) F(MADV_MERGEABLE) F(MADV_UNMERGEABLE) F(MADV_HUGEPAGE)
	F(MADV_NOHUGEPAGE) F(MADV_DONTDUMP) F(MADV_DODUMP) F(MADV_WIPEONFORK) F(MADV_KEEPONFORK) F(MADV_COLD)
	F(MADV_PAGEOUT) V(MADV_POPULATE_READ, 22) V(MADV_POPULATE_WRITE, 23) V(MADV_DONTNEED_LOCKED, 24)
	V(MADV_COLLAPSE, 25) V(MADV_GUARD_INSTALL, 102) V(MADV_GUARD_REMOVE, 103)
};
static const struct flag_name names_sighow[] = {
	F(SIG_BLOCK) F(SIG_UNBLOCK) F(SIG_SETMASK)
};
static const struct flag_name names_access[] = {
	F(F_OK) F(R_OK) F(W_OK) F(X_OK)
};
static const struct flag_name names_itimer[] = {
	F(ITIMER_REAL) F(ITIMER_VIRTUAL) F(ITIMER_PROF)
};
static const struct flag_name names_domain[] = {
	F(AF_UNSPEC) F(AF_UNIX) F(AF_INET) F(AF_AX25) F(AF_IPX) F(AF_APPLETALK) F(AF_NETROM) F(AF_BRIDGE)
	F(AF_ATMPVC) F(AF_X25) F(AF_INET6) F(AF_ROSE) F(AF_KEY) F(AF_NETLINK) F(AF_PACKET) F(AF_ALG) F(AF_VSOCK)
	F(AF_BLUETOOTH) F(AF_CAN) F(AF_TIPC) F(AF_XDP) V(AF_QIPCRTR, 42) V(AF_SMC, 43) V(AF_MCTP, 45)
};
static const struct flag_name names_msg[] = {
	F(MSG_OOB) F(MSG_PEEK) F(MSG_DONTROUTE) F(MSG_CTRUNC) F(MSG_PROXY) F(MSG_TRUNC) F(MSG_DONTWAIT)
	F(MSG_EOR) F(MSG_WAITALL) F(MSG_FIN) F(MSG_SYN) F(MSG_CONFIRM) F(MSG_RST) F(MSG_ERRQUEUE)
	F(MSG_NOSIGNAL) F(MSG_MORE) F(MSG_WAITFORONE) F(MSG_BATCH) F(MSG_ZEROCOPY) F(MSG_FASTOPEN)
	F(MSG_CMSG_CLOEXEC)
};
static const struct flag_name names_shut[] = {
	F(SHUT_RD) F(SHUT_WR) F(SHUT_RDWR)
};
static const struct flag_name names_sol[] = {
	F(SOL_IP) F(SOL_SOCKET) F(SOL_TCP) V(SOL_UDP, 17) F(SOL_IPV6) F(SOL_ICMPV6) F(SOL_RAW) F(SOL_PACKET)
	F(SOL_NETLINK) F(SOL_TIPC) F(SOL_BLUETOOTH) F(SOL_ALG) F(SOL_KCM) F(SOL_TLS) F(SOL_XDP)
	V(SOL_VSOCK, 287)
};
static const struct flag_name names_so[] = {
	F(SO_DEBUG) F(SO_REUSEADDR) F(SO_TYPE) F(SO_ERROR) F(SO_DONTROUTE) F(SO_BROADCAST) F(SO_SNDBUF)
	F(SO_RCVBUF) F(SO_KEEPALIVE) F(SO_OOBINLINE) F(SO_NO_CHECK) F(SO_PRIORITY) F(SO_LINGER) F(SO_BSDCOMPAT)
	F(SO_REUSEPORT) F(SO_PASSCRED) F(SO_PEERCRED) F(SO_RCVLOWAT) F(SO_SNDLOWAT) V(SO_RCVTIMEO_OLD, 20)
	V(SO_SNDTIMEO_OLD, 21) F(SO_BINDTODEVICE) F(SO_ATTACH_FILTER) F(SO_DETACH_FILTER) F(SO_PEERNAME)
	V(SO_TIMESTAMP_OLD, 29) F(SO_ACCEPTCONN) F(SO_PEERSEC) F(SO_SNDBUFFORCE) F(SO_RCVBUFFORCE) F(SO_PASSSEC)
	V(SO_TIMESTAMPNS_OLD, 35) F(SO_MARK) V(SO_TIMESTAMPING_OLD, 37) F(SO_PROTOCOL) F(SO_DOMAIN)
	F(SO_RXQ_OVFL) F(SO_PEEK_OFF) F(SO_NOFCS) F(SO_LOCK_FILTER) F(SO_SELECT_ERR_QUEUE) F(SO_BUSY_POLL)
	F(SO_MAX_PACING_RATE) F(SO_INCOMING_CPU) F(SO_ATTACH_BPF) F(SO_ATTACH_REUSEPORT_EBPF) F(SO_ZEROCOPY)
	F(SO_PEERGROUPS) F(SO_COOKIE) F(SO_TXTIME) F(SO_BINDTOIFINDEX)
};
static const struct flag_name names_tcp[] = {
	F(TCP_NODELAY) F(TCP_MAXSEG) F(TCP_CORK) F(TCP_KEEPIDLE) F(TCP_KEEPINTVL) F(TCP_KEEPCNT) F(TCP_SYNCNT)
	F(TCP_LINGER2) F(TCP_DEFER_ACCEPT) F(TCP_WINDOW_CLAMP) F(TCP_INFO) F(TCP_QUICKACK) F(TCP_CONGESTION)
	F(TCP_MD5SIG) F(TCP_THIN_LINEAR_TIMEOUTS) F(TCP_THIN_DUPACK) F(TCP_USER_TIMEOUT) F(TCP_REPAIR)
	F(TCP_FASTOPEN) F(TCP_TIMESTAMP) F(TCP_NOTSENT_LOWAT) F(TCP_FASTOPEN_CONNECT) F(TCP_ULP)
};
static const struct flag_name names_ip_opt[] = {
	F(IP_TOS) F(IP_TTL) F(IP_HDRINCL) F(IP_OPTIONS) F(IP_RECVOPTS) F(IP_PKTINFO) F(IP_MTU_DISCOVER)
	F(IP_RECVERR) F(IP_RECVTTL) F(IP_RECVTOS) F(IP_MTU) F(IP_FREEBIND) F(IP_TRANSPARENT)
	F(IP_BIND_ADDRESS_NO_PORT) F(IP_MULTICAST_IF) F(IP_MULTICAST_TTL) F(IP_MULTICAST_LOOP)
	F(IP_ADD_MEMBERSHIP) F(IP_DROP_MEMBERSHIP)
};
static const struct flag_name names_ipv6_opt[] = {
	F(IPV6_ADDRFORM) F(IPV6_UNICAST_HOPS) F(IPV6_MULTICAST_IF) F(IPV6_MULTICAST_HOPS) F(IPV6_MULTICAST_LOOP)
	F(IPV6_MTU_DISCOVER) F(IPV6_MTU) F(IPV6_RECVERR) F(IPV6_V6ONLY) F(IPV6_RECVPKTINFO) F(IPV6_PKTINFO)
	F(IPV6_TCLASS) F(IPV6_RECVTCLASS)
};
static const struct flag_name names_netlink_opt[] = {
	V(NETLINK_ADD_MEMBERSHIP, 1) V(NETLINK_DROP_MEMBERSHIP, 2) V(NETLINK_PKTINFO, 3)
	V(NETLINK_BROADCAST_ERROR, 4) V(NETLINK_NO_ENOBUFS, 5) V(NETLINK_LISTEN_ALL_NSID, 8)
	V(NETLINK_CAP_ACK, 10) V(NETLINK_EXT_ACK, 11) V(NETLINK_GET_STRICT_CHK, 12)
};
static const struct flag_name names_netlink_protocol[] = {
	V(NETLINK_ROUTE, 0) V(NETLINK_USERSOCK, 2) V(NETLINK_SOCK_DIAG, 4) V(NETLINK_XFRM, 6)
	V(NETLINK_SELINUX, 7) V(NETLINK_AUDIT, 9) V(NETLINK_CONNECTOR, 11) V(NETLINK_NETFILTER, 12)
	V(NETLINK_KOBJECT_UEVENT, 15) V(NETLINK_GENERIC, 16) V(NETLINK_CRYPTO, 21)
};
static const struct flag_name names_protocol_ip[] = {
	F(IPPROTO_IP) F(IPPROTO_ICMP) F(IPPROTO_IGMP) F(IPPROTO_TCP) F(IPPROTO_UDP) F(IPPROTO_IPV6)
	F(IPPROTO_ICMPV6) F(IPPROTO_SCTP) F(IPPROTO_UDPLITE) F(IPPROTO_RAW) V(IPPROTO_MPTCP, 262)
};
static const struct flag_name names_sock_type[] = {
	F(SOCK_STREAM) F(SOCK_DGRAM) F(SOCK_RAW) F(SOCK_RDM) F(SOCK_SEQPACKET) F(SOCK_DCCP) F(SOCK_PACKET)
	F(SOCK_CLOEXEC) F(SOCK_NONBLOCK)
};
static const struct flag_name names_sockflags[] = {
	F(SOCK_NONBLOCK) F(SOCK_CLOEXEC)
};
static const struct flag_name names_wait[] = {
	F(WNOHANG) F(WSTOPPED) F(WEXITED) F(WCONTINUED) F(WNOWAIT) F(__WNOTHREAD) F(__WALL) F(__WCLONE)
};
static const struct flag_name names_idtype[] = {
	F(P_ALL) F(P_PID) F(P_PGID) V(P_PIDFD, 3)
};
static const struct flag_name names_fcntl[] = {
	F(F_DUPFD) F(F_GETFD) F(F_SETFD) F(F_GETFL) F(F_SETFL) F(F_GETLK) F(F_SETLK) F(F_SETLKW) F(F_SETOWN)
	F(F_GETOWN) F(F_SETSIG) F(F_GETSIG) F(F_SETOWN_EX) F(F_GETOWN_EX) F(F_OFD_GETLK) F(F_OFD_SETLK)
	F(F_OFD_SETLKW) F(F_SETLEASE) F(F_GETLEASE) F(F_NOTIFY) V(F_DUPFD_QUERY, 1027) V(F_CREATED_QUERY, 1028)
	V(F_CANCELLK, 1029) F(F_DUPFD_CLOEXEC) F(F_SETPIPE_SZ) F(F_GETPIPE_SZ) F(F_ADD_SEALS) F(F_GET_SEALS)
	F(F_GET_RW_HINT) F(F_SET_RW_HINT) F(F_GET_FILE_RW_HINT) F(F_SET_FILE_RW_HINT)
};
static const struct flag_name names_seals[] = {
	V(F_SEAL_SEAL, 1) V(F_SEAL_SHRINK, 2) V(F_SEAL_GROW, 4) V(F_SEAL_WRITE, 8) V(F_SEAL_FUTURE_WRITE, 16)
	V(F_SEAL_EXEC, 32)
};
static const struct flag_name names_fd_flags[] = {
	F(FD_CLOEXEC)
};
static const struct flag_name names_lock_type[] = {
	F(F_RDLCK) F(F_WRLCK) F(F_UNLCK)
};
static const struct flag_name names_flock[] = {
	F(LOCK_SH) F(LOCK_EX) F(LOCK_NB) F(LOCK_UN)
};
static const struct flag_name names_rlimit_resource[] = {
	F(RLIMIT_CPU) F(RLIMIT_FSIZE) F(RLIMIT_DATA) F(RLIMIT_STACK) F(RLIMIT_CORE) F(RLIMIT_RSS)
	F(RLIMIT_NPROC) F(RLIMIT_NOFILE) F(RLIMIT_MEMLOCK) F(RLIMIT_AS) F(RLIMIT_LOCKS) F(RLIMIT_SIGPENDING)
	F(RLIMIT_MSGQUEUE) F(RLIMIT_NICE) F(RLIMIT_RTPRIO) F(RLIMIT_RTTIME)
};
static const struct flag_name names_rusage_who[] = {
	F(RUSAGE_SELF) F(RUSAGE_CHILDREN) F(RUSAGE_THREAD)
};
static const struct flag_name names_prio[] = {
	F(PRIO_PROCESS) F(PRIO_PGRP) F(PRIO_USER)
};
static const struct flag_name names_sched[] = {
	F(SCHED_OTHER) F(SCHED_FIFO) F(SCHED_RR) F(SCHED_BATCH) V(SCHED_IDLE, 5) V(SCHED_DEADLINE, 6)
	V(SCHED_EXT, 7) V(SCHED_RESET_ON_FORK, 0x40000000)
};
static const struct flag_name names_mlockall[] = {
	F(MCL_CURRENT) F(MCL_FUTURE) F(MCL_ONFAULT)
};
static const struct flag_name names_mlock2[] = {
	V(MLOCK_ONFAULT, 1)
};
static const struct flag_name names_prctl[] = {
	F(PR_SET_PDEATHSIG) F(PR_GET_PDEATHSIG) F(PR_GET_DUMPABLE) F(PR_SET_DUMPABLE) F(PR_GET_UNALIGN)
	F(PR_SET_UNALIGN) F(PR_GET_KEEPCAPS) F(PR_SET_KEEPCAPS) F(PR_GET_FPEMU) F(PR_SET_FPEMU) F(PR_GET_FPEXC)
	F(PR_SET_FPEXC) F(PR_GET_TIMING) F(PR_SET_TIMING) F(PR_SET_NAME) F(PR_GET_NAME) F(PR_GET_ENDIAN)
	F(PR_SET_ENDIAN) F(PR_GET_SECCOMP) F(PR_SET_SECCOMP) F(PR_CAPBSET_READ) F(PR_CAPBSET_DROP) F(PR_GET_TSC)
	F(PR_SET_TSC) F(PR_GET_SECUREBITS) F(PR_SET_SECUREBITS) F(PR_SET_TIMERSLACK) F(PR_GET_TIMERSLACK)
	F(PR_TASK_PERF_EVENTS_DISABLE) F(PR_TASK_PERF_EVENTS_ENABLE) F(PR_MCE_KILL) F(PR_MCE_KILL_GET)
	F(PR_SET_MM) F(PR_SET_CHILD_SUBREAPER) F(PR_GET_CHILD_SUBREAPER) F(PR_SET_NO_NEW_PRIVS)
	F(PR_GET_NO_NEW_PRIVS) F(PR_GET_TID_ADDRESS) F(PR_SET_THP_DISABLE) F(PR_GET_THP_DISABLE)
	F(PR_SET_FP_MODE) F(PR_GET_FP_MODE) F(PR_CAP_AMBIENT) F(PR_GET_SPECULATION_CTRL)
	F(PR_SET_SPECULATION_CTRL) F(PR_PAC_RESET_KEYS) F(PR_SET_TAGGED_ADDR_CTRL) F(PR_GET_TAGGED_ADDR_CTRL)
	F(PR_SET_IO_FLUSHER) F(PR_GET_IO_FLUSHER) F(PR_SET_SYSCALL_USER_DISPATCH) F(PR_PAC_SET_ENABLED_KEYS)
	F(PR_PAC_GET_ENABLED_KEYS) F(PR_SCHED_CORE) V(PR_SET_MDWE, 65) V(PR_GET_MDWE, 66)
	V(PR_SET_VMA, 0x53564d41) V(PR_SET_PTRACER, 0x59616d61)
};
static const struct flag_name names_arch_prctl[] = {
	V(ARCH_SET_GS, 0x1001) V(ARCH_SET_FS, 0x1002) V(ARCH_GET_FS, 0x1003) V(ARCH_GET_GS, 0x1004)
	V(ARCH_GET_CPUID, 0x1011) V(ARCH_SET_CPUID, 0x1012) V(ARCH_GET_XCOMP_SUPP, 0x1021)
	V(ARCH_GET_XCOMP_PERM, 0x1022) V(ARCH_REQ_XCOMP_PERM, 0x1023) V(ARCH_MAP_VDSO_X32, 0x2001)
	V(ARCH_MAP_VDSO_32, 0x2002) V(ARCH_MAP_VDSO_64, 0x2003)
};
static const struct flag_name names_futex_ops[] = {
	F(FUTEX_WAIT) F(FUTEX_WAKE) F(FUTEX_FD) F(FUTEX_REQUEUE) F(FUTEX_CMP_REQUEUE) F(FUTEX_WAKE_OP)
	F(FUTEX_LOCK_PI) F(FUTEX_UNLOCK_PI) F(FUTEX_TRYLOCK_PI) F(FUTEX_WAIT_BITSET) F(FUTEX_WAKE_BITSET)
	F(FUTEX_WAIT_REQUEUE_PI) F(FUTEX_CMP_REQUEUE_PI) V(FUTEX_LOCK_PI2, 13)
};
static const struct flag_name names_clockid[] = {
	F(CLOCK_REALTIME) F(CLOCK_MONOTONIC) F(CLOCK_PROCESS_CPUTIME_ID) F(CLOCK_THREAD_CPUTIME_ID)
	F(CLOCK_MONOTONIC_RAW) F(CLOCK_REALTIME_COARSE) F(CLOCK_MONOTONIC_COARSE) F(CLOCK_BOOTTIME)
	F(CLOCK_REALTIME_ALARM) F(CLOCK_BOOTTIME_ALARM) V(CLOCK_SGI_CYCLE, 10) F(CLOCK_TAI)
};
static const struct flag_name names_timer_flags[] = {
	F(TIMER_ABSTIME)
};
static const struct flag_name names_epoll_ctl[] = {
	F(EPOLL_CTL_ADD) F(EPOLL_CTL_DEL) F(EPOLL_CTL_MOD)
};
static const struct flag_name names_epoll_create[] = {
	F(EPOLL_CLOEXEC)
};
static const struct flag_name names_epoll_bits[] = {
	F(EPOLLIN) F(EPOLLPRI) F(EPOLLOUT) F(EPOLLERR) F(EPOLLHUP) F(EPOLLRDNORM) F(EPOLLRDBAND) F(EPOLLWRNORM)
	F(EPOLLWRBAND) F(EPOLLMSG) F(EPOLLRDHUP) F(EPOLLEXCLUSIVE) F(EPOLLWAKEUP) F(EPOLLONESHOT) F(EPOLLET)
};
static const struct flag_name names_poll_bits[] = {
	F(POLLIN) F(POLLPRI) F(POLLOUT) F(POLLERR) F(POLLHUP) F(POLLNVAL) F(POLLRDNORM) F(POLLRDBAND)
	F(POLLWRNORM) F(POLLWRBAND) F(POLLMSG) F(POLLREMOVE) F(POLLRDHUP)
};
static const struct flag_name names_eventfd[] = {
	F(EFD_SEMAPHORE) F(EFD_CLOEXEC) F(EFD_NONBLOCK)
};
static const struct flag_name names_signalfd[] = {
	F(SFD_CLOEXEC) F(SFD_NONBLOCK)
};
static const struct flag_name names_timerfd[] = {
	F(TFD_CLOEXEC) F(TFD_NONBLOCK)
};
static const struct flag_name names_timerfd_set[] = {
	F(TFD_TIMER_ABSTIME) F(TFD_TIMER_CANCEL_ON_SET)
};
static const struct flag_name names_inotify_init[] = {
	F(IN_CLOEXEC) F(IN_NONBLOCK)
};
static const struct flag_name names_inotify[] = {
	F(IN_ACCESS) F(IN_MODIFY) F(IN_ATTRIB) F(IN_CLOSE_WRITE) F(IN_CLOSE_NOWRITE) F(IN_OPEN) F(IN_MOVED_FROM)
	F(IN_MOVED_TO) F(IN_CREATE) F(IN_DELETE) F(IN_DELETE_SELF) F(IN_MOVE_SELF) F(IN_UNMOUNT)
	F(IN_Q_OVERFLOW) F(IN_IGNORED) F(IN_ONLYDIR) F(IN_DONT_FOLLOW) F(IN_EXCL_UNLINK) F(IN_MASK_CREATE)
	F(IN_MASK_ADD) F(IN_ISDIR) F(IN_ONESHOT)
};
static const struct flag_name names_atflags[] = {
	F(AT_SYMLINK_NOFOLLOW) F(AT_REMOVEDIR) F(AT_SYMLINK_FOLLOW) F(AT_NO_AUTOMOUNT) F(AT_EMPTY_PATH)
	V(AT_RECURSIVE, 0x8000)
};
static const struct flag_name names_access_flags[] = {
	F(AT_SYMLINK_NOFOLLOW) F(AT_EACCESS) F(AT_SYMLINK_FOLLOW) F(AT_NO_AUTOMOUNT) F(AT_EMPTY_PATH)
};
static const struct flag_name names_statx_flags[] = {
	V(AT_STATX_SYNC_AS_STAT, 0) V(AT_STATX_FORCE_SYNC, 0x2000) V(AT_STATX_DONT_SYNC, 0x4000)
	F(AT_SYMLINK_NOFOLLOW) F(AT_SYMLINK_FOLLOW) F(AT_NO_AUTOMOUNT) F(AT_EMPTY_PATH)
};
static const struct flag_name names_statx_mask[] = {
	V(STATX_ALL, 0xfff) V(STATX_BASIC_STATS, 0x7ff) V(STATX_TYPE, 1) V(STATX_MODE, 2) V(STATX_NLINK, 4)
	V(STATX_UID, 8) V(STATX_GID, 0x10) V(STATX_ATIME, 0x20) V(STATX_MTIME, 0x40) V(STATX_CTIME, 0x80)
	V(STATX_INO, 0x100) V(STATX_SIZE, 0x200) V(STATX_BLOCKS, 0x400) V(STATX_BTIME, 0x800)
	V(STATX_MNT_ID, 0x1000) V(STATX_DIOALIGN, 0x2000) V(STATX_MNT_ID_UNIQUE, 0x4000) V(STATX_SUBVOL, 0x8000)
};
static const struct flag_name names_statx_attributes[] = {
	V(STATX_ATTR_COMPRESSED, 4) V(STATX_ATTR_IMMUTABLE, 0x10) V(STATX_ATTR_APPEND, 0x20)
	V(STATX_ATTR_NODUMP, 0x40) V(STATX_ATTR_ENCRYPTED, 0x800) V(STATX_ATTR_AUTOMOUNT, 0x1000)
	V(STATX_ATTR_MOUNT_ROOT, 0x2000) V(STATX_ATTR_VERITY, 0x100000) V(STATX_ATTR_DAX, 0x200000)
};
static const struct flag_name names_rename[] = {
	V(RENAME_NOREPLACE, 1) V(RENAME_EXCHANGE, 2) V(RENAME_WHITEOUT, 4)
};
static const struct flag_name names_getrandom[] = {
	F(GRND_NONBLOCK) F(GRND_RANDOM) V(GRND_INSECURE, 4)
};
static const struct flag_name names_memfd[] = {
	F(MFD_CLOEXEC) F(MFD_ALLOW_SEALING) F(MFD_HUGETLB) V(MFD_NOEXEC_SEAL, 8) V(MFD_EXEC, 16)
};
static const struct flag_name names_splice[] = {
	F(SPLICE_F_MOVE) F(SPLICE_F_NONBLOCK) F(SPLICE_F_MORE) F(SPLICE_F_GIFT)
};
static const struct flag_name names_fallocate[] = {
	F(FALLOC_FL_KEEP_SIZE) F(FALLOC_FL_PUNCH_HOLE) F(FALLOC_FL_NO_HIDE_STALE) F(FALLOC_FL_COLLAPSE_RANGE)
	F(FALLOC_FL_ZERO_RANGE) F(FALLOC_FL_INSERT_RANGE) F(FALLOC_FL_UNSHARE_RANGE)
};
static const struct flag_name names_fadvise[] = {
	F(POSIX_FADV_NORMAL) F(POSIX_FADV_RANDOM) F(POSIX_FADV_SEQUENTIAL) F(POSIX_FADV_WILLNEED)
	F(POSIX_FADV_DONTNEED) F(POSIX_FADV_NOREUSE)
};
static const struct flag_name names_sync_range[] = {
	F(SYNC_FILE_RANGE_WAIT_BEFORE) F(SYNC_FILE_RANGE_WRITE) F(SYNC_FILE_RANGE_WAIT_AFTER)
};
static const struct flag_name names_xattr[] = {
	V(XATTR_CREATE, 1) V(XATTR_REPLACE, 2)
};
static const struct flag_name names_mount[] = {
	F(MS_RDONLY) F(MS_NOSUID) F(MS_NODEV) F(MS_NOEXEC) F(MS_SYNCHRONOUS) F(MS_REMOUNT) F(MS_MANDLOCK)
	F(MS_DIRSYNC) F(MS_NOATIME) F(MS_NODIRATIME) F(MS_BIND) F(MS_MOVE) F(MS_REC) F(MS_SILENT) F(MS_POSIXACL)
	F(MS_UNBINDABLE) F(MS_PRIVATE) F(MS_SLAVE) F(MS_SHARED) F(MS_RELATIME) F(MS_KERNMOUNT) F(MS_I_VERSION)
	F(MS_STRICTATIME) F(MS_LAZYTIME)
};
static const struct flag_name names_umount[] = {
	F(MNT_FORCE) F(MNT_DETACH) F(MNT_EXPIRE) F(UMOUNT_NOFOLLOW)
};
static const struct flag_name names_clone_ns[] = {
	V(CLONE_NEWTIME, 0x80) F(CLONE_VM) F(CLONE_FS) F(CLONE_FILES) F(CLONE_SIGHAND) F(CLONE_NEWNS)
	F(CLONE_SYSVSEM) F(CLONE_NEWCGROUP) F(CLONE_NEWUTS) F(CLONE_NEWIPC) F(CLONE_NEWUSER) F(CLONE_NEWPID)
	F(CLONE_NEWNET)
};
static const struct flag_name names_clone_bits[] = {
	F(CLONE_VM) F(CLONE_FS) F(CLONE_FILES) F(CLONE_SIGHAND) V(CLONE_PIDFD, 0x1000) F(CLONE_PTRACE)
	F(CLONE_VFORK) F(CLONE_PARENT) F(CLONE_THREAD) F(CLONE_NEWNS) F(CLONE_SYSVSEM) F(CLONE_SETTLS)
	F(CLONE_PARENT_SETTID) F(CLONE_CHILD_CLEARTID) F(CLONE_DETACHED) F(CLONE_UNTRACED) F(CLONE_CHILD_SETTID)
	F(CLONE_NEWCGROUP) F(CLONE_NEWUTS) F(CLONE_NEWIPC) F(CLONE_NEWUSER) F(CLONE_NEWPID) F(CLONE_NEWNET)
	F(CLONE_IO) V(CLONE_CLEAR_SIGHAND, 0x100000000) V(CLONE_INTO_CGROUP, 0x200000000)
};
static const struct flag_name names_sa_flags[] = {
	V(SA_RESTORER, 0x04000000) F(SA_ONSTACK) F(SA_RESTART) F(SA_INTERRUPT) F(SA_NODEFER) F(SA_RESETHAND)
	F(SA_SIGINFO) F(SA_NOCLDSTOP) F(SA_NOCLDWAIT) V(SA_UNSUPPORTED, 0x400) V(SA_EXPOSE_TAGBITS, 0x800)
};
static const struct flag_name names_ss_flags[] = {
	V(SS_ONSTACK, 1) V(SS_DISABLE, 2) V(SS_AUTODISARM, 0x80000000)
};
static const struct flag_name names_ipc_flags[] = {
	F(IPC_CREAT) F(IPC_EXCL) F(IPC_NOWAIT)
};
static const struct flag_name names_shmat[] = {
	F(SHM_RDONLY) F(SHM_RND) F(SHM_REMAP) F(SHM_EXEC)
};
static const struct flag_name names_shmctl[] = {
	F(IPC_RMID) F(IPC_SET) F(IPC_STAT) F(IPC_INFO) V(SHM_LOCK, 11) V(SHM_UNLOCK, 12) V(SHM_STAT, 13)
	V(SHM_INFO, 14)
};
static const struct flag_name names_semctl[] = {
	F(IPC_RMID) F(IPC_SET) F(IPC_STAT) F(IPC_INFO) V(GETPID, 11) V(GETVAL, 12) V(GETALL, 13) V(GETNCNT, 14)
	V(GETZCNT, 15) V(SETVAL, 16) V(SETALL, 17) V(SEM_STAT, 18) V(SEM_INFO, 19)
};
static const struct flag_name names_ptrace[] = {
	V(PTRACE_TRACEME, 0) V(PTRACE_PEEKTEXT, 1) V(PTRACE_PEEKDATA, 2) V(PTRACE_PEEKUSER, 3)
	V(PTRACE_POKETEXT, 4) V(PTRACE_POKEDATA, 5) V(PTRACE_POKEUSER, 6) V(PTRACE_CONT, 7) V(PTRACE_KILL, 8)
	V(PTRACE_SINGLESTEP, 9) V(PTRACE_GETREGS, 12) V(PTRACE_SETREGS, 13) V(PTRACE_GETFPREGS, 14)
	V(PTRACE_SETFPREGS, 15) V(PTRACE_ATTACH, 16) V(PTRACE_DETACH, 17) V(PTRACE_SYSCALL, 24)
	V(PTRACE_SETOPTIONS, 0x4200) V(PTRACE_GETEVENTMSG, 0x4201) V(PTRACE_GETSIGINFO, 0x4202)
	V(PTRACE_SETSIGINFO, 0x4203) V(PTRACE_GETREGSET, 0x4204) V(PTRACE_SETREGSET, 0x4205)
	V(PTRACE_SEIZE, 0x4206) V(PTRACE_INTERRUPT, 0x4207) V(PTRACE_LISTEN, 0x4208)
	V(PTRACE_PEEKSIGINFO, 0x4209) V(PTRACE_GETSIGMASK, 0x420a) V(PTRACE_SETSIGMASK, 0x420b)
	V(PTRACE_SECCOMP_GET_FILTER, 0x420c) V(PTRACE_GET_SYSCALL_INFO, 0x420e)
};
static const struct flag_name names_syslog[] = {
	V(SYSLOG_ACTION_CLOSE, 0) V(SYSLOG_ACTION_OPEN, 1) V(SYSLOG_ACTION_READ, 2) V(SYSLOG_ACTION_READ_ALL, 3)
	V(SYSLOG_ACTION_READ_CLEAR, 4) V(SYSLOG_ACTION_CLEAR, 5) V(SYSLOG_ACTION_CONSOLE_OFF, 6)
	V(SYSLOG_ACTION_CONSOLE_ON, 7) V(SYSLOG_ACTION_CONSOLE_LEVEL, 8) V(SYSLOG_ACTION_SIZE_UNREAD, 9)
	V(SYSLOG_ACTION_SIZE_BUFFER, 10)
};
static const struct flag_name names_personality[] = {
	V(PER_LINUX, 0) V(PER_LINUX_32BIT, 0x800000) V(PER_LINUX32, 8) V(ADDR_NO_RANDOMIZE, 0x40000)
};
static const struct flag_name names_reboot_magic[] = {
	V(LINUX_REBOOT_MAGIC1, 0xfee1dead) V(LINUX_REBOOT_MAGIC2, 672274793) V(LINUX_REBOOT_MAGIC2A, 85072278)
	V(LINUX_REBOOT_MAGIC2B, 369367448) V(LINUX_REBOOT_MAGIC2C, 537993216)
};
static const struct flag_name names_reboot_cmd[] = {
	V(LINUX_REBOOT_CMD_RESTART, 0x01234567) V(LINUX_REBOOT_CMD_HALT, 0xcdef0123)
	V(LINUX_REBOOT_CMD_CAD_ON, 0x89abcdef) V(LINUX_REBOOT_CMD_CAD_OFF, 0)
	V(LINUX_REBOOT_CMD_POWER_OFF, 0x4321fedc) V(LINUX_REBOOT_CMD_RESTART2, 0xa1b2c3d4)
	V(LINUX_REBOOT_CMD_SW_SUSPEND, 0xd000fce2) V(LINUX_REBOOT_CMD_KEXEC, 0x45584543)
};
static const struct flag_name names_module_init[] = {
	V(MODULE_INIT_IGNORE_MODVERSIONS, 1) V(MODULE_INIT_IGNORE_VERMAGIC, 2) V(MODULE_INIT_COMPRESSED_FILE, 4)
};
static const struct flag_name names_module_delete[] = {
	F(O_NONBLOCK) F(O_TRUNC)
};
static const struct flag_name names_mempolicy[] = {
	V(MPOL_DEFAULT, 0) V(MPOL_PREFERRED, 1) V(MPOL_BIND, 2) V(MPOL_INTERLEAVE, 3) V(MPOL_LOCAL, 4)
	V(MPOL_PREFERRED_MANY, 5) V(MPOL_WEIGHTED_INTERLEAVE, 6) V(MPOL_F_NUMA_BALANCING, 0x2000)
	V(MPOL_F_RELATIVE_NODES, 0x4000) V(MPOL_F_STATIC_NODES, 0x8000)
};
static const struct flag_name names_mbind[] = {
	V(MPOL_MF_STRICT, 1) V(MPOL_MF_MOVE, 2) V(MPOL_MF_MOVE_ALL, 4)
};
static const struct flag_name names_get_mempolicy[] = {
	V(MPOL_F_NODE, 1) V(MPOL_F_ADDR, 2) V(MPOL_F_MEMS_ALLOWED, 4)
};
static const struct flag_name names_keyring[] = {
	V(KEY_SPEC_THREAD_KEYRING, 0xffffffff) V(KEY_SPEC_PROCESS_KEYRING, 0xfffffffe)
	V(KEY_SPEC_SESSION_KEYRING, 0xfffffffd) V(KEY_SPEC_USER_KEYRING, 0xfffffffc)
	V(KEY_SPEC_USER_SESSION_KEYRING, 0xfffffffb) V(KEY_SPEC_GROUP_KEYRING, 0xfffffffa)
};
static const struct flag_name names_keyctl[] = {
	V(KEYCTL_GET_KEYRING_ID, 0) V(KEYCTL_JOIN_SESSION_KEYRING, 1) V(KEYCTL_UPDATE, 2) V(KEYCTL_REVOKE, 3)
	V(KEYCTL_CHOWN, 4) V(KEYCTL_SETPERM, 5) V(KEYCTL_DESCRIBE, 6) V(KEYCTL_CLEAR, 7) V(KEYCTL_LINK, 8)
	V(KEYCTL_UNLINK, 9) V(KEYCTL_SEARCH, 10) V(KEYCTL_READ, 11) V(KEYCTL_INSTANTIATE, 12)
	V(KEYCTL_NEGATE, 13) V(KEYCTL_SET_REQKEY_KEYRING, 14) V(KEYCTL_SET_TIMEOUT, 15)
	V(KEYCTL_ASSUME_AUTHORITY, 16) V(KEYCTL_GET_SECURITY, 17) V(KEYCTL_SESSION_TO_PARENT, 18)
	V(KEYCTL_REJECT, 19) V(KEYCTL_INVALIDATE, 21) V(KEYCTL_GET_PERSISTENT, 22)
};
static const struct flag_name names_ioprio_who[] = {
	V(IOPRIO_WHO_PROCESS, 1) V(IOPRIO_WHO_PGRP, 2) V(IOPRIO_WHO_USER, 3)
};
static const struct flag_name names_kcmp[] = {
	V(KCMP_FILE, 0) V(KCMP_VM, 1) V(KCMP_FILES, 2) V(KCMP_FS, 3) V(KCMP_SIGHAND, 4) V(KCMP_IO, 5)
	V(KCMP_SYSVSEM, 6) V(KCMP_EPOLL_TFD, 7)
};
static const struct flag_name names_seccomp[] = {
	V(SECCOMP_SET_MODE_STRICT, 0) V(SECCOMP_SET_MODE_FILTER, 1) V(SECCOMP_GET_ACTION_AVAIL, 2)
	V(SECCOMP_GET_NOTIF_SIZES, 3)
};
static const struct flag_name names_seccomp_flags[] = {
	V(SECCOMP_FILTER_FLAG_TSYNC, 1) V(SECCOMP_FILTER_FLAG_LOG, 2) V(SECCOMP_FILTER_FLAG_SPEC_ALLOW, 4)
	V(SECCOMP_FILTER_FLAG_NEW_LISTENER, 8) V(SECCOMP_FILTER_FLAG_TSYNC_ESRCH, 16)
};
static const struct flag_name names_bpf[] = {
	V(BPF_MAP_CREATE, 0) V(BPF_MAP_LOOKUP_ELEM, 1) V(BPF_MAP_UPDATE_ELEM, 2) V(BPF_MAP_DELETE_ELEM, 3)
	V(BPF_MAP_GET_NEXT_KEY, 4) V(BPF_PROG_LOAD, 5) V(BPF_OBJ_PIN, 6) V(BPF_OBJ_GET, 7) V(BPF_PROG_ATTACH, 8)
	V(BPF_PROG_DETACH, 9) V(BPF_PROG_TEST_RUN, 10) V(BPF_PROG_GET_NEXT_ID, 11) V(BPF_MAP_GET_NEXT_ID, 12)
	V(BPF_PROG_GET_FD_BY_ID, 13) V(BPF_MAP_GET_FD_BY_ID, 14) V(BPF_OBJ_GET_INFO_BY_FD, 15)
	V(BPF_PROG_QUERY, 16) V(BPF_RAW_TRACEPOINT_OPEN, 17) V(BPF_BTF_LOAD, 18) V(BPF_BTF_GET_FD_BY_ID, 19)
	V(BPF_TASK_FD_QUERY, 20) V(BPF_MAP_LOOKUP_AND_DELETE_ELEM, 21) V(BPF_MAP_FREEZE, 22)
	V(BPF_BTF_GET_NEXT_ID, 23) V(BPF_MAP_LOOKUP_BATCH, 24) V(BPF_MAP_LOOKUP_AND_DELETE_BATCH, 25)
	V(BPF_MAP_UPDATE_BATCH, 26) V(BPF_MAP_DELETE_BATCH, 27) V(BPF_LINK_CREATE, 28) V(BPF_LINK_UPDATE, 29)
	V(BPF_LINK_GET_FD_BY_ID, 30) V(BPF_LINK_GET_NEXT_ID, 31) V(BPF_ENABLE_STATS, 32) V(BPF_ITER_CREATE, 33)
	V(BPF_LINK_DETACH, 34) V(BPF_PROG_BIND_MAP, 35)
};
static const struct flag_name names_membarrier[] = {
	V(MEMBARRIER_CMD_QUERY, 0) V(MEMBARRIER_CMD_GLOBAL, 1) V(MEMBARRIER_CMD_GLOBAL_EXPEDITED, 2)
	V(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 4) V(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 8)
	V(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 16) V(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 32)
	V(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 64)
};
static const struct flag_name names_perf_flags[] = {
	V(PERF_FLAG_FD_NO_GROUP, 1) V(PERF_FLAG_FD_OUTPUT, 2) V(PERF_FLAG_PID_CGROUP, 4)
	V(PERF_FLAG_FD_CLOEXEC, 8)
};
static const struct flag_name names_rwf[] = {
	V(RWF_HIPRI, 1) V(RWF_DSYNC, 2) V(RWF_SYNC, 4) V(RWF_NOWAIT, 8) V(RWF_APPEND, 16) V(RWF_NOAPPEND, 32)
	V(RWF_ATOMIC, 64)
};
static const struct flag_name names_close_range[] = {
	V(CLOSE_RANGE_UNSHARE, 2) V(CLOSE_RANGE_CLOEXEC, 4)
};
static const struct flag_name names_landlock_rule[] = {
	V(LANDLOCK_RULE_PATH_BENEATH, 1) V(LANDLOCK_RULE_NET_PORT, 2)
};
static const struct flag_name names_fanotify[] = {
	V(FAN_CLASS_NOTIF, 0) V(FAN_CLASS_CONTENT, 4) V(FAN_CLASS_PRE_CONTENT, 8) V(FAN_CLOEXEC, 1)
	V(FAN_NONBLOCK, 2) V(FAN_UNLIMITED_QUEUE, 0x10) V(FAN_UNLIMITED_MARKS, 0x20) V(FAN_REPORT_TID, 0x100)
	V(FAN_REPORT_FID, 0x200) V(FAN_REPORT_DIR_FID, 0x400) V(FAN_REPORT_NAME, 0x800)
};
static const struct flag_name names_fanotify_mark[] = {
	V(FAN_MARK_ADD, 1) V(FAN_MARK_REMOVE, 2) V(FAN_MARK_DONT_FOLLOW, 4) V(FAN_MARK_ONLYDIR, 8)
	V(FAN_MARK_MOUNT, 0x10) V(FAN_MARK_FLUSH, 0x80) V(FAN_MARK_FILESYSTEM, 0x100)
};
static const struct flag_name names_open_tree[] = {
	V(OPEN_TREE_CLONE, 1) F(AT_SYMLINK_NOFOLLOW) F(AT_NO_AUTOMOUNT) F(AT_EMPTY_PATH) V(AT_RECURSIVE, 0x8000)
	V(OPEN_TREE_CLOEXEC, 0x80000)
};
static const struct flag_name names_move_mount[] = {
	V(MOVE_MOUNT_F_SYMLINKS, 1) V(MOVE_MOUNT_F_AUTOMOUNTS, 2) V(MOVE_MOUNT_F_EMPTY_PATH, 4)
	V(MOVE_MOUNT_T_SYMLINKS, 0x10) V(MOVE_MOUNT_T_AUTOMOUNTS, 0x20) V(MOVE_MOUNT_T_EMPTY_PATH, 0x40)
};
static const struct flag_name names_fsopen[] = {
	V(FSOPEN_CLOEXEC, 1)
};
static const struct flag_name names_fsmount[] = {
	V(FSMOUNT_CLOEXEC, 1)
};
static const struct flag_name names_mount_attr[] = {
	V(MOUNT_ATTR_RDONLY, 1) V(MOUNT_ATTR_NOSUID, 2) V(MOUNT_ATTR_NODEV, 4) V(MOUNT_ATTR_NOEXEC, 8)
	V(MOUNT_ATTR_NOATIME, 0x10) V(MOUNT_ATTR_STRICTATIME, 0x20) V(MOUNT_ATTR_NODIRATIME, 0x80)
	V(MOUNT_ATTR_IDMAP, 0x100000)
};
static const struct flag_name names_fsconfig[] = {
	V(FSCONFIG_SET_FLAG, 0) V(FSCONFIG_SET_STRING, 1) V(FSCONFIG_SET_BINARY, 2) V(FSCONFIG_SET_PATH, 3)
	V(FSCONFIG_SET_PATH_EMPTY, 4) V(FSCONFIG_SET_FD, 5) V(FSCONFIG_CMD_CREATE, 6)
	V(FSCONFIG_CMD_RECONFIGURE, 7)
};
static const struct flag_name names_ioctls[] = {
	F(TCGETS) F(TCSETS) F(TCSETSW) F(TCSETSF) F(TCSBRK) F(TCXONC) F(TCFLSH) F(TIOCEXCL) F(TIOCNXCL)
	F(TIOCSCTTY) F(TIOCGPGRP) F(TIOCSPGRP) F(TIOCOUTQ) F(TIOCSTI) F(TIOCGWINSZ) F(TIOCSWINSZ) F(TIOCMGET)
	F(FIONREAD) F(FIONBIO) F(TIOCNOTTY) F(TIOCGSID) F(TIOCGPTN) F(TIOCSPTLCK) F(TIOCGPTPEER) F(FIONCLEX)
	F(FIOCLEX) F(FIOASYNC) F(SIOCGIFNAME) F(SIOCGIFCONF) F(SIOCGIFFLAGS) F(SIOCGIFADDR) F(SIOCGIFMTU)
	F(SIOCGIFHWADDR) F(SIOCGIFINDEX) F(SIOCETHTOOL) V(FICLONE, 0x40049409) V(FICLONERANGE, 0x4020940d)
	V(FS_IOC_GETFLAGS, 0x80086601) V(FS_IOC_SETFLAGS, 0x40086602) V(FS_IOC_FIEMAP, 0xc020660b)
	V(BLKGETSIZE64, 0x80081272) V(PERF_EVENT_IOC_ENABLE, 0x2400) V(PERF_EVENT_IOC_DISABLE, 0x2401)
	V(PERF_EVENT_IOC_REFRESH, 0x2402) V(PERF_EVENT_IOC_RESET, 0x2403) V(PERF_EVENT_IOC_SET_OUTPUT, 0x2405)
	V(PERF_EVENT_IOC_SET_FILTER, 0x40082406) V(PERF_EVENT_IOC_ID, 0x80082407)
	V(PERF_EVENT_IOC_SET_BPF, 0x40042408)
};
static const struct flag_name names_fs_magic[] = {
	V(EXT2_SUPER_MAGIC, 0xef53) V(TMPFS_MAGIC, 0x01021994) V(PROC_SUPER_MAGIC, 0x9fa0)
	V(SYSFS_MAGIC, 0x62656572) V(OVERLAYFS_SUPER_MAGIC, 0x794c7630) V(XFS_SUPER_MAGIC, 0x58465342)
	V(BTRFS_SUPER_MAGIC, 0x9123683e) V(NFS_SUPER_MAGIC, 0x6969) V(CGROUP2_SUPER_MAGIC, 0x63677270)
	V(CGROUP_SUPER_MAGIC, 0x27e0eb) V(DEVPTS_SUPER_MAGIC, 0x1cd1) V(DEBUGFS_MAGIC, 0x64626720)
	V(TRACEFS_MAGIC, 0x74726163) V(SECURITYFS_MAGIC, 0x73636673) V(BPF_FS_MAGIC, 0xcafe4a11)
	V(SQUASHFS_MAGIC, 0x73717368) V(RAMFS_MAGIC, 0x858458f6) V(SELINUX_MAGIC, 0xf97cff8c)
	V(FUSE_SUPER_MAGIC, 0x65735546) V(PIPEFS_MAGIC, 0x50495045) V(SOCKFS_MAGIC, 0x534f434b)
	V(HUGETLBFS_MAGIC, 0x958458f6) V(MSDOS_SUPER_MAGIC, 0x4d44)
};
static const struct flag_name names_st_flags[] = {
	V(ST_VALID, 0x20) V(ST_RDONLY, 1) V(ST_NOSUID, 2) V(ST_NODEV, 4) V(ST_NOEXEC, 8) V(ST_SYNCHRONOUS, 16)
	V(ST_MANDLOCK, 64) V(ST_NOATIME, 1024) V(ST_NODIRATIME, 2048) V(ST_RELATIME, 4096)
	V(ST_NOSYMFOLLOW, 0x2000)
};
static const struct flag_name names_resolve[] = {
	V(RESOLVE_NO_XDEV, 1) V(RESOLVE_NO_MAGICLINKS, 2) V(RESOLVE_NO_SYMLINKS, 4) V(RESOLVE_BENEATH, 8)
	V(RESOLVE_IN_ROOT, 16) V(RESOLVE_CACHED, 32)
};
static const struct flag_name names_hrtimer_mode[] = {
	V(HRTIMER_MODE_ABS, 0) V(HRTIMER_MODE_REL, 1) V(HRTIMER_MODE_PINNED, 2) V(HRTIMER_MODE_SOFT, 4)
};

static const struct flag_set sets[] = {
	{ "oflags", "O_", true, 3, names_oflags, countof(names_oflags), NULL },
	{ "new_flags", "O_", true, 0, names_new_flags, countof(names_new_flags), NULL },
	{ "whence", "SEEK_", false, 0, names_whence, countof(names_whence), NULL },
	{ "prot", "PROT_", true, 0, names_prot, countof(names_prot), NULL },
	{ "mmap", "MAP_", true, 0xf, names_mmap, countof(names_mmap), NULL },
	{ "mremap", "MREMAP_", true, 0, names_mremap, countof(names_mremap), NULL },
	{ "msync", "MS_", true, 0, names_msync, countof(names_msync), NULL },
	{ "madvise", "MADV_", false, 0, names_madvise, countof(names_madvise), NULL },
	{ "sighow", "SIG_", false, 0, names_sighow, countof(names_sighow), NULL },
	{ "access", "_OK", true, 0, names_access, countof(names_access), NULL },
	{ "itimer", "ITIMER_", false, 0, names_itimer, countof(names_itimer), NULL },
	{ "domain", "AF_", false, 0, names_domain, countof(names_domain), NULL },
	{ "msg", "MSG_", true, 0, names_msg, countof(names_msg), NULL },
	{ "shut", "SHUT_", false, 0, names_shut, countof(names_shut), NULL },
	{ "sol", "SOL_", false, 0, names_sol, countof(names_sol), NULL },
	{ "so", "SO_", false, 0, names_so, countof(names_so), NULL },
	{ "tcp", "TCP_", false, 0, names_tcp, countof(names_tcp), NULL },
	{ "ip_opt", "IP_", false, 0, names_ip_opt, countof(names_ip_opt), NULL },
	{ "ipv6_opt", "IPV6_", false, 0, names_ipv6_opt, countof(names_ipv6_opt), NULL },
	{ "netlink_opt", "NETLINK_", false, 0, names_netlink_opt, countof(names_netlink_opt), NULL },
	{ "netlink_protocol", "NETLINK_", false, 0, names_netlink_protocol, countof(names_netlink_protocol), NULL },
	{ "protocol_ip", "IPPROTO_", false, 0, names_protocol_ip, countof(names_protocol_ip), NULL },
	{ "sock_type", "SOCK_", true, 0xf, names_sock_type, countof(names_sock_type), NULL },
	{ "sockflags", "SOCK_", true, 0, names_sockflags, countof(names_sockflags), NULL },
	{ "wait", "W", true, 0, names_wait, countof(names_wait), NULL },
	{ "idtype", "P_", false, 0, names_idtype, countof(names_idtype), NULL },
	{ "fcntl", "F_", false, 0, names_fcntl, countof(names_fcntl), NULL },
	{ "seals", "F_SEAL_", true, 0, names_seals, countof(names_seals), NULL },
	{ "fd_flags", "FD_", true, 0, names_fd_flags, countof(names_fd_flags), NULL },
	{ "lock_type", "F_", false, 0, names_lock_type, countof(names_lock_type), NULL },
	{ "flock", "LOCK_", true, 0, names_flock, countof(names_flock), NULL },
	{ "rlimit_resource", "RLIMIT_", false, 0, names_rlimit_resource, countof(names_rlimit_resource), NULL },
	{ "rusage_who", "RUSAGE_", false, 0, names_rusage_who, countof(names_rusage_who), NULL },
	{ "prio", "PRIO_", false, 0, names_prio, countof(names_prio), NULL },
	{ "sched", "SCHED_", true, 0xff, names_sched, countof(names_sched), NULL },
	{ "mlockall", "MCL_", true, 0, names_mlockall, countof(names_mlockall), NULL },
	{ "mlock2", "MLOCK_", true, 0, names_mlock2, countof(names_mlock2), NULL },
	{ "prctl", "PR_", false, 0, names_prctl, countof(names_prctl), NULL },
	{ "arch_prctl", "ARCH_", false, 0, names_arch_prctl, countof(names_arch_prctl), "ARCH_???" },
	{ "futex_ops", "FUTEX_", false, 0, names_futex_ops, countof(names_futex_ops), NULL },
	{ "clockid", "CLOCK_", false, 0, names_clockid, countof(names_clockid), NULL },
	{ "timer_flags", "TIMER_", true, 0, names_timer_flags, countof(names_timer_flags), NULL },
	{ "epoll_ctl", "EPOLL_CTL_", false, 0, names_epoll_ctl, countof(names_epoll_ctl), NULL },
	{ "epoll_create", "EPOLL_", true, 0, names_epoll_create, countof(names_epoll_create), NULL },
	{ "epoll_bits", "EPOLL", true, 0, names_epoll_bits, countof(names_epoll_bits), NULL },
	{ "poll_bits", "POLL", true, 0, names_poll_bits, countof(names_poll_bits), NULL },
	{ "eventfd", "EFD_", true, 0, names_eventfd, countof(names_eventfd), NULL },
	{ "signalfd", "SFD_", true, 0, names_signalfd, countof(names_signalfd), NULL },
	{ "timerfd", "TFD_", true, 0, names_timerfd, countof(names_timerfd), NULL },
	{ "timerfd_set", "TFD_TIMER_", true, 0, names_timerfd_set, countof(names_timerfd_set), NULL },
	{ "inotify_init", "IN_", true, 0, names_inotify_init, countof(names_inotify_init), NULL },
	{ "inotify", "IN_", true, 0, names_inotify, countof(names_inotify), NULL },
	{ "atflags", "AT_", true, 0, names_atflags, countof(names_atflags), NULL },
	{ "access_flags", "AT_", true, 0, names_access_flags, countof(names_access_flags), NULL },
	{ "statx_flags", "AT_", true, 0x6000, names_statx_flags, countof(names_statx_flags), NULL },
	{ "statx_mask", "STATX_", true, 0, names_statx_mask, countof(names_statx_mask), NULL },
	{ "statx_attributes", "STATX_ATTR_", true, 0, names_statx_attributes, countof(names_statx_attributes), NULL },
	{ "rename", "RENAME_", true, 0, names_rename, countof(names_rename), NULL },
	{ "getrandom", "GRND_", true, 0, names_getrandom, countof(names_getrandom), NULL },
	{ "memfd", "MFD_", true, 0, names_memfd, countof(names_memfd), NULL },
	{ "splice", "SPLICE_F_", true, 0, names_splice, countof(names_splice), NULL },
	{ "fallocate", "FALLOC_FL_", true, 0, names_fallocate, countof(names_fallocate), NULL },
	{ "fadvise", "POSIX_FADV_", false, 0, names_fadvise, countof(names_fadvise), NULL },
	{ "sync_range", "SYNC_FILE_RANGE_", true, 0, names_sync_range, countof(names_sync_range), NULL },
	{ "xattr", "XATTR_", true, 0, names_xattr, countof(names_xattr), NULL },
	{ "mount", "MS_", true, 0, names_mount, countof(names_mount), NULL },
	{ "umount", "MNT_", true, 0, names_umount, countof(names_umount), NULL },
	{ "clone_ns", "CLONE_", true, 0, names_clone_ns, countof(names_clone_ns), NULL },
	{ "clone_bits", "CLONE_", true, 0, names_clone_bits, countof(names_clone_bits), NULL },
	{ "sa_flags", "SA_", true, 0, names_sa_flags, countof(names_sa_flags), NULL },
	{ "ss_flags", "SS_", true, 0, names_ss_flags, countof(names_ss_flags), NULL },
	{ "ipc_flags", "IPC_", true, 0777, names_ipc_flags, countof(names_ipc_flags), NULL },
	{ "shmat", "SHM_", true, 0, names_shmat, countof(names_shmat), NULL },
	{ "shmctl", "IPC_", false, 0, names_shmctl, countof(names_shmctl), NULL },
	{ "semctl", "IPC_", false, 0, names_semctl, countof(names_semctl), NULL },
	{ "ptrace", "PTRACE_", false, 0, names_ptrace, countof(names_ptrace), NULL },
	{ "syslog", "SYSLOG_ACTION_", false, 0, names_syslog, countof(names_syslog), NULL },
	{ "personality", "PER_", false, 0, names_personality, countof(names_personality), NULL },
	{ "reboot_magic", "LINUX_REBOOT_", false, 0, names_reboot_magic, countof(names_reboot_magic), NULL },
	{ "reboot_cmd", "LINUX_REBOOT_CMD_", false, 0, names_reboot_cmd, countof(names_reboot_cmd), NULL },
	{ "module_init", "MODULE_INIT_", true, 0, names_module_init, countof(names_module_init), NULL },
	{ "module_delete", "O_", true, 0, names_module_delete, countof(names_module_delete), NULL },
	{ "mempolicy", "MPOL_", true, 0xff, names_mempolicy, countof(names_mempolicy), NULL },
	{ "mbind", "MPOL_MF_", true, 0, names_mbind, countof(names_mbind), NULL },
	{ "get_mempolicy", "MPOL_F_", true, 0, names_get_mempolicy, countof(names_get_mempolicy), NULL },
	{ "keyring", "KEY_SPEC_", false, 0, names_keyring, countof(names_keyring), NULL },
	{ "keyctl", "KEYCTL_", false, 0, names_keyctl, countof(names_keyctl), NULL },
	{ "ioprio_who", "IOPRIO_WHO_", false, 0, names_ioprio_who, countof(names_ioprio_who), NULL },
	{ "kcmp", "KCMP_", false, 0, names_kcmp, countof(names_kcmp), NULL },
	{ "seccomp", "SECCOMP_", false, 0, names_seccomp, countof(names_seccomp), NULL },
	{ "seccomp_flags", "SECCOMP_FILTER_FLAG_", true, 0, names_seccomp_flags, countof(names_seccomp_flags), NULL },
	{ "bpf", "BPF_", false, 0, names_bpf, countof(names_bpf), NULL },
	{ "membarrier", "MEMBARRIER_CMD_", false, 0, names_membarrier, countof(names_membarrier), NULL },
	{ "perf_flags", "PERF_FLAG_", true, 0, names_perf_flags, countof(names_perf_flags), NULL },
	{ "rwf", "RWF_", true, 0, names_rwf, countof(names_rwf), NULL },
	{ "close_range", "CLOSE_RANGE_", true, 0, names_close_range, countof(names_close_range), NULL },
	{ "landlock_rule", "LANDLOCK_RULE_", false, 0, names_landlock_rule, countof(names_landlock_rule), NULL },
	{ "fanotify", "FAN_", true, 0xc, names_fanotify, countof(names_fanotify), NULL },
	{ "fanotify_mark", "FAN_MARK_", true, 0, names_fanotify_mark, countof(names_fanotify_mark), NULL },
	{ "open_tree", "OPEN_TREE_", true, 0, names_open_tree, countof(names_open_tree), NULL },
	{ "move_mount", "MOVE_MOUNT_", true, 0, names_move_mount, countof(names_move_mount), NULL },
	{ "fsopen", "FSOPEN_", true, 0, names_fsopen, countof(names_fsopen), NULL },
	{ "fsmount", "FSMOUNT_", true, 0, names_fsmount, countof(names_fsmount), NULL },
	{ "mount_attr", "MOUNT_ATTR_", true, 0, names_mount_attr, countof(names_mount_attr), NULL },
	{ "fsconfig", "FSCONFIG_", false, 0, names_fsconfig, countof(names_fsconfig), NULL },
	{ "ioctls", "TIOC", false, 0, names_ioctls, countof(names_ioctls), NULL },
	{ "fs_magic", "", false, 0, names_fs_magic, countof(names_fs_magic), NULL },
	{ "st_flags", "ST_", true, 0, names_st_flags, countof(names_st_flags), NULL },
	{ "resolve", "RESOLVE_", true, 0, names_resolve, countof(names_resolve), NULL },
	{ "hrtimer_mode", "HRTIMER_MODE_", false, 0, names_hrtimer_mode, countof(names_hrtimer_mode), NULL },
};
/* clang-format on */

const struct flag_set *flag_set_find(struct str name)
{
	for (size_t i = 0; i < countof(sets); i++)
		if (str_is(name, sets[i].name))
			return &sets[i];
	return NULL;
}

const char *flag_name_of(const char *set_name, uint64_t v)
{
	const struct flag_set *set = flag_set_find(str_of(set_name));

	for (size_t i = 0; set && i < set->n; i++)
		if (set->v[i].value == v)
			return set->v[i].name;
	return NULL;
}
