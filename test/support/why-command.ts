// `nodelet why` and `nodelet pods` in this process, on the admin socket of a test node: a table of many rows asks them
// often. That the executable runs the same functions is shown by test/integration/nodelet-why.test.ts.

import assert from "node:assert/strict";
import { Client } from "../../src/cli/client.js";
import { podsCommand } from "../../src/cli/commands/pods.js";
import { statusCommand } from "../../src/cli/commands/status.js";
import { whyCommand } from "../../src/cli/commands/why.js";
import type { Context } from "../../src/cli/context.js";
import { CliError, EXIT } from "../../src/cli/errors.js";
import { painter } from "../../src/cli/output/colour.js";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { wallTime } from "../../src/shared/base/clock/moments.js";
import { adminSocketOf } from "../../src/shared/contracts/nodelet.js";
import { waitFor, type TestNode } from "../harness/node.js";
import { PATIENCE_MS } from "./static-pods.js";

export interface Shown {
  code: number;
  text: string;
}

async function shown(
  node: TestNode,
  run: (context: Context) => Promise<number>,
  fields: Partial<Context> = {},
): Promise<Shown> {
  let text = "";
  const context: Context = {
    client: new Client(adminSocketOf(node.kubelet.rootDir)),
    format: "table",
    paint: painter(false),
    columns: Infinity,
    clock: systemClock,
    write: (part) => (text += part),
    ...fields,
  };
  try {
    return { code: await run(context), text };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { code: error.exitCode, text: error.message };
  }
}

export function why(node: TestNode, pod: string): Promise<Shown> {
  return shown(node, (context) => whyCommand(context, pod));
}

/** As shown at this moment. */
export function podsAt(node: TestNode, now: number): Promise<Shown> {
  return shown(node, (context) => podsCommand(context, {}), { clock: { ...systemClock, now: () => wallTime(now) } });
}

/** Fails unless `pods` and `status` call the pod as well, or as broken, as `why` does at the same time. */
export async function listedAs(node: TestNode, name: string, isWell: boolean): Promise<void> {
  const json = { format: "json" } as const;
  let seen = "";
  await waitFor(
    async () => {
      const [asked, pods, status, table, screen] = await Promise.all([
        why(node, name),
        shown(node, (context) => podsCommand(context, {}), json),
        shown(node, statusCommand, json),
        shown(node, (context) => podsCommand(context, {})),
        shown(node, statusCommand),
      ]);
      const { states } = JSON.parse(pods.text) as { states: { name: string; fine: boolean }[] };
      const listed = states.find((one) => one.name === name)?.fine;
      const { pods: ofStatus } = JSON.parse(status.text) as { pods: { name: string; fine: boolean }[] };
      const ofNode = ofStatus.find((one) => one.name === `default/${name}`)?.fine;
      const line = table.text.split("\n").find((one) => one.includes(` ${name} `)) ?? "";
      const isNamed = screen.text.includes(`pod: default/${name} is `);
      seen = JSON.stringify({ why: asked.code, listed, ofNode, line, isNamed, exit: [pods.code, status.code] });
      if (asked.code !== (isWell ? EXIT.fine : EXIT.wrong)) return false;
      if (listed !== isWell || ofNode !== isWell || isNamed === isWell) return false;
      const runsWell = /\b(\d+)\/\1 +(?:Running|Completed) /.test(line);
      return runsWell === isWell && (isWell || (pods.code === EXIT.wrong && status.code === EXIT.wrong));
    },
    { what: `pods, status and why to agree about ${name}`, timeoutMs: PATIENCE_MS, lastSeen: () => seen },
  );
}

/** A broken pod and what `why` says about it. */
export interface Expected {
  /** Absent: 1. */
  code?: number;
  words: readonly RegExp[];
  /** Words of wrong hints. */
  never?: readonly RegExp[];
}

/** Waits until all words are there, because a failure takes time; wrong hints are none at that moment. */
export async function explained(
  node: TestNode,
  pod: string,
  { code = 1, words, never = [] }: Expected,
): Promise<string> {
  let seen: Shown = { code: -1, text: "" };
  const text = await waitFor(
    async () => {
      seen = await why(node, pod);
      const line = seen.text.replace(/\s+/g, " ");
      return seen.code === code && words.every((word) => word.test(line)) ? line : undefined;
    },
    {
      what: `why ${pod} to end with ${code} and to say ${words.join(", ")}`,
      timeoutMs: 2 * PATIENCE_MS,
      intervalMs: 400,
      lastSeen: () => `\nexit code ${seen.code}\n${seen.text}`,
    },
  );
  for (const word of never) assert.doesNotMatch(text, word);
  return text;
}
