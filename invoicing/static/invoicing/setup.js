// Copies lines, and tells when the first call of an agent has come, while the page is in front.
const SECONDS = 3;
const SHOWN_SECONDS = 4;

for (const button of document.querySelectorAll("[data-copies]")) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const lines = document.getElementById(button.dataset.copies);
    getSelection().selectAllChildren(lines);
    await navigator.clipboard.writeText(lines.textContent);
    button.textContent = button.dataset.copied;
    setTimeout(() => { button.textContent = label; }, SHOWN_SECONDS * 1000);
  });
}

const call = document.querySelector("[data-ask][data-came='no']");
if (call) {
  let timer;
  const told = call.querySelector(".told");
  const ask = async () => {
    clearTimeout(timer);
    if (document.hidden) return;
    const answer = await fetch(call.dataset.ask, { redirect: "manual" }).catch(() => null);
    const facts = answer?.ok ? await answer.json().catch(() => null) : null;
    // Only what is new, so that it is read out once.
    if (facts && facts.told !== told.textContent) told.textContent = facts.told;
    if (facts?.came) {
      call.dataset.came = "yes";
      return;
    }
    const isRefused = answer?.type === "opaqueredirect" || (answer?.status >= 400 && answer.status < 500);
    if (!isRefused) timer = setTimeout(ask, SECONDS * 1000);
  };
  timer = setTimeout(ask, SECONDS * 1000);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && call.dataset.came === "no") ask();
  });
  call.querySelector(".again").hidden = true;
}
