// Asks the server now and then what an open page cannot know, and at once when the page comes to the
// front. It stops once the person is signed out or may not ask any more, or `tell` returns true since
// nothing can change any more, until it comes there again.
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
    const isOver = facts && tell(facts);
    const isRefused = answer?.type === "opaqueredirect" || (answer?.status >= 400 && answer.status < 500);
    if (!isOver && !isRefused) next = setTimeout(ask, seconds * 1000);
  };
  next = setTimeout(ask, seconds * 1000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
};

// The requests that wait for this person: each lasts ten minutes. Their number stands in the
// navigation, and in the title while another tab is in front; a new one is told once, in the words of
// the place where it is told.
const followRequests = (link, place) => {
  const title = document.title;
  let latest = link.dataset.latest;
  let shown = link.querySelector(".count")?.firstChild.data ?? "0";
  let count = Number.parseInt(shown, 10);
  const told = document.createTextNode("");
  const show = Object.assign(document.createElement("a"), { href: link.href, textContent: place.dataset.show });

  const showTitle = () => {
    document.title = count && document.hidden ? `(${shown}) ${title}` : title;
  };

  const showCount = () => {
    link.querySelector(".count")?.remove();
    if (!count) return;
    const badge = Object.assign(document.createElement("span"), { className: "count", textContent: shown });
    badge.append(Object.assign(document.createElement("span"), { className: "unseen", textContent: ` ${place.dataset.waiting}` }));
    link.append(" ", badge);
  };

  const announce = () => {
    const { one, several } = place.dataset;
    told.data = `${count > 1 ? several.replace("{count}", shown) : one} `;
    // Not inserted again, since that would take the focus from the link.
    if (!place.hasChildNodes()) place.append(told, place.classList.contains("unseen") ? "" : show);
  };

  askEvery(20, place.dataset.ask, (waiting) => {
    const [before, counted] = [latest, count];
    ({ count, shown, latest } = waiting);
    if (latest > before || count > counted) announce();
    if (latest < before) place.replaceChildren();
    showCount();
    showTitle();
  });
  document.addEventListener("visibilitychange", showTitle);
};

// What became of a request. Once it is approved, the agent may issue at any moment, and the page
// follows. While the person reads and types, the page stays and tells; countdown.js tells of the end.
const followApproved = (place) => {
  askEvery(3, place.dataset.ask, ({ version }) => {
    if (version !== place.dataset.version) location.replace(location.pathname);
  });
};

const followPending = (place) => {
  const href = location.pathname;
  const link = Object.assign(document.createElement("a"), { href, textContent: place.dataset.show });
  const words = [`${place.dataset.changed} `, link, "."];

  askEvery(10, place.dataset.ask, ({ version }) => {
    const isExpired = version.startsWith("expired");
    const isToldHere = version !== place.dataset.version && !isExpired;
    // Not inserted again, since that would take the focus from the link.
    if (isToldHere !== place.hasChildNodes()) place.replaceChildren(...(isToldHere ? words : []));
    return isExpired;
  });
};

followRequests(document.querySelector("[data-latest]"), document.querySelector("#arrival"));
document.querySelectorAll(".notice p[data-version]").forEach(followApproved);
document.querySelectorAll("form p[data-version]").forEach(followPending);
