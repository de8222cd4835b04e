// Signs what a form's page shows: asks for the passkey when the button that signs is pressed, and sends
// what it says with the form.
const place = document.querySelector("[data-signing]");
const form = place.closest("form");
const field = form.elements.assertion;

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const tell = (problem) => {
  place.querySelectorAll("[data-problem]").forEach((each) => { each.hidden = each.dataset.problem !== problem; });
};

const NOTES = { NotAllowedError: "stopped", AbortError: "stopped", InvalidStateError: "stopped", SecurityError: "site" };

const askOptions = async () => {
  const body = new URLSearchParams(new FormData(form));
  body.delete("assertion");
  const answer = await fetch(place.dataset.signing, { method: "POST", body });
  if (!answer.ok) throw new Error("late");
  const { publicKey } = await answer.json();
  const allowCredentials = publicKey.allowCredentials.map((each) => ({ ...each, id: toBytes(each.id) }));
  return { ...publicKey, allowCredentials, challenge: toBytes(publicKey.challenge) };
};

const sign = async () => {
  const used = await navigator.credentials.get({ publicKey: await askOptions() });
  const { clientDataJSON, authenticatorData, signature } = used.response;
  return JSON.stringify({
    id: used.id,
    rawId: used.id,
    type: used.type,
    authenticatorAttachment: used.authenticatorAttachment ?? null,
    response: {
      clientDataJSON: toText(clientDataJSON),
      authenticatorData: toText(authenticatorData),
      signature: toText(signature),
    },
  });
};

form.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button?.hasAttribute("data-signs") || field.value) return;
  event.preventDefault();
  if (!window.PublicKeyCredential) return tell("unable");
  tell("");
  button.disabled = true;
  sign()
    .then((assertion) => {
      field.value = assertion;
      button.disabled = false;
      form.requestSubmit(button);
      field.value = "";  // it counts once, and after a download this page stays
    })
    .catch((error) => tell(NOTES[error.name] ?? "late"))
    .finally(() => { button.disabled = false; });
}, { capture: true });  // before whatever else counts how often the form is sent

// A page that comes back from the browser's memory signs anew.
window.addEventListener("pageshow", () => { field.value = ""; });
