// Asks now and then which requests of agents wait for this person, since one ends after ten minutes:
// their number stands in the navigation, and in the title while another tab is in front. A new one is
// told once. It asks no more once the session has ended.
const EVERY_SECONDS = 20;
const link = document.querySelector("[data-latest]");
const place = document.querySelector("#arrival");
const title = document.title;
let latest = link.dataset.latest;
let count = Number.parseInt(link.querySelector(".count")?.textContent ?? "0", 10);

const element = (name, facts) => Object.assign(document.createElement(name), facts);

const showTitle = () => {
  document.title = count && document.hidden ? `(${count}) ${title}` : title;
};

const showCount = () => {
  link.querySelector(".count")?.remove();
  if (!count) return;
  const badge = element("span", { className: "count", textContent: count });
  badge.append(element("span", { className: "unseen", textContent: " waiting" }));
  link.append(" ", badge);
};

const tell = () => {
  const again = element("a", { href: link.href, textContent: "Show it" });
  const isSeen = !place.classList.contains("unseen");
  place.replaceChildren("A new request is waiting for you. ", isSeen ? again : "");
};

const ask = async () => {
  const answer = await fetch(place.dataset.ask, { redirect: "manual" }).catch(() => null);
  if (answer?.type === "opaqueredirect") clearInterval(asking);
  if (!answer?.ok) return;
  const waiting = await answer.json();
  if (waiting.latest > latest) tell();
  ({ count, latest } = waiting);
  showCount();
  showTitle();
};

const asking = setInterval(ask, EVERY_SECONDS * 1000);
document.addEventListener("visibilitychange", showTitle);
