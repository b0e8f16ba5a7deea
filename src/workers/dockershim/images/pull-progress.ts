// The stream of messages of a pull, one JSON object per line. The Engine reports failures in it, after its status 200.
// Invariant: a pull ends: with its stream, with an error in it, or when no message came for the deadline. The Engine
// answers with the first message only, so the deadline holds from the request on.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { Fault } from "../fault.js";

export interface PullWatch {
  reference: string;
  clock: Pick<Clock, "after">;
  /** Longest time between two messages, ms. */
  deadlineMs: number;
  /** Sends the request; resolves with the Engine's answer. */
  begin(): Promise<AsyncIterable<Buffer>>;
  cancel(reason: Error): void;
}

/** A message of the Engine is short; more without a line feed is none. */
const MAX_LINE = 1024 * 1024;

/** Pulls, and reads the stream to its end. @throws Fault for an error of the Engine or of its registry */
export async function pulled(watch: PullWatch): Promise<void> {
  const { reference, clock, deadlineMs } = watch;
  const late = (): void =>
    watch.cancel(
      new Fault(
        "UNKNOWN",
        `pulling ${reference} made no progress for ${deadlineMs / 1000} s (--image-pull-progress-deadline): cancelled`,
      ),
    );
  let timer = clock.after(deadlineMs, late);
  let rest = "";
  try {
    for await (const chunk of await watch.begin()) {
      timer.cancel();
      timer = clock.after(deadlineMs, late);
      const lines = (rest + chunk.toString("utf8")).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) checkMessage(line, reference);
      if (rest.length > MAX_LINE)
        throw new Fault(
          "UNKNOWN",
          `pulling ${reference}: the Docker Engine sent a message of more than ${MAX_LINE} bytes`,
        );
    }
    checkMessage(rest, reference);
  } finally {
    timer.cancel();
  }
}

function checkMessage(line: string, reference: string): void {
  if (line.trim() === "") return;
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch (error) {
    throw new Fault("UNKNOWN", `pulling ${reference}: the Docker Engine sent no JSON`, { cause: error });
  }
  if (typeof message !== "object" || message === null || !("error" in message)) return;
  const text = String(message.error);
  throw new Fault(/not found|manifest unknown/i.test(text) ? "NOT_FOUND" : "UNKNOWN", text);
}
