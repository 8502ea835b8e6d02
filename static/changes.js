// Says how many fields of a form have changed, and whether all scores are recomputed, and keeps *Save* in sight. Without this script the form works as it is.
"use strict";

(() => {
  const form = document.querySelector("form[data-changes]");
  const words = form.querySelector("[role=status]");
  const differs = (control) => {
    if (control.options) return [...control.options].some((option) => option.selected !== option.defaultSelected);
    if (/radio|checkbox/.test(control.type)) return control.checked !== control.defaultChecked;
    return control.value !== control.defaultValue;
  };

  form.addEventListener("input", () => {
    const changed = [...form.querySelectorAll("[data-field]")]
      .filter((field) => [...field.querySelectorAll("input, select, textarea")].some(differs));
    const said = changed.length === 1 ? words.dataset.one : words.dataset.many.replace("%1", changed.length);
    const recomputes = changed.some((field) => "recomputes" in field.dataset);
    words.parentElement.classList.toggle("sticky", changed.length > 0);
    words.textContent = changed.length ? said + (recomputes ? ": " + words.dataset.all : "") : "";
  });
})();
