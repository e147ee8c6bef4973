/*
 * Socket addresses, socket options and messages.
 */
#include "syscall/syscall.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

static void show_unix_address(struct syscall_value *x, const uint8_t *b, size_t n)
{
	size_t len = n - 2;

	if (n <= 2)
		return;
	buf_puts(x->out, ", sun_path=");
	if (b[2] == '\0') {		/* abstract: the whole length counts */
		buf_putc(x->out, '@');
		show_quoted(x->out, b + 3, len - 1, false);
	} else {
		show_quoted(x->out, b + 2, strnlen((const char *)b + 2, len), false);
	}
}

static void show_inet_address(struct syscall_value *x, const uint8_t *b)
{
	char text[INET_ADDRSTRLEN];

	if (inet_ntop(AF_INET, b + 4, text, sizeof(text)))
		buf_printf(x->out, ", sin_port=htons(%u), sin_addr=inet_addr(\"%s\")", b[2] << 8 | b[3], text);
}

static void show_inet6_address(struct syscall_value *x, const uint8_t *b)
{
	char text[INET6_ADDRSTRLEN];
	uint32_t flow, scope;

	memcpy(&flow, b + 4, 4);
	memcpy(&scope, b + 24, 4);
	if (inet_ntop(AF_INET6, b + 8, text, sizeof(text)))
		buf_printf(x->out, ", sin6_port=htons(%u), sin6_flowinfo=htonl(%u), inet_pton(AF_INET6, \"%s\", &sin6_addr), "
			   "sin6_scope_id=%u", b[2] << 8 | b[3], ntohl(flow), text, scope);
}

static void show_netlink_address(struct syscall_value *x, const uint8_t *b)
{
	uint32_t pid, groups;

	memcpy(&pid, b + 4, 4);
	memcpy(&groups, b + 8, 4);
	buf_printf(x->out, ", nl_pid=%d, nl_groups=%08x", (int)pid, groups);
}

void show_sockaddr(struct syscall_value *x, const uint8_t *b, size_t n)
{
	uint16_t family;

	memcpy(&family, b, 2);
	buf_puts(x->out, "{sa_family=");
	show_flags_named(x, "domain", family);
	if (family == AF_UNIX)
		show_unix_address(x, b, n);
	else if (family == AF_INET && n >= 16)
		show_inet_address(x, b);
	else if (family == AF_INET6 && n >= 28)
		show_inet6_address(x, b);
	else if (family == AF_NETLINK && n >= 12)
		show_netlink_address(x, b);
	else if (n > 2) {
		buf_puts(x->out, ", sa_data=");
		show_quoted(x->out, b + 2, n - 2, false);
	}
	buf_putc(x->out, '}');
}

void show_sockaddr_arg(struct syscall_value *x)
{
	size_t n;
	const uint8_t *b = x->v ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;

	if (b && n >= 2 && !(x->spec->output && x->call->ret < 0))
		show_sockaddr(x, b, n);
	else
		show_address(x);
}

void show_socklen(struct syscall_value *x)
{
	const struct tacho_syscall_call *c = x->call;
	const struct tacho_syscall_part *before = c->entry_parts ? find_part(c->entry_parts, c->n_entry_parts, x->arg, 0) : NULL;
	const struct tacho_syscall_part *after = c->exit_parts ? find_part(c->exit_parts, c->n_exit_parts, x->arg, 0) : NULL;
	int from, to;

	if (!x->v || !after || after->n < 4) {
		show_address(x);
		return;
	}
	memcpy(&to, after + 1, 4);
	from = to;
	if (before && before->n >= 4)
		memcpy(&from, before + 1, 4);
	if (from != to)
		buf_printf(x->out, "[%d => %d]", from, to);
	else
		buf_printf(x->out, "[%d]", to);
}

void show_sockopt(struct syscall_value *x)
{
	int level = (int)x->call->args[1];

	if (level == SOL_SOCKET)
		show_flags_named(x, "so", x->v);
	else if (level == 6)
		show_flags_named(x, "tcp", x->v);
	else if (level == 0)
		show_flags_named(x, "ip_opt", x->v);
	else if (level == 41)
		show_flags_named(x, "ipv6_opt", x->v);
	else if (level == 270)
		show_flags_named(x, "netlink_opt", x->v);
	else
		buf_printf(x->out, "%#x", (uint32_t)x->v);
}

void show_sockval(struct syscall_value *x)
{
	size_t n;
	const uint8_t *b = x->v ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;
	int level = (int)x->call->args[1], option = (int)x->call->args[2], v[3] = { 0 };

	if (!b || (x->spec->output && x->call->ret < 0)) {
		show_address(x);
		return;
	}
	memcpy(v, b, min_of(n, sizeof(v)));
	if (level == SOL_SOCKET && option == SO_LINGER && n >= 8)
		buf_printf(x->out, "{l_onoff=%d, l_linger=%d}", v[0], v[1]);
	else if (level == SOL_SOCKET && option == SO_PEERCRED && n >= 12)
		buf_printf(x->out, "{pid=%d, uid=%u, gid=%u}", v[0], (unsigned)v[1], (unsigned)v[2]);
	else if (level == SOL_SOCKET && (option == 20 || option == 21) && n >= 16) {
		int64_t t[2];

		memcpy(t, b, 16);
		buf_printf(x->out, "{tv_sec=%lld, tv_usec=%lld}", (long long)t[0], (long long)t[1]);
	} else if (level == SOL_SOCKET && option == SO_ERROR && n == 4) {
		buf_printf(x->out, "[%s]", v[0] && tacho_errno_name(v[0]) ? tacho_errno_name(v[0]) : "0");
	} else if (level == SOL_SOCKET && option == SO_TYPE && n == 4) {
		buf_putc(x->out, '[');
		show_flags_named(x, "sock_type", (uint32_t)v[0]);
		buf_putc(x->out, ']');
	} else if (n == 4) {
		buf_printf(x->out, "[%d]", v[0]);
	} else {
		show_quoted(x->out, b, n, false);
	}
}

