// The order of the documentation: docs/README.md is the table of contents, for readers on GitHub and for the site. A
// heading begins a part, a list entry `- [Title](page.md): what it says` adds a page. Parts from the heading of
// DEVELOPERS on are a book of their own: users meet them neither in the navigation nor in the search. The decisions of
// docs/adr follow their index without entries of their own.

import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { SetupProblem } from "../standalone/problem.js";

/** Paths are relative to the root of the repository, with `/`. */
export const CONTENTS = "docs/README.md";
const DECISIONS = "docs/adr/README.md";
const DEVELOPERS = "Develop nodelet";

export interface Page {
  /** The Markdown file. */
  readonly source: string;
  readonly title: string;
  /** What it says, in a few words of Markdown; "" for decisions. */
  readonly about: string;
  /** Relative to the folder of the site. */
  readonly target: string;
  /** Shown in the navigation. Decisions are not: their index lists them. */
  readonly listed: boolean;
}

export interface Part {
  readonly title: string;
  readonly audience: "users" | "developers";
  readonly pages: readonly Page[];
}

const HEADING = /^## (.+)$/;
const ENTRY = /^- \[([^\]]+)\]\(([^)#\s]+\.md)\)(?:: (.+))?/;

/** Throws a setup problem if an entry stands before the first part, or names a page twice. */
export async function readContents(root: string): Promise<Part[]> {
  const parts: (Part & { pages: Page[] })[] = [];
  const seen = new Set<string>();
  const lines = (await readFile(join(root, CONTENTS), "utf8")).split("\n");
  let audience: Part["audience"] = "users";
  for (const [index, line] of lines.entries()) {
    const heading = HEADING.exec(line)?.[1];
    if (heading === DEVELOPERS) audience = "developers";
    if (heading !== undefined) parts.push({ title: heading, audience, pages: [] });
    const [, title, link, about = ""] = ENTRY.exec(line) ?? [];
    if (title === undefined || link === undefined) continue;
    const where = `${CONTENTS}:${index + 1}`;
    const part = parts.at(-1);
    if (part === undefined)
      throw new SetupProblem(`${where}: the entry of ${link} stands before the first "## " heading`);
    const source = posix.join(posix.dirname(CONTENTS), link);
    if (seen.has(source)) throw new SetupProblem(`${where}: ${link} is listed twice`);
    seen.add(source);
    part.pages.push({ source, title, about, target: targetOf(source), listed: true });
    if (source === DECISIONS) part.pages.push(...(await decisions(root)));
  }
  return parts.filter(({ pages }) => pages.length > 0);
}

/** The parts of one book. */
export function bookOf(parts: readonly Part[], audience: Part["audience"]): Part[] {
  return parts.filter((part) => part.audience === audience);
}

/**
 * `docs/cluster.md` → `cluster.html`, `docs/adr/README.md` → `adr/index.html`, `ARCHITECTURE.md` → `architecture.html`.
 */
function targetOf(source: string): string {
  const inDocs = source.startsWith("docs/");
  const path = inDocs ? source.slice("docs/".length) : source.toLowerCase();
  return path.replace(/(^|\/)README\.md$/, "$1index.md").replace(/\.md$/, ".html");
}

async function decisions(root: string): Promise<Page[]> {
  const folder = posix.dirname(DECISIONS);
  const files = (await readdir(join(root, folder))).filter((name) => /^\d{4}-.*\.md$/.test(name)).sort();
  return Promise.all(
    files.map(async (name) => {
      const source = `${folder}/${name}`;
      const [first = ""] = (await readFile(join(root, source), "utf8")).split("\n", 1);
      return { source, title: first.replace(/^# /, ""), about: "", target: targetOf(source), listed: false };
    }),
  );
}
