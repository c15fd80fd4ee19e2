// The fields that describe a board. There may be several sets of them on the page;
// they all show the same board, which this browser remembers.

const key = "sightline-board";
const kinds = { chessboard: "Chessboard", charuco: "ChArUco board" };
const sets = [];
const told = [];
let board = { kind: "chessboard", columns: 9, rows: 6, square: 25, marker: 18 };

try {
  board = { ...board, ...JSON.parse(sessionStorage.getItem(key) ?? "{}") };
} catch {
  // Nothing was remembered.
}

// spec is the board as the program reads it.
export function spec() {
  const size = `${board.kind}:${board.columns}x${board.rows}:${board.square}mm`;
  return board.kind === "charuco" ? `${size}:${board.marker}mm` : size;
}

// onBoard calls f now and whenever the board changes.
export function onBoard(f) {
  told.push(f);
  f();
}

function changed() {
  try {
    sessionStorage.setItem(key, JSON.stringify(board));
  } catch {
    // It is remembered until the page goes.
  }
  for (const fields of sets) fields.show();
  for (const f of told) f();
}

function field(parent, text, input, unit = "") {
  const label = document.createElement("label");
  label.append(text);
  const span = document.createElement("span");
  span.className = "unit";
  span.append(input, unit);
  label.append(span);
  parent.append(label);
  return label;
}

function number(name, attributes) {
  const input = document.createElement("input");
  Object.assign(input, { type: "number", inputMode: "decimal", required: true, ...attributes });
  input.dataset.field = name;
  input.addEventListener("change", () => {
    if (input.value !== "" && input.checkValidity()) {
      board[name] = Number(input.value);
      changed();
    }
  });
  return input;
}

// boardFields puts the fields into an element.
export function boardFields(parent) {
  const kind = document.createElement("select");
  kind.dataset.field = "kind";
  for (const [value, text] of Object.entries(kinds)) kind.append(new Option(text, value));
  kind.addEventListener("change", () => {
    board.kind = kind.value;
    changed();
  });
  const inputs = {
    columns: number("columns", { min: 3, max: 100, step: 1 }),
    rows: number("rows", { min: 3, max: 100, step: 1 }),
    square: number("square", { min: 1, max: 1000, step: "any" }),
    marker: number("marker", { min: 1, max: 1000, step: "any" }),
  };
  field(parent, "Kind", kind);
  field(parent, "Inner corners across", inputs.columns);
  field(parent, "and down", inputs.rows);
  field(parent, "Square", inputs.square, " mm");
  const marker = field(parent, "Marker", inputs.marker, " mm");
  const fields = {
    show() {
      kind.value = board.kind;
      for (const [name, input] of Object.entries(inputs)) {
        if (document.activeElement !== input) input.value = board[name];
      }
      marker.hidden = board.kind !== "charuco";
    },
  };
  sets.push(fields);
  fields.show();
}
