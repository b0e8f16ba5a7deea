// The index of the search, as the build writes it and the browser reads it. It is small: words stand once, with the
// numbers of the sections that have them.

import { slugOf } from "../anchors.js";

export interface SearchIndex {
  /**
   * Path from the root of the site, title, title of the part, and sections behind the page itself, which is the first.
   */
  pages: [target: string, title: string, part: string, sections: string[]][];
  /** Sorted, with blanks between them. Words of titles are not among them: titles are read as they are. */
  words: string;
  /** For each word the sections that have it: differences in base 36 with "," between them; ";" between words. */
  lists: string;
}

/** A section as one text: "#" or, for a row, "=" and its title; and its anchor, where the title does not give it. */
export function packSection({ kind, title, anchor }: SectionName): string {
  const text = `${kind === "row" ? "=" : "#"}${title}`;
  return anchor === usualAnchor(kind, title) ? text : `${text}\t${anchor}`;
}

export function unpackSection(text: string): SectionName {
  const kind = text.startsWith("=") ? "row" : "section";
  const [title = "", anchor] = text.slice(1).split("\t", 2);
  return { kind, title, anchor: anchor ?? usualAnchor(kind, title) };
}

interface SectionName {
  kind: "page" | "section" | "row";
  title: string;
  anchor: string;
}

function usualAnchor(kind: SectionName["kind"], title: string): string {
  return kind === "row" ? `row-${slugOf(title)}` : slugOf(title);
}

/** Name of the variable that the index file sets: a page of file:// may load scripts only. */
export const INDEX_VARIABLE = "nodeletSearch";

const WORD = /[a-z0-9](?:[a-z0-9_.-]*[a-z0-9])?/g;
const LONGEST = 48;
/** Words that are on every page. */
const COMMON = new Set(
  "a an and are as at be but by can for from has have if in into is it its no not of on or so than that the their then there they this to was were which with".split(
    " ",
  ),
);

/** The words of a text as they are looked for. */
export function wordsIn(text: string): string[] {
  const words = text.toLowerCase().match(WORD) ?? [];
  return words.filter((word) => word.length <= LONGEST && !COMMON.has(word));
}
