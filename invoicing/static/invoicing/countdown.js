// Counts down the times left on the page; the server decides what is too late. Screen readers are
// told when the last minute begins, if there is something to decide, and of the end: once, so not by
// the timer beside the buttons.
const LAST_MINUTE = 60;
const decisions = document.querySelectorAll("button[name=decision]");

const timers = document.querySelectorAll("[data-seconds-left]");

const isBesideButtons = (place) => timers.length > 1 && place.closest("form") !== null;

const warn = (place) => {
  const words = { className: "unseen", role: "alert", textContent: "The last minute to decide has begun." };
  place.append(Object.assign(document.createElement("span"), words));
};

// In a list, of which many may end together: that is told once. What became of an entry the list does
// not know: it may have been issued since it was loaded.
let isToldOfList = false;

const endEntry = (place, tag) => {
  tag.classList.remove("good");
  tag.textContent = "Time is over";
  place.remove();
  if (isToldOfList) return;
  isToldOfList = true;
  const words = { className: "unseen", role: "alert", textContent: "The ten minutes of a request in this list are over." };
  tag.after(Object.assign(document.createElement("span"), words));
};

const end = (place) => {
  const tag = place.closest("td, li")?.querySelector(".tag");
  if (tag) return endEntry(place, tag);
  const href = location.pathname + location.search;
  const link = Object.assign(document.createElement("a"), { href, textContent: "Reload the page" });
  if (!isBesideButtons(place)) place.setAttribute("role", "alert");
  place.replaceChildren("The ten minutes have passed. ", link, " to see the current state.");
  decisions.forEach((button) => { button.disabled = true; });
};

const count = (timer) => {
  const place = timer.parentElement;
  const endsAt = Date.now() + Number(timer.dataset.secondsLeft) * 1000;
  let willWarn = decisions.length > 0 && !isBesideButtons(place);
  const tick = () => {
    const left = Math.max(0, Math.ceil((endsAt - Date.now()) / 1000));
    timer.textContent = `${Math.floor(left / 60)} min ${left % 60} s`;
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
