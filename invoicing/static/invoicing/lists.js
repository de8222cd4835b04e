// The keys of a list: / searches, j and k move, o opens, ? tells of them. None of them while somebody
// types, or where they are turned off, as who speaks to the computer may have to; the button "Keys"
// leads to where they are turned on again.
const OFF = "lists-keys-off";
const dialog = document.querySelector("#keys");
const opener = document.querySelector("[data-keys]");
const toggle = dialog.querySelector("[data-switch]");
const records = [...document.querySelectorAll(".list .record")];

const isOff = () => localStorage.getItem(OFF) !== null;
const isTyping = (place) => place.isContentEditable || place.matches("input, select, textarea");

const showState = () => {
  toggle.textContent = isOff() ? toggle.dataset.on : toggle.dataset.off;
};

const move = (step) => {
  const row = document.activeElement.closest("tr");
  const here = records.findIndex((record) => record.closest("tr") === row);
  const next = here < 0 ? 0 : Math.min(Math.max(here + step, 0), records.length - 1);
  records[next]?.focus();
};

const open = () => {
  document.activeElement.closest("tr")?.querySelector(".record")?.click();
};

const acts = {
  "/": () => document.querySelector("#search").focus(),
  "j": () => move(1),
  "k": () => move(-1),
  "o": open,
  "?": () => dialog.showModal(),
};

document.addEventListener("keydown", (event) => {
  const isShortcut = event.ctrlKey || event.metaKey || event.altKey;
  if (isShortcut || event.isComposing || dialog.open || isOff() || isTyping(event.target)) return;
  const act = acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

toggle.addEventListener("click", () => {
  if (isOff()) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, "");
  showState();
});
opener.addEventListener("click", () => dialog.showModal());
opener.hidden = false;
showState();
