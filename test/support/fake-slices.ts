// A cgroup v2 tree of plain files in a folder, maintained by the fake systemd. A started slice is a directory whose
// files show the unit's properties, rounded as by systemd; a stopped one is removed. A write to a plain file does not
// replace a longer text, unlike a write to the kernel. So tests use values of one length.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fromSystemdSlice, toSystemdPath } from "../../src/shared/node/cgroup/name.js";
import { FakeSystemd } from "./fake-systemd.js";

const INFINITY = ((1n << 64n) - 1n).toString();
const PERIOD_US = 100_000;

export class FakeSlices {
  readonly systemd: FakeSystemd;
  /** To be mounted as cgroup v2. */
  readonly root: string;

  constructor(folder: string) {
    this.systemd = new FakeSystemd(join(folder, "private"));
    this.root = join(folder, "cgroup");
    this.systemd.onApplied = (unit, properties) => this.show(unit, properties);
    this.systemd.onStopped = (unit) => rm(this.directory(unit), { recursive: true, force: true });
  }

  async open(): Promise<void> {
    await mkdir(this.root, { recursive: true });
    await this.systemd.listen();
  }

  directory(unit: string): string {
    return this.root + toSystemdPath(fromSystemdSlice(unit));
  }

  async read(unit: string, file: string): Promise<string> {
    return (await readFile(join(this.directory(unit), file), "utf8")).trim();
  }

  private async show(unit: string, properties: ReadonlyMap<string, string | boolean>): Promise<void> {
    const directory = this.directory(unit);
    await mkdir(directory, { recursive: true });
    const value = (name: string, otherwise: string): string => {
      const set = properties.get(name);
      return typeof set !== "string" ? otherwise : set === INFINITY ? "max" : set;
    };
    const perSecond = value("CPUQuotaPerSecUSec", "max");
    const quota = perSecond === "max" ? "max" : String((Number(perSecond) * PERIOD_US) / 1_000_000);
    const files = {
      "cpu.weight": value("CPUWeight", "100"),
      "cpu.max": `${quota} ${PERIOD_US}`,
      "memory.max": value("MemoryMax", "max"),
      "pids.max": value("TasksMax", "max"),
    };
    for (const [file, text] of Object.entries(files)) await writeFile(join(directory, file), `${text}\n`);
    // Not systemd's: they stay as they are.
    for (const [file, text] of [
      ["hugetlb.2MB.max", ""],
      ["cgroup.procs", ""],
    ] as const) {
      await writeFile(join(directory, file), text, { flag: "wx" }).catch(() => undefined);
    }
  }
}
