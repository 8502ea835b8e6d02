// Lets a file be dropped on the upload form, and shows how much of it has been sent. Without this script the form works as it is.
"use strict";

(() => {
  const form = document.getElementById("upload-form");
  const zone = form.querySelector(".dropzone");
  const input = form.querySelector("input[type=file]");
  const button = form.querySelector("button");
  const progress = document.getElementById("upload-progress");
  const bar = progress.querySelector("progress");
  const words = progress.querySelector("[role=status]");
  const megabytes = (bytes) => (bytes / 1048576).toFixed(1);

  for (const type of ["dragenter", "dragover"]) {
    zone.addEventListener(type, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  for (const type of ["dragleave", "drop"]) {
    zone.addEventListener(type, () => zone.classList.remove("over"));
  }
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) input.files = event.dataTransfer.files;
  });

  const lost = () => {
    words.textContent = words.dataset.lost;
    button.disabled = false;
  };

  form.addEventListener("submit", (event) => {
    if (!input.files.length) return;
    event.preventDefault();
    progress.hidden = false;
    if (input.accept && /\.(pdf|docx?|pptx?|rtf|odt|png|jpe?g|gif|html?|exe|7z|rar|gz)$/i.test(input.files[0].name)) {
      words.textContent = words.dataset.kind;
      return;
    }
    if (input.files[0].size > words.dataset.limit * 1e6) {
      words.textContent = words.dataset.large;
      return;
    }
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.upload.addEventListener("progress", (sent) => {
      bar.value = sent.total ? sent.loaded / sent.total : 0;
      words.textContent = sent.loaded < sent.total
        ? words.dataset.sending.replace("%1", megabytes(sent.loaded)).replace("%2", megabytes(sent.total))
        : words.dataset.sent;
    });
    request.addEventListener("load", () => {
      // The answer to a form that will do leads to the upload's own page, which was fetched already on the way.
      if (request.status === 200 && request.responseURL !== location.href) {
        location.assign(request.responseURL);
        return;
      }
      const answer = new DOMParser().parseFromString(request.responseText, "text/html");
      const refused = answer.querySelector("#upload-form .errorlist");
      words.textContent = refused ? refused.textContent.trim() : words.dataset.lost;
      button.disabled = false;
    });
    request.addEventListener("error", lost);
    request.addEventListener("abort", lost);
    button.disabled = true;
    request.send(new FormData(form));
  });
})();
