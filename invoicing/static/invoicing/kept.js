// Keeps what is typed into a draft in this browser, so that a crash of the tab and a sign-out lose
// nothing: sealed with a key that only pages of this person have, until it is saved or cancelled, for
// seven days at most. The page of the saved draft names in [data-kept-done] what may go.
const DAYS = 7;
const PREFIX = "draft.";
const form = document.querySelector("[data-kept-name]");
const done = document.querySelector("[data-kept-done]");

const names = (start) => Object.keys(localStorage).filter((name) => name.startsWith(start));
const read = (name) => {
  try { return JSON.parse(localStorage.getItem(name)) ?? {}; } catch { return {}; }
};

const forgetOld = () => {
  const oldest = Date.now() - DAYS * 24 * 60 * 60 * 1000;
  for (const name of names(PREFIX)) if (!(read(name).at > oldest)) localStorage.removeItem(name);
};

const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const toBase64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

const keepForm = async () => {
  const { keptName: own, keptOwner: owner, keptKey, keptNew } = form.dataset;
  const key = await crypto.subtle.importKey("raw", fromBase64(keptKey), "AES-GCM", false, ["encrypt", "decrypt"]);
  const state = document.querySelector("#kept");
  let savedAt = 0;
  let timer = 0;
  let isOver = false;

  const typed = () => {
    const fields = new URLSearchParams(new FormData(form));
    fields.delete("csrfmiddlewaretoken");
    return fields.toString();
  };
  const seal = async (text) => {
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, new TextEncoder().encode(text));
    return toBase64([...iv, ...new Uint8Array(sealed)]);
  };
  const open = async (sealed) => {
    const bytes = fromBase64(sealed);
    const text = await crypto.subtle.decrypt({ name: "AES-GCM", iv: bytes.slice(0, 12) }, key, bytes.slice(12));
    return new TextDecoder().decode(text);
  };

  const tell = () => {
    const seconds = Math.round((Date.now() - savedAt) / 1000);
    const [count, unit] = seconds < 60 ? [seconds, "second"] : [Math.floor(seconds / 60), "minute"];
    const words = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "auto", style: "narrow" });
    state.textContent = state.dataset.text.replace("{when}", words.format(-count, unit));
  };
  const keep = async () => {
    const sealed = await seal(typed());
    if (isOver) return;
    try {
      localStorage.setItem(own, JSON.stringify({ at: Date.now(), isNew: keptNew !== undefined, sealed }));
    } catch { return; } // the browser has no room for it
    if (!savedAt) setInterval(() => { if (!document.hidden) tell(); }, 1000);
    savedAt = Date.now();
    tell();
  };

  const resume = (text) => {
    const fields = new URLSearchParams(text);
    const chosen = form.elements.namedItem("customer_id").value;
    if (!fields.get("customer_id")) fields.set("customer_id", chosen); // one that was just made
    fields.set("csrfmiddlewaretoken", form.elements.namedItem("csrfmiddlewaretoken").value);
    fields.set("resume", "");
    const sender = document.createElement("form");
    sender.method = "post";
    sender.action = location.pathname;
    sender.hidden = true;
    for (const [name, value] of fields) {
      const field = document.createElement("input");
      field.type = "hidden";
      Object.assign(field, { name, value });
      sender.append(field);
    }
    document.body.append(sender);
    form.dispatchEvent(new Event("leaving"));
    sender.submit();
  };

  const find = () => {
    const candidates = keptNew === undefined ? [own] : names(owner).filter((name) => read(name).isNew);
    return candidates.sort((one, other) => (read(other).at ?? 0) - (read(one).at ?? 0))[0];
  };
  const offer = async () => {
    const name = find();
    const { at, sealed } = name ? read(name) : {};
    if (!sealed) return;
    let text;
    try { text = await open(sealed); } catch { localStorage.removeItem(name); return; }
    if (text === typed()) return;
    const place = document.querySelector("#kept-offer");
    const version = new URLSearchParams(text).get("lock_version");
    const words = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
    const time = place.querySelector("time");
    time.dateTime = new Date(at).toISOString();
    time.textContent = words.format(at);
    place.querySelector("span").hidden = version === form.elements.namedItem("lock_version").value;
    place.querySelector("[name=continue]").addEventListener("click", () => resume(text));
    place.querySelector("[name=discard]").addEventListener("click", () => {
      localStorage.removeItem(name);
      place.hidden = true;
    });
    place.hidden = false;
  };

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(keep, 400);
  });
  form.querySelector("[data-cancel]").addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    isOver = true;
    localStorage.removeItem(own);
  });
  if (form.dataset.unsaved === "no") await offer();
  else await keep();
};

try {
  forgetOld();
  if (done) localStorage.removeItem(done.dataset.keptDone);
  if (form) await keepForm();
} catch (error) {
  // A browser that keeps nothing for sites: the form works all the same.
  if (!(error instanceof DOMException)) throw error;
}
