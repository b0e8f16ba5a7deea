// The anchors of a document's headings, as GitHub gives them: a link works in the repository and on the site.

/** One heading as text → its anchor, without a number for repeated headings. */
export function slugOf(heading: string): string {
  const plain = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "");
  return plain.trim().replaceAll(" ", "-");
}

/** Numbers equal anchors: the second `name` is `name-1`. One object per document. */
export class Anchors {
  private readonly counts = new Map<string, number>();

  next(heading: string): string {
    const slug = slugOf(heading);
    const count = this.counts.get(slug) ?? 0;
    this.counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  }
}

/** The anchors of all headings of a Markdown text. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Anchors();
  const headings = markdown.replaceAll(/^```[^]*?^```/gm, "").matchAll(/^#{1,6} (.+)$/gm);
  return new Set(Array.from(headings, ([, heading = ""]) => anchors.next(heading)));
}
