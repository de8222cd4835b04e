// Shows what became of an approved issue as soon as it is known: the agent may issue at any moment.
const EVERY_SECONDS = 3;
const place = document.querySelector("[data-state]");

const ask = async () => {
  const answer = await fetch(place.dataset.ask, { redirect: "manual" }).catch(() => null);
  if (answer?.type === "opaqueredirect") clearInterval(asking);
  if (!answer?.ok) return;
  const { state } = await answer.json();
  if (state !== place.dataset.state) location.replace(location.pathname);
};

const asking = setInterval(ask, EVERY_SECONDS * 1000);
