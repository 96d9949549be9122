/** Lines between the words of an edit and where they come from, while somebody looks at the edit. */

const NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * @param {SVGSVGElement} canvas over the whole page, in which nothing can be pointed at
 * @param {{from: HTMLElement, to: HTMLElement, kind: string}[]} links
 */
export function drawLinks(canvas, links) {
  const origin = canvas.getBoundingClientRect();
  const shapes = links.flatMap(({ from, to, kind }) => {
    const [x1, y1, x2, y2] = ends(from, to, origin);
    const path = shape("path", kind, { d: curve(x1, y1, x2, y2) });
    return [path, shape("circle", kind, { cx: x1, cy: y1, r: 3 }), shape("circle", kind, { cx: x2, cy: y2, r: 3 })];
  });
  canvas.replaceChildren(...shapes);
}

/** From an edge of the first to an edge of the second: the ones that face each other. */
function ends(from, to, origin) {
  const first = from.getClientRects()[0];
  const second = to.getClientRects()[0];
  const middle = ({ left, right }) => (left + right) / 2 - origin.left;
  const below = first.top > second.bottom;
  const y1 = below ? first.top : first.bottom;
  const y2 = below ? second.bottom : second.top > first.bottom ? second.top : second.bottom;
  return [middle(first), y1 - origin.top, middle(second), y2 - origin.top];
}

function curve(x1, y1, x2, y2) {
  const sag = Math.max(36, Math.abs(y2 - y1) / 2);
  const down = y2 >= y1;
  const c1 = down ? y1 + sag : y1 - sag;
  const c2 = Math.abs(y2 - y1) < 60 ? y2 + sag : down ? y2 - sag : y2 + sag;
  return `M${x1} ${y1}C${x1} ${c1} ${x2} ${c2} ${x2} ${y2}`;
}

function shape(name, kind, attributes) {
  const made = document.createElementNS(NAMESPACE, name);
  made.setAttribute("class", kind);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, String(value));
  }
  return made;
}
