// Moves the one-time code out of the address, where others could read it, into the form.
const code = location.hash.slice(1);
if (code) {
  document.querySelector("[name=code]").value = code;
  history.replaceState(null, "", location.pathname);
}
