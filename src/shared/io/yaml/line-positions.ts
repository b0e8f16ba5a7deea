/** Lines and columns of indexes in a text, both counted from 1. Lines end as editors end them: LF, CRLF or CR. */
export class LinePositions {
  private starts: number[] | undefined;

  constructor(private readonly text: string) {}

  at(offset: number): { line: number; column: number } {
    this.starts ??= lineStarts(this.text);
    const { starts } = this;
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const { index, 0: lineBreak } of text.matchAll(/\r\n?|\n/g)) starts.push(index + lineBreak.length);
  return starts;
}
