// Sends answers so that none is lost or given by accident: a choice that could not be sent is kept in this browser (its
// address, revision and side, no text) and sent again under the same revision, which the server takes once.
(() => {
  "use strict";

  const KEPT = "preferendum-answer";
  const TOO_SOON = 300; // ms after a pair appears in which a second click or a held key is not an answer
  const PAUSES = [1, 2, 4, 8, 15]; // seconds between tries

  let shownAt = performance.now();
  let hiddenSince = null;
  let hiddenFor = 0;
  let tries = 0;
  let timer = null;

  const form = () => document.getElementById("answer");
  const trouble = () => document.getElementById("trouble");
  const kept = () => {
    try { return JSON.parse(localStorage.getItem(KEPT)); } catch { return null; }
  };
  const keep = (choice) => {
    try { localStorage.setItem(KEPT, JSON.stringify(choice)); } catch { /* a full or forbidden store: retrying still works */ }
  };
  const forget = () => {
    try { localStorage.removeItem(KEPT); } catch { /* nothing was kept either */ }
  };

  function say(word) {
    trouble().textContent = word ? trouble().dataset[word] : "";
    trouble().hidden = !word;
    trouble().classList.toggle("warning", word !== "arrived");
  }

  function appeared() {
    shownAt = performance.now();
    hiddenSince = document.hidden ? shownAt : null;
    hiddenFor = 0;
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

  // Before htmx hears of it: a second click of a double click lands on the next pair, and is no answer to it.
  document.addEventListener("submit", (event) => {
    if (event.target !== form()) return;
    const again = form().dataset.again !== undefined;
    if (!again && performance.now() - shownAt < TOO_SOON) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    if (!again) form().elements.seconds.value = secondsRead();
    delete form().dataset.again;
    form().querySelectorAll(".chosen").forEach((card) => card.classList.remove("chosen"));
    event.submitter.classList.add("chosen");
    keep({
      url: form().getAttribute("action"),
      revision: form().elements.revision.value,
      answer: event.submitter.value,
      seconds: form().elements.seconds.value,
    });
  }, true);

  // The form itself is gone once the next pair is there; what htmx was asked still names it.
  const isAnswer = (event) => event.detail.requestConfig && event.detail.requestConfig.elt.id === "answer";

  document.addEventListener("htmx:afterRequest", (event) => {
    if (!isAnswer(event) || !event.detail.successful) return;
    forget();
    tries = 0;
    say("");
  });

  ["htmx:sendError", "htmx:timeout"].forEach((name) => document.addEventListener(name, (event) => {
    if (isAnswer(event)) later();
  }));

  document.addEventListener("htmx:responseError", (event) => {
    if (!isAnswer(event)) return;
    const status = event.detail.xhr.status;
    if (status === 403) refreshToken();
    else if (status === 404) say("lost");
    else if (status >= 500 || status === 429) later();
    else window.location.reload();
  });

  function later() {
    say("kept");
    clearTimeout(timer);
    timer = setTimeout(again, PAUSES[Math.min(tries, PAUSES.length - 1)] * 1000);
    tries += 1;
  }

  function again() {
    const choice = kept();
    if (!choice || !form() || form().getAttribute("action") !== choice.url) return;
    const button = form().querySelector(`[name=answer][value="${CSS.escape(choice.answer)}"]`);
    if (!button) return;
    form().elements.seconds.value = choice.seconds;
    form().dataset.again = "";
    button.click();
  }

  // Signing in or out in another tab changes the token that guards against forged requests: fetch the new one.
  async function refreshToken() {
    if (tries > 3) return later();
    tries += 1;
    try {
      const answer = await fetch(window.location.href, { credentials: "same-origin" });
      if (answer.status === 404) return say("lost");
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const token = fresh.querySelector("[name=csrfmiddlewaretoken]").value;
      document.querySelectorAll("[name=csrfmiddlewaretoken]").forEach((field) => { field.value = token; });
      document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
      again();
    } catch {
      later();
    }
  }

  // What an earlier page could not send, sent by this one.
  async function sendLeftover() {
    const choice = kept();
    const token = document.querySelector("[name=csrfmiddlewaretoken]");
    if (!choice || !token) return;
    if (form() && form().getAttribute("action") === choice.url && form().elements.revision.value === choice.revision) {
      again();
      return;
    }
    const body = new URLSearchParams({ ...choice, csrfmiddlewaretoken: token.value });
    try {
      const answer = await fetch(choice.url, { method: "POST", body, credentials: "same-origin" });
      if (answer.ok) { forget(); say("arrived"); }
      else if (answer.status === 404) say("lost");
      else if (answer.status < 500) forget();
    } catch {
      say("kept");
      setTimeout(sendLeftover, 15000);
    }
  }

  document.addEventListener("htmx:afterSwap", (event) => {
    if (!document.getElementById("task") || event.detail.target.id === "drawer-body") return;
    appeared();
    window.scrollTo(0, 0);
    const question = document.getElementById("question");
    if (question) question.focus({ preventScroll: true });
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });
  window.addEventListener("online", again);
  document.addEventListener("DOMContentLoaded", () => { appeared(); sendLeftover(); });
})();
