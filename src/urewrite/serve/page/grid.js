/**
 * The edit grid as a heat map: words of the dialogue down, those of the utterance across, a box around each region.
 *
 * Only what is near the visible part is in the document, so that a grid may have any size. For screen readers it is a
 * grid with one tab stop, through which the arrow keys lead.
 */

import { element, joined, percent, tell } from "./text.js";

/**
 * @typedef {import("./api.js").Grid} Grid
 * @typedef {import("./api.js").Region} Region
 * @typedef {{row: number, column: number}} Cell
 */

const ROW = 26;
const SEPARATOR = 9;
const HEAD = 34;
const LEAST_COLUMN = 34;
const MOST_COLUMN = 132;
const LEAST_LABEL = 40;
const MOST_LABEL = 150;
const MOST_EXTRA = 26;
const GUTTER = 34;
const STRONG = 0.6;
const AHEAD = 500;
const WHOLE = 1500;
const FAINTEST = 0.02;
const PAGE = 10;
const LETTERS = { substitute: "S", insert: "I" };
const NOUNS = { substitute: "a substitution", insert: "an insertion" };
const HINT = "Point at a cell, or go through the grid with the arrow keys, to see its probabilities.";

export class GridMap {
  /** @type {Grid | null} */
  #grid = null;
  /** @type {Cell} */
  #current = { row: 0, column: 0 };
  /** @type {Map<number, {row: HTMLElement, head: HTMLElement, cells: Map<number, HTMLElement>}>} */
  #rows = new Map();
  /** @type {Map<number, HTMLElement>} */
  #columns = new Map();
  /** @type {HTMLElement[]} */
  #boxes = [];
  /** @type {number[]} */
  #tops = [];
  /** @type {number[]} */
  #lefts = [];
  #labels = 0;
  #waiting = false;
  #box;
  #details;
  #looked;
  #sheet;
  #head;
  #layer;

  /**
   * @param {HTMLElement} box what the grid is scrolled in
   * @param {HTMLElement} details
   * @param {(regions: number[]) => void} looked is told which regions are under the pointer or the focus
   */
  constructor(box, details, looked) {
    this.#box = box;
    this.#details = details;
    this.#looked = looked;
    this.#sheet = element("div", "sheet");
    this.#head = element("div", "head");
    this.#layer = element("div", "boxes");
    this.#sheet.setAttribute("role", "grid");
    this.#sheet.setAttribute("aria-labelledby", "grid-title");
    this.#sheet.setAttribute("aria-readonly", "true");
    this.#head.setAttribute("role", "row");
    this.#head.setAttribute("aria-rowindex", "1");
    this.#layer.setAttribute("role", "presentation");
    this.#listen();
  }

