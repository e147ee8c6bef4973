/*
 * Bundles the page: one HTML file with one script and one style in it.
 *
 *	node bundle.mjs NODE_MODULES OUTPUT.html OUTPUT.d
 *
 * The second output lists the input files as dependencies for ninja.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const [modules, output, depfile] = process.argv.slice(2).map(p => path.resolve(p));
const here = path.dirname(fileURLToPath(import.meta.url));
const esbuild = createRequire(path.join(modules, "-"))("esbuild");
const options = { bundle: true, minify: true, write: false, metafile: true, target: "es2022", legalComments: "none",
	charset: "utf8", nodePaths: [modules], absWorkingDir: here, logLevel: "warning", outdir: here };
/* uPlot attaches all features to one object, so tree shaking cannot remove them: features that the
 * page does not use (bars, steps, splines, joins, other scales) are cut out here. */
const unused = ["paths.stepped", "paths.bars", "paths.spline", "uPlot.join", "uPlot.rangeLog", "uPlot.rangeAsinh", "uPlot.fmtDate"];
const slimmer = { name: "slimmer", setup: build => build.onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path: file }) => {
	let contents = readFileSync(file, "utf8");
	for (const name of unused) {
		const line = new RegExp(`^\\s*\\(?${name.replace(".", "\\.")}\\s*=\\s*\\w+\\)?;$`, "m");
		if (!line.test(contents)) throw new Error(`bundle: uPlot has no ${name} any more`);
		contents = contents.replace(line, "");
	}
	return { contents, loader: "js" };
}) };
const script = await esbuild.build({ ...options, entryPoints: ["src/main.tsx"], format: "esm", plugins: [slimmer],
	jsx: "automatic", jsxImportSource: "preact" });
const style = await esbuild.build({ ...options, entryPoints: ["src/style.css"] });

/* A script or style must not contain its own end tag. */
const text = (built, end) => built.outputFiles[0].text.trim().replaceAll(end, end.replace("/", "\\/"));

/* The bundled packages are under the MIT license, which must be included. */
function notice() {
	const packages = ["preact", "@preact/signals", "@preact/signals-core", "uplot"];
	const licenses = packages.map(p => readFileSync(path.join(modules, p, "LICENSE"), "utf8").replaceAll("--", "-"));
	const owners = licenses.map((l, i) => packages[i] + ": " + /^Copyright.*$/m.exec(l)[0].trim());
	return "<!--\n" + owners.join("\n") + "\n\n" + licenses[0].slice(licenses[0].indexOf("Permission is hereby")).trim() + "\n-->";
}
const html = readFileSync(path.join(here, "index.html"), "utf8")
	.replace("@STYLE@", () => text(style, "</style"))
	.replace("@SCRIPT@", () => text(script, "</script"))
	.replace("@NOTICE@", notice);
writeFileSync(output, html);

const inputs = [...Object.keys(script.metafile.inputs), ...Object.keys(style.metafile.inputs)].map(p => path.join(here, p));
const escaped = p => p.replace(/[ #]/g, "\\$&");
writeFileSync(depfile, escaped(process.argv[3]) + ": " +
	[...new Set(inputs), path.join(here, "index.html")].map(escaped).join(" ") + "\n");
