// Gives each field marked data-copy its button, which copies what is in it. Without this script people select and copy.
"use strict";

for (const field of document.querySelectorAll("input[data-copy]")) {
  const button = field.nextElementSibling;
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      document.execCommand("copy");
    }
    button.textContent = button.dataset.copied;
  });
}