  /** @param {Grid} grid */
  show(grid) {
    this.#grid = grid;
    this.#measure();
    this.#rows.clear();
    this.#columns.clear();
    this.#sheet.style.width = `${this.#labels + this.#lefts.at(-1)}px`;
    this.#sheet.style.height = `${HEAD + this.#tops.at(-1)}px`;
    this.#sheet.style.setProperty("--labels", `${this.#labels}px`);
    this.#sheet.setAttribute("aria-rowcount", String(grid.rows.length + 1));
    this.#sheet.setAttribute("aria-colcount", String(grid.columns.length + 1));
    this.#head.replaceChildren(this.#corner());
    this.#sheet.replaceChildren(this.#head, this.#layer);
    this.#box.replaceChildren(this.#sheet);
    const first = grid.regions.find((region) => region.made) ?? grid.regions[0];
    this.#current = first ? { row: first.top, column: first.left } : { row: 0, column: 0 };
    const { row, column } = this.#current;
    this.#box.scrollTo(
      this.#lefts[column + 1] > this.#box.clientWidth - this.#labels ? this.#lefts[column] - LEAST_COLUMN : 0,
      this.#tops[row] > this.#box.clientHeight - HEAD - 4 * ROW ? this.#tops[row] - 4 * ROW : 0,
    );
    this.setRegions(grid.regions);
    this.#tell(null);
  }

  /**
   * The same grid with other edits made.
   * @param {Region[]} regions
   */
  setRegions(regions) {
    this.#grid = { ...this.#grid, regions };
    this.#boxes = regions.map((region) => {
      const box = element("div", `box ${region.op} ${region.made ? "made" : "dropped"}`);
      const { top, bottom, left, right } = region;
      this.#place(box, this.#tops[top], this.#lefts[left]);
      box.style.height = `${this.#tops[bottom] - this.#tops[top]}px`;
      box.style.width = `${this.#lefts[right] - this.#lefts[left]}px`;
      return box;
    });
    this.#layer.replaceChildren(...this.#boxes);
    for (const [row, { cells }] of this.#rows) {
      for (const [column, cell] of cells) {
        this.#name(cell, row, column);
      }
    }
    this.#draw();
  }

  /** There is no grid to show. */
  clear() {
    this.#grid = null;
    this.#box.replaceChildren();
    this.#details.replaceChildren();
  }

  /**
   * Show which regions are looked at.
   * @param {number[]} regions
   */
  highlight(regions) {
    this.#boxes.forEach((box, number) => box.classList.toggle("hot", regions.includes(number)));
  }

  /**
   * Go to the first cell of a region.
   * @param {number} region
   */
  focus(region) {
    const { top, left } = this.#grid.regions[region];
    this.#go({ row: top, column: left });
  }

  #listen() {
    this.#box.addEventListener("scroll", () => this.#drawSoon(), { passive: true });
    new ResizeObserver(() => this.#drawSoon()).observe(this.#box);
    this.#sheet.addEventListener("pointerover", (event) => this.#look(cellOf(event.target)));
    this.#sheet.addEventListener("pointerleave", () => this.#look(null));
    this.#sheet.addEventListener("focusin", (event) => {
      const cell = cellOf(event.target);
      this.#current = cell ?? this.#current;
      this.#look(cell);
    });
    this.#sheet.addEventListener("focusout", () => this.#look(null));
    this.#sheet.addEventListener("keydown", (event) => this.#press(event));
    this.#sheet.addEventListener("click", (event) => {
      const cell = cellOf(event.target);
      if (cell) {
        this.#go(cell);
      }
    });
  }

  /** Widths and heights; texts are measured, not laid out, which is quick for any number of them. */
  #measure() {
    const { rows, columns, row_turns } = this.#grid;
    const style = getComputedStyle(this.#box);
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${style.fontSize} ${style.fontFamily}`;
    const width = (word) => Math.ceil(pen.measureText(word.slice(0, 60)).width);
    const separates = rows.map((_, row) => isSeparator(row_turns, rows, row));
    const longest = Math.max(...rows.map((word, row) => (separates[row] ? 0 : width(word))));
    this.#labels = GUTTER + within(longest + 18, LEAST_LABEL, MOST_LABEL);
    const widths = columns.map((word) => within(width(word) + 16, LEAST_COLUMN, MOST_COLUMN));
    const free = this.#box.clientWidth - this.#labels - sums(widths).at(-1);
    const extra = within(Math.floor(free / columns.length), 0, MOST_EXTRA);
    this.#lefts = sums(widths.map((one) => one + extra));
    this.#tops = sums(separates.map((thin) => (thin ? SEPARATOR : ROW)));
  }

  #corner() {
    const corner = element("div", "corner", "turn");
    corner.setAttribute("role", "columnheader");
    corner.setAttribute("aria-colindex", "1");
    corner.setAttribute("aria-label", "Words of the dialogue");
    return corner;
  }

  #drawSoon() {
    if (!this.#waiting && this.#grid) {
      this.#waiting = true;
      requestAnimationFrame(() => {
        this.#waiting = false;
        if (this.#grid) {
          this.#draw();
        }
      });
    }
  }

  /** Bring the document in line with what is visible; the cell that has the focus stays in it. */
  #draw() {
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.#box;
    const { rows, columns } = this.#grid;
    const all = rows.length * columns.length <= WHOLE;
    const down = all ? [0, rows.length] : range(this.#tops, scrollTop, scrollTop + clientHeight);
    const across = all ? [0, columns.length] : range(this.#lefts, scrollLeft, scrollLeft + clientWidth);
    const wantedRows = wanted(down, this.#current.row);
    const wantedColumns = wanted(across, this.#current.column);
    keep(this.#columns, wantedColumns, (column) => this.#columnHead(column), this.#head);
    keep(this.#rows, wantedRows, (row) => this.#row(row), this.#sheet, (entry) => entry.row);
    for (const [row, { row: line, cells }] of this.#rows) {
      keep(cells, wantedColumns, (column) => this.#cell(row, column), line);
    }
  }

  #columnHead(column) {
    const { columns } = this.#grid;
    const isEnd = column === columns.length - 1;
    const head = element("div", isEnd ? "column end" : "column");
    tell(head, isEnd ? "end" : columns[column]);
    head.setAttribute("role", "columnheader");
    head.setAttribute("aria-colindex", String(column + 2));
    head.style.left = `${this.#labels + this.#lefts[column]}px`;
    head.style.width = `${this.#lefts[column + 1] - this.#lefts[column]}px`;
    return head;
  }

  #row(row) {
    const { rows, row_turns } = this.#grid;
    const turn = row_turns[row];
    const separates = isSeparator(row_turns, rows, row);
    const line = element("div", separates ? "row separator" : "row");
    line.setAttribute("role", "row");
    line.setAttribute("aria-rowindex", String(row + 2));
    line.style.top = `${HEAD + this.#tops[row]}px`;
    line.style.height = `${this.#tops[row + 1] - this.#tops[row]}px`;
    const head = element("div", turn === null ? "label other" : "label");
    head.setAttribute("role", "rowheader");
    head.setAttribute("aria-colindex", "1");
    head.setAttribute("aria-label", this.#rowName(row));
    const isFirst = row === 0 || row_turns[row - 1] !== turn || isSeparator(row_turns, rows, row - 1);
    const word = element("span", "word");
    tell(word, separates ? "" : rows[row]);
    const origin = turn === null ? "+" : String(turn + 1);
    head.append(element("span", "turn-of", isFirst && !separates ? origin : ""), word);
    line.append(head);
    return { row: line, head, cells: new Map() };
  }

  #cell(row, column) {
    const { substitute, insert } = this.#grid;
    const cell = element("div", "cell");
    cell.setAttribute("role", "gridcell");
    cell.setAttribute("aria-colindex", String(column + 2));
    cell.dataset.row = String(row);
    cell.dataset.column = String(column);
    cell.tabIndex = row === this.#current.row && column === this.#current.column ? 0 : -1;
    cell.style.left = `${this.#labels + this.#lefts[column]}px`;
    cell.style.width = `${this.#lefts[column + 1] - this.#lefts[column]}px`;
    const likely = { "--substitute-share": substitute[row][column], "--insert-share": insert[row][column] };
    for (const [name, value] of Object.entries(likely)) {
      if (value >= FAINTEST) {
        cell.style.setProperty(name, String(value));
      }
      cell.classList.toggle("strong", value >= STRONG || cell.classList.contains("strong"));
    }
    this.#name(cell, row, column);
    return cell;
  }

  /** What a cell says of itself, which depends on the regions it is in. */
  #name(cell, row, column) {
    const region = this.#regionAt(row, column);
    const letter = region ? LETTERS[region.op] : "";
    cell.textContent = region?.made ? letter : letter.toLowerCase();
    const likely = likelihoods(this.#grid, row, column);
    const part = region ? `; part of ${NOUNS[region.op]} that is ${region.made ? "" : "not "}made` : "";
    const shares = likely.map(([name, value]) => `${name} ${percent(value)}`).join(", ");
    cell.setAttribute("aria-label", `${this.#rowName(row)}, ${this.#columnName(column)}: ${shares}${part}`);
  }

  #rowName(row) {
    const { rows, row_turns } = this.#grid;
    if (isSeparator(row_turns, rows, row)) {
      return "between turns";
    }
    return row_turns[row] === null ? `${rows[row]}, connection word` : `${rows[row]} of turn ${row_turns[row] + 1}`;
  }

  #columnName(column) {
    return column === this.#grid.columns.length - 1 ? "the end" : this.#grid.columns[column];
  }

  /** Of several regions of a cell, one that is made. */
  #regionAt(row, column) {
    const here = this.#grid.regions.filter((region) => isIn(region, row, column));
    return here.find((region) => region.made) ?? here[0];
  }

  #look(cell) {
    this.#tell(cell);
    const regions = this.#grid?.regions ?? [];
    this.#looked(cell ? [...regions.keys()].filter((number) => isIn(regions[number], cell.row, cell.column)) : []);
    for (const head of this.#sheet.querySelectorAll(".looked")) {
      head.classList.remove("looked");
    }
    if (cell) {
      this.#rows.get(cell.row)?.head.classList.add("looked");
      this.#columns.get(cell.column)?.classList.add("looked");
    }
  }

  /** The words and the probabilities of a cell. */
  #tell(cell) {
    if (!cell || !this.#grid) {
      this.#details.replaceChildren(element("p", "hint", HINT));
      return;
    }
    const { rows, columns } = this.#grid;
    const title = element("p", "cell-words");
    const word = element("b");
    tell(word, isSeparator(this.#grid.row_turns, rows, cell.row) ? "(between turns)" : rows[cell.row]);
    const turn = this.#grid.row_turns[cell.row];
    const target = element("b");
    tell(target, this.#columnName(cell.column));
    title.append(word, turn === null ? "" : ` of turn ${turn + 1}`, " × ", target);
    const region = this.#regionAt(cell.row, cell.column);
    if (region) {
      const copied = joined(rows.slice(region.top, region.bottom));
      const place = region.left === columns.length - 1 ? "the end" : joined(columns.slice(region.left, region.right));
      const verb = region.op === "substitute" ? "in place of" : "before";
      const outcome = `score ${region.score.toFixed(2)}, ${region.made ? "made" : "not made"}`;
      const about = element("span", `cell-region ${region.op}`);
      tell(about, `${copied} ${verb} ${place} · ${outcome}`);
      title.append(about);
    }
    const list = element("dl", "shares");
    for (const [name, value] of likelihoods(this.#grid, cell.row, cell.column)) {
      const group = element("div", `share ${name}`);
      const bar = element("span", "bar");
      bar.style.setProperty("--share", String(value));
      group.append(element("dt", "", name), element("dd", "", value.toFixed(2)), bar);
      list.append(group);
    }
    this.#details.replaceChildren(title, list);
  }

  #press(event) {
    const { rows, columns } = this.#grid;
    const { row, column } = this.#current;
    const last = { row: rows.length - 1, column: columns.length - 1 };
    const to = {
      ArrowUp: { row: row - 1, column },
      ArrowDown: { row: row + 1, column },
      ArrowLeft: { row, column: column - 1 },
      ArrowRight: { row, column: column + 1 },
      PageUp: { row: Math.max(0, row - PAGE), column },
      PageDown: { row: Math.min(last.row, row + PAGE), column },
      Home: { row: event.ctrlKey ? 0 : row, column: 0 },
      End: { row: event.ctrlKey ? last.row : row, column: last.column },
    }[event.key];
    if (to) {
      event.preventDefault();
      if (to.row >= 0 && to.row <= last.row && to.column >= 0 && to.column <= last.column) {
        this.#go(to);
      }
    }
  }

  #go(cell) {
    const before = this.#cellAt(this.#current);
    if (before) {
      before.tabIndex = -1;
    }
    this.#current = cell;
    this.#reveal(cell);
    this.#draw();
    const now = this.#cellAt(cell);
    now.tabIndex = 0;
    now.focus({ preventScroll: true }); // which does not know of the words at the edges
    now.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  #cellAt({ row, column }) {
    return this.#rows.get(row)?.cells.get(column);
  }

  /** Scroll so that a cell is not hidden, nor behind the words at the edges. */
  #reveal({ row, column }) {
    const box = this.#box;
    const width = box.clientWidth - this.#labels;
    const height = box.clientHeight - HEAD;
    box.scrollTop = within(box.scrollTop, this.#tops[row + 1] - height, this.#tops[row]);
    box.scrollLeft = within(box.scrollLeft, this.#lefts[column + 1] - width, this.#lefts[column]);
  }

  #place(box, top, left) {
    box.style.top = `${HEAD + top}px`;
    box.style.left = `${this.#labels + left}px`;
  }
}

