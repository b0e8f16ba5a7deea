// Builds the documentation as static HTML below dist/site: one page per document, one style sheet, the pictures. Nothing is loaded from elsewhere.

import { copyFile, cp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CONTENTS, readContents, type Page, type Part } from "./contents.js";
import { INDEX, layout, STYLE } from "./layout.js";
import { renderDocument } from "./render.js";

/** Documents that lead to the table of contents. */
const FRONT = new Set([CONTENTS, "README.md"]);

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
  const files = new Map<string, string>();
  const write = async (page: Page | undefined): Promise<void> => {
    const { source, target } = page ?? { source: CONTENTS, target: INDEX };
    const rendered = renderDocument(await readFile(join(root, source), "utf8"), { source, target, pageOf });
    for (const [to, from] of rendered.files) files.set(to, from);
    const path = join(folder, target);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, layout({ parts, page, rendered }));
  };
  for (const page of [undefined, ...pages]) await write(page);
  files.set(STYLE, "packaging/site/site.css");
  for (const [to, from] of files) await copy(join(root, from), join(folder, to));
  return { parts, files: [INDEX, ...targets.values(), ...files.keys()] };
}

async function copy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  if ((await stat(from)).isDirectory()) await cp(from, to, { recursive: true });
  else await copyFile(from, to);
}
