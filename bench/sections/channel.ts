// Processor time of a CRI call over our own channel and over that of grpc-js, by turns, on a private containerd.

import { fork } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import type { CriChannelKind } from "../../src/shared/kubernetes/cri/channel-kind.js";
import { startContainerd } from "../../tools/standalone/containerd.js";
import { BANDS, type CallerResult } from "../lib/cri-caller.js";
import { benchFolder } from "../lib/places.js";
import type { Section } from "../lib/section.js";

const TURNS = 7;
const KINDS = ["grpc-js", "own"] as const;

interface ChannelRow {
  channel: CriChannelKind;
  results: CallerResult[];
  /** Load average of the machine at the beginning of each turn. */
  loads: number[];
}

export const channelSection: Section<ChannelRow[]> = {
  name: "channel",
  async run() {
    const base = benchFolder("channel");
    await rm(base, { recursive: true, force: true });
    const containerd = await startContainerd({ dir: base });
    try {
      const rows = KINDS.map((channel): ChannelRow => ({ channel, results: [], loads: [] }));
      for (let turn = 0; turn < TURNS; turn++) {
        for (const row of rows) {
          row.loads.push(loadavg()[0] ?? 0);
          row.results.push(await callsOf(containerd.endpoint, row.channel));
        }
      }
      return rows;
    } finally {
      await containerd.stop();
      await rm(base, { recursive: true, force: true });
    }
  },
  report: (rows) => [
    {
      title: `Processor time of a Version call, medians of ${TURNS} turns (µs)`,
      head: ["channel", ...BANDS.map((last) => `until call ${last}`), "least", "RSS MiB", "heap MiB", "load"],
      rows: rows.map(({ channel, results, loads }) => [
        channel,
        ...BANDS.map((_, band) => Math.round(median(results.map(({ perCall }) => perCall[band] ?? 0)))),
        BANDS.map((_, band) => Math.round(Math.min(...results.map(({ perCall }) => perCall[band] ?? 0)))).join(" "),
        Math.round(median(results.map(({ rssMiB }) => rssMiB))),
        Math.round(median(results.map(({ heapMiB }) => heapMiB)) * 10) / 10,
        `${Math.round(Math.min(...loads))}–${Math.round(Math.max(...loads))}`,
      ]),
    },
  ],
};

async function callsOf(endpoint: string, channel: CriChannelKind): Promise<CallerResult> {
  const path = fileURLToPath(new URL("../lib/cri-caller.js", import.meta.url));
  const child = fork(path, [endpoint, channel], { execArgv: ["--expose-gc"] });
  const [result] = (await once(child, "message")) as [CallerResult];
  return result;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
