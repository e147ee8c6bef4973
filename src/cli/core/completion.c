/*
 * Generates the completion script of each shell from the option rows. The scripts run `tacho list
 * --raw-dump` for event names, so they complete the events of this machine.
 *
 * The bash script does not need the bash-completion package. It uses the line up to the cursor instead of
 * COMP_WORDS, because bash splits words at ':' and '=', which are frequent in event names.
 */
#include "cli/core/app.h"

#include <errno.h>
#include <stdio.h>
#include <tacho/output.h>
#include <tacho/view.h>

#include "cli/core/options.h"

#define EVENT_CLASSES "hw sw cache tracepoint pmu tool"

/* The completion functions of each shell for the values of option_row.complete. Any other value is a list
 * of choices. */
struct completer {
	const char *word;
	const char *bash, *zsh, *fish;
};
static const struct completer completers[] = {
	{ "event", "_tacho_events", "_tacho_events", "(__tacho_events)" },
	{ "metric", "_tacho_metrics", "_tacho_metrics", "(__tacho_metrics)" },
	{ "file", "_tacho_files", "_files", NULL },
	{ "pid", "_tacho_pids", "_pids", "(__fish_complete_pids)" },
	{ "cpu", "_tacho_cpus", "_tacho_cpus", "(__tacho_cpus)" },
	{ "command", "_tacho_commands", "_tacho_commands", "(__tacho_commands)" },
};

static const struct completer *completer_find(const char *word)
{
	for (size_t i = 0; word && i < countof(completers); i++)
		if (!strcmp(word, completers[i].word))
			return &completers[i];
	return NULL;
}

static const char *view_names(void)
{
	static char names[512];
	size_t n = 0;

	for (const struct tacho_view_info *const *v = tacho_views(); *v && n < sizeof(names); v++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? " " : "", (*v)->name);
	return names;
}

/* Replaces "format" by the names of all export formats, and "view" by those of all views; returns anything else unchanged. */
static const char *expand_names(const char *words)
{
	static char names[512];
	size_t n = 0;

	if (words && !strcmp(words, "view"))
		return view_names();
	if (!words || strcmp(words, "format") != 0)
		return words;
	for (const struct tacho_format *const *f = tacho_formats(); *f && n < sizeof(names); f++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? " " : "", (*f)->name);
	return names;
}

/* Appends text escaped for use inside single quotes in any of the three shells. */
static void put_quoted(struct buf *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			buf_puts(out, "'\\''");
		else if (strchr(special, *text))
			buf_printf(out, "\\%c", *text);
		else
			buf_putc(out, *text);
	}
}

static void bash_names(const struct command *cmd, struct buf *out)
{
	scoped(freep) struct option_row *rows = options_with_verbs(cmd);

	buf_puts(out, "\t\topts='-h --help");
	for (const struct option_row *row = rows; row && row->kind != OPT_END; row++) {
		if (!option_is_shown(row))
			continue;
		if (row->letter)
			buf_printf(out, " -%c", row->letter);
		if (row->name)
			buf_printf(out, " --%s", row->name);
	}
	buf_puts(out, "'\n");
}

static void bash_action(const char *complete, struct buf *out)
{
	const struct completer *c = completer_find(complete);

	if (c)
		buf_printf(out, "%s", c->bash);
	else
		buf_printf(out, "_tacho_words '%s'", complete ? expand_names(complete) : "");
}

/* Completes the words, and after one of them its arguments. */
static void bash_subcommands(const struct command *cmd, struct buf *out)
{
	buf_puts(out, "local word; for word in \"${typed[@]:2:${#typed[@]}-3}\"; do case $word in ");
	for (const struct subcommand *sub = cmd->subcommands; sub->word; sub++) {
		buf_printf(out, "%s) ", sub->word);
		if (sub->complete)
			bash_action(sub->complete, out);
		else
			buf_puts(out, "_tacho_programs");
		buf_puts(out, "; return ;; ");
	}
	buf_puts(out, "esac; done; ");
	bash_action(cmd->complete_args, out);
}

/* Writes a case branch per option that takes an argument, as the next word or after '='. */
static void bash_arguments(const struct command *cmd, struct buf *out)
{
	scoped(freep) struct option_row *rows = options_with_verbs(cmd);

	buf_puts(out, "\t\tcase $opt in\n");
	for (const struct option_row *row = rows; row && row->kind != OPT_END; row++) {
		if (!option_is_shown(row) || !row->arg)
			continue;
		buf_puts(out, "\t\t");
		if (row->letter && !(row->flags & OPTF_OPTIONAL))
			buf_printf(out, "-%c|", row->letter);
		if (row->name && !(row->flags & OPTF_OPTIONAL))
			buf_printf(out, "--%s|", row->name);
		buf_printf(out, "--%s=) ", row->name ? row->name : "");
		bash_action(row->complete, out);
		buf_puts(out, "; return ;;\n");
	}
	buf_puts(out, "\t\tesac\n\t\t_tacho_rest() { ");
	if (cmd->subcommands)
		bash_subcommands(cmd, out);
	else if (cmd->stops_at_non_option && !cmd->verbs)
		buf_puts(out, "_tacho_programs");
	else
		bash_action(cmd->complete_args, out);
	buf_puts(out, "; }\n");
}

