// Builds the documentation as static HTML below dist/site: one page per document, a landing page, one style sheet, one
// script, the index of the search, the pictures. Nothing is loaded from elsewhere, and every page works from a folder,
// without a server.

import { copyFile, cp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bookOf, CONTENTS, readContents, type Page, type Part } from "./contents.js";
import { ICON, INDEX, INDEX_OF, layout, SCRIPT, STYLE } from "./layout.js";
import { REFERENCE, renderDocument } from "./render.js";
import { siteScript } from "./script.js";
import { indexScript, makeIndex } from "./search/make-index.js";
import { sectionsOf, type Section } from "./search/sections.js";

/** Documents that lead to the landing page. */
const FRONT = new Set([CONTENTS, "README.md"]);
const CHANGES = "CHANGELOG.md";
const LANDING = "tools/site/landing.md";

export interface Site {
  parts: readonly Part[];
  /** Paths of all files of the site. */
  files: readonly string[];
}

/** Replaces `folder`. */
export async function buildSite(root: string, folder: string): Promise<Site> {
  const parts = await readContents(root);
  const pages = parts.flatMap((part) => part.pages);
  const targets = new Map(pages.map(({ source, target }) => [source, target]));
  const pageOf = (source: string): string | undefined => (FRONT.has(source) ? INDEX : targets.get(source));
  await rm(folder, { recursive: true, force: true });
  const copies = new Map<string, string>([
    [STYLE, "tools/site/site.css"],
    [ICON, "tools/site/icon.svg"],
  ]);
  const texts = new Map<string, string>();
  const write = async (target: string, text: string): Promise<void> => {
    const path = join(folder, target);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  const writePage = async (page: Page | undefined): Promise<void> => {
    const { source, target } = page ?? { source: LANDING, target: INDEX };
    const text = await readFile(join(root, source), "utf8");
    texts.set(target, text);
    const rendered = renderDocument(text, { source, target, pageOf });
    for (const [to, from] of rendered.files) copies.set(to, from);
    await write(target, layout({ parts, page, rendered }));
  };
  for (const page of [undefined, ...pages]) await writePage(page);
  const made = new Map([[SCRIPT, await siteScript(root)]]);
  for (const [audience, name] of [
    ["users", INDEX_OF.users],
    ["developers", INDEX_OF.developers],
  ] as const) {
    made.set(name, searchIndex(bookOf(parts, audience), texts));
  }
  for (const [name, text] of made) await write(name, text);
  for (const [to, from] of copies) await copy(join(root, from), join(folder, to));
  return { parts, files: [INDEX, ...targets.values(), ...made.keys(), ...copies.keys()] };
}

function searchIndex(parts: readonly Part[], texts: ReadonlyMap<string, string>): string {
  const pages = parts.flatMap((part) =>
    part.pages.map((page) => {
      const text = texts.get(page.target) ?? "";
      const sections = sectionsOf(text, page.title, page.source.startsWith(REFERENCE));
      return { page, part, sections: page.source === CHANGES ? [joined(sections)] : sections };
    }),
  );
  return indexScript(makeIndex(pages));
}

/** Sections of changes have the names of subjects, which other pages explain. */
function joined([first, ...others]: readonly Section[]): Section {
  const text = [first, ...others].map((section) => `${section?.title ?? ""} ${section?.text ?? ""}`).join(" ");
  return { anchor: "", title: first?.title ?? "", kind: "page", text };
}

async function copy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  if ((await stat(from)).isDirectory()) await cp(from, to, { recursive: true });
  else await copyFile(from, to);
}
