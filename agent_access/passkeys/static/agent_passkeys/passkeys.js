// Lets forms ask for a passkey. A form names where its options come from and its steps, each of them
// one press of its button: what the browser answers goes into a hidden field, and after the last step
// the form is sent. Options are {"create": ...} or {"get": ...}, or {"problem": a sentence}. With
// data-offers the browser also offers a passkey in the field that says so, before anybody presses.
const NOTES = { NotAllowedError: "stopped", AbortError: "stopped", InvalidStateError: "known", SecurityError: "site" };
const PARTS = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];

const decode = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));

const encode = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

// Older browsers do not read options from JSON themselves, nor write their answers as JSON.
const read = (options) => {
  const withBytes = (each) => ({ ...each, id: decode(each.id) });
  const parsed = { ...options, challenge: decode(options.challenge) };
  if (options.user) parsed.user = withBytes(options.user);
  for (const name of ["allowCredentials", "excludeCredentials"]) {
    if (options[name]) parsed[name] = options[name].map(withBytes);
  }
  return parsed;
};

const write = ({ id, rawId, type, response, authenticatorAttachment }) => JSON.stringify({
  id,
  rawId: encode(rawId),
  type,
  authenticatorAttachment,
  response: Object.fromEntries(PARTS.filter((name) => response[name]).map((name) => [name, encode(response[name])])),
});

const fetchOptions = async (form, purpose) => {
  const body = new URLSearchParams(new FormData(form));
  body.set("purpose", purpose);
  // No answer of an earlier step is needed to ask for the next one.
  for (const name of ["assertion", "registration"]) body.delete(name);
  const answer = await fetch(form.dataset.options, { method: "POST", body, headers: { Accept: "application/json" } });
  return answer.json();
};

// Challenges last five minutes.
const OFFERED_AGAIN_AFTER = 4 * 60 * 1000;
let running = new AbortController();

// Fills a hidden field with what the browser answers; throws what it throws, or a told problem.
const run = async (form, purpose, mediation = "optional") => {
  running.abort();  // what is only offered
  running = new AbortController();
  const { signal } = running;
  const options = await fetchOptions(form, purpose).catch(() => { throw new DOMException("", "late"); });
  if (options.problem) throw new DOMException(options.problem, "told");
  if (options.create) {
    const made = await navigator.credentials.create({ publicKey: read(options.create), signal });
    form.elements.registration.value = write(made);
  } else {
    const used = await navigator.credentials.get({ publicKey: read(options.get), mediation, signal });
    form.elements.assertion.value = write(used);
  }
};

const prepare = (form) => {
  const button = form.querySelector("button[type=submit]");
  const between = form.querySelector("[data-between]");
  const steps = form.dataset.steps.split(" ");
  const labels = [button.textContent, button.dataset.next];
  let done = 0;

  const tell = (problem, text) => {
    form.querySelectorAll("[data-problem]").forEach((each) => { each.hidden = each.dataset.problem !== problem; });
    if (text) form.querySelector("[data-problem=told]").textContent = text;
  };
  const show = (count) => {
    done = count;
    if (!between) return;  // a form of one step
    between.hidden = !done;
    button.textContent = labels[done];
  };
  const next = async () => {
    await run(form, steps[done]);
    if (done + 1 < steps.length) return show(done + 1);
    show(0);
    if (form.elements.password) form.elements.password.value = "";
    form.submit();
  };
  const offer = async () => {
    if (!("offers" in form.dataset) || button.disabled || document.hidden) return;
    if (!(await window.PublicKeyCredential?.isConditionalMediationAvailable?.())) return;
    // Nobody has asked for it, so nobody is told why there is none.
    run(form, steps[0], "conditional").then(() => form.submit(), () => {});
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button.disabled) return;
    tell("");
    button.disabled = true;
    next()
      .catch((error) => tell(["late", "told"].includes(error.name) ? error.name : NOTES[error.name] ?? "unable", error.message))
      .finally(() => { button.disabled = false; button.focus(); offer(); });
  });
  window.addEventListener("pageshow", () => { show(0); });
  if (!window.PublicKeyCredential) return tell("unable");
  button.disabled = false;
  offer();
  setInterval(offer, OFFERED_AGAIN_AFTER);
};

document.querySelectorAll("form[data-steps]").forEach(prepare);

// Moves the code of a link out of the address, where others could read it, into the form.
const code = document.querySelector("form[data-steps] [name=link]");
if (code && location.hash.length > 1) {
  code.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
}
