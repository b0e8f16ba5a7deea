// nodelet validate: checks manifests with the rules of the kubelet, without one. For editors and CI.

import { oneLine } from "../../shared/base/text/printable.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { faultText, readManifests, type Fault, type ManifestInput, type ReadManifests } from "../manifests/read.js";
import { print } from "../output/print.js";

export interface ValidateOptions extends ManifestInput {
  strict?: boolean;
}

export async function validateCommand(context: Context, options: ValidateOptions): Promise<ExitCode> {
  const { strict = false } = options;
  const read = await readManifests(options, context.clock);
  const faults = read.faults.map((fault): Fault => (strict ? { ...fault, severity: "error" } : fault));
  const pods = read.manifests.map(({ file, line, namespace, name }) => ({ file, line, namespace, name }));
  await print(context, { pods, faults }, () => validateText(context, read, faults));
  return faults.some(({ severity }) => severity === "error") ? EXIT.wrong : EXIT.fine;
}

/** @internal */
export function validateText(
  { paint }: Pick<Context, "paint">,
  { texts, manifests, several }: Pick<ReadManifests, "texts" | "manifests" | "several">,
  faults: readonly Fault[],
): string {
  const colours = { error: "red", warning: "yellow" } as const;
  const lines = faults.map((fault) => {
    // A name of a file may have ends of lines.
    const place = oneLine(faultText({ ...fault, message: "" }));
    return `${place} ${paint(colours[fault.severity], fault.severity)}: ${fault.message}\n`;
  });
  const notes = several.map(
    (file) =>
      `${oneLine(file)}: note: several pods: a file in staticPodPath is read as one Pod, its first document; nodelet apply takes all\n`,
  );
  const errors = faults.filter(({ severity }) => severity === "error").length;
  const counts = [
    count(texts, "text"),
    count(manifests.length, "valid pod"),
    count(errors, "error"),
    count(faults.length - errors, "warning"),
  ];
  return `${lines.join("")}${notes.join("")}${counts.join(", ")}\n`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