void show_msghdr(struct syscall_value *x)
{
	const uint64_t *h = value_struct(x, 56);
	size_t n;
	const uint8_t *name;

	if (!h)
		return;
	buf_puts(x->out, "{msg_name=");
	name = h[0] ? value_part(x, TACHO_PART_NAME, &n, NULL) : NULL;
	if (name && n >= 2 && (uint32_t)h[1] >= 2)
		show_sockaddr(x, name, n);
	else
		buf_printf(x->out, h[0] ? "%#llx" : "NULL", (unsigned long long)h[0]);
	buf_printf(x->out, ", msg_namelen=%d, msg_iov=", (int)h[1]);
	show_iovec(x, h[2], TACHO_PART_VECTOR, false);
	buf_printf(x->out, ", msg_iovlen=%llu", (unsigned long long)h[3]);
	if (h[5] && h[4])
		buf_printf(x->out, ", msg_control=%#llx", (unsigned long long)h[4]);
	buf_printf(x->out, ", msg_controllen=%llu, msg_flags=", (unsigned long long)h[5]);
	show_flags_named(x, "msg", (uint32_t)h[6]);
	buf_putc(x->out, '}');
}

/* "127.0.0.1:80" or "[::1]:80" */
static void show_endpoint(struct syscall_value *x, const struct tacho_syscall_socket *s, const uint32_t *address, unsigned port)
{
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(s->family, address, text, sizeof(text));
	buf_printf(x->out, s->family == AF_INET6 ? "[%s]:%u" : "%s:%u", text, port);
}

static void show_inet_socket(struct syscall_value *x, const struct tacho_syscall_socket *s)
{
	const char *name = s->protocol == IPPROTO_TCP ? "TCP" : s->protocol == IPPROTO_UDP ? "UDP" : s->protocol == IPPROTO_UDPLITE ?
			   "UDPLITE" : s->type == SOCK_RAW ? "RAW" : s->protocol == IPPROTO_ICMP ? "PING" : "IP";

	buf_printf(x->out, "<%s%s:[", name, s->family == AF_INET6 ? "v6" : "");
	if (!s->local_port) {
		buf_printf(x->out, "%llu", (unsigned long long)s->inode);
	} else {
		show_endpoint(x, s, s->local, s->local_port);
		if (s->remote_port) {
			buf_puts(x->out, "->");
			show_endpoint(x, s, s->remote, s->remote_port);
		}
	}
	buf_puts(x->out, "]>");
}

static void show_unix_socket(struct syscall_value *x, const struct tacho_syscall_socket *s)
{
	size_t n = min_of((size_t)s->n_path, sizeof(s->path));

	buf_printf(x->out, "<UNIX%s:[%llu", s->type == SOCK_STREAM ? "-STREAM" : "", (unsigned long long)s->inode);
	if (s->peer_inode)
		buf_printf(x->out, "->%llu", (unsigned long long)s->peer_inode);
	if (n) {
		buf_putc(x->out, ',');
		if (s->path[0] == '\0') {
			buf_putc(x->out, '@');
			show_quoted(x->out, s->path + 1, n - 1, false);
		} else {
			show_quoted(x->out, s->path, strnlen(s->path, n), false);
		}
	}
	buf_puts(x->out, "]>");
}

static void show_netlink_socket(struct syscall_value *x, const struct tacho_syscall_socket *s)
{
	const char *name = flag_name_of("netlink_protocol", s->protocol);

	if (name && s->remote[0])
		buf_printf(x->out, "<NETLINK:[%s:%u]>", !strncmp(name, "NETLINK_", 8) ? name + 8 : name, s->remote[0]);
	else
		buf_printf(x->out, "<NETLINK:[%llu]>", (unsigned long long)s->inode);
}

bool show_socket(struct syscall_value *x)
{
	struct tacho_syscall_socket s;
	const void *bytes;
	size_t n;

	bytes = value_part(x, TACHO_PART_SOCKET, &n, NULL);
	if (!bytes || n < sizeof(s))
		return false;
	memcpy(&s, bytes, sizeof(s));
	if (s.family == AF_INET || s.family == AF_INET6)
		show_inet_socket(x, &s);
	else if (s.family == AF_UNIX)
		show_unix_socket(x, &s);
	else if (s.family == AF_NETLINK)
		show_netlink_socket(x, &s);
	else
		buf_printf(x->out, "<socket:[%llu]>", (unsigned long long)s.inode);
	return true;
}
