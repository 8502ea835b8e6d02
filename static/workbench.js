// Keys of the sentence workbench. They press the page's own buttons and links, and only while a sentence has the focus.
(() => {
  "use strict";

  const KEPT = "workbench-keys";
  const legend = document.getElementById("keys");
  const chosen = document.getElementById("keys-on");
  legend.hidden = false;
  chosen.checked = localStorage.getItem(KEPT) !== "off";
  chosen.addEventListener("change", () => localStorage.setItem(KEPT, chosen.checked ? "on" : "off"));

  const BUTTONS = { j: "[name=join]", s: "[id^=split-]", x: "[name=leave_out], [name=take_back]" };

  function press(row, selector) {
    const pressed = row.querySelector(selector);
    if (pressed) pressed.click();
    return Boolean(pressed);
  }

  function focus(element) {
    if (element) element.focus();
    return Boolean(element);
  }

  function among(row, step) {
    const places = [...row.querySelectorAll("[name=split]")];
    const next = places.indexOf(document.activeElement) + step;
    return places.length > 0 && focus(places[Math.min(Math.max(next, 0), places.length - 1)]);
  }

  function onRow(row, key) {
    if (key === "ArrowDown") return focus(row.nextElementSibling);
    if (key === "ArrowUp") return focus(row.previousElementSibling);
    if (key === "ArrowRight") return among(row, 1);
    if (key === "ArrowLeft") return among(row, -1);
    if (key === "Escape") return press(row, "[data-cancel]");
    return Boolean(BUTTONS[key]) && press(row, BUTTONS[key]);
  }

  document.addEventListener("keydown", (event) => {
    if (!chosen.checked || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const row = event.target.closest("ol.bench > li");
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (row && onRow(row, key)) event.preventDefault();
  });

  document.addEventListener("htmx:afterSwap", () => {
    const bench = document.getElementById("bench");
    const row = bench && bench.dataset.focus !== undefined && document.getElementById(`s-${bench.dataset.focus}`);
    if (!row) return;
    focus(row.querySelector("[form=anyway], [name=split]") || row);
    row.scrollIntoView({ block: "nearest" });
  });
})();
