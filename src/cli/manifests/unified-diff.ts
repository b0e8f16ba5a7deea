// The difference of two texts in the unified format of diff -u. Pure.
// https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html

const CONTEXT = 3;
/** Cells of the table of common lines; texts that differ in more are shown as replaced. */
const MOST_CELLS = 4_000_000;

type Line = { sign: " " | "-" | "+"; text: string };

/** "" for equal texts. Both end with a line end, or are empty. */
export function unifiedDiff(from: string, to: string, names: { from: string; to: string }): string {
  if (from === to) return "";
  const lines = difference(linesOf(from), linesOf(to));
  return `--- ${names.from}\n+++ ${names.to}\n${hunks(lines).join("")}`;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function difference(a: readonly string[], b: readonly string[]): Line[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (text: string): Line => ({ sign: " ", text });
  return [
    ...a.slice(0, start).map(same),
    ...between(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

/** By the longest common subsequence of lines. */
function between(a: readonly string[], b: readonly string[]): Line[] {
  const removed = (text: string): Line => ({ sign: "-", text });
  const added = (text: string): Line => ({ sign: "+", text });
  const width = b.length + 1;
  if ((a.length + 1) * width > MOST_CELLS) return [...a.map(removed), ...b.map(added)];
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [old, fresh] = [a[i], b[j]];
    if (old !== undefined && old === fresh) {
      lines.push({ sign: " ", text: old });
      i++;
      j++;
    } else if (old !== undefined && (fresh === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(old));
      i++;
    } else {
      lines.push(added(fresh ?? ""));
      j++;
    }
  }
  return lines;
}

function hunks(lines: readonly Line[]): string[] {
  const shown = lines.map((_, index) =>
    lines.slice(Math.max(index - CONTEXT, 0), index + CONTEXT + 1).some(({ sign }) => sign !== " "),
  );
  const found: string[] = [];
  let [before, after] = [0, 0];
  for (let index = 0; index < lines.length;) {
    let end = index;
    while (end < lines.length && shown[end] === shown[index]) end++;
    const part = lines.slice(index, end);
    const [removed, added] = [part.filter(isOld).length, part.filter(isNew).length];
    if (shown[index] === true) {
      const head = `@@ -${range(before, removed)} +${range(after, added)} @@\n`;
      found.push(head + part.map(({ sign, text }) => `${sign}${text}\n`).join(""));
    }
    before += removed;
    after += added;
    index = end;
  }
  return found;
}

function isOld({ sign }: Line): boolean {
  return sign !== "+";
}

function isNew({ sign }: Line): boolean {
  return sign !== "-";
}

/** Without lines, the line before them is named. */
function range(linesBefore: number, count: number): string {
  const start = count === 0 ? linesBefore : linesBefore + 1;
  return count === 1 ? String(start) : `${start},${count}`;
}
