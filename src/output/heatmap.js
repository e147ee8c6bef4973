/* Two clicks select a range of time, which is highlighted and shown as the --time option. */
(function () {
	"use strict";
	var LEFT = 62, TOP = 74;
	var svg = document.querySelector("svg.heatmap"), NS = svg.namespaceURI;
	var rows = +svg.dataset.rows, seconds = +svg.dataset.seconds, first = +svg.dataset.first;
	var cell = svg.dataset.cell.split(" ").map(Number);
	var range = svg.querySelector("#range"), from = null, to = null, marks = [];

	/* The index of the cell at the pointer, in the order of time. */
	function at(e) {
		var box = svg.getBoundingClientRect();
		var second = Math.floor((e.clientX - box.left - LEFT) / cell[0]);
		var row = rows - 1 - Math.floor((e.clientY - box.top - TOP) / cell[1]);
		if (second < 0 || second >= seconds || row < 0 || row >= rows)
			return -1;
		return second * rows + row;
	}

	function time(index) {
		return (first + Math.floor(index / rows) + index % rows / rows).toFixed(3);
	}

	function mark(second, low, high) {
		var r = document.createElementNS(NS, "rect");
		r.setAttribute("class", "chosen");
		r.setAttribute("x", LEFT + second * cell[0]);
		r.setAttribute("y", TOP + (rows - high) * cell[1]);
		r.setAttribute("width", cell[0]);
		r.setAttribute("height", (high - low) * cell[1]);
		marks.push(svg.appendChild(r));
	}

	function show(a, b) {
		marks.forEach(function (r) { r.remove(); });
		marks = [];
		if (a === null)
			return;
		for (var s = Math.floor(a / rows); s * rows <= b; s++)
			mark(s, Math.max(a, s * rows) - s * rows, Math.min(b + 1, (s + 1) * rows) - s * rows);
	}

	function order(a, b) { return a < b ? [a, b] : [b, a]; }

	svg.addEventListener("click", function (e) {
		var i = at(e), o;
		if (i < 0) {
			from = to = null;
		} else if (from === null || to !== null) {
			from = i;
			to = null;
		} else {
			to = i;
		}
		o = from === null ? [null, null] : order(from, to === null ? from : to);
		show(o[0], o[1]);
		range.textContent = from === null ? " " : to === null ?
			"from " + time(from) + " s; click on the end" :
			"--time " + time(o[0]) + "," + time(o[1] + 1);
	});
	svg.addEventListener("mousemove", function (e) {
		var i = at(e), o;
		if (from === null || to !== null || i < 0)
			return;
		o = order(from, i);
		show(o[0], o[1]);
	});
}());
