// Lines of a draft by keyboard, by their buttons without waiting for the server, and by rows that are
// pasted from a spreadsheet. The numbers in names and texts follow the order of the lines.
const table = document.querySelector(".entry");
const form = table.closest("form");
const told = document.querySelector("#lines-told");
const most = Number(table.dataset.most);
// In the order in which the columns of a spreadsheet fill them.
const COLUMNS = ["description", "quantity", "unit", "unit_price", "discount_value", "tax_rate_id"];
const CHOSEN = ["discount_type", "tax_rate_id"];

const lines = () => [...table.tBodies];
const fields = (line) => [...line.querySelectorAll("input, select, textarea")];
const nameOf = (field) => field.name.split("-")[2];
const field = (line, name) => fields(line).find((each) => nameOf(each) === name);
const isBlank = (line) => fields(line).every((each) => CHOSEN.includes(nameOf(each)) || !each.value);
const tell = (text) => { told.textContent = text; };

const renumber = () => {
  lines().forEach((line, index) => {
    const put = (text) => text.replace(/\d+/, index + 1);
    line.id = `line-${index + 1}`;
    for (const each of [line, ...line.querySelectorAll("[data-numbered]")]) {
      for (const name of ["aria-label", "title"]) {
        if (each.hasAttribute(name)) each.setAttribute(name, put(each.getAttribute(name)));
      }
      if (each !== line) each.textContent = put(each.textContent);
    }
    for (const each of line.querySelectorAll("button")) each.value = index;
    for (const each of line.querySelectorAll("[name^=line-], [for], [id]")) {
      for (const name of ["name", "id", "for", "aria-describedby"]) {
        const value = each.getAttribute(name);
        if (value) each.setAttribute(name, value.replace(/line-\d+-/, `line-${index}-`));
      }
    }
  });
  form.elements.namedItem("line-TOTAL_FORMS").value = lines().length;
  form.dataset.unsaved = "yes";
  table.dispatchEvent(new Event("input", { bubbles: true }));
};

// Puts a line below another one, with the tax of it, and with its texts if it is a copy.
const add = (after, { isCopy = false } = {}) => {
  if (lines().length >= most) {
    tell(table.dataset.full);
    return null;
  }
  const line = after.cloneNode(true);
  for (const each of fields(line)) {
    const isKept = isCopy || CHOSEN.includes(nameOf(each));
    each.value = isKept ? field(after, nameOf(each)).value : "";
    each.removeAttribute("aria-invalid");
    each.removeAttribute("aria-describedby");
  }
  line.querySelector("[data-said]").replaceChildren();
  line.querySelector("[data-amount]").textContent = "";
  line.querySelector("details").open = false;
  after.after(line);
  return line;
};

const focus = (line, name = COLUMNS[0]) => field(line, name)?.focus();
const move = (line, other, place, focused) => {
  if (!other) return;
  other[place](line);
  renumber();
  focused?.focus();
};
const acts = {
  add_line: () => {
    const line = add(lines().at(-1));
    if (!line) return;
    renumber();
    focus(line);
  },
  copy_line: (line, focused) => {
    const copy = add(line, { isCopy: true });
    if (!copy) return;
    renumber();
    focus(copy, focused?.name && nameOf(focused));
  },
  raise_line: (line, focused) => move(line, lines()[lines().indexOf(line) - 1], "before", focused),
  lower_line: (line, focused) => move(line, lines()[lines().indexOf(line) + 1], "after", focused),
  remove_line: (line, focused) => {
    const index = lines().indexOf(line);
    if (lines().length === 1) add(line);
    line.remove();
    renumber();
    focus(lines()[Math.min(index, lines().length - 1)], focused?.name && nameOf(focused));
    tell(table.dataset.removed.replace(/\d+/, index + 1));
  },
};

const goToNext = (line) => {
  const next = lines()[lines().indexOf(line) + 1];
  if (next) focus(next);
  else if (!isBlank(line)) acts.add_line();
};

