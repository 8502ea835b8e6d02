// Lets calls of the API be tried from its page.
"use strict";

const secret = document.getElementById("api-token-secret");

function addressOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const input of form.querySelectorAll("input[data-place]")) {
    if (input.dataset.place === "path") {
      path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
    } else if (input.value) {
      query.set(input.name, input.value);
    }
  }
  return query.size ? `${path}?${query}` : path;
}

function requestOf(form) {
  const headers = secret.value
    ? { Authorization: `Bearer ${secret.value}` }
    : { "X-CSRFToken": form.dataset.csrf };
  const body = form.querySelector(".api-body");
  const file = form.querySelector(".api-file");
  const request = { method: form.dataset.method, headers, credentials: secret.value ? "omit" : "same-origin" };
  if (body) {
    headers["Content-Type"] = "application/json";
    request.body = body.value;
  } else if (file) {
    request.body = new FormData();
    request.body.set("file", file.files[0]);
  }
  return request;
}

async function shown(response) {
  const type = response.headers.get("Content-Type") || "";
  if (!type.includes("json")) return response.ok ? type : await response.text();
  return JSON.stringify(await response.json(), null, 2);
}

async function send(event) {
  event.preventDefault();
  const form = event.currentTarget;
  const status = form.querySelector(".api-status");
  const answer = form.querySelector("pre");
  try {
    const response = await fetch(addressOf(form), requestOf(form));
    status.textContent = `${response.status} ${response.statusText}`;
    answer.textContent = await shown(response);
  } catch (error) {
    status.textContent = String(error);
    answer.textContent = "";
  }
  answer.hidden = !answer.textContent;
}

for (const form of document.querySelectorAll(".api-try")) {
  form.hidden = false;
  form.addEventListener("submit", send);
}
document.getElementById("api-token").hidden = false;
document.getElementById("api-token").addEventListener("submit", (event) => event.preventDefault());
