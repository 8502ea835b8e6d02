// Two summaries that are both taller than the screen scroll inside their cards, to be read side by side. One below the
// other, on a phone, a link leads from the one that is read to the other.
(() => {
  "use strict";

  const links = () => [...document.querySelectorAll("#answer .to-text")];

  function fit() {
    const cards = [...document.querySelectorAll("#answer .whole .card")];
    if (!cards.length) return;
    const areTall = cards.every((card) => card.querySelector(".sentence").offsetHeight > window.innerHeight);
    cards[0].parentElement.classList.toggle("scrolls", areTall);
    for (const card of cards) card.tabIndex = card.scrollHeight > card.clientHeight + 1 ? 0 : -1; // for keys that scroll
    const asked = getComputedStyle(document.getElementById("question"));
    const below = asked.position === "sticky" ? document.getElementById("question").offsetHeight : 0;
    document.documentElement.style.setProperty("--asked", `${below}px`);
    lead();
  }

  // Whichever summary the middle of the screen shows, the link is to the other.
  function lead() {
    const second = document.getElementById("second-summary");
    if (!second) return;
    const isRead = second.getBoundingClientRect().top < window.innerHeight / 2;
    links().forEach((link, index) => { link.hidden = isRead === (index === 0); });
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("#answer .to-text");
    if (!link) return;
    event.preventDefault(); // or going back would load the page again
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    document.querySelector(link.hash).scrollIntoView({ behavior: still ? "auto" : "smooth" });
  });
  document.addEventListener("pair:appeared", fit);
  window.addEventListener("resize", fit);
  document.addEventListener("scroll", lead, { passive: true });
})();
