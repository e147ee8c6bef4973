/*
 * Disassembles with objdump, which runs as a child process without a shell. Its output is parsed line by
 * line:
 *
 *	    1139:	jne    1140 <main+0x17>
 */
#include "cli/annotate/disasm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/num.h"
#include "base/str.h"

enum { ELF_EM_386 = 3, ELF_EM_X86_64 = 62 };

static _Noreturn void exec_objdump(int out, char *const *argv)
{
	int null = open("/dev/null", O_RDWR);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDERR_FILENO);
	}
	dup2(out, STDOUT_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

static pid_t start_objdump(const struct tacho_code_view *c, const struct disasm_opts *o, FILE **out)
{
	static char name[] = "objdump", disassemble[] = "-d", no_bytes[] = "--no-show-raw-insn", options_end[] = "--";
	static char att[] = "-Matt", intel[] = "-Mintel", plain[] = "-w";
	char from[48], to[48];
	bool x86 = c->machine == ELF_EM_386 || c->machine == ELF_EM_X86_64;
	char *argv[] = { o->objdump ? (char *)o->objdump : name, disassemble, no_bytes, from, to,
			 !x86 ? plain : o->intel ? intel : att, options_end, (char *)c->path, NULL };
	int ends[2];
	pid_t pid;

	snprintf(from, sizeof(from), "--start-address=%#" PRIx64, c->start);
	snprintf(to, sizeof(to), "--stop-address=%#" PRIx64, c->start + c->n_bytes);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		exec_objdump(ends[1], argv);
	close(ends[1]);
	*out = pid > 0 ? fdopen(ends[0], "r") : NULL;
	if (!*out)
		close(ends[0]);
	return pid;
}

/* Returns the hexadecimal number before " <" if the line ends with a name in angle brackets. */
static uint64_t target_of(const char *text)
{
	const char *name = strchr(text, '<'), *at;
	struct buf hex = { 0 };
	uint64_t target = 0;

	if (!name || name - text < 2 || name[-1] != ' ' || strchr(text, '#'))
		return 0;
	for (at = name - 1; at > text && at[-1] != ' ' && at[-1] != '\t' && at[-1] != ','; at--)
		;
	buf_puts(&hex, "0x");
	buf_put(&hex, at, (size_t)(name - 1 - at));
	if (buf_failed(&hex) || num_u64(str_of(hex.bytes), &target) < 0)
		target = 0;
	buf_done(&hex);
	return target;
}

/* By the mnemonic: the names of x86 and Arm. */
static enum disasm_flow flow_of(const char *text)
{
	static const char *const calls[] = { "call", "callq", "bl", "blr", "blx" };
	struct str word = str_n(text, strcspn(text, " "));

	for (size_t i = 0; i < countof(calls); i++)
		if (str_is(word, calls[i]))
			return FLOW_CALL;
	if (str_starts(word, "ret"))
		return FLOW_RETURN;
	return word.n && (word.s[0] == 'j' || (word.s[0] == 'b' && target_of(text))) ? FLOW_JUMP : FLOW_NEXT;
}

/* "   1139:\tjne    1140 <main+0x17>"; any other line is a heading and ignored. */
static int put_line(char *line, disasm_put *put, void *arg)
{
	char *colon = strstr(line, ":\t"), *end = strchr(line, '\n');
	struct disasm_insn insn;
	struct buf hex = { 0 };
	int err = 0;

	if (end)
		*end = '\0';
	if (!colon)
		return 0;
	buf_puts(&hex, "0x");
	buf_str(&hex, str_trim(str_n(line, (size_t)(colon - line))));
	if (!buf_failed(&hex) && num_u64(str_of(hex.bytes), &insn.address) == 0) {
		insn.text = colon + 2;
		insn.target = target_of(insn.text);
		insn.flow = flow_of(insn.text);
		err = put(arg, &insn);
	}
	buf_done(&hex);
	return err;
}

int disasm_objdump(const struct tacho_code_view *code, const struct disasm_opts *opts, disasm_put *put, void *arg,
		   struct tacho_error *e)
{
	scoped(freep) char *line = NULL;
	FILE *out = NULL;
	size_t cap = 0;
	int err = 0, status = 0;
	pid_t pid = start_objdump(code, opts, &out);

	while (out && err == 0 && getline(&line, &cap, out) > 0)
		err = put_line(line, put, arg);
	if (out)
		fclose(out);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (err < 0)
		return err == -ENOMEM ? error_nomem(e) : err;
	if (opts->objdump && WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return error_set(e, -ENOENT, "cannot run '%s'", opts->objdump);
	if (pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
		error_set(e, -EOPNOTSUPP, "no disassembler is installed");
		error_hint(e, "install libcapstone4 or binutils");
		return -EOPNOTSUPP;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return error_set(e, -EIO, "objdump cannot disassemble %s", code->path);
	return 0;
}
