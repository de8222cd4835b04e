// Shows what the server makes of a draft while it is typed: the amounts of lines and the totals, what
// the customer has agreed, and mistakes, quietly beside their fields. The script computes nothing.
const form = document.querySelector(".draft");
const totals = document.querySelector("#totals");
const told = document.querySelector("#told");
const late = document.querySelector("#late");
const PAUSE = 350;
let asking = null;
let timer = 0;

const showProblems = (problems) => {
  for (const old of form.querySelectorAll(".problem, .field > .errorlist")) old.remove();
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
  for (const [id, text] of Object.entries(problems)) {
    const field = document.getElementById(id);
    const place = field.closest("tbody")?.querySelector("[data-said]") ?? field.closest(".field");
    place.insertAdjacentHTML("beforeend", text);
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", `${id}_error`);
  }
};

const show = (answer) => {
  for (const [name, text] of Object.entries(answer.fields)) {
    const field = form.elements.namedItem(name);
    if (field !== document.activeElement) field.value = text;
  }
  showProblems(answer.problems);
  form.querySelectorAll("[data-amount]").forEach((place, index) => {
    place.textContent = answer.amounts[index] ?? "";
  });
  totals.innerHTML = answer.totals;
  if (told.textContent !== answer.told) told.textContent = answer.told;
};

const ask = async () => {
  asking?.abort();
  asking = new AbortController();
  const body = new URLSearchParams(new FormData(form));
  body.set("live", "");
  body.set("typing", document.activeElement.name ?? "");
  if ("refused" in form.dataset) body.set("tells_all", "");
  try {
    const answer = await fetch(form.action, { method: "POST", body, signal: asking.signal });
    late.hidden = answer.status !== 403;
    if (answer.ok) show(await answer.json());
  } catch { /* an outdated question, or no server: saving tells */ }
};

const askSoon = () => {
  asking?.abort();
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
};
form.addEventListener("input", askSoon);
// What was held back while its field was typed in.
form.addEventListener("change", askSoon);
form.addEventListener("submit", () => {
  clearTimeout(timer);
  asking?.abort();
});
if (!("known" in totals.dataset) && form.querySelector(".line [name$=-quantity]").value) ask();
