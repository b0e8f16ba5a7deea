// Logs of real containers: rotated by the real runtime while they are written and followed, read back whole.
// @headline Images and logs | Rotation loses and repeats no line. | one writer, one follower
// @promise Images and logs: Log rotation with a writer and a follower: every line once, in order; at most
//   containerLogMaxFiles files, older ones compressed.

import assert from "node:assert/strict";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { readContainerLogs, type ReadLogsOptions } from "../../src/workers/server/logs/pods/read.js";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
import {
  IDLE,
  logDirectory,
  manifest,
  PATIENCE_MS,
  podOf,
  shell,
  statusOf,
  waitForPod,
} from "../support/static-pods.js";

/** Each stage ends when the test lets it: after a rotation. */
const STAGES = 4;
const BATCHES_PER_STAGE = 50;
const BATCHES = STAGES * BATCHES_PER_STAGE;
const BATCH = 100;
/** Bytes of a megabyte's line. */
const LONG = 3_000_000;
/** A file is full several times a second, in the middle of the writing; the files allowed hold all that is written. */
const CONFIG = { containerLogMaxSize: "128Ki", containerLogMaxFiles: 40, containerLogMaxWorkers: 2 };

const NUMBERS = `b=0; i=0
while [ $b -lt ${BATCHES} ]; do
  n=0; while [ $n -lt ${BATCH} ]; do echo "number $i of the lines that are counted"; i=$((i+1)); n=$((n+1)); done
  b=$((b+1)); sleep 0.02
  if [ $((b % ${BATCHES_PER_STAGE})) -eq 0 ]; then until [ -e /ctl/$b ]; do sleep 0.05; done; fi
done
echo the end`;

describe("logs of containers", () => {
  let node: TestNode;
  before(async () => {
    node = await startNode({ config: CONFIG });
    const ctl = join(node.kubelet.dir, "ctl");
    await mkdir(ctl);
    const numbers = shell("numbers", `${NUMBERS}\n${IDLE}`, { volumeMounts: [{ name: "ctl", mountPath: "/ctl" }] });
    const long = shell("long", `echo before; head -c ${LONG} /dev/zero | tr '\\0' x; echo; echo after >&2\n${IDLE}`);
    const spec = { volumes: [{ name: "ctl", hostPath: { path: ctl } }] };
    await Promise.all([
      node.writeManifest("writer", manifest("writer", [numbers, long], { spec })),
      node.writeManifest("crasher", manifest("crasher", [shell("app", "echo my last words; exit 3")])),
    ]);
  });
  after(() => node.stop());

  const options = (pod: PodView, container: string, more: Partial<ReadLogsOptions> = {}): ReadLogsOptions => ({
    podLogDirectory: logDirectory(node, pod),
    container,
    restartCount: 0,
    clock: systemClock,
    ...more,
  });

  test("rotated several times under a fast writer: every line once, for readers and for a follower", async () => {
    const pod = await waitForPod(
      node,
      "writer",
      (seen) => statusOf(seen, "numbers")?.state.running !== undefined,
      "running",
    );
    const expected = Array.from(
      { length: BATCHES * BATCH },
      (_, i) => `number ${i} of the lines that are counted\n`,
    ).join("");
    const folder = join(logDirectory(node, pod), "numbers");
    const rotated = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name !== "0.log").sort();
    const following = text(
      options(pod, "numbers", { follow: true, signal: AbortSignal.timeout(5 * PATIENCE_MS) }),
      (seen) => seen.endsWith("the end\n"),
    );
    const pacing = (async () => {
      for (let stage = 1; stage <= STAGES; stage++) {
        await waitFor(async () => (await rotated()).length >= stage, {
          what: `rotation ${stage}`,
          timeoutMs: PATIENCE_MS,
        });
        await writeFile(join(node.kubelet.dir, "ctl", String(stage * BATCHES_PER_STAGE)), "");
      }
    })();
    const [followed] = await Promise.all([following, pacing]);
    assertSame(followed, `${expected}the end\n`);
    assertSame(await text(options(pod, "numbers")), `${expected}the end\n`);

    const files = await waitFor(
      async () => {
        const names = await rotated();
        return names.slice(0, -1).every((name) => name.endsWith(".gz")) ? names : undefined;
      },
      { what: "all rotated files but the newest to be compressed", timeoutMs: PATIENCE_MS, intervalMs: 100 },
    );
    assert.ok(files.length >= 3, files.join());
    for (const name of files) assert.match(name, /^0\.log\.\d{8}-\d{6}(\.gz)?$/);
    assertSame(await text(options(pod, "numbers")), `${expected}the end\n`);
    const tail = await text(options(pod, "numbers", { tailLines: BATCHES * BATCH - 100 }));
    assertSame(tail, `${expected.slice(expected.indexOf("number 101 "))}the end\n`);
  });

  test("a line of megabytes is one line; stdout and stderr stay separate", async () => {
    const pod = podOf(await node.pods(), "writer");
    assert.ok(pod !== undefined);
    const long = `${"x".repeat(LONG)}\n`;
    await waitFor(async () => (await text(options(pod, "long", { stream: "Stderr" }))) === "after\n", {
      what: "the long line to be written",
      timeoutMs: PATIENCE_MS,
    });
    assertSame(await text(options(pod, "long", { stream: "Stdout" })), `before\n${long}`);
    assert.equal((await text(options(pod, "long", { limitBytes: 100 }))).length, 100);
  });

  test("the run before is read by `previous`; a follower ends with its container", async () => {
    const pod = await waitForPod(
      node,
      "crasher",
      (seen) => (statusOf(seen, "app")?.restartCount ?? 0) > 0,
      "restarted",
    );
    // The pod that was read may be old, and the log of a run goes with its container: the newest one stays. It is empty
    // until its container runs.
    const folder = join(logDirectory(node, pod), "app");
    let newest = NaN;
    const isWritten = async (): Promise<boolean> => {
      newest = Math.max(...(await readdir(folder)).map((name) => parseInt(name)));
      return (await stat(join(folder, `${newest}.log`))).size > 0;
    };
    await waitFor(isWritten, { what: "the last words of the newest run", timeoutMs: PATIENCE_MS });
    const next = options(pod, "app", { restartCount: newest + 1, previous: true });
    assert.equal(await text(next), "my last words\n");
    const ended = options(pod, "app", { restartCount: newest, follow: true, isRunning: () => false });
    assert.equal(await text(ended), "my last words\n");
  });
});

async function text(options: ReadLogsOptions, enough: (seen: string) => boolean = () => false): Promise<string> {
  let seen = "";
  for await (const block of readContainerLogs(options)) {
    seen += Buffer.from(block).toString();
    if (enough(seen)) break;
  }
  return seen;
}

/** Megabytes that differ are not to be printed. */
function assertSame(got: string, expected: string): void {
  if (got === expected) return;
  let at = 0;
  while (at < got.length && got[at] === expected[at]) at++;
  const near = (of: string): string => JSON.stringify(of.slice(Math.max(0, at - 80), at + 80));
  assert.fail(`${got.length} instead of ${expected.length} bytes; at ${at}: ${near(got)} instead of ${near(expected)}`);
}
