// Finds sections for a query. Pure; runs in the browser, and in unit tests.

import { unpackSection, wordsIn, type SearchIndex } from "./index-format.js";

export interface Found {
  /** Path from the root of the site, with its anchor. */
  href: string;
  title: string;
  /** Where it is: "Reference: Flags". */
  place: string;
}

interface ReadSection {
  kind: "page" | "section" | "row";
  title: string;
  href: string;
  place: string;
}

interface ReadIndex {
  sections: readonly ReadSection[];
  words: readonly string[];
  lists: readonly string[];
}

/**
 * Scores of a title that is the query, is it in another spelling, begins with it, has it at a word's beginning, or
 * anywhere.
 */
const TITLE = { whole: 1000, alike: 900, start: 500, word: 200, inside: 80 };
/** The name of a row, as a flag, is more exact than the title of a section. */
const KIND_BONUS = { page: 150, row: 40, section: 0 };
const WHOLE_WORD = 12;
const START_OF_WORD = 4;

export function readIndex({ pages, words, lists }: SearchIndex): ReadIndex {
  const sections = pages.flatMap(([target, title, part, others]): ReadSection[] => [
    { kind: "page", title, href: target, place: part },
    ...others.map(unpackSection).map((section) => ({
      kind: section.kind,
      title: section.title,
      href: `${target}#${section.anchor}`,
      place: `${part}: ${title}`,
    })),
  ]);
  return { sections, words: words.split(" "), lists: lists.split(";") };
}

/** The best first. Every word of the query must be in a section, or in its title. */
export function find(read: ReadIndex, query: string, limit: number): Found[] {
  const terms = wordsIn(query);
  if (terms.length === 0) return [];
  const texts = terms.map((term) => sectionsWith(read, term));
  const whole = nameOf(query);
  const scored = read.sections.flatMap((section, number) => {
    const name = nameOf(section.title);
    const scores = terms.map((term, at) => titleScore(name, term) + (texts[at]?.get(number) ?? 0));
    if (scores.some((score) => score === 0)) return [];
    // What only has the words is worth the same everywhere: the order of the book decides.
    const bonus = terms.some((term) => titleScore(name, term) > 0) ? KIND_BONUS[section.kind] : 0;
    const mean = scores.reduce((sum, one) => sum + one, 0) / terms.length;
    return [{ section, number, score: titleScore(name, whole) * 2 + bonus + mean }];
  });
  scored.sort((a, b) => b.score - a.score || a.number - b.number);
  return scored.slice(0, limit).map(({ section: { title, href, place } }) => ({ title, href, place }));
}

/** "--max-pods" is looked for as "max-pods". */
function nameOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/^[\s`-]+/, "")
    .trim();
}

/** "max pods", "max-pods" and "maxPods" are one name. */
function compact(name: string): string {
  return name.replaceAll(/[^a-z0-9]/g, "");
}

function titleScore(name: string, term: string): number {
  if (term === "") return 0;
  if (name === term) return TITLE.whole;
  if (compact(name) === compact(term)) return TITLE.alike;
  const at = name.indexOf(term);
  if (at < 0) return 0;
  if (at === 0) return TITLE.start;
  return /[\s._/-]/.test(name[at - 1] ?? "") ? TITLE.word : TITLE.inside;
}

/** Sections with a word that begins with the term. */
function sectionsWith({ words, lists }: ReadIndex, term: string): Map<number, number> {
  const scores = new Map<number, number>();
  for (let at = firstFrom(words, term); words[at]?.startsWith(term) === true; at++) {
    const score = words[at] === term ? WHOLE_WORD : START_OF_WORD;
    let number = 0;
    for (const difference of (lists[at] ?? "").split(",")) {
      number += Number.parseInt(difference, 36);
      scores.set(number, Math.max(score, scores.get(number) ?? 0));
    }
  }
  return scores;
}

/** The first word that is not before `term`. */
function firstFrom(words: readonly string[], term: string): number {
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((words[middle] ?? "") < term) low = middle + 1;
    else high = middle;
  }
  return low;
}
