# In a browser: no errors, a click zooms, search highlights, the graph flips, reset restores it.
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need chromium cc
record_sample perf.data
tacho flame -i perf.data -o page.html
cat >probe.js <<'END'
<script>
var said = [], svg = document.querySelector("svg.flame");
var boxes = [].slice.call(svg.querySelectorAll("#boxes > g"));
function shown() { return boxes.filter(function (g) { return g.style.display !== "none"; }).length; }
function box(name) { return boxes.filter(function (g) { return g.box.name === name; })[0]; }
function width(g) { return +g.querySelector("rect").getAttribute("width"); }
function key(k) { window.dispatchEvent(new KeyboardEvent("keydown", { key: k })); }
window.addEventListener("error", function (e) { said.push("error:" + e.message); });
var all = shown(), whole = width(boxes[0]), ask = box("ask_kernel"), y = boxes[0].querySelector("rect").getAttribute("y");
ask.querySelector("rect").dispatchEvent(new MouseEvent("click", { bubbles: true }));
said.push("zoomed:" + (shown() < all && width(ask) > whole * 0.95));
said.push("hash:" + /z=/.test(location.hash));
key("Escape");
said.push("reset:" + (shown() === all && width(ask) < whole * 0.95));
svg.flame.search("inner_loop");
said.push("found:" + (svg.querySelectorAll("g.found").length > 0 && /match/.test(svg.querySelector("#matched").textContent)));
var rows = [].slice.call(document.querySelectorAll("#functions tbody tr"));
said.push("filtered:" + (rows.filter(function (r) { return !r.hidden; }).length === 1));
key("Escape");
key("i");
said.push("turned:" + (boxes[0].querySelector("rect").getAttribute("y") !== y));
ask.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
said.push("details:" + /ask_kernel/.test(svg.querySelector("#details").textContent));
document.body.setAttribute("data-said", said.join(" "));
</script>
END
sed -i "/<\/body>/{
r probe.js
N
}" page.html
browser --dump-dom "file://$PWD/page.html#s=inner%E2%8" >dom.html || { cat browser.log; skip "chromium does not start"; }
grep -q 'data-said' dom.html || { head -c 500 dom.html; skip "the browser runs no scripts"; }
said=$(grep -o 'data-said="[^"]*"' dom.html)
echo "$said"
case $said in
*false*|*error*) fail "$said" ;;
esac
for word in zoomed hash reset found filtered turned details; do
	case $said in *"$word:true"*) ;; *) fail "no $word in $said" ;; esac
done