/** @returns {[string, number][]} */
function likelihoods(grid, row, column) {
  const substitute = grid.substitute[row][column];
  const insert = grid.insert[row][column];
  return [
    ["none", Math.max(0, 1 - substitute - insert)],
    ["substitute", substitute],
    ["insert", insert],
  ];
}

function isSeparator(turns, rows, row) {
  return turns[row] === null && rows[row] === "[S]";
}

function isIn({ top, bottom, left, right }, row, column) {
  return row >= top && row < bottom && column >= left && column < right;
}

/** @returns {Cell | null} */
function cellOf(target) {
  const cell = target instanceof Element ? target.closest("[role=gridcell]") : null;
  return cell instanceof HTMLElement ? { row: Number(cell.dataset.row), column: Number(cell.dataset.column) } : null;
}

/** Where each begins, and where the last ends. */
function sums(sizes) {
  const edges = [0];
  for (const size of sizes) {
    edges.push(edges.at(-1) + size);
  }
  return edges;
}

/** Positions [first, last) that are between two edges, and some more on both sides. */
function range(edges, from, to) {
  let first = 0;
  while (first < edges.length - 2 && edges[first + 1] < from - AHEAD) {
    first += 1;
  }
  let last = first;
  while (last < edges.length - 1 && edges[last] < to + AHEAD) {
    last += 1;
  }
  return [first, last];
}

function wanted([first, last], more) {
  const positions = [];
  for (let position = first; position < last; position += 1) {
    positions.push(position);
  }
  if (more < first) {
    positions.unshift(more);
  } else if (more >= last) {
    positions.push(more);
  }
  return positions;
}

/**
 * Make what is wanted and not there, take away what is there and not wanted; the order in the document stays right.
 * @template T
 * @param {Map<number, T>} entries
 * @param {number[]} positions
 * @param {(position: number) => T} make
 * @param {HTMLElement} parent
 * @param {(entry: T) => HTMLElement} [elementOf]
 */
function keep(entries, positions, make, parent, elementOf = (entry) => /** @type {any} */ (entry)) {
  const staying = new Set(positions);
  for (const [position, entry] of entries) {
    if (!staying.has(position)) {
      elementOf(entry).remove();
      entries.delete(position);
    }
  }
  let next = null;
  for (const position of positions.toReversed()) {
    let entry = entries.get(position);
    if (!entry) {
      entry = make(position);
      entries.set(position, entry);
      parent.insertBefore(elementOf(entry), next);
    }
    next = elementOf(entry);
  }
}

/** The nearest value between two; if they cross, the second. */
function within(value, least, most) {
  return Math.min(Math.max(value, least), most);
}