static const char bash_head[] =
	"# bash completion for tacho; made by `tacho --complete bash`\n"
	"_tacho_reply() {\n"
	"\tlocal IFS=$'\\n' item at=$val before=\n"
	"\t[[ $1 == list && $val == *,* ]] && at=${val##*,} before=${val%,*},\n"
	"\twhile read -r item; do\n"
	"\t\t[[ $item == \"$at\"* ]] || continue\n"
	"\t\titem=$before$item\n"
	"\t\t# bash replaces only what follows the last ':' or '='\n"
	"\t\t[[ $val == *[:=]* ]] && item=${item#\"${val%\"${val##*[:=]}\"}\"}\n"
	"\t\tCOMPREPLY+=(\"$item\")\n"
	"\tdone\n"
	"}\n"
	"_tacho_words() { _tacho_reply one < <(printf '%s\\n' $1); }\n"
	"_tacho_list() { _tacho_reply list < <(\"$tacho\" list --raw-dump $1 2>/dev/null | tr -s ' ' '\\n'); }\n"
	"_tacho_events() { _tacho_list '" EVENT_CLASSES "'; }\n"
	"_tacho_metrics() { _tacho_list 'metric metricgroup'; }\n"
	"_tacho_commands() { _tacho_reply one < <(\"$tacho\" --list-cmds 2>/dev/null); }\n"
	"_tacho_pids() { _tacho_reply list < <(cd /proc && printf '%s\\n' [0-9]*); }\n"
	"_tacho_cpus() {\n"
	"\t_tacho_reply list < <(cd /sys/devices/system/cpu && printf '%s\\n' cpu[0-9]* | tr -d 'cpu')\n"
	"}\n"
	"_tacho_files() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$val\"); }\n"
	"_tacho_programs() { mapfile -t COMPREPLY < <(compgen -c -- \"$val\"); }\n"
	"_tacho() {\n"
	"\tlocal line=${COMP_LINE:0:COMP_POINT} tacho=$1 cmd= opt= opts= val word typed\n"
	"\tCOMPREPLY=()\n"
	"\tread -ra typed <<< \"$line\"\n"
	"\t[[ $line == *[[:space:]] ]] && typed+=('')\n"
	"\tval=${typed[-1]}\n"
	"\t(( ${#typed[@]} > 2 )) && opt=${typed[-2]}\n"
	"\t[[ $val == --*=* ]] && opt=${val%%=*}= val=${val#*=}\n"
	"\tfor word in \"${typed[@]:1:${#typed[@]}-2}\"; do\n"
	"\t\t[[ $word != -* ]] && cmd=$word && break\n"
	"\tdone\n"
	"\tcase $cmd in\n";

static const char bash_tail[] =
	"\t*)\n"
	"\t\topts='--version --help --no-pager --paginate'\n"
	"\t\t_tacho_rest() { _tacho_commands; }\n"
	"\tesac\n"
	"\tif [[ $val == -* ]]; then _tacho_words \"$opts\"; else _tacho_rest; fi\n"
	"\tunset -f _tacho_rest\n"
	"}\n"
	"complete -F _tacho tacho\n";

static void bash_script(struct buf *out)
{
	buf_puts(out, bash_head);
	for (size_t i = 0; commands[i]; i++) {
		buf_printf(out, "\t%s)\n", commands[i]->name);
		bash_names(commands[i], out);
		bash_arguments(commands[i], out);
		buf_puts(out, "\t\t;;\n");
	}
	buf_puts(out, bash_tail);
}

static void zsh_action(const char *complete, struct buf *out)
{
	const struct completer *c = completer_find(complete);

	if (c)
		buf_puts(out, c->zsh);
	else if (complete && *complete)
		buf_printf(out, "(%s)", expand_names(complete));
}

