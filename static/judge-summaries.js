// Two summaries that are both taller than the screen scroll inside their cards, to be read side by side.
(() => {
  "use strict";

  function fit() {
    const cards = [...document.querySelectorAll("#answer .whole .card")];
    if (!cards.length) return;
    const areTall = cards.every((card) => card.querySelector(".sentence").offsetHeight > window.innerHeight);
    cards[0].parentElement.classList.toggle("scrolls", areTall);
    for (const card of cards) card.tabIndex = card.scrollHeight > card.clientHeight + 1 ? 0 : -1; // for keys that scroll
  }

  document.addEventListener("pair:appeared", fit);
  window.addEventListener("resize", fit);
})();
