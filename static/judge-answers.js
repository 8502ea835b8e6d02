// Sends answers so that none is lost or given by accident, and shows the next pair at once.
//
// The pair to come is fetched ahead, under a lease of its own. An answer is kept in this browser (address, revision, side
// and reason, no text of the pair) until the server has confirmed it, and sent again under the same revision, which the
// server takes once.
(() => {
  "use strict";

  const KEPT = "preferendum-answers";
  const DOUBLE = 300; // ms between the two taps of a double one, as people mean it
  const NOTICED = 8000; // ms that a remark on somebody's pace stays
  const PAUSES = [1, 2, 4, 8, 15]; // seconds between tries
  const PATIENCE = 15000; // ms that a request may take

  let ahead = null; // the part of the page that comes next
  let unsent = recall();
  let sending = false;
  let waiting = null; // a skip or an undo that waits for the answers before it
  let tries = 0;
  let troubled = unsent.length > 0; // whether the answers on their way have been delayed
  let timer = null;
  let shownAt = performance.now();
  let hiddenSince = null;
  let hiddenFor = 0;
  let remark = null; // what was said of their pace, while it stays

  const form = () => document.getElementById("answer");
  const here = () => form() && form().getAttribute("action");
  const answered = () => form() && form().dataset.answered !== undefined;
  const token = () => document.querySelector("[name=csrfmiddlewaretoken]");

  function recall() {
    try { return JSON.parse(localStorage.getItem(KEPT)) || []; } catch { return []; }
  }

  function keep() {
    try {
      if (unsent.length) localStorage.setItem(KEPT, JSON.stringify(unsent));
      else localStorage.removeItem(KEPT);
    } catch { /* a full or forbidden store: sending again still works while the page is open */ }
  }

  function warn(word) {
    const trouble = document.getElementById("trouble");
    trouble.textContent = word ? trouble.dataset[word] : "";
    trouble.hidden = !word;
    trouble.classList.toggle("warning", word !== "arrived");
  }

  function noticeOf(text, kind) {
    const notice = document.createElement("p");
    notice.className = `notice ${kind}`;
    notice.textContent = text;
    return notice;
  }

  function announce(text, kind = "success") {
    const told = [text && noticeOf(text, kind), remark].filter(Boolean);
    document.getElementById("said").replaceChildren(...told);
  }

  // Said once a sitting, so it outlasts the answers after it.
  function remarkOnPace(text) {
    remark = noticeOf(text, "warning");
    setTimeout(() => { remark.remove(); remark = null; }, NOTICED);
  }

  // How long the pair has been in view.

  function appeared() {
    shownAt = performance.now();
    hiddenSince = document.hidden ? shownAt : null;
    hiddenFor = 0;
    document.dispatchEvent(new Event("pair:appeared"));
  }

  // An answer sooner than anybody can see both texts is the second tap of a double one, and is meant for the pair before.
  // ms, by the length of the texts.
  function tooSoon() {
    const characters = [...form().querySelectorAll(".sentence")].reduce((sum, text) => sum + text.textContent.length, 0);
    return shownAt + Math.min(DOUBLE + 4 * characters, 1000) - performance.now();
  }

  // Shows that a tap was no answer.
  function dim(milliseconds) {
    const cards = form();
    cards.classList.add("too-soon");
    setTimeout(() => cards.classList.remove("too-soon"), Math.max(milliseconds, 250));
  }

  function secondsRead() {
    const now = performance.now();
    const away = hiddenFor + (hiddenSince === null ? 0 : now - hiddenSince);
    return Math.max(0, (now - shownAt - away) / 1000).toFixed(2);
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      hiddenSince = performance.now();
    } else if (hiddenSince !== null) {
      hiddenFor += performance.now() - hiddenSince;
      hiddenSince = null;
    }
  });

  // Showing.

  function show(part, address) {
    const task = new DOMParser().parseFromString(part, "text/html").getElementById("task");
    document.getElementById("task").replaceWith(task);
    window.htmx.process(task);
    task.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true, detail: { elt: task } }));
    // Marked as htmx marks its own, so that going back loads the page of that address.
    window.history.replaceState({ htmx: true }, "");
    window.history.pushState({ htmx: true }, "", here() || address);
    arrive();
  }

  function arrive() {
    appeared();
    window.scrollTo(0, 0);
    const question = document.getElementById("question");
    if (question) question.focus({ preventScroll: true });
  }

  async function fetchAhead() {
    const asking = form();
    ahead = null;
    if (!asking || answered()) return;
    try {
      const answer = await post(`${here()}ahead/`, {});
      if (answer.status === 200 && form() === asking && !answered()) ahead = await answer.text();
    } catch { /* without it the next pair comes with the answer's receipt */ }
  }

  // Sending.

  function post(url, fields, headers = {}) {
    return fetch(url, {
      method: "POST",
      body: new URLSearchParams({ ...fields, csrfmiddlewaretoken: token().value }),
      headers: { "HX-Request": "true", ...headers },
      credentials: "same-origin",
      signal: AbortSignal.timeout(PATIENCE),
    });
  }

  // Before htmx hears of it, which takes answers where this script does not run.
  document.addEventListener("submit", (event) => {
    const doubled = event.target.matches(".undo") && performance.now() - shownAt < DOUBLE;
    if (event.target !== form() && !doubled) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (doubled) return;
    const button = event.submitter;
    if (!button.value || answered()) return;
    if (tooSoon() > 0) {
      dim(tooSoon());
      return;
    }
    form().dataset.answered = "";
    button.classList.add("chosen");
    const { revision, ticket } = form().elements;
    const reasons = new FormData(form());
    unsent.push({
      url: here(), revision: revision.value, ticket: ticket.value, answer: button.value, seconds: secondsRead(),
      why: reasons.getAll("why").join(","), note: reasons.get("note") || "",
    });
    keep();
    if (!troubled) warn("");
    announce(`${button.dataset.said} …`, "");
    moveOn();
    send();
  }, true);

  // The pair that was fetched ahead is shown while no more than one answer is on its way.
  function moveOn() {
    if (!ahead || unsent.length > 1) return;
    const part = ahead;
    ahead = null;
    show(part);
  }

  async function send() {
    if (sending) return;
    sending = true;
    clearTimeout(timer);
    while (unsent.length && await deliver(unsent[0])) tries = 0;
    if (!unsent.length && troubled) {
      troubled = false;
      warn("arrived");
    }
    sending = false;
    const held = waiting;
    waiting = null;
    if (held && held.isConnected && !unsent.length) held.click();
  }

  // Whether it has arrived, and the page can go on.
  async function deliver(choice) {
    const { url, ...fields } = choice;
    let answer;
    try {
      answer = await post(url, fields, { "Judge-Showing": here() === url ? "" : here() || "" });
    } catch {
      return later();
    }
    if (answer.status === 403) return refreshToken();
    if (answer.status === 404) { warn("lost"); return false; }
    if (answer.status === 429 && answer.headers.has("Retry-After")) return aMomentLater(answer);
    if (answer.status >= 500 || answer.status === 429) return later();
    unsent.shift();
    keep();
    if (!answer.ok) { window.location.reload(); return false; }
    if (!(answer.headers.get("Content-Type") || "").startsWith("application/json")) {
      window.location.assign(answer.url);
      return false;
    }
    settle(await answer.json(), url);
    return true;
  }

  function settle(result, url) {
    if (result.remark) remarkOnPace(result.remark);
    announce(result.said);
    if (!form()) return; // sent by a page that shows no pair
    if (result.part && (here() === url || !answered())) show(result.part, result.here);
    ahead = result.ahead;
    if (answered()) moveOn();
  }

  function later() {
    warn("kept");
    troubled = true;
    timer = setTimeout(send, PAUSES[Math.min(tries, PAUSES.length - 1)] * 1000);
    tries += 1;
    return false;
  }

  // Answers that come too fast for reading are taken a moment later: nothing is lost, so nobody need be told.
  function aMomentLater(answer) {
    const seconds = Math.min(Number(answer.headers.get("Retry-After")) || 1, PAUSES.at(-1));
    timer = setTimeout(send, seconds * 1000);
    return false;
  }

  // Signing in or out in another tab changes the token that guards against forged requests: fetch the new one.
  async function refreshToken() {
    if (tries > 3) return later();
    tries += 1;
    try {
      const answer = await fetch(window.location.href, { credentials: "same-origin" });
      if (answer.status === 404) { warn("lost"); return false; }
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const { value } = fresh.querySelector("[name=csrfmiddlewaretoken]");
      document.querySelectorAll("[name=csrfmiddlewaretoken]").forEach((field) => { field.value = value; });
      document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": value }));
      timer = setTimeout(send, 0);
      return false;
    } catch {
      return later();
    }
  }

  // Skipping and undoing are htmx's; they wait for the answers before them.
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!unsent.length) return;
    event.preventDefault();
    waiting = event.detail.requestConfig.triggeringEvent.submitter;
    send();
  });

  document.addEventListener("htmx:afterSwap", () => {
    arrive();
    fetchAhead();
  });

  window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });
  window.addEventListener("online", send);
  document.addEventListener("DOMContentLoaded", () => {
    appeared();
    if (!token()) return;
    if (form() && unsent.some((choice) => choice.url === here())) form().dataset.answered = "";
    if (unsent.length) send();
    else fetchAhead();
  });
})();
