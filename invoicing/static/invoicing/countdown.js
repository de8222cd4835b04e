// Counts the times left on the page; the server decides what is too late.
const count = (timer) => {
  const end = Date.now() + Number(timer.dataset.secondsLeft) * 1000;
  const tick = () => {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    timer.textContent = `${Math.floor(left / 60)} min ${left % 60} s`;
    if (left > 0) return;
    clearInterval(ticking);
    timer.parentElement.textContent = "The ten minutes have passed. Reload the page to see how it stands.";
    document.querySelectorAll("button[name=decision]").forEach((button) => { button.disabled = true; });
  };
  const ticking = setInterval(tick, 1000);
  tick();
};

document.querySelectorAll("[data-seconds-left]").forEach(count);
