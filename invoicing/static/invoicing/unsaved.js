// Asks before a form with unsaved values is left, by any way but its own buttons and its own link to
// cancel. What the browser put back into the fields after going back is unsaved, too.
const form = document.querySelector("form[data-unsaved]");
let isLeaving = false;

const isChanged = (field) => {
  // The value of a box is the same whether or not it is ticked.
  if (field.type === "checkbox") return field.checked !== field.defaultChecked;
  if (!field.options) return "defaultValue" in field && field.value !== field.defaultValue;
  const shownFirst = [...field.options].findIndex((option) => option.defaultSelected);
  return field.selectedIndex !== Math.max(shownFirst, 0);
};

const leave = () => { isLeaving = true; };
const stay = () => { isLeaving = false; };

form.addEventListener("submit", leave);
// Another script leads elsewhere, and what was typed is kept.
form.addEventListener("leaving", leave);
form.querySelector("[data-cancel]").addEventListener("click", (event) => {
  const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
  if (!opensElsewhere) leave();
});
// The page was not left after all, or is shown again.
form.addEventListener("input", stay);
window.addEventListener("pageshow", stay);
window.addEventListener("beforeunload", (event) => {
  const isUnsaved = form.dataset.unsaved === "yes" || [...form.elements].some(isChanged);
  if (isUnsaved && !isLeaving) event.preventDefault();
});