/* Writes a spec of zsh's _arguments: '(-e --event)'{-e,--event=}'[help]:EVENT:_tacho_events' */
static void zsh_row(const struct option_row *row, struct buf *out)
{
	bool optional = row->flags & OPTF_OPTIONAL;
	bool repeats = row->kind == OPT_LIST || row->kind == OPT_COUNT || row->kind == OPT_CALL;

	buf_puts(out, "\t\t\t");
	if (repeats)
		buf_puts(out, "'*'");
	else if (row->letter && row->name)
		buf_printf(out, "'(-%c --%s)'", row->letter, row->name);
	if (row->letter && row->name)
		buf_printf(out, "{-%c%s,--%s%s}", row->letter, !row->arg ? "" : optional ? "-" : "+",
			   row->name, !row->arg ? "" : optional ? "=-" : "=");
	else if (row->name)
		buf_printf(out, "--%s%s", row->name, !row->arg ? "" : optional ? "=-" : "=");
	else
		buf_printf(out, "-%c%s", row->letter, !row->arg ? "" : optional ? "-" : "+");
	buf_puts(out, "'[");
	put_quoted(out, row->help ? row->help : "", "[]\\");
	buf_puts(out, "]");
	if (row->arg) {
		buf_puts(out, optional ? "::" : ":");
		put_quoted(out, row->arg, ":\\");
		buf_putc(out, ':');
		zsh_action(row->complete, out);
	}
	buf_puts(out, "' \\\n");
}

/* In an argument's action, words[1] is the first argument. */
static void zsh_subcommands(const struct command *cmd, struct buf *out)
{
	buf_printf(out, "_tacho_%s_words() {\n\t(( CURRENT == 1 )) && { compadd -- %s; return }\n\tcase $words[1] in\n",
		   cmd->name, cmd->complete_args);
	for (const struct subcommand *sub = cmd->subcommands; sub->word; sub++) {
		const struct completer *c = completer_find(sub->complete);

		buf_printf(out, "\t%s) ", sub->word);
		if (!sub->complete)
			buf_puts(out, "shift words; (( CURRENT-- )); _normal");
		else
			buf_printf(out, c ? "%s" : "compadd -- %s", c ? c->zsh : sub->complete);
		buf_puts(out, " ;;\n");
	}
	buf_puts(out, "\tesac\n}\n");
}

static const char zsh_head[] =
	"#compdef tacho\n"
	"# zsh completion for tacho; made by `tacho --complete zsh`\n"
	"_tacho_list() {\n"
	"\tlocal -a names\n"
	"\tnames=(${=\"$(_call_program names tacho list --raw-dump $1 2>/dev/null)\"})\n"
	"\tcompset -P '*,'\n"
	"\tcompadd -a names\n"
	"}\n"
	"_tacho_events() { _tacho_list '" EVENT_CLASSES "' }\n"
	"_tacho_metrics() { _tacho_list 'metric metricgroup' }\n"
	"_tacho_cpus() { compset -P '*,'; compadd -- /sys/devices/system/cpu/cpu<->(N:t:s/cpu//) }\n"
	"_tacho_commands() {\n"
	"\tlocal -a commands\n"
	"\tcommands=(\n";

static void zsh_script(struct buf *out)
{
	buf_puts(out, zsh_head);
	for (size_t i = 0; commands[i]; i++) {
		buf_printf(out, "\t\t'%s:", commands[i]->name);
		put_quoted(out, commands[i]->summary, ":\\");
		buf_puts(out, "'\n");
	}
	buf_puts(out, "\t)\n\t_describe command commands\n}\n");
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->subcommands)
			zsh_subcommands(commands[i], out);
	buf_puts(out, "_tacho() {\n\tlocal curcontext=$curcontext state line\n\ttypeset -A opt_args\n"
		      "\t_arguments -C --version --help --no-pager --paginate ':command:_tacho_commands' "
		      "'*::argument:->rest'\n"
		      "\t[[ $state == rest ]] || return\n"
		      "\tcase $words[1] in\n");
	for (size_t i = 0; commands[i]; i++) {
		const struct command *cmd = commands[i];
		scoped(freep) struct option_row *rows = options_with_verbs(cmd);

		buf_printf(out, "\t%s)\n\t\t_arguments -s %s\\\n", cmd->name,
			   cmd->stops_at_non_option && !cmd->verbs ? "-A '-*' " : "");
		for (const struct option_row *row = rows; row && row->kind != OPT_END; row++)
			if (option_is_shown(row))
				zsh_row(row, out);
		buf_puts(out, "\t\t\t'(-h --help)'{-h,--help}'[show the options]' \\\n\t\t\t'*::word:");
		if (cmd->subcommands)
			buf_printf(out, "_tacho_%s_words", cmd->name);
		else if (cmd->stops_at_non_option && !cmd->verbs)
			buf_puts(out, "_normal");
		else
			zsh_action(cmd->complete_args, out);
		buf_puts(out, "' ;;\n");
	}
	buf_puts(out, "\tesac\n}\n_tacho \"$@\"\n");
}

