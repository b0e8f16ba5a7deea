import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { emitMachineWarnings, type MachineSources } from "../../../src/main/node/machine-warnings.js";
import { temporaryFolder } from "../../support/sources-kit.js";

const SWAPS = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/swapfile file\t1\t0\t-3\n";

async function emitted(
  resolvConf: string,
  { clusterDomain = "cluster.local", ...machine }: Partial<MachineSources> & { clusterDomain?: string } = {},
): Promise<string[]> {
  const events: string[] = [];
  const record = {
    node: (event: { reason: string; message: string }) => events.push(`${event.reason}: ${event.message}`),
  };
  await emitMachineWarnings({ resolvConf, clusterDomain, rootDir: "/nonexistent" }, record, {
    swaps: () => Promise.reject(new Error("a kernel without swap")),
    kernel: () => "5.15.0-1",
    mountsNoSwap: () => Promise.resolve(false),
    ...machine,
  });
  return events;
}

const domains = (count: number, length = 3): string => `search ${Array(count).fill("d".repeat(length)).join(" ")}\n`;

test("a resolver file beyond the limits of pods is reported in upstream's words", async (t) => {
  const file = join(await temporaryFolder(t), "resolv.conf");
  const table: [text: string, clusterDomain: string, expected: string[]][] = [
    [domains(29), "cluster.local", []],
    [
      domains(30),
      "cluster.local",
      [`Resolv.conf file '${file}' contains search line consisting of more than 29 domains!`],
    ],
    [domains(32), "", []],
    [domains(33), "", [`Resolv.conf file '${file}' contains search line consisting of more than 32 domains!`]],
    [
      domains(1, 254),
      "",
      [`Resolv.conf file "${file}" contains a search path which length is more than allowed 253 chars!`],
    ],
    [domains(8, 255 - 2), "", []],
    [
      domains(9, 250),
      "",
      [`Resolv.conf file '${file}' contains search line which length is more than allowed 2048 chars!`],
    ],
  ];
  for (const [text, clusterDomain, expected] of table) {
    await writeFile(file, text);
    assert.deepEqual(
      await emitted(file, { clusterDomain }),
      expected.map((message) => `CheckLimitsForResolvConf: ${message}`),
    );
  }
  assert.deepEqual(await emitted(""), []);
  assert.match((await emitted("/nonexistent/resolv.conf")).join(), /^CheckLimitsForResolvConf: ENOENT.*resolv.conf/);
});

const rows: [string, Partial<MachineSources>, number][] = [
  ["no swap", {}, 0],
  ["swap, a kernel that keeps a tmpfs out of it", { swaps: () => Promise.resolve(SWAPS), kernel: () => "6.4.0" }, 0],
  ["swap, a kernel that does not", { swaps: () => Promise.resolve(SWAPS), kernel: () => "6.3.13" }, 1],
  [
    "swap, an older kernel that does",
    { swaps: () => Promise.resolve(SWAPS), mountsNoSwap: () => Promise.resolve(true) },
    0,
  ],
];
for (const [name, machine, count] of rows) {
  test(`memory-backed volumes may be swapped: ${name}`, async () => {
    const events = await emitted("", machine);
    assert.deepEqual(
      events.map((line) => line.split(":")[0]),
      Array(count).fill("PossibleMemoryBackedVolumesOnDisk"),
    );
  });
}
