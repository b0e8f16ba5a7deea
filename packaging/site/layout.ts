// A page of the site around its content: navigation in the order of the table of contents, previous and next page. No script.

import { posix } from "node:path";
import type { Page, Part } from "./contents.js";
import { escapeHtml, type Rendered } from "./render.js";

export const STYLE = "site.css";
export const INDEX = "index.html";

export interface LayoutOptions {
  parts: readonly Part[];
  /** undefined: the table of contents itself. */
  page: Page | undefined;
  rendered: Rendered;
}

export function layout({ parts, page, rendered }: LayoutOptions): string {
  const here = page?.target ?? INDEX;
  const to = (target: string): string => escapeHtml(posix.relative(posix.dirname(here), target));
  const title = page === undefined ? "nodelet" : `${page.title} · nodelet`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${to(STYLE)}">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><a href="${to(INDEX)}">nodelet</a> <span>a kubelet on Node.js worker threads</span></header>
<nav aria-label="Pages">
${navigation(parts, page, rendered, to)}
</nav>
<main id="content">
${rendered.html}${steps(parts, page, to)}</main>
</body>
</html>
`;
}

function navigation(
  parts: readonly Part[],
  here: Page | undefined,
  { sections }: Rendered,
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

/** Links to the page before and after. */
function steps(parts: readonly Part[], here: Page | undefined, to: (target: string) => string): string {
  const pages = parts.flatMap((part) => part.pages);
  const index = here === undefined ? -1 : pages.indexOf(here);
  const before = pages[index - 1];
  const after = pages[index + 1];
  const link = (page: Page | undefined, rel: "prev" | "next"): string =>
    page === undefined ? "<span></span>" : `<a rel="${rel}" href="${to(page.target)}">${escapeHtml(page.title)}</a>`;
  return `<nav class="steps" aria-label="Before and after">${link(before, "prev")}${link(after, "next")}</nav>\n`;
}
