// Counts down the times left on the page; the server decides what is too late. Screen readers are
// told when the last minute begins, if there is something to decide, and of the end: once, so not by
// the timer beside the buttons. What it says stands on its own element: invoicing/countdown.html.
const LAST_MINUTE = 60;
const words = { ...document.currentScript.dataset };
const decisions = document.querySelectorAll("button[name=decision]");

const timers = document.querySelectorAll("[data-seconds-left]");

const isBesideButtons = (place) => timers.length > 1 && place.closest("form") !== null;

const warn = (place) => {
  const told = { className: "unseen", role: "alert", textContent: words.lastMinute };
  place.append(Object.assign(document.createElement("span"), told));
};

// In a list, of which many may end together: that is told once. What became of an entry the list does
// not know: it may have been issued since it was loaded.
let isToldOfList = false;

const endEntry = (place, tag) => {
  tag.classList.remove("good");
  tag.textContent = words.over;
  place.remove();
  if (isToldOfList) return;
  isToldOfList = true;
  const told = { className: "unseen", role: "alert", textContent: words.overInList };
  tag.after(Object.assign(document.createElement("span"), told));
};

const end = (place) => {
  const tag = place.closest("td, li")?.querySelector(".tag");
  if (tag) return endEntry(place, tag);
  const href = location.pathname + location.search;
  const link = Object.assign(document.createElement("a"), { href, textContent: words.reload });
  if (!isBesideButtons(place)) place.setAttribute("role", "alert");
  place.replaceChildren(`${words.passed} `, link, ".");
  decisions.forEach((button) => { button.disabled = true; });
};

const write = (seconds) => words.left
  .replace("{minutes}", Math.floor(seconds / 60))
  .replace("{seconds}", seconds % 60);

const count = (timer) => {
  const place = timer.parentElement;
  const bar = timer.closest(".summary")?.querySelector("progress");
  const endsAt = Date.now() + Number(timer.dataset.secondsLeft) * 1000;
  let willWarn = decisions.length > 0 && !isBesideButtons(place);
  const tick = () => {
    const left = Math.max(0, Math.ceil((endsAt - Date.now()) / 1000));
    timer.textContent = write(left);
    if (bar) bar.value = left;
    if (willWarn && left <= LAST_MINUTE) {
      willWarn = false;
      warn(place);
    }
    if (left > 0) return;
    clearInterval(ticking);
    end(place);
  };
  const ticking = setInterval(tick, 1000);
  tick();
};

timers.forEach(count);
