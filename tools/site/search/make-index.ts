// Makes the index of the search from the sections of all pages of a book. Pure.

import type { Page, Part } from "../contents.js";
import { INDEX_VARIABLE, packSection, wordsIn, type SearchIndex } from "./index-format.js";
import type { Section } from "./sections.js";

export interface IndexedPage {
  page: Page;
  part: Part;
  sections: readonly Section[];
}

export function makeIndex(pages: readonly IndexedPage[]): SearchIndex {
  const index: SearchIndex = { pages: [], words: "", lists: "" };
  const found = new Map<string, number[]>();
  let number = 0;
  for (const { page, part, sections } of pages) {
    const [own, ...others] = sections;
    index.pages.push([page.target, page.title, part.title, others.map(packSection)]);
    for (const { title, text } of sections) {
      const inTitle = title.toLowerCase();
      for (const word of new Set(wordsIn(title === own?.title ? `${page.about} ${text}` : text))) {
        if (!inTitle.includes(word)) found.set(word, [...(found.get(word) ?? []), number]);
      }
      number++;
    }
  }
  const words = [...found.keys()].sort();
  index.words = words.join(" ");
  index.lists = words.map((word) => differences(found.get(word) ?? [])).join(";");
  return index;
}

function differences(numbers: readonly number[]): string {
  return numbers.map((number, at) => (number - (numbers[at - 1] ?? 0)).toString(36)).join(",");
}

/** A script, because a page of file:// can load nothing else. */
export function indexScript(index: SearchIndex): string {
  return `(window.${INDEX_VARIABLE}??=[]).push(${JSON.stringify(index)});\n`;
}
