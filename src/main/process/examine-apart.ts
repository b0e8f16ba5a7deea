// Examines a configuration in a separate process, with a deadline.

import { spawn } from "child_process";
import { once } from "events";
import { text } from "stream/consumers";
import { fileURLToPath } from "url";
import type { ConfigFiles } from "./dynamic-config/config-files.js";
import type { Examination } from "./dynamic-config/examine.js";

const ENTRY = fileURLToPath(new URL("./examine-child.js", import.meta.url));
const DEADLINE_MS = 30000;

/** The examining process ended without a result. */
export class ExaminationError extends Error {
  override readonly name = "ExaminationError";
  readonly code = "EXAMINATION";
}

/** @throws ExaminationError */
export async function examineApart(argv: readonly string[], files: ConfigFiles): Promise<Examination> {
  const child = spawn(process.execPath, [ENTRY], { stdio: ["pipe", "pipe", "pipe"], timeout: DEADLINE_MS });
  const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  // A child that exits early closes its input; its exit status explains more than the EPIPE error.
  child.stdin.on("error", () => undefined);
  child.stdin.end(JSON.stringify({ argv, files }));
  const [answer, complaint, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) {
    const how = signal === null ? `status ${code}` : `${signal} (its deadline is ${DEADLINE_MS / 1000} s)`;
    throw new ExaminationError(`cannot validate the changed configuration: ${how}: ${complaint.trim().slice(-500)}`);
  }
  return JSON.parse(answer) as Examination;
}
