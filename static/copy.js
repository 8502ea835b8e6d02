// Gives each field marked data-copy its button, which copies what is in it. Without this script people select and copy.
"use strict";

function offer(part) {
  for (const button of part.querySelectorAll("[data-copy] + button")) button.hidden = false;
}

offer(document);
document.addEventListener("htmx:load", (event) => offer(event.detail.elt));
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy] + button");
  if (!button) return;
  const field = button.previousElementSibling;
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    document.execCommand("copy");
  }
  button.textContent = button.dataset.copied;
  button.focus(); // selecting took the focus away from whoever pressed it by key
});
