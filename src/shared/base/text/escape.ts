// Text inside markup and inside the text format of metrics.

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

/** Escapes as Go's html/template and net/http do; right for text and attributes of HTML, XML and SVG. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/** Escapes the value of a label in the text format of Prometheus. */
export function escapeLabel(text: string): string {
  return /[\\\n"]/.test(text) ? text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/"/g, '\\"') : text;
}

/** The value of a label that escapeLabel wrote. */
export function unescapeLabel(text: string): string {
  return text.includes("\\") ? text.replace(/\\(.)/g, (_all, one: string) => (one === "n" ? "\n" : one)) : text;
}

/** Escapes the help of a family in the text format of Prometheus. */
export function escapeHelp(text: string): string {
  return text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n");
}

/** The help that escapeHelp wrote. */
export function unescapeHelp(text: string): string {
  return unescapeLabel(text);
}