static const char fish_head[] =
	"# fish completion for tacho; made by `tacho --complete fish`\n"
	"function __tacho_list\n"
	"\tset -l before (commandline -ct | string match -r '^.*,')\n"
	"\tfor name in (tacho list --raw-dump $argv 2>/dev/null | string split -n ' ')\n"
	"\t\techo \"$before$name\"\n"
	"\tend\n"
	"end\n"
	"function __tacho_events\n"
	"\t__tacho_list " EVENT_CLASSES "\n"
	"end\n"
	"function __tacho_metrics\n"
	"\t__tacho_list metric metricgroup\n"
	"end\n"
	"function __tacho_cpus\n"
	"\tset -l before (commandline -ct | string match -r '^.*,')\n"
	"\tfor cpu in /sys/devices/system/cpu/cpu[0-9]*\n"
	"\t\techo \"$before\"(string replace -r '.*/cpu' '' $cpu)\n"
	"\tend\n"
	"end\n"
	"function __tacho_commands\n"
	"\ttacho --list-cmds 2>/dev/null\n"
	"end\n"
	"complete -c tacho -f\n"
	"complete -c tacho -n __fish_use_subcommand -l version -d 'show the version'\n"
	"complete -c tacho -n __fish_use_subcommand -s h -l help -d 'show the commands'\n"
	"complete -c tacho -n __fish_use_subcommand -l no-pager -d 'never start the pager'\n"
	"complete -c tacho -n __fish_use_subcommand -s p -l paginate -d 'use the pager'\n";

static void fish_action(const char *complete, struct buf *out)
{
	const struct completer *c = completer_find(complete);

	if (c && !c->fish)
		buf_puts(out, " -F");
	else if (complete && *complete)
		buf_printf(out, " -a '%s'", c ? c->fish : expand_names(complete));
}

static void fish_row(const char *command, const struct option_row *row, struct buf *out)
{
	buf_printf(out, "complete -c tacho -n '__fish_seen_subcommand_from %s'", command);
	if (row->letter)
		buf_printf(out, " -s %c", row->letter);
	if (row->name)
		buf_printf(out, " -l %s", row->name);
	if (row->arg)
		buf_puts(out, row->flags & OPTF_OPTIONAL ? "" : " -r");
	if (row->arg)
		fish_action(row->complete, out);
	buf_puts(out, " -d '");
	put_quoted(out, row->help ? row->help : "", "");
	buf_puts(out, "'\n");
}

static void fish_subcommands(const struct command *cmd, struct buf *out)
{
	buf_printf(out, "complete -c tacho -n '__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from %s'",
		   cmd->name, cmd->complete_args);
	fish_action(cmd->complete_args, out);
	buf_putc(out, '\n');
	for (const struct subcommand *sub = cmd->subcommands; sub->word; sub++) {
		buf_printf(out, "complete -c tacho -n '__fish_seen_subcommand_from %s; and __fish_seen_subcommand_from %s'",
			   cmd->name, sub->word);
		fish_action(sub->complete ? sub->complete : "(__fish_complete_subcommand --fcs-skip=3)", out);
		buf_putc(out, '\n');
	}
}

static void fish_script(struct buf *out)
{
	buf_puts(out, fish_head);
	for (size_t i = 0; commands[i]; i++) {
		const struct command *cmd = commands[i];
		scoped(freep) struct option_row *rows = options_with_verbs(cmd);

		buf_printf(out, "complete -c tacho -n __fish_use_subcommand -a %s -d '", cmd->name);
		put_quoted(out, cmd->summary, "");
		buf_puts(out, "'\n");
		for (const struct option_row *row = rows; row && row->kind != OPT_END; row++)
			if (option_is_shown(row))
				fish_row(cmd->name, row, out);
		buf_printf(out, "complete -c tacho -n '__fish_seen_subcommand_from %s'"
				" -s h -l help -d 'show the options'\n", cmd->name);
		if (cmd->subcommands)
			fish_subcommands(cmd, out);
		if (cmd->subcommands || (!cmd->stops_at_non_option && !cmd->complete_args))
			continue;
		buf_printf(out, "complete -c tacho -n '__fish_seen_subcommand_from %s'", cmd->name);
		fish_action(cmd->stops_at_non_option && !cmd->verbs ? "(__fish_complete_subcommand --fcs-skip=2)" : cmd->complete_args, out);
		buf_putc(out, '\n');
	}
}

int complete_script(const char *shell, struct buf *out)
{
	static const struct { const char *shell; void (*write)(struct buf *); } scripts[] = {
		{ "bash", bash_script }, { "zsh", zsh_script }, { "fish", fish_script },
	};

	for (size_t i = 0; i < countof(scripts); i++)
		if (!strcmp(shell, scripts[i].shell)) {
			scripts[i].write(out);
			return 0;
		}
	return -EINVAL;
}
