// The key "/" focuses the first field to filter or search, as in other tools.

export function followShortcuts(): void {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.matches("input[type=search], textarea")) return;
    const field = document.querySelector<HTMLInputElement>("input[type=search]");
    if (field === null) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}
