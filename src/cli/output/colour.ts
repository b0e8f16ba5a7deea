// Colours for a terminal.

type Colour = "red" | "yellow" | "green" | "dim" | "bold";
export type Paint = (colour: Colour, text: string) => string;

const CODES: Readonly<Record<Colour, string>> = { red: "31", yellow: "33", green: "32", dim: "2", bold: "1" };

export function painter(on: boolean): Paint {
  return on ? (colour, text) => `\u001b[${CODES[colour]}m${text}\u001b[0m` : (_colour, text) => text;
}
