// Draws the pages to try the API on from its description.
"use strict";

const place = document.getElementById("api-docs");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const dress = () => document.documentElement.classList.toggle("dark-mode", dark.matches);

dress();
dark.addEventListener("change", dress);

window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  validatorUrl: null,
  supportedSubmitMethods: ["get", "post", "patch", "delete"],
  requestInterceptor(request) {
    // Whoever is signed in here calls as themselves; a token that was entered goes before.
    request.headers["X-CSRFToken"] = place.dataset.csrf;
    return request;
  },
});
