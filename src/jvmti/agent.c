/*
 * A JVMTI agent for Java virtual machines: writes the functions that the JIT compiles, with their source lines, to a
 * jitdump, /tmp/jit-PID.dump, which tacho and perf read.
 *
 *	java -XX:+PreserveFramePointer -agentpath:/usr/lib/tacho/libtacho-jvmti.so[=DIRECTORY] ...
 *
 * Unlike a perf map, the dump has the time at which each function was compiled, so that code that replaces other code is told
 * apart. An address in code that was inlined has the source line in the inlined method. When the dump cannot be written, the
 * agent does nothing more; it never ends the JVM.
 */
#include "jvmti/dump.h"

#include <jvmti.h>
#include <jvmticmlr.h>

#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))
#define NAME_MAX_BYTES 4096u

/* ---- names ---- */

struct text {
	char bytes[NAME_MAX_BYTES];
	size_t n;
};

static void put(struct text *t, const char *s, size_t n)
{
	if (n > sizeof(t->bytes) - 1 - t->n)
		n = sizeof(t->bytes) - 1 - t->n;
	memcpy(t->bytes + t->n, s, n);
	t->n += n;
	t->bytes[t->n] = '\0';
}

static void put_string(struct text *t, const char *s)
{
	put(t, s, strlen(s));
}

/* "Ljava/lang/String;" -> "java.lang.String" */
static void put_class(struct text *t, const char *descriptor, size_t n)
{
	size_t from = t->n;

	put(t, descriptor, n);
	for (size_t i = from; i < t->n; i++)
		if (t->bytes[i] == '/')
			t->bytes[i] = '.';
}

/* Appends the type at the start of a descriptor; returns what follows it. "[I" -> "int[]" */
static const char *put_type(struct text *t, const char *at)
{
	static const struct { char letter; const char *name; } types[] = {
		{ 'B', "byte" }, { 'C', "char" }, { 'D', "double" }, { 'F', "float" }, { 'I', "int" },
		{ 'J', "long" }, { 'S', "short" }, { 'Z', "boolean" }, { 'V', "void" },
	};
	size_t dimensions = 0;
	const char *end;

	for (; *at == '['; at++)
		dimensions++;
	if (*at == 'L') {
		end = strchr(at, ';');
		end = end ? end : at + strlen(at);
		put_class(t, at + 1, (size_t)(end - at - 1));
		at = *end ? end + 1 : end;
	} else if (*at) {
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
			if (types[i].letter == *at)
				put_string(t, types[i].name);
		at++;
	}
	while (dimensions--)
		put_string(t, "[]");
	return at;
}

/* "(ID)V", "LSpin;", "go" -> "void Spin.go(int, double)", as in HotSpot's perf map */
static void put_method(struct text *t, const char *class, const char *name, const char *signature)
{
	const char *result = strchr(signature, ')'), *at = signature + (*signature == '(');

	t->n = 0;
	if (result) {
		put_type(t, result + 1);
		put_string(t, " ");
	}
	put_type(t, class);
	put_string(t, ".");
	put_string(t, name);
	put_string(t, "(");
	for (const char *first = at; *at && *at != ')';) {
		if (at != first)
			put_string(t, ", ");
		at = put_type(t, at);
	}
	put_string(t, ")");
}

static void free_text(jvmtiEnv *jvmti, char *text)
{
	if (text)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)text);
}

/* Fills `t` with the method's name. False if the JVM does not tell it. */
static int name_method(jvmtiEnv *jvmti, jmethodID method, struct text *t)
{
	char *class = NULL, *name = NULL, *signature = NULL;
	jclass declaring;
	int ok = (*jvmti)->GetMethodDeclaringClass(jvmti, method, &declaring) == JVMTI_ERROR_NONE &&
		 (*jvmti)->GetClassSignature(jvmti, declaring, &class, NULL) == JVMTI_ERROR_NONE &&
		 (*jvmti)->GetMethodName(jvmti, method, &name, &signature, NULL) == JVMTI_ERROR_NONE;

	if (ok)
		put_method(t, class, name, signature);
	free_text(jvmti, class);
	free_text(jvmti, name);
	free_text(jvmti, signature);
	return ok;
}

/* ---- lines ---- */

/* The file and line table of the method that was looked up last: successive addresses mostly belong to one. */
struct method_lines {
	jmethodID method;
	jvmtiLineNumberEntry *rows;
	jint n;
	struct text file;		/* "org/example/Sum.java" */
};

static void lines_done(jvmtiEnv *jvmti, struct method_lines *l)
{
	if (l->rows)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)l->rows);
	l->rows = NULL;
	l->n = 0;
	l->method = NULL;
}

