// The navigation: on a phone it opens over the page; on a wide screen the entry of this page is in view.

export function connectMenu(): void {
  const button = document.querySelector<HTMLElement>("#menu");
  const nav = document.querySelector<HTMLElement>("#pages");
  if (button === null || nav === null) return;
  const show = (open: boolean): void => {
    document.documentElement.classList.toggle("menu-open", open);
    button.setAttribute("aria-expanded", String(open));
    showEntry(nav);
  };
  show(false);
  button.addEventListener("click", (event) => {
    // Without the script it is a link to the navigation.
    event.preventDefault();
    show(button.getAttribute("aria-expanded") !== "true");
  });
  nav.addEventListener("click", (event) => {
    if (event.target instanceof HTMLAnchorElement) show(false);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") show(false);
  });
  showEntry(nav);
}

/** Not scrollIntoView, which moves the page, too. */
function showEntry(nav: HTMLElement): void {
  const here = nav.querySelector<HTMLElement>("[aria-current]");
  if (here !== null) nav.scrollTop = Math.max(0, here.offsetTop - nav.clientHeight / 3);
}
