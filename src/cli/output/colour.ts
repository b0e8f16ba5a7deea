// Colours for a terminal. Text from pods and runtimes is cleaned of control characters: it must not steer the terminal.

type Colour = "red" | "yellow" | "green" | "dim" | "bold";
export type Paint = (colour: Colour, text: string) => string;

const CODES: Readonly<Record<Colour, string>> = { red: "31", yellow: "33", green: "32", dim: "2", bold: "1" };

export function painter(on: boolean): Paint {
  return on ? (colour, text) => `\u001b[${CODES[colour]}m${text}\u001b[0m` : (_colour, text) => text;
}

/** A control character, or one that changes the direction of text. */
export const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const ALL_UNPRINTABLE = new RegExp(`${UNPRINTABLE.source}+`, "g");

/** One line of printable characters. */
export function clean(text: string): string {
  return text.replace(ALL_UNPRINTABLE, " ").trim();
}