const actOf = (event) => {
  const { key, target, ctrlKey, metaKey, altKey, shiftKey } = event;
  const isCommand = (ctrlKey || metaKey) && !altKey;
  if (isCommand && !shiftKey && key.toLowerCase() === "d") return acts.copy_line;
  if (isCommand && shiftKey && key === "Backspace") return acts.remove_line;
  // In a list, Alt and an arrow open it.
  if (altKey && !ctrlKey && !metaKey && !shiftKey && !target.matches("select")) {
    return { ArrowUp: acts.raise_line, ArrowDown: acts.lower_line }[key];
  }
  const isPlain = !(isCommand || altKey || shiftKey);
  return isPlain && key === "Enter" && target.matches("input, select") ? goToNext : undefined;
};
table.addEventListener("keydown", (event) => {
  const line = event.target.closest("tbody");
  const act = line && !event.isComposing && actOf(event);
  if (!act) return;
  event.preventDefault();
  act(line, event.target);
});

form.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button || !(button.name in acts)) return;
  event.preventDefault();
  const line = button.closest("tbody");
  const menu = button.closest("details");
  if (menu) menu.open = false;
  acts[button.name](line, menu?.querySelector("summary"));
});
table.addEventListener("focusout", (event) => {
  const menu = event.target.closest("details");
  if (menu && event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
});

// Splits what a spreadsheet copies: cells with tabs between them, quoted where they hold line ends.
const split = (text) => {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"(?=[\t\r\n]|$)|([^\t\r\n]*))(\t|\r\n|\n|\r|$)/g)) {
    rows.at(-1).push((quoted?.replaceAll('""', '"').replace(/\r\n?/g, "\n") ?? plain).trim());
    if (end && end !== "\t") rows.push([]);
    if (!end) break;
  }
  return rows.filter((row) => row.some(Boolean));
};

// Returns the rate of a name, or of a percentage that just one has.
const findTax = (select, text) => {
  const plain = (each) => each.toLowerCase().replace(/[\s%()]/g, "");
  const sought = plain(text);
  const all = [...select.options];
  const named = all.filter(({ text: name }) => [plain(name), plain(name.split("(")[0])].includes(sought));
  const rated = all.filter(({ text: name }) => name.match(/\(([\d.,]+)\s*%\)/)?.[1].replace(",", ".") === sought.replace(",", "."));
  const found = named.length ? named : rated;
  return found.length === 1 ? found[0] : null;
};

// Fills a line; returns whether its tax, if any, is known.
const fill = (line, cells, columns) => {
  let isTaxKnown = true;
  cells.slice(0, columns.length).forEach((cell, index) => {
    const name = columns[index];
    const place = field(line, name);
    if (name === "tax_rate_id") {
      const rate = findTax(place, cell);
      isTaxKnown = Boolean(rate) || !cell;
      if (cell) place.value = rate?.value ?? "";
    } else if (name === "discount_value" && cell.endsWith("%")) {
      place.value = cell.slice(0, -1).trim();
      field(line, "discount_type").value = "percent";
    } else place.value = name === "description" ? cell : cell.replaceAll("\n", " ");
  });
  return isTaxKnown;
};

// The columns that are filled; of five, the last is the tax if it names one everywhere.
const columnsOf = (rows, start, taxes) => {
  const last = COLUMNS.indexOf("discount_value") - start;
  const isWithoutDiscount = rows.every((row) => row.length <= last + 1 && (!row[last] || findTax(taxes, row[last])));
  return COLUMNS.slice(start).filter((name) => !(isWithoutDiscount && name === "discount_value"));
};

table.addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text/plain");
  const start = event.target.name ? COLUMNS.indexOf(nameOf(event.target)) : -1;
  if (start < 0 || !text.includes("\t")) return;
  event.preventDefault();
  const rows = split(text);
  const untaxed = [];
  let line = event.target.closest("tbody");
  const columns = columnsOf(rows, start, field(line, "tax_rate_id"));
  let done = 0;
  for (const cells of rows) {
    if (done) {
      const next = line.nextElementSibling;
      const other = next && isBlank(next) ? next : add(line);
      if (!other) break;
      line = other;
    }
    if (!fill(line, cells, columns)) untaxed.push(line);
    done += 1;
  }
  renumber();
  focus(line, nameOf(event.target));
  const said = [];
  if (rows.length > done) said.push(table.dataset.full, table.dataset.leftOut.replace("{count}", rows.length - done));
  const numbers = untaxed.map((each) => lines().indexOf(each) + 1).join(", ");
  if (untaxed.length) said.push(table.dataset.untaxed.replace("{lines}", numbers));
  tell(said.join(" "));
});
