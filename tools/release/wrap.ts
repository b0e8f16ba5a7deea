// Lines of a bounded width. A word that is longer stays whole.

export interface Shape {
  /** Characters of a line. */
  width: number;
  /** Before the first line, and before the others. */
  first: string;
  next: string;
}

export function wrap(text: string, { width, first, next }: Shape): string[] {
  const lines: string[] = [];
  let line = first;
  let bare = true;
  for (const word of text.split(/\s+/).filter((one) => one !== "")) {
    if (!bare && line.length + 1 + word.length > width) {
      lines.push(line);
      line = next;
      bare = true;
    }
    line += bare ? word : ` ${word}`;
    bare = false;
  }
  return [...lines, line];
}
