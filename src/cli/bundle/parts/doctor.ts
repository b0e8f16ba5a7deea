// Parts of a support bundle with doctor's findings: as text, and with the facts behind them.
import { doctorCommand } from "../../commands/doctor.js";
import type { Result } from "../../doctor/check.js";
import { maskMessage, maskTexts } from "../mask.js";
import { pretty, type Part, type Sources } from "../part.js";

interface Examined {
  results: Result[];
}

export function doctorParts({ client, context }: Sources): Part[] {
  const examine = async (): Promise<Examined> => {
    let printed = "";
    const write = (more: string): void => void (printed += more);
    await doctorCommand({ ...context, client, format: "json", write });
    return JSON.parse(printed) as Examined;
  };
  let examined: Promise<Examined> | undefined;
  const once = (): Promise<Examined> => (examined ??= examine());
  return [
    { name: "doctor.txt", read: async () => resultsText((await once()).results) },
    { name: "machine.json", read: async () => pretty(maskTexts(await once())) },
  ];
}

/** Masked before it is put into lines: a secret would be in two of them. */
function resultsText(results: readonly Result[]): string {
  const lines = results.flatMap(({ severity, check, found, why, fix }) => [
    `${severity.padEnd(7)} ${check}: ${maskMessage(found)}`,
    ...(why === undefined ? [] : [`        why: ${maskMessage(why)}`]),
    ...(fix === undefined ? [] : [`        fix: ${maskMessage(fix)}`]),
  ]);
  return `${lines.join("\n")}\n`;
}
