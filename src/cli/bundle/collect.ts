// Makes the parts of a support bundle, some at a time. Invariant: a part ends at its deadline and is bounded; one that
// fails or hangs has the reason in its place, and holds up no other.

import { setMaxListeners } from "node:events";
import { Scope } from "../../shared/base/abort/scope.js";
import { unlessAborted } from "../../shared/base/abort/unless-aborted.js";
import type { Clock } from "../../shared/base/clock/clock.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { bytes } from "../output/amounts.js";
import { maskText } from "./mask-text.js";
import type { Part } from "./part.js";
import type { Secrets } from "./secrets.js";
import type { ArchivedFile } from "./tar.js";

const AT_A_TIME = 4;
const DEADLINE_MS = 30_000;
const PART_BYTES = 4 * 1024 * 1024;

export interface Collected extends ArchivedFile {
  /** Why it is not whole: "cut to 4.0 MiB", "did not end within 30 s". */
  problem?: string;
  tookMs: number;
}

export async function collect(parts: readonly Part[], clock: Clock, secrets: Secrets): Promise<Collected[]> {
  const collected: Collected[] = [];
  const queue = [...parts.entries()];
  const next = async (): Promise<void> => {
    for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) {
      collected[entry[0]] = await made(entry[1], clock);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, next));
  // Only now all secrets are known.
  return collected.map((file) => ({ ...file, content: secrets.mask(file.content) }));
}

async function made(part: Part, clock: Clock): Promise<Collected> {
  const { name, deadlineMs = DEADLINE_MS } = part;
  const startedAt = clock.monotonic();
  const took = (): number => Math.round(clock.monotonic() - startedAt);
  using limit = new Scope(undefined).limit(
    clock,
    deadlineMs,
    () => new Error(`it did not end within ${deadlineMs / 1000} s`),
  );
  // One for each program of the part. Node would warn of the eleventh.
  setMaxListeners(0, limit.signal);
  try {
    const text = await unlessAborted(part.read(limit.signal), limit.signal);
    return { name, ...cut(text, part), tookMs: took() };
  } catch (error) {
    const problem = `not available: ${maskText(messageOf(error))}`;
    return { name, content: `${problem}\n`, problem, tookMs: took() };
  }
}

function cut(text: string, { bytes: limit = PART_BYTES, keep }: Part): Pick<Collected, "content" | "problem"> {
  const whole = Buffer.from(text);
  if (whole.length <= limit) return { content: text };
  const kept = keep === "end" ? whole.subarray(-limit) : whole.subarray(0, limit);
  // A character that is cut in two.
  const content = kept.toString("utf8").replaceAll("\ufffd", "");
  const problem = `cut to ${bytes(limit)} of ${bytes(whole.length)}`;
  return { content: keep === "end" ? `(${problem})\n${content}` : `${content}\n(${problem})\n`, problem };
}

/** The first file of the archive: what is in it, and what is not. */
export function contentsText(files: readonly Collected[]): string {
  const rows = files.map(({ name, content, problem, tookMs }) => {
    const size = bytes(Buffer.byteLength(content));
    return `${name.padEnd(22)} ${size.padStart(9)} ${`${tookMs} ms`.padStart(9)}${problem === undefined ? "" : `  ${problem}`}`;
  });
  return `${rows.join("\n")}\n`;
}
