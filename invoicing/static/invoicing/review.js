// The keys of a page on which a request is decided: A and R move to the button and the reason, J and K
// open the next and the previous request. None of them decides, and none works while somebody types,
// or where they are turned off, here or in a list.
const OFF = "lists-keys-off";
// So long after a decision led here, a second click of it decides nothing of what is shown now.
const SETTLES_MILLISECONDS = 700;
const form = document.querySelector("#decision");
const legend = form.querySelector(".keys");
const toggle = legend.querySelector("button");

const isOff = () => localStorage.getItem(OFF) !== null;
const isTyping = (place) => place.isContentEditable || place.matches("input, select, textarea");
const moveTo = (place) => {
  place?.focus();
  place?.scrollIntoView({ block: "nearest" });
};
const open = (rel) => document.querySelector(`.places a[rel=${rel}]`)?.click();

const acts = {
  "a": () => moveTo(form.querySelector("button[value=approve]")),
  "r": () => moveTo(form.elements.reason),
  "j": () => open("next"),
  "k": () => open("prev"),
};

document.addEventListener("keydown", (event) => {
  const isShortcut = event.ctrlKey || event.metaKey || event.altKey;
  if (isShortcut || event.isComposing || event.repeat || isOff() || isTyping(event.target)) return;
  const act = acts[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
});

const showState = () => {
  toggle.textContent = isOff() ? legend.dataset.keysOn : legend.dataset.keysOff;
};
toggle.addEventListener("click", () => {
  if (isOff()) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, "");
  showState();
});
showState();
legend.hidden = false;

if (document.querySelector(".decided")) {
  const shownAt = performance.now();
  document.addEventListener("submit", (event) => {
    if (event.target !== form || performance.now() - shownAt > SETTLES_MILLISECONDS) return;
    event.preventDefault();
    event.stopPropagation();  // nor is it signed
  }, { capture: true });
}

// What has the focus is never below the bar, however high that is.
const bar = form.querySelector(".bar");
new ResizeObserver(() => {
  document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`);
}).observe(bar);
