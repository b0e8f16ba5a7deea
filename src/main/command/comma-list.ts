// Lists in a flag's text: one line of comma-separated values. Upstream's list flags read and write it with Go's
// encoding/csv. `"a,b",c` holds two items.

/**
 * The items; undefined when quotes do not fit. Empty text is an empty list. Only the first line counts that is not
 * empty, outside quotes: a value from a block of YAML ends with a newline.
 */
export function readCommaList(given: string): string[] | undefined {
  if (given === "") return [];
  const text = given.replace(/^(?:\r?\n)+/, "").replace(/\r$/, "");
  if (text === "") return undefined;
  const items: string[] = [];
  for (let at = 0; ; at++) {
    const start = at;
    if (text[at] === '"') {
      const end = closingQuote(text, at);
      if (end === undefined) return undefined;
      items.push(text.slice(start + 1, end).replaceAll('""', '"'));
      at = end + 1;
    } else {
      at = endOfItem(text, at);
      const item = text.slice(start, at);
      if (item.includes('"')) return undefined;
      items.push(item);
    }
    if (at >= text.length || isLineEnd(text, at)) return items;
    if (text[at] !== ",") return undefined;
  }
}

function endOfItem(text: string, start: number): number {
  const end = /,|\r?\n/g;
  end.lastIndex = start;
  return end.exec(text)?.index ?? text.length;
}

function isLineEnd(text: string, at: number): boolean {
  return text[at] === "\n" || (text[at] === "\r" && text[at + 1] === "\n");
}

/** The index of the quote that closes the one at `open`; a doubled quote is part of the text. */
function closingQuote(text: string, open: number): number | undefined {
  for (let at = open + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at < 0) return undefined;
    if (text[at + 1] !== '"') return at;
  }
}

/** Text that reads back as `items`. */
export function writeCommaList(items: readonly string[]): string {
  // A list of one empty item would otherwise be the empty list.
  if (items.length === 1 && items[0] === "") return '""';
  return items.map((item) => (/[",\r\n]|^\s/.test(item) ? `"${item.replaceAll('"', '""')}"` : item)).join(",");
}
