# Every view, dark, light and narrow: axe-core finds nothing to object to.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
. "$SUPPORT/page.sh"
page_browser
page_agent
cat >test.mjs <<'END'
import { readFileSync } from "node:fs";
import { check, finish, open, profileRoutes, shot, start, until } from "./page.mjs";
const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
await start();
for (const [dark, width] of [[false, 1280], [true, 1280], [false, 420]]) {
	const page = await open("", { dark, width, routes: profileRoutes([]) });
	await page.evaluate(axe);
	for (const view of ["counters", "profile", "events", "processes", "exporters", "triggers", "doctor", "help"]) {
		if (width < 1280 && !["counters", "profile", "events"].includes(view)) continue;
		if (view === "help") await page.getByRole("button", { name: "Help" }).click();
		else await page.evaluate(v => (location.hash = "v=" + v), view);
		await until(view + " is there", () => page.evaluate(v => v === "help" ? !!document.querySelector("dialog[open]")
			: document.querySelector("h1")?.textContent.toLowerCase() === v && !document.querySelector(".empty")?.textContent.includes("…"), view));
		await page.waitForTimeout(700);
		const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] })
			.then(r => r.violations.map(v => v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200)).join(" | "))));
		check(found.length === 0, `${view}, ${dark ? "dark" : "light"}, ${width}: ` + (found.join("\n") || "clean"));
		await shot(page, `${view}-${dark ? "dark" : "light"}-${width}`);
	}
	await page.unrouteAll({ behavior: "ignoreErrors" });
	await page.context().close();
}
await finish();
END
node test.mjs "$page_url"
page_stop
