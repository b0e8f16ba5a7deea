// What the search can find in a document: its sections, and the rows of reference tables. Anchors are those of the
// rendered page.

import { Lexer, type Token, type Tokens } from "marked";
import { Anchors } from "../anchors.js";

export interface Section {
  /** "" is the page itself. */
  anchor: string;
  title: string;
  kind: "page" | "section" | "row";
  /** Its words, without those of its rows and of sections below it. */
  text: string;
}

/** The name of a row: code in its first cell, or in the second, behind the method of an endpoint. */
export function rowName(cells: readonly Tokens.TableCell[]): string | undefined {
  for (const { tokens } of cells.slice(0, 2)) {
    const code = tokens.find(({ type }) => type === "codespan");
    // "--max-pods=<number>" is looked for without its value.
    if (code !== undefined) return (code as Tokens.Codespan).text.replace(/=<.*$/, "");
  }
  return undefined;
}

/** Rows have anchors of their own kind: those of headings are GitHub's. */
export const rowAnchor = (anchors: Anchors, name: string): string => `row-${anchors.next(name)}`;

/** @param hasRows each row of a table is found by its name */
export function sectionsOf(markdown: string, title: string, hasRows: boolean): Section[] {
  const [anchors, rows] = [new Anchors(), new Anchors()];
  let here: Section = { anchor: "", title, kind: "page", text: "" };
  const sections = [here];
  for (const token of new Lexer({ gfm: true }).lex(markdown)) {
    if (token.type === "heading") {
      const { depth, text, tokens } = token as Tokens.Heading;
      const anchor = anchors.next(text);
      if (depth === 1) here.text += ` ${plain(tokens)}`;
      else sections.push((here = { anchor, title: plain(tokens), kind: "section", text: "" }));
    } else if (token.type === "table" && hasRows) {
      for (const cells of (token as Tokens.Table).rows) {
        const name = rowName(cells);
        const text = cells.map(({ tokens }) => plain(tokens)).join(" ");
        if (name === undefined) here.text += ` ${text}`;
        else sections.push({ anchor: rowAnchor(rows, name), title: name, kind: "row", text });
      }
    } else here.text += ` ${plain([token])}`;
  }
  return sections.map((section) => ({ ...section, text: section.text.replaceAll(/\s+/g, " ").trim() }));
}

/** Without comments and the addresses of links. */
function plain(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === "html") return "";
      if (token.type === "table") {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows].flatMap((cells) => cells.map((cell) => plain(cell.tokens))).join(" ");
      }
      if (token.type === "list") return (token as Tokens.List).items.map((item) => plain(item.tokens)).join(" ");
      const { tokens: inner } = token as { tokens?: Token[] };
      if (inner !== undefined) return plain(inner);
      return "text" in token && typeof token.text === "string" ? token.text : "";
    })
    .join(" ")
    .replaceAll(/\s+/g, " ")
    .trim();
}
