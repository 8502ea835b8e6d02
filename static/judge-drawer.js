// Opens guidelines, keys and contexts beside the pair instead of leaving it; without this script they are pages.
(() => {
  "use strict";

  async function open(link) {
    const drawer = document.getElementById("drawer");
    const body = document.getElementById("drawer-body");
    let answer;
    try {
      answer = await fetch(link.href, { headers: { "HX-Request": "true" }, credentials: "same-origin" });
    } catch {
      answer = null;
    }
    if (!answer || !answer.ok) {
      window.location.href = link.href;
      return;
    }
    body.innerHTML = await answer.text(); // our own page's part: everything given to us in it is escaped
    if (!drawer.open) drawer.showModal();
    const mark = body.querySelector("mark") || body.querySelector(`[id="${CSS.escape(link.hash.slice(1))}"]`);
    drawer.scrollTop = 0;
    if (mark) mark.scrollIntoView({ block: "center" });
    body.querySelector("h1").focus({ preventScroll: true });
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-drawer]");
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(link);
  });
})();
