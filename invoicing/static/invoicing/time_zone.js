// Proposes the browser's time zone to somebody who has none yet.
const list = document.querySelector("select[data-proposes-zone]");
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (list && !list.value && [...list.options].some((option) => option.value === zone)) {
  list.value = zone;
}
