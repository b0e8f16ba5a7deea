// Prints a result in the format of -o.
import type { Context } from "../context.js";

/** `text` makes the form for people; `data` is the whole result for programs. */
export async function print(context: Context, data: unknown, text: () => string): Promise<void> {
  const { format, write } = context;
  switch (format) {
    case "json":
      write(`${JSON.stringify(data, undefined, 2)}\n`);
      return;
    case "yaml":
      write((await import("./yaml.js")).yamlText(data));
      return;
    case "table":
    case "wide":
      write(text());
  }
}
