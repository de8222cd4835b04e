// Keeps the newest activity fresh: asks now and then while the page is in front, for a while, and puts
// each part anew that has changed, unless somebody is in it. Asking again costs the server little,
// which answers that nothing has changed (ETag).
const place = document.querySelector("#freshness");
const HANGS_AFTER_SECONDS = 30;
const PARTS = ["figures", "acts", "refused"];

const isInUse = (part) => part.contains(document.activeElement) || part.querySelector("details[open]") !== null;

const isAbove = (part) => part.getBoundingClientRect().top < 0;

// Returns whether the acts were put anew; null if they had not changed.
const update = (text) => {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  let isShown = null;
  for (const id of PARTS) {
    const [here, there] = [document.getElementById(id), fresh.getElementById(id)];
    if (!here || !there || here.innerHTML === there.innerHTML) continue;
    const isKept = isInUse(here) || isAbove(here);
    if (!isKept) here.replaceChildren(...there.childNodes);
    if (id === "acts") isShown = !isKept;
  }
  return isShown;
};

const follow = () => {
  const until = Date.now() + place.dataset.minutes * 60000;
  let tag = "";
  let next;
  let isAsking = false;

  const stop = () => {
    place.textContent = place.dataset.stopped;
    place.classList.remove("live");
  };

  const ask = async () => {
    if (isAsking || document.hidden) return;
    clearTimeout(next);
    if (Date.now() > until) return stop();
    isAsking = true;
    const signal = AbortSignal.timeout(HANGS_AFTER_SECONDS * 1000);
    const headers = tag ? { "If-None-Match": tag } : {};
    const answer = await fetch(place.dataset.ask, { headers, redirect: "manual", signal }).catch(() => null);
    if (answer?.status === 200) {
      tag = answer.headers.get("ETag") ?? "";
      const isShown = update(await answer.text());
      if (isShown !== null) place.textContent = isShown ? place.dataset.added : place.dataset.below;
    }
    isAsking = false;
    const isRefused = answer?.type === "opaqueredirect" || (answer?.status >= 400 && answer.status < 500);
    if (isRefused) return stop();
    next = setTimeout(ask, place.dataset.every * 1000);
  };

  place.textContent = place.dataset.live;
  place.classList.add("live");
  next = setTimeout(ask, place.dataset.every * 1000);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && place.classList.contains("live")) ask();
  });
};

if (place) follow();
