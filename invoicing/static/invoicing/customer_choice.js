// The customer of a draft by typing: a combobox of the ARIA pattern, with a list that the server
// finds. What is chosen is selected in the list that pages without scripts show.
const place = document.querySelector("[data-combobox]");

const begin = (box, list) => {
  const select = document.querySelector(`[name=${place.dataset.combobox}]`);
  const status = place.querySelector("[role=status]");
  const form = select.form;
  let asking = null;
  let timer = 0;

  const options = () => [...list.querySelectorAll("[role=option]")];
  const customers = () => options().filter((option) => option.dataset.id);
  const active = () => list.querySelector("[aria-selected=true]");
  const chosenLabel = () => (select.value ? select.selectedOptions[0].textContent : "");

  const mark = (option) => {
    active()?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) box.setAttribute("aria-activedescendant", option.id);
    else box.removeAttribute("aria-activedescendant");
  };
  const close = () => {
    clearTimeout(timer);
    asking?.abort();
    list.hidden = true;
    box.setAttribute("aria-expanded", "false");
    mark(null);
  };
  const find = async (search) => {
    asking?.abort();
    asking = new AbortController();
    try {
      const address = `${place.dataset.find}?${new URLSearchParams({ search })}`;
      const answer = await fetch(address, { signal: asking.signal, redirect: "error" });
      if (!answer.ok) return;
      const found = await answer.json();
      list.innerHTML = found.options;
      status.textContent = found.hint;
      list.hidden = options().length === 0;
      box.setAttribute("aria-expanded", String(!list.hidden));
      mark(customers()[0]);
    } catch { /* an outdated question, or no server: the text stays, and can be typed on */ }
  };
  const isTyped = () => box.value.trim() && box.value !== chosenLabel();
  const select_ = (id, label) => {
    if (![...select.options].some((option) => option.value === id)) select.add(new Option(label, id));
    box.value = label;
    if (select.value === id) return;
    select.value = id;
    select.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const choose = (option) => {
    close();
    if (option.dataset.href) {
      form.dispatchEvent(new Event("leaving"));
      location.assign(option.dataset.href);
    } else select_(option.dataset.id, option.dataset.label);
  };
  const step = (count) => {
    const all = options();
    mark(all[(all.indexOf(active()) + count + all.length) % all.length]);
  };

  const keys = {
    ArrowDown: () => (list.hidden ? find(box.value === chosenLabel() ? "" : box.value.trim()) : step(1)),
    ArrowUp: () => (list.hidden ? null : step(-1)),
    // Of a text that was typed faster than the server answers, only what is certain is chosen.
    Enter: async () => {
      if (active()) choose(active());
      else if (isTyped()) {
        clearTimeout(timer);
        await find(box.value.trim());
        if (customers().length === 1) choose(customers()[0]);
      }
    },
    Escape: () => {
      if (list.hidden) box.value = chosenLabel();
      close();
    },
  };
  box.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Tab" && isTyped() && active()?.dataset.id) choose(active());
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  box.addEventListener("input", (event) => {
    event.stopPropagation(); // nothing is chosen yet
    mark(null);
    clearTimeout(timer);
    timer = setTimeout(() => find(box.value.trim()), 120);
  });
  box.addEventListener("blur", () => {
    close();
    if (box.value.trim()) box.value = chosenLabel();
    else select_("", "");
  });
  box.addEventListener("click", () => { if (list.hidden && !select.value) find(box.value.trim()); });
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the focus
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) choose(option);
  });

  // The label, what is said of mistakes, and links to them, lead to the box instead of the list.
  for (const name of ["id", "aria-describedby", "aria-invalid", "required"]) {
    if (select.hasAttribute(name)) box.setAttribute(name, select.getAttribute(name));
    select.removeAttribute(name);
  }
  box.defaultValue = chosenLabel();
  box.value = chosenLabel();
};

if (place) begin(place.querySelector("[role=combobox]"), place.querySelector("[role=listbox]"));
