// Goes on as the page's button does, once the owner has answered or the time is over.
const LOOKS_EVERY_SECONDS = 3;
const HANGS_AFTER_SECONDS = 30;

const form = document.querySelector("form[data-ask]");

const look = async () => {
  const signal = AbortSignal.timeout(HANGS_AFTER_SECONDS * 1000);
  const answer = await fetch(form.dataset.ask, { redirect: "manual", signal }).catch(() => null);
  const facts = answer?.ok ? await answer.json().catch(() => null) : null;
  const isLost = answer === null || answer.status >= 500 || (answer.ok && facts === null);
  if (isLost || facts?.is_waiting) setTimeout(look, LOOKS_EVERY_SECONDS * 1000);
  else form.submit();
};

setTimeout(look, LOOKS_EVERY_SECONDS * 1000);