static void lines_of(jvmtiEnv *jvmti, struct method_lines *l, jmethodID method)
{
	char *class = NULL, *file = NULL;
	const char *slash;
	jclass declaring;

	if (l->method == method)
		return;
	lines_done(jvmti, l);
	l->method = method;
	l->file.n = 0;
	if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &declaring) == JVMTI_ERROR_NONE &&
	    (*jvmti)->GetSourceFileName(jvmti, declaring, &file) == JVMTI_ERROR_NONE &&
	    (*jvmti)->GetClassSignature(jvmti, declaring, &class, NULL) == JVMTI_ERROR_NONE) {
		slash = strrchr(class, '/');
		if (slash && class[0] == 'L')
			put(&l->file, class + 1, (size_t)(slash - class));
		put_string(&l->file, file);
		if ((*jvmti)->GetLineNumberTable(jvmti, method, &l->n, &l->rows) != JVMTI_ERROR_NONE) {
			l->rows = NULL;
			l->n = 0;
		}
	}
	free_text(jvmti, class);
	free_text(jvmti, file);
}

/* The source line of a bytecode index; 0: not known. */
static uint32_t line_at(const struct method_lines *l, jlocation index)
{
	uint32_t line = 0;
	jlocation best = -1;

	for (jint i = 0; i < l->n; i++)
		if (l->rows[i].start_location <= index && l->rows[i].start_location > best) {
			best = l->rows[i].start_location;
			line = (uint32_t)l->rows[i].line_number;
		}
	return line;
}

static void add_line(jvmtiEnv *jvmti, struct dump_lines *out, struct method_lines *l, uint64_t address, jmethodID method,
		     jlocation index)
{
	uint32_t line;

	lines_of(jvmti, l, method);
	line = index < 0 ? 0 : line_at(l, index);
	if (line && l->file.n)
		dump_lines_add(out, address, line, l->file.bytes);
}

/* HotSpot describes the debug information at the end of each instruction range, so an entry holds from the one before on. */
static int add_inlined_lines(jvmtiEnv *jvmti, const jvmtiCompiledMethodLoadInlineRecord *record, uint64_t start,
			     struct dump_lines *out, struct method_lines *l)
{
	uint64_t from = start;

	for (jint i = 0; i < record->numpcs; i++) {
		const PCStackInfo *pc = &record->pcinfo[i];

		if (pc->numstackframes > 0)
			add_line(jvmti, out, l, from, pc->methods[0], pc->bcis[0]);
		from = (uint64_t)(uintptr_t)pc->pc + 1;
	}
	return record->numpcs > 0;
}

/* A compiled method, as the event of its compilation describes it. */
struct compiled_method {
	jmethodID method;
	uint64_t start;
	const jvmtiAddrLocationMap *map;
	jint n_map;
	const jvmtiCompiledMethodLoadRecordHeader *records;
};

static void add_lines(jvmtiEnv *jvmti, const struct compiled_method *c, struct dump_lines *out)
{
	const jvmtiCompiledMethodLoadRecordHeader *record = c->records;
	struct method_lines l = { 0 };
	int found = 0;

	for (; record && !found; record = record->next)
		if (record->kind == JVMTI_CMLR_INLINE_INFO)
			found = add_inlined_lines(jvmti, (const jvmtiCompiledMethodLoadInlineRecord *)record, c->start, out, &l);
	for (jint i = 0; i < c->n_map && !found; i++)
		add_line(jvmti, out, &l, i ? (uint64_t)(uintptr_t)c->map[i - 1].start_address + 1 : c->start, c->method,
			 c->map[i].location);
	lines_done(jvmti, &l);
}

/* ---- events ---- */

static void JNICALL on_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *code, jint n_map,
				const jvmtiAddrLocationMap *map, const void *compile_info)
{
	const struct compiled_method compiled = { method, (uint64_t)(uintptr_t)code, map, map ? n_map : 0, compile_info };
	struct dump_lines lines = { 0 };
	struct text *name = malloc(sizeof(*name));

	if (name && size > 0 && name_method(jvmti, method, name)) {
		add_lines(jvmti, &compiled, &lines);
		dump_function(name->bytes, code, (size_t)size, &lines);
	}
	dump_lines_done(&lines);
	free(name);
}

static void JNICALL on_generated(jvmtiEnv *jvmti, const char *name, const void *code, jint size)
{
	(void)jvmti;
	if (size > 0)
		dump_function(name, code, (size_t)size, NULL);
}

static jint start(JavaVM *vm, const char *directory, int attached)
{
	const jvmtiEventCallbacks callbacks = { .CompiledMethodLoad = on_compiled, .DynamicCodeGenerated = on_generated };
	jvmtiCapabilities wanted = { 0 };
	jvmtiEnv *jvmti;

	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK)
		return JNI_OK;
	wanted.can_generate_compiled_method_load_events = wanted.can_get_line_numbers = wanted.can_get_source_file_name = 1;
	if ((*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE || dump_open(directory) < 0)
		return JNI_OK;
	(*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks));
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED, NULL);
	if (attached) {			/* what has been compiled before */
		(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
		(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	}
	return JNI_OK;
}

PUBLIC JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	return start(vm, options, 0);
}

PUBLIC JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	return start(vm, options, 1);
}
