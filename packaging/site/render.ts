// Renders one Markdown document as HTML. Headings get GitHub's anchors, and links to documents become links to pages.
// Pictures and other linked files become files of the site. Raw HTML other than comments, and diagrams that need a
// script, are refused.

import { Marked, type Tokens } from "marked";
import { posix } from "node:path";
import { SetupProblem } from "../standalone/problem.js";
import { Anchors } from "./anchors.js";

export interface Rendered {
  html: string;
  /** Of the headings below the title: level 2 only. */
  sections: { title: string; anchor: string }[];
  /** Files of the repository that the page links to or shows, by their path in the site. */
  files: Map<string, string>;
}

export interface RenderOptions {
  /** Path of the document in the repository. */
  source: string;
  /** Path of its page in the site. */
  target: string;
  /** The page of a document; undefined: the document has none. */
  pageOf: (source: string) => string | undefined;
}

export function renderDocument(markdown: string, { source, target, pageOf }: RenderOptions): Rendered {
  const anchors = new Anchors();
  const sections: Rendered["sections"] = [];
  const files = new Map<string, string>();
  const refuse = (why: string): never => {
    throw new SetupProblem(`${source}: ${why}`);
  };
  const resolve = (href: string, isImage: boolean): string => {
    if (/^https?:/.test(href)) return isImage ? refuse(`the picture ${href} lies outside the repository`) : href;
    const [path = "", anchor] = href.split("#", 2);
    if (path === "") return href;
    const file = posix.join(posix.dirname(source), path);
    let to = pageOf(file);
    if (to === undefined) {
      if (file.endsWith(".md")) refuse(`links to ${file}, which docs/README.md does not list`);
      to = file.startsWith("docs/") ? file.slice("docs/".length) : `files/${file}`;
      files.set(to, file);
    }
    const relative = posix.relative(posix.dirname(target), to);
    return anchor === undefined ? relative : `${relative}#${anchor}`;
  };
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading): string {
        const anchor = anchors.next(text);
        const inner = this.parser.parseInline(tokens);
        if (depth === 2) sections.push({ title: this.parser.parseInline(tokens, this.parser.textRenderer), anchor });
        return `<h${depth} id="${escapeHtml(anchor)}">${inner}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        return `<a href="${escapeHtml(resolve(href, false))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text }: Tokens.Image): string {
        return `<img src="${escapeHtml(resolve(href, true))}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      code({ text, lang }: Tokens.Code): string {
        if (lang === "mermaid") refuse("a mermaid block needs a script to be drawn; commit a picture");
        // A region that scrolls must be reachable by keyboard.
        return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`;
      },
      table(token: Tokens.Table): string {
        const row = (cells: readonly Tokens.TableCell[], tag: "th" | "td"): string =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("")}</tr>`;
        const body = token.rows.map((cells) => row(cells, "td")).join("\n");
        return (
          `<div class="table" tabindex="0"><table>\n<thead>${row(token.header, "th")}</thead>\n` +
          `<tbody>\n${body}\n</tbody>\n</table></div>\n`
        );
      },
      html({ text }: Tokens.HTML | Tokens.Tag): string {
        return /^\s*<!--[^]*-->\s*$/.test(text) ? "" : refuse(`raw HTML is not rendered: ${text.trim().slice(0, 60)}`);
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { html, sections, files };
}

export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
