// Copies a credential, and sends a form once even if its button is clicked twice.
for (const button of document.querySelectorAll("[data-copies]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copies);
    field.select();
    await navigator.clipboard.writeText(field.value);
    button.textContent = button.dataset.copied ?? "Copied";
  });
}

for (const form of document.querySelectorAll("form[data-once]")) {
  let isSent = false;
  form.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    if (event.defaultPrevented) return;
    isSent = true;
    // Whoever stops the browser, or waits in vain, can send it again.
    setTimeout(() => { isSent = false; }, 10000);
  });
  // Back at the page by the Back button, it can be sent again.
  window.addEventListener("pageshow", () => { isSent = false; });
}
