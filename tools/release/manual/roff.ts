// Text of a manual page in the man macros. Invariant: no text is read as a macro or an escape.

/** A line of plain text: backslashes, hyphens and a leading dot or quote stand for themselves. */
export function plain(text: string): string {
  const safe = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("…", "...").replaceAll("\n", " ");
  return /^[.']/.test(safe) ? `\\&${safe}` : safe;
}

export interface Page {
  name: string;
  section: number;
  /** One line for the index of manual pages. */
  summary: string;
  /** Seconds since 1970: the page's date. */
  epoch: number;
  version: string;
  /** Lines of roff. */
  body: readonly string[];
}

/** The whole page. */
export function page({ name, section, summary, epoch, version, body }: Page): string {
  const date = new Date(epoch * 1000).toISOString().slice(0, 10);
  const head = `.TH ${name.toUpperCase()} ${section} ${date} "nodelet ${version}" "nodelet"`;
  return [head, ".SH NAME", `${name} \\- ${plain(summary)}`, ...body, ""].join("\n");
}

/** An entry of a list: a term in bold with its placeholder in italics, and a text. */
export function item(names: readonly string[], value: string | undefined, text: string): string[] {
  const bold = names.map((name) => `\\fB${plain(name)}\\fR`).join(", ");
  return [".TP", value === undefined ? bold : `${bold} \\fI${plain(value)}\\fR`, plain(text)];
}

/** Paragraphs of text. */
export function paragraphs(...texts: readonly string[]): string[] {
  return texts.flatMap((text) => [".PP", plain(text)]);
}
