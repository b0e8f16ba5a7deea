// Renders one Markdown document as HTML. Headings get GitHub's anchors, and links to documents become links to pages.
// Pictures and other linked files become files of the site. Raw HTML other than comments, and diagrams that need a
// script, are refused.

import { posix } from "node:path";
import { Marked, type Tokens } from "marked";
import { escapeHtml } from "../../src/shared/base/text/escape.js";
import { SetupProblem } from "../standalone/problem.js";
import { Anchors } from "./anchors.js";
import { colouredCode } from "./colour.js";
import { rowAnchor, rowName } from "./search/sections.js";

/** Pages of which each row of a table has an anchor: a flag, a field, a metric. */
export const REFERENCE = "docs/reference/";
/** In plain text, too, it is not broken at its hyphens. */
const FLAG = /(?<![\w-])--[a-z][\w-]{1,40}/g;
/** Characters that fit into a line on a phone. */
const LONGEST_NAME = 36;

export interface Rendered {
  html: string;
  /** Headings of level 2. */
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
  const [anchors, rows] = [new Anchors(), new Anchors()];
  const isReference = source.startsWith(REFERENCE);
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
        return `<pre tabindex="0"${lang === "console" ? ' class="console"' : ""}><code>${colouredCode(text, lang ?? "")}</code></pre>\n`;
      },
      codespan({ text }: Tokens.Codespan): string {
        // A flag or a name is read as one word, also where a line ends.
        if (/\s/.test(text)) return `<code>${escapeHtml(text)}</code>`;
        if (text.length <= LONGEST_NAME) return `<code class="name">${escapeHtml(text)}</code>`;
        // A longer one has to end its line somewhere: behind a sign, or before a capital.
        const parts = text.split(/(?<=[\w>][_./=,|])(?=[\w<])|(?<=[a-z])(?=[A-Z])/);
        return `<code class="name long">${parts.map(escapeHtml).join("<wbr>")}</code>`;
      },
      text(token: Tokens.Text | Tokens.Escape): string {
        const { tokens } = token as Partial<Tokens.Text>;
        if (tokens !== undefined) return this.parser.parseInline(tokens);
        return escapeHtml(token.text).replaceAll(FLAG, '<span class="flag">$&</span>');
      },
      table(token: Tokens.Table): string {
        const row = (cells: readonly Tokens.TableCell[], tag: "th" | "td"): string => {
          const name = isReference && tag === "td" ? rowName(cells) : undefined;
          const id = name === undefined ? "" : ` id="${escapeHtml(rowAnchor(rows, name))}"`;
          const cell = ({ tokens }: Tokens.TableCell, at: number): string => {
            // On a phone a row is a block of lines, each with the name of its column.
            const label = tag === "td" && at > 0 ? ` data-label="${escapeHtml(token.header[at]?.text ?? "")}"` : "";
            return `<${tag}${label}>${this.parser.parseInline(tokens)}</${tag}>`;
          };
          return `<tr${id}>${cells.map(cell).join("")}</tr>`;
        };
        const body = token.rows.map((cells) => row(cells, "td")).join("\n");
        return (
          `<div class="table${token.header.length > 2 ? " wide" : ""}" tabindex="0"><table>\n<thead>${row(token.header, "th")}</thead>\n` +
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
