// nodelet why: why a pod does not run, is not ready, restarts, or is not removed; why a manifest makes no pod.

import { oneLine } from "../../shared/base/text/printable.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { moment, since, until } from "../output/amounts.js";
import { print } from "../output/print.js";
import { wrap } from "../output/table.js";
import { explainNamed } from "../why/explain-named.js";
import type { Explanation } from "../why/explain.js";
import type { Finding } from "../why/input.js";

/** Older decisions are shown with -o wide, json and yaml. */
const SHOWN_DECISIONS = 15;

export async function whyCommand(context: Context, named: string, namespace?: string): Promise<ExitCode> {
  const { explanation, now } = await explainNamed(context.client, named, namespace);
  await print(context, explanation, () => whyText(context, explanation, now));
  return explanation.fine ? EXIT.fine : EXIT.wrong;
}

/** @internal */
export function whyText(
  { paint, columns, format }: Pick<Context, "paint" | "columns" | "format">,
  { pod, verdict, fine, findings, decisions }: Explanation,
  now: number,
): string {
  const colours = { error: "red", warning: "yellow", info: "dim" } as const;
  const finding = ({ severity, about, what, since: at, nextTryAt, evidence = [], help }: Finding): string => {
    const lines = [`${paint(colours[severity], about)}: ${wrap(what, columns, "  ").trimStart()}`];
    if (at !== undefined) lines.push(`  ${since(at, now)}`);
    if (nextTryAt !== undefined)
      lines.push(`  the kubelet tries again ${until(nextTryAt, now)} (${moment(nextTryAt)})`);
    for (const { title, lines: shown } of evidence) {
      lines.push(`  ${title}:`, ...shown.map((line) => paint("dim", `    | ${oneLine(line)}`)));
    }
    for (const text of help) lines.push(wrap(`- ${text}`, columns, "  "));
    return lines.join("\n");
  };
  const history = (): string[] => {
    const shown = format === "wide" ? decisions : decisions.slice(-SHOWN_DECISIONS);
    const left = decisions.length - shown.length;
    const story = shown.map(({ at, what, count, lastAt }) => {
      const last = lastAt === undefined ? "" : `, last at ${moment(lastAt)}`;
      return wrap(`${moment(at)}  ${what}${count === undefined ? "" : ` (${count} times${last})`}`, columns, "  ");
    });
    return ["", paint("bold", `decisions${left > 0 ? ` (${left} earlier ones with -o wide)` : ""}`), ...story];
  };
  return [
    `${paint("bold", pod)} ${verdict}`,
    ...(findings.length === 0 ? [] : ["", ...findings.map(finding)]),
    ...(fine && format !== "wide" ? [paint("dim", `  its history: nodelet why ${pod} -o wide`)] : history()),
    "",
  ].join("\n");
}
