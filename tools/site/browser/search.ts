// The search field: results as one types. The index is a script that is loaded with the first use; it works without a
// server, too.

import { find, readIndex, type Found } from "../search/find.js";
import type { SearchIndex } from "../search/index-format.js";

declare global {
  interface Window {
    nodeletSearch?: SearchIndex[];
  }
}

const MOST = 12;

export function connectSearch(): void {
  const field = document.querySelector<HTMLInputElement>("#search");
  const list = document.querySelector<HTMLElement>("#results");
  const script = document.querySelector<HTMLScriptElement>("script[data-index]");
  if (field === null || list === null || script === null) return;
  const { root = "", index: files = "" } = script.dataset;
  new Search(field, list, root, files.split(" ")).connect();
}

class Search {
  private indexes: Promise<ReturnType<typeof readIndex>[]> | undefined;
  private chosen = -1;

  constructor(
    private readonly field: HTMLInputElement,
    private readonly list: HTMLElement,
    private readonly root: string,
    private readonly files: readonly string[],
  ) {}

  connect(): void {
    const { field, list } = this;
    field.addEventListener("focus", () => void this.load());
    field.addEventListener("input", () => void this.show());
    field.addEventListener("keydown", (event) => this.onKey(event));
    document.addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      field.focus();
    });
    document.addEventListener("click", (event) => {
      if (event.target instanceof Node && !list.contains(event.target) && event.target !== field) this.hide();
    });
  }

  private load(): Promise<ReturnType<typeof readIndex>[]> {
    this.indexes ??= Promise.all(this.files.map((file) => loaded(`${this.root}${file}`))).then(() =>
      (window.nodeletSearch ?? []).map(readIndex),
    );
    return this.indexes;
  }

  private async show(): Promise<void> {
    const query = this.field.value;
    const indexes = await this.load();
    // Typed on meanwhile: that input shows its own results.
    if (query !== this.field.value) return;
    const found = indexes.flatMap((index) => find(index, query, MOST)).slice(0, MOST);
    this.chosen = -1;
    this.list.replaceChildren(...found.map((one) => this.entry(one)));
    if (found.length === 0 && query.trim() !== "") this.list.append(nothing(query));
    this.list.hidden = query.trim() === "";
    this.field.setAttribute("aria-expanded", String(!this.list.hidden));
    this.field.removeAttribute("aria-activedescendant");
  }

  private entry({ href, title, place }: Found): HTMLElement {
    const link = document.createElement("a");
    link.href = `${this.root}${href}`;
    link.tabIndex = -1;
    const [name, where] = [document.createElement("strong"), document.createElement("span")];
    name.textContent = title;
    where.textContent = place;
    link.append(name, where);
    link.addEventListener("click", () => this.hide());
    const item = document.createElement("li");
    item.setAttribute("role", "option");
    item.id = `result-${this.list.childElementCount}-${href}`;
    item.append(link);
    return item;
  }

  private onKey(event: KeyboardEvent): void {
    const items = [...this.list.querySelectorAll<HTMLElement>("[role=option]")];
    if (event.key === "Escape") {
      this.hide();
      this.field.blur();
    } else if (event.key === "Enter") {
      event.preventDefault();
      items[Math.max(this.chosen, 0)]?.querySelector("a")?.click();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (items.length === 0) return;
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.chosen = this.chosen < 0 && step < 0 ? items.length - 1 : (this.chosen + step + items.length) % items.length;
      for (const [at, item] of items.entries()) item.setAttribute("aria-selected", String(at === this.chosen));
      const item = items[this.chosen];
      item?.scrollIntoView({ block: "nearest" });
      if (item !== undefined) this.field.setAttribute("aria-activedescendant", item.id);
    }
  }

  private hide(): void {
    this.list.hidden = true;
    this.field.setAttribute("aria-expanded", "false");
  }
}

function nothing(query: string): HTMLElement {
  const item = document.createElement("li");
  item.className = "nothing";
  item.textContent = `Nothing has “${query.trim()}”.`;
  return item;
}

function loaded(src: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = src;
    script.addEventListener("load", () => resolve());
    script.addEventListener("error", () => reject(new Error(`${src} cannot be loaded`)));
    document.head.append(script);
  });
}
