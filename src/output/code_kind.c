/*
 * Kinds of code and their colours. The hues are the customary ones of flame graphs (kernel orange, C red, C++ yellow,
 * JavaScript, Java and other JIT code shades of green, inlined aqua), and Python violet; they are light enough for dark text.
 */
#include "output/output.h"

#include "base/map.h"

#include <math.h>
#include <stdio.h>

const char *const kind_names[N_KINDS] = {
	[KIND_ROOT] = "all", [KIND_COMM] = "command", [KIND_KERNEL] = "kernel", [KIND_C] = "C",
	[KIND_CXX] = "C++, Rust", [KIND_JAVASCRIPT] = "JavaScript", [KIND_JAVA] = "Java", [KIND_PYTHON] = "Python",
	[KIND_JIT] = "JIT", [KIND_INLINED] = "inlined",
	[KIND_UNKNOWN] = "no symbol", [KIND_OFF_CPU] = "off-CPU",
};

static const struct { double hue, hue_span, saturation, light, light_span; } palette[N_KINDS] = {
	[KIND_ROOT] = { 215, 0, 0.16, 0.84, 0 },
	[KIND_COMM] = { 205, 25, 0.32, 0.76, 0.06 },
	[KIND_KERNEL] = { 25, 12, 0.88, 0.64, 0.09 },
	[KIND_C] = { 0, 14, 0.74, 0.69, 0.08 },
	[KIND_CXX] = { 45, 9, 0.84, 0.62, 0.10 },
	[KIND_JAVASCRIPT] = { 72, 8, 0.62, 0.60, 0.09 },
	[KIND_JAVA] = { 108, 14, 0.46, 0.63, 0.09 },
	[KIND_PYTHON] = { 262, 22, 0.52, 0.76, 0.07 },
	[KIND_JIT] = { 145, 12, 0.38, 0.66, 0.09 },
	[KIND_INLINED] = { 175, 18, 0.46, 0.62, 0.09 },
	[KIND_UNKNOWN] = { 0, 0, 0, 0.74, 0.07 },
	[KIND_OFF_CPU] = { 225, 8, 0.70, 0.76, 0.05 },
};

static enum code_kind jit_kind(const struct tacho_profile_frame *f)
{
	static const struct { const char *runtime; enum code_kind kind; } kinds[] = {
		{ "v8js", KIND_JAVASCRIPT }, { "jvm", KIND_JAVA }, { "cpython", KIND_PYTHON },
	};
	const char *runtime = jit_runtime(f);

	for (size_t i = 0; runtime && i < countof(kinds); i++)
		if (strcmp(runtime, kinds[i].runtime) == 0)
			return kinds[i].kind;
	return KIND_JIT;
}

enum code_kind kind_of(const struct tacho_profile_frame *f)
{
	bool kernel = f->space == TACHO_SPACE_KERNEL || f->space == TACHO_SPACE_GUEST_KERNEL;

	if (f->known && strcmp(f->code->name, "[off-CPU]") == 0)
		return KIND_OFF_CPU;
	if (f->inlined)
		return KIND_INLINED;
	if (kernel)
		return KIND_KERNEL;
	if (f->jit)
		return jit_kind(f);
	if (!f->known)
		return KIND_UNKNOWN;
	return strstr(f->code->name, "::") ? KIND_CXX : KIND_C;
}

const char *jit_runtime(const struct tacho_profile_frame *f)
{
	static const char *const v8[] = { "JS:", "LazyCompile:", "Function:", "Script:", "Eval:", "Builtin:",
					  "BytecodeHandler:", "RegExp:", "Stub:" };
	const char *name = f->code->name;

	if (!f->jit)
		return "native";
	if (!f->known)
		return NULL;
	for (size_t i = 0; i < countof(v8); i++)
		if (strncmp(name, v8[i], strlen(v8[i])) == 0)
			return "v8js";
	if (strncmp(name, "py::", 4) == 0)
		return "cpython";
	/* "int java.lang.String.hashCode()", "Ljava/lang/String;::hashCode" */
	if ((name[0] == 'L' && strstr(name, ";::")) || (strchr(name, ' ') && strchr(name, '.') && strchr(name, '(')))
		return "jvm";
	return NULL;
}

static void put_hex(char out[8], double r, double g, double b)
{
	unsigned c[3] = { (unsigned)lrint(r * 255) & 255, (unsigned)lrint(g * 255) & 255,
			  (unsigned)lrint(b * 255) & 255 };

	snprintf(out, 8, "#%02x%02x%02x", c[0], c[1], c[2]);
}

/* One channel of an HSL colour: `offset` is 0 for red, 8 for green, 4 for blue. */
static double channel(double hue, double saturation, double light, double offset)
{
	double k = fmod(offset + hue / 30, 12);
	double a = saturation * fmin(light, 1 - light);

	return light - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1));
}

void kind_color(char out[8], enum code_kind kind, struct str name)
{
	uint64_t h = str_hash(name);
	double hue = palette[kind].hue + palette[kind].hue_span * (double)(h & 255) / 255;
	double light = palette[kind].light + palette[kind].light_span * (double)(h >> 8 & 255) / 255;
	double s = palette[kind].saturation;

	put_hex(out, channel(hue, s, light, 0), channel(hue, s, light, 8), channel(hue, s, light, 4));
}

void change_color(char out[8], double change)
{
	double strength = sqrt(fmin(fabs(change), 1));
	double hue = change > 0 ? 4 : 214, light = 0.93 - 0.32 * strength, s = 0.82 * strength;

	put_hex(out, channel(hue, s, light, 0), channel(hue, s, light, 8), channel(hue, s, light, 4));
}

void kind_weights(const struct output *o, uint64_t weight[N_KINDS])
{
	const struct tacho_profile_row *rows = tacho_profile_rows(o->p);
	const struct tacho_profile_node *nodes = tacho_profile_nodes(o->p);

	memset(weight, 0, N_KINDS * sizeof(*weight));
	for (size_t i = 0; i < tacho_profile_n_rows(o->p); i++) {
		enum code_kind kind = KIND_UNKNOWN;

		if (rows[i].event != o->event)
			continue;
		if (rows[i].node)
			kind = kind_of(tacho_profile_frame(o->p, nodes[rows[i].node].frame));
		weight[kind] += row_weight(o, &rows[i]);
		weight[KIND_ROOT] += row_weight(o, &rows[i]);
	}
}
