// Single keys on the pair page. They press the page's own buttons and links, so that they do what those do and no more.
(() => {
  "use strict";

  const ARROWS = { ArrowLeft: "←", ArrowRight: "→" };
  const answer = (key, task) => [...task.querySelectorAll("#answer [data-keys]")]
    .find((button) => button.dataset.keys.toLowerCase().split(" ").includes(ARROWS[key] || key));
  const press = (selector, within = document) => {
    const found = within.querySelector(selector);
    if (found) found.click();
    return Boolean(found);
  };

  function inSkip(skip, key) {
    const report = skip.querySelector("details.report");
    if (key === "Escape" || key === "s") {
      report.open = false;
      skip.open = false;
      skip.querySelector("summary").focus();
      return true;
    }
    if (report.open) return false;
    if (key === "r") {
      report.open = true;
      report.querySelector("textarea").focus();
      return true;
    }
    const reason = skip.querySelectorAll("button[name=reason]")[Number(key) - 1];
    if (reason) reason.click();
    return Boolean(reason);
  }

  function onPair(task, key) {
    const skip = task.querySelector("details.skip"); // none in practice
    if (skip && skip.open) return inSkip(skip, key);
    const given = answer(key, task);
    if (given) {
      given.click();
      return true;
    }
    if (key === "s" && skip) {
      skip.open = true;
      skip.querySelector("button[name=reason]").focus();
      return true;
    }
    if (key === "u") return press(".undo button", task);
    if (key === "c") return press(".context-link", task);
    if (key === "g") return press("[data-drawer]:not([data-help])", document.querySelector(".site-header"));
    if (key === "?") return press("[data-help]", task);
    return false;
  }

  document.addEventListener("keydown", (event) => {
    const task = document.querySelector("#task[data-pair]");
    if (!task || task.dataset.shortcuts !== "on") return;
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const drawer = document.getElementById("drawer");
    if (drawer.open) {
      if (key === "c" && press("[data-other]", drawer)) event.preventDefault();
      return;
    }
    if (onPair(task, key)) event.preventDefault();
  });
})();
