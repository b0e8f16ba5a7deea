// Prints a result in the format of -o.

import { UNPRINTABLE } from "../../shared/base/text/printable.js";
import type { Context } from "../context.js";

/** Beyond what JSON.stringify escapes; line ends stand between values only. */
const RAW_IN_JSON = new RegExp(`(?!\\n)${UNPRINTABLE.source}`, "g");

function jsonText(data: unknown): string {
  const escaped = (found: string): string => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(data, undefined, 2).replace(RAW_IN_JSON, escaped);
}

/** `text` makes the form for people; `data` is the whole result for programs. */
export async function print(context: Context, data: unknown, text: () => string): Promise<void> {
  const { format, write } = context;
  switch (format) {
    case "json":
      write(`${jsonText(data)}\n`);
      return;
    case "yaml":
      write((await import("./yaml.js")).yamlText(data));
      return;
    case "table":
    case "wide":
      write(text());
  }
}
