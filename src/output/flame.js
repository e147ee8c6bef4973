/* The interactive part of a flame graph: zoom, search, details, icicle view. Names are read from the titles of the boxes and
 * only set as text, never as markup. */
(function () {
	"use strict";
	var SIDE = 10, TOP = 74, BOX = 18;
	var svg = document.querySelector("svg.flame"), NS = svg.namespaceURI;
	var alone = document.documentElement === svg;
	var depth = +svg.dataset.depth, fluid = svg.dataset.fluid === "1";
	var icicle = svg.dataset.icicle === "1", zoomed = null, wanted = "", letter = 7.2;
	var width = +svg.getAttribute("width"), height = +svg.getAttribute("height");
	var boxes = [], buttons = {}, bar = {}, input = null;

	function id(name) { return svg.querySelector("#" + name); }

	function make(parent, tag, attributes, text) {
		var node = parent.appendChild(document.createElementNS(NS, tag));
		for (var key in attributes)
			node.setAttribute(key, attributes[key]);
		if (text !== undefined)
			node.textContent = text;
		return node;
	}

	function collect() {
		var groups = id("boxes").children;
		for (var i = 0; i < groups.length; i++) {
			var g = groups[i], b = g.dataset.b.split(" "), title = g.firstChild.textContent;
			boxes.push({ g: g, x: +b[0], w: +b[1], level: +b[2], title: title, i: i,
				name: title.slice(0, title.indexOf("\n")), rect: g.children[1],
				text: g.children[2] || null, found: false });
			g.box = boxes[i];
		}
		zoomed = boxes[0];
	}

	/* The actual width of a letter, so that labels fit into their boxes. */
	function measure() {
		var probe = make(svg, "text", { x: 0, y: -100 }, "abcdefghijklmnopqrst");
		letter = probe.getComputedTextLength() / 20 || 7.2;
		probe.remove();
	}

	function label(box, x, w, y) {
		var n = Math.floor((w - 6) / letter);
		if (n < 3) {
			if (box.text)
				box.text.textContent = "";
			return;
		}
		if (!box.text)
			box.text = make(box.g, "text", {});
		box.text.setAttribute("x", (x + 3).toFixed(2));
		box.text.setAttribute("y", (y + 12.5).toFixed(1));
		box.text.textContent = box.name.length <= n ? box.name : box.name.slice(0, n - 1) + "\u2026";
	}

	/* A box is visible if it is within the zoomed one, or one of its callers. */
	function place(box, scale) {
		var from = zoomed.x, to = zoomed.x + zoomed.w;
		var within = box.level >= zoomed.level && box.x >= from && box.x + box.w <= to;
		var below = box.level < zoomed.level && box.x <= from && box.x + box.w >= to;
		var x = below ? SIDE : SIDE + (box.x - from) * scale;
		var w = below ? width - 2 * SIDE : box.w * scale;
		var y = TOP + (icicle ? box.level : depth - box.level) * BOX;

		if (!(within || below) || w < 0.1) {
			box.g.style.display = "none";
			return;
		}
		box.g.style.display = "";
		box.g.setAttribute("class", (below ? "above" : "") + (box.found ? " found" : ""));
		box.rect.setAttribute("x", x.toFixed(2));
		box.rect.setAttribute("y", y);
		box.rect.setAttribute("width", Math.max(w - (w > 3 ? 0.6 : 0), 0.1).toFixed(2));
		label(box, x, w, y);
	}

	function draw() {
		var scale = (width - 2 * SIDE) / zoomed.w;
		svg.setAttribute("width", width);
		svg.setAttribute("viewBox", "0 0 " + width + " " + height);
		for (var i = 0; i < boxes.length; i++)
			place(boxes[i], scale);
		buttons.reset.classList.toggle("off", zoomed === boxes[0]);
		follow();
		remember();
	}

	/* The bar with search and details stays visible while a tall graph is scrolled. */
	function follow() {
		var y = alone ? window.scrollY : Math.max(0, -svg.getBoundingClientRect().top);
		var scrolled = y > 8;
		bar.back.setAttribute("visibility", scrolled ? "visible" : "hidden");
		bar.back.setAttribute("width", width);
		bar.node.setAttribute("transform", "translate(0 " + (scrolled ? y : 10) + ")");
		buttons.box.setAttribute("transform", "translate(" + (width - SIDE) + " 4)");
		bar.matched.setAttribute("x", width - SIDE);
	}

	function zoom(box) {
		zoomed = box;
		draw();
	}

	function pattern(text) {
		try {
			return new RegExp(text, "i");
		} catch (e) {
			return { test: function (name) { return name.indexOf(text) >= 0; } };
		}
	}

	/* Marks matching boxes and sums their share; boxes within a match are not counted again. */
	function search(text) {
		var re = text ? pattern(text) : null, sum = 0, end = -1, n = 0;
		wanted = text;
		boxes.forEach(function (box) {
			box.found = !!re && box.i > 0 && re.test(box.name);
			if (!box.found)
				return;
			n++;
			if (box.x >= end) {
				sum += box.w;
				end = box.x + box.w;
			}
		});
		bar.matched.textContent = !re ? " " :
			n + " boxes match, " + (100 * sum / boxes[0].w).toFixed(2) + " %";
		draw();
		svg.dispatchEvent(new CustomEvent("flamesearch", { detail: text, bubbles: true }));
	}

	function details(box) {
		var lines = box ? box.title.split("\n") : [" "];
		var room = Math.max(20, Math.floor((width - 2 * SIDE) / letter) - bar.matched.textContent.length - 2);
		var rest = lines.slice(1).reverse().join("  ");
		var name = lines[0], n = Math.max(20, room - rest.length - 2);
		bar.details.textContent = (name.length > n ? name.slice(0, n - 1) + "\u2026" : name) + "  " + rest;
	}

	/* The view is stored in the URL's fragment, so that it can be shared. */
	function remember() {
		var parts = [];
		if (zoomed !== boxes[0])
			parts.push("z=" + zoomed.i);
		if (wanted)
			parts.push("s=" + encodeURIComponent(wanted));
		if (icicle !== (svg.dataset.icicle === "1"))
			parts.push("i=" + (icicle ? 1 : 0));
		try {
			history.replaceState(null, "", "#" + parts.join("&"));
		} catch (e) {
			return;		/* a document without a URL */
		}
	}

	/* The fragment may be truncated or typed by hand. */
	function decoded(value) {
		try {
			return decodeURIComponent(value);
		} catch (e) {
			return value;
		}
	}

	function recall() {
		var text = "";
		location.hash.slice(1).split("&").forEach(function (part) {
			var value = part.slice(2);
			if (part.indexOf("z=") === 0 && boxes[+value])
				zoomed = boxes[+value];
			else if (part.indexOf("s=") === 0)
				text = decoded(value);
			else if (part.indexOf("i=") === 0)
				icicle = value === "1";
		});
		return text;
	}

	function button(name, text, help, x, w, action) {
		var g = make(buttons.box, "g", { "class": "button", role: "button", tabindex: 0, id: name });
		make(g, "title", {}, help);
		make(g, "rect", { x: x, y: 0, width: w, height: 22 });
		make(g, "text", { x: x + w / 2, y: 15 }, text);
		g.addEventListener("click", action);
		g.addEventListener("keydown", function (e) {
			if (e.key === "Enter" || e.key === " ")
				action();
		});
		buttons[name] = g;
	}

	function flip() {
		icicle = !icicle;
		buttons.flip.lastChild.textContent = icicle ? "Flame" : "Icicle";
		draw();
	}

	function reset() {
		input.value = "";
		zoomed = boxes[0];
		search("");
	}

	function controls() {
		var f;
		bar.node = id("bar");
		bar.back = make(bar.node, "rect", { "class": "back", height: 54 });
		bar.details = make(bar.node, "text", { id: "details", x: SIDE, y: 48 }, " ");
		bar.matched = make(bar.node, "text", { id: "matched", y: 48 }, " ");
		buttons.box = make(bar.node, "g", {});
		button("flip", icicle ? "Flame" : "Icicle", "turn the graph upside down (i)", -70, 70, flip);
		button("reset", "Reset", "the whole graph (Esc)", -148, 70, reset);
		f = make(buttons.box, "foreignObject", { x: -346, y: 0, width: 190, height: 24 });
		input = f.appendChild(document.createElementNS("http://www.w3.org/1999/xhtml", "input"));
		input.setAttribute("placeholder", "search  ( / )");
		input.setAttribute("aria-label", "search");
		input.addEventListener("input", function () { search(input.value); });
	}

	function keys(e) {
		var typing = e.target && e.target.tagName && e.target.tagName.toLowerCase() === "input";
		if (e.key === "Escape")
			reset();
		else if (!typing && (e.key === "/" || (e.key === "f" && (e.ctrlKey || e.metaKey)))) {
			e.preventDefault();
			input.focus();
		} else if (!typing && e.key === "i" && !e.ctrlKey && !e.metaKey)
			flip();
	}

	function boxOf(target) {
		var g = target && target.closest ? target.closest("#boxes > g") : null;
		return g ? g.box : null;
	}

	function fill() {
		var room = alone ? window.innerWidth : svg.parentNode.clientWidth;
		if (fluid && room >= 400 && room !== width)
			width = room;
	}

	function start() {
		var text;
		collect();
		measure();
		controls();
		text = recall();
		fill();
		svg.addEventListener("click", function (e) {
			var box = boxOf(e.target);
			if (box)
				zoom(box);
		});
		svg.addEventListener("mouseover", function (e) { details(boxOf(e.target)); });
		window.addEventListener("keydown", keys);
		window.addEventListener("resize", function () { fill(); draw(); });
		window.addEventListener("scroll", follow);
		svg.flame = { search: function (t) { input.value = t; search(t); }, reset: reset };
		input.value = text;
		search(text);
		if (alone && !icicle && zoomed === boxes[0])
			window.scrollTo(0, height);	/* the root is at the bottom */
	}

	start();
}());
