// A page of the site around its content: search, navigation of its book in the order of the table of contents, previous
// and next page.

import { posix } from "node:path";
import { escapeHtml } from "../../src/shared/base/text/escape.js";
import { bookOf, type Page, type Part } from "./contents.js";
import type { Rendered } from "./render.js";

export const STYLE = "site.css";
export const ICON = "icon.svg";
export const SCRIPT = "site.js";
export const INDEX = "index.html";
export const INDEX_OF = { users: "search-index.js", developers: "search-developers.js" } as const;

export interface LayoutOptions {
  parts: readonly Part[];
  /** undefined: the landing page. */
  page: Page | undefined;
  rendered: Pick<Rendered, "html" | "sections">;
}

export function layout({ parts, page, rendered }: LayoutOptions): string {
  const here = page?.target ?? INDEX;
  const to = (target: string): string => escapeHtml(posix.relative(posix.dirname(here), target));
  const title = page === undefined ? "nodelet: a kubelet that tells you why" : `${page.title} · nodelet`;
  const root = "../".repeat(here.split("/").length - 1);
  const audience = audienceOf(parts, page);
  const book = bookOf(parts, audience);
  // Users do not find decisions of developers; developers find both.
  const indexes = audience === "users" ? [INDEX_OF.users] : [INDEX_OF.developers, INDEX_OF.users];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${to(ICON)}" type="image/svg+xml">
<link rel="stylesheet" href="${to(STYLE)}">
<script src="${to(SCRIPT)}" data-root="${root}" data-index="${indexes.join(" ")}" defer></script>
</head>
<body${page === undefined ? ' class="landing"' : ""}>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a id="menu" href="#pages" role="button" aria-controls="pages">Menu</a>
<a class="brand" href="${to(INDEX)}">nodelet</a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search the documentation" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list" autocomplete="off" spellcheck="false">
<ul id="results" role="listbox" aria-label="Results" hidden></ul>
</div>
</header>
<nav id="pages" aria-label="Pages">
${navigation(book, page, rendered, to)}
${crossLink(parts, audience, to)}
</nav>
<main id="content">
${rendered.html}${page === undefined ? contents(bookOf(parts, "users"), to) : steps(book, page, to)}</main>
</body>
</html>
`;
}

function audienceOf(parts: readonly Part[], page: Page | undefined): Part["audience"] {
  return parts.find(({ pages }) => page !== undefined && pages.includes(page))?.audience ?? "users";
}

function navigation(
  parts: readonly Part[],
  here: Page | undefined,
  { sections }: LayoutOptions["rendered"],
  to: (target: string) => string,
): string {
  const entry = (page: Page): string => {
    const link = `<a href="${to(page.target)}"${page === here ? ' aria-current="page"' : ""}>${escapeHtml(page.title)}</a>`;
    if (page !== here || sections.length < 2) return `<li>${link}</li>`;
    const inner = sections.map(({ title, anchor }) => `<li><a href="#${escapeHtml(anchor)}">${title}</a></li>`);
    return `<li>${link}<ul>${inner.join("")}</ul></li>`;
  };
  const lists = parts.map(({ title, pages }) => {
    const shown = pages.filter((page) => page.listed || page === here);
    return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${shown.map(entry).join("\n")}\n</ul>`;
  });
  return lists.join("\n");
}

/** The way to the other book. */
function crossLink(parts: readonly Part[], audience: Part["audience"], to: (target: string) => string): string {
  const [part] = bookOf(parts, "developers");
  if (audience === "developers") return `<p class="other"><a href="${to(INDEX)}">Documentation for users</a></p>`;
  const [first] = part?.pages ?? [];
  if (part === undefined || first === undefined) return "";
  return `<p class="other"><a href="${to(first.target)}">${escapeHtml(part.title)}</a></p>`;
}

/** The table of contents on the landing page. */
function contents(parts: readonly Part[], to: (target: string) => string): string {
  const entry = ({ title, about, target }: Page): string =>
    `<li><a href="${to(target)}">${escapeHtml(title)}</a>${about === "" ? "" : `: ${escapeHtml(about.replaceAll("`", ""))}`}</li>`;
  const lists = parts.map(
    ({ title, pages }) =>
      `<section>\n<h2>${escapeHtml(title)}</h2>\n<ul>\n${pages.map(entry).join("\n")}\n</ul>\n</section>`,
  );
  return `<div class="contents">\n${lists.join("\n")}\n</div>\n`;
}

/** Links to the page before and after, within the book. */
function steps(parts: readonly Part[], here: Page, to: (target: string) => string): string {
  const pages = parts.flatMap((part) => part.pages);
  const index = pages.indexOf(here);
  const link = (page: Page | undefined, rel: "prev" | "next"): string =>
    page === undefined ? "<span></span>" : `<a rel="${rel}" href="${to(page.target)}">${escapeHtml(page.title)}</a>`;
  const [before, after] = [link(pages[index - 1], "prev"), link(pages[index + 1], "next")];
  return `<nav class="steps" aria-label="Before and after">${before}${after}</nav>\n`;
}
