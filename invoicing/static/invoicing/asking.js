// Asks the server now and then what an open page cannot know, and at once when the page comes to the
// front. It stops once the person is signed out or may not ask any more, until it comes there again.
const HANGS_AFTER_SECONDS = 30;

const askEvery = (seconds, href, tell) => {
  let next;
  let isAsking = false;
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    clearTimeout(next);
    const signal = AbortSignal.timeout(HANGS_AFTER_SECONDS * 1000);
    const answer = await fetch(href, { redirect: "manual", signal }).catch(() => null);
    const facts = answer?.ok ? await answer.json().catch(() => null) : null;
    isAsking = false;
    if (facts) tell(facts);
    const isRefused = answer?.type === "opaqueredirect" || (answer?.status >= 400 && answer.status < 500);
    if (!isRefused) next = setTimeout(ask, seconds * 1000);
  };
  next = setTimeout(ask, seconds * 1000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
};

// The requests that wait for this person: each lasts ten minutes. Their number stands in the
// navigation, and in the title while another tab is in front; a new one is told once.
const followRequests = (link, place) => {
  const title = document.title;
  let latest = link.dataset.latest;
  let count = Number.parseInt(link.querySelector(".count")?.textContent ?? "0", 10);
  const told = document.createTextNode("");
  const show = Object.assign(document.createElement("a"), { href: link.href, textContent: "Show it" });

  const showTitle = () => {
    document.title = count && document.hidden ? `(${count}) ${title}` : title;
  };

  const showCount = () => {
    link.querySelector(".count")?.remove();
    if (!count) return;
    const badge = Object.assign(document.createElement("span"), { className: "count", textContent: count });
    badge.append(Object.assign(document.createElement("span"), { className: "unseen", textContent: " waiting" }));
    link.append(" ", badge);
  };

  const announce = () => {
    const rest = count > 1 ? `, ${count} in all` : "";
    told.data = `A new request is waiting for you${rest}. `;
    // Not put there anew, since that would take the focus from the link.
    if (!place.hasChildNodes()) place.append(told, place.classList.contains("unseen") ? "" : show);
  };

  askEvery(20, place.dataset.ask, (waiting) => {
    const before = latest;
    ({ count, latest } = waiting);
    if (latest > before) announce();
    if (latest < before) place.replaceChildren();
    showCount();
    showTitle();
  });
  document.addEventListener("visibilitychange", showTitle);
};

// What became of an approved issue: the agent may issue at any moment.
const followStanding = (place) => {
  askEvery(3, place.dataset.ask, ({ standing }) => {
    if (standing !== place.dataset.standing) location.replace(location.pathname);
  });
};

followRequests(document.querySelector("[data-latest]"), document.querySelector("#arrival"));
document.querySelectorAll("[data-standing]").forEach(followStanding);
