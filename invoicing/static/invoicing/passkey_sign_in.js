// Signs in with a passkey: by the button, or as the browser offers one in the field of the address.
const form = document.querySelector("form[data-options]");
const button = form.querySelector("button");
// A challenge lasts five minutes.
const RENEWED_AFTER = 4 * 60 * 1000;

const read = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
const write = (bytes) => bytes && btoa(String.fromCharCode(...new Uint8Array(bytes)))
  .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

const tell = (problem) => {
  form.querySelectorAll("[data-problem]").forEach((each) => { each.hidden = each.dataset.problem !== problem; });
};

const fetchOptions = async () => {
  const body = new URLSearchParams({ csrfmiddlewaretoken: form.elements.csrfmiddlewaretoken.value });
  const answer = await fetch(form.dataset.options, { method: "POST", body });
  if (!answer.ok) throw new Error(answer.status);
  const options = await answer.json();
  return { ...options, challenge: read(options.challenge) };
};

const send = ({ id, type, authenticatorAttachment, response }) => {
  form.elements.assertion.value = JSON.stringify({
    id,
    rawId: id,
    type,
    authenticatorAttachment,
    clientExtensionResults: {},
    response: {
      clientDataJSON: write(response.clientDataJSON),
      authenticatorData: write(response.authenticatorData),
      signature: write(response.signature),
      userHandle: write(response.userHandle),
    },
  });
  form.submit();
};

let running = new AbortController();

const ask = async (mediation) => {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const publicKey = await fetchOptions();
  if (!signal.aborted) send(await navigator.credentials.get({ publicKey, mediation, signal }));
};

const offer = async () => {
  const field = document.querySelector("[autocomplete~=webauthn]");
  if (!field || button.disabled || !(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  ask("conditional").catch(() => {}); // nobody has asked for it
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  tell("");
  button.disabled = true;
  ask("optional")
    .catch((error) => tell(error.name === "NotAllowedError" ? "none" : "failed"))
    .finally(() => {
      button.disabled = false;
      offer();
    });
});

if ("PublicKeyCredential" in window) {
  button.disabled = false;
  offer();
  setInterval(() => { if (!document.hidden) offer(); }, RENEWED_AFTER);
} else {
  tell("unable");
}
