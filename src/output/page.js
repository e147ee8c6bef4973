/* The table of functions: a click on a heading sorts it, the search of the graph filters it. */
(function () {
	"use strict";
	var table = document.getElementById("functions"), svg = document.querySelector("svg.flame");
	if (!table)
		return;
	var body = table.tBodies[0], heads = table.tHead.rows[0].cells;

	function value(row, column) {
		var cell = row.cells[column];
		return column < 2 ? -cell.dataset.v : cell.textContent.trim().toLowerCase();
	}

	function sort(column) {
		var rows = Array.prototype.slice.call(body.rows);
		rows.sort(function (a, b) {
			var x = value(a, column), y = value(b, column);
			return x < y ? -1 : x > y ? 1 : 0;
		});
		rows.forEach(function (row) { body.appendChild(row); });
		for (var i = 0; i < heads.length; i++)
			heads[i].classList.toggle("sorted", i === column);
	}

	function filter(text) {
		var re;
		try {
			re = new RegExp(text, "i");
		} catch (e) {
			re = { test: function (name) { return name.indexOf(text) >= 0; } };
		}
		for (var i = 0; i < body.rows.length; i++) {
			var row = body.rows[i];
			row.hidden = !!text && !re.test(row.cells[2].textContent);
		}
	}

	function each(cell, column) {
		cell.addEventListener("click", function () { sort(column); });
		cell.addEventListener("keydown", function (e) {
			if (e.key === "Enter")
				sort(column);
		});
	}

	for (var i = 0; i < heads.length; i++)
		each(heads[i], i);
	body.addEventListener("click", function (e) {
		var row = e.target.closest("tr");
		var name = row.cells[2].textContent.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
		svg.flame.search("^" + name + "$");
		window.scrollTo(0, 0);
	});
	svg.addEventListener("flamesearch", function (e) { filter(e.detail); });
	filter(svg.querySelector("input").value);
}());
