// Asks before a form with typed and unsaved values is left, by any way but its own buttons and its
// own link to cancel.
const form = document.querySelector("form[data-unsaved]");
let isUnsaved = form.dataset.unsaved === "yes";
let isLeaving = false;

const leave = () => { isLeaving = true; };

form.addEventListener("input", () => { isUnsaved = true; });
form.addEventListener("submit", leave);
form.querySelector("[data-cancel]").addEventListener("click", leave);
// The browser kept the page, and shows it again after going back.
window.addEventListener("pageshow", () => { isLeaving = false; });
window.addEventListener("beforeunload", (event) => {
  if (isUnsaved && !isLeaving) event.preventDefault();
});
