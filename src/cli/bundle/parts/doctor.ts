// Parts of a support bundle with doctor's findings: as text, and with the facts behind them.

import type { Result } from "../../doctor/check.js";
import { askKubelet, examine, type Examined } from "../../doctor/examine.js";
import { maskMessage, maskTexts } from "../mask.js";
import { pretty, type Part, type Sources } from "../part.js";

export function doctorParts({ client, context }: Sources): Part[] {
  let examined: Promise<Examined> | undefined;
  const once = (): Promise<Examined> =>
    (examined ??= askKubelet(client).then((asked) => examine({ ...context, client }, asked)));
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
