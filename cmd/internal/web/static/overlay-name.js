// Names that are too long for their place: first smaller type, then initials for all but the
// last name, then the beginning of it (the style sheet's ellipsis).

const sizes = [34, 30, 26, 22]; // px; smaller is not read on a phone

const letters = new Intl.Segmenter(); // an emoji of several characters is one

// shorter lists how a name may be written, the best first.
export function shorter(name) {
  const words = name.trim().split(/\s+/);
  const initial = (word) => `${[...letters.segment(word)][0].segment}.`;
  const given = words.slice(0, -1);
  const out = [name];
  // Initials from the left: "Maximilian Ernst Habsburg", "M. Ernst Habsburg", "M. E. Habsburg".
  given.forEach((_, i) => out.push([...given.slice(0, i + 1).map(initial), ...words.slice(i + 1)].join(" ")));
  return out;
}

// fitName writes a name so that it fits an element that is on the page.
export function fitName(element, name) {
  if (element.dataset.name === name) return;
  element.dataset.name = name;
  for (const text of shorter(name)) {
    element.textContent = text;
    for (const size of sizes) {
      element.style.setProperty("--name", `${size}px`);
      if (element.scrollWidth <= element.clientWidth) return;
    }
  }
}
