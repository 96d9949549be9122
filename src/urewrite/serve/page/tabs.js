/** Tabs by the pattern of the ARIA practices: arrow keys choose, one of them is a tab stop. */

/**
 * @param {HTMLElement} list of tabs
 * @param {HTMLElement} panel
 * @param {(id: string) => void} chosen
 */
export function makeTabs(list, panel, chosen) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const choose = (tab) => {
    for (const one of tabs) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
    }
    panel.setAttribute("aria-labelledby", tab.id);
    chosen(tab.id);
  };
  list.addEventListener("click", (event) => {
    const tab = event.target instanceof Element && event.target.closest("[role=tab]");
    if (tab) {
      choose(tab);
    }
  });
  list.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) {
      event.preventDefault();
      const next = tabs.at((tabs.indexOf(document.activeElement) + by) % tabs.length);
      choose(next);
      next.focus();
    }
  });
}
