// Marks for the memory use of a cgroup v1: the kernel tells when they are crossed. Needs root and such a hierarchy.

import { equal, rejects } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { access, mkdir, rmdir } from "node:fs/promises";
import { test } from "node:test";
import { watchMemcgUsage } from "../../../../src/shared/io/os/memcg-usage.js";
import { until } from "../../../support/sources-kit.js";

const MIB = 2 ** 20;
const HIERARCHY = "/sys/fs/cgroup/memory";
const usable = await access(`${HIERARCHY}/cgroup.event_control`, constants.W_OK).then(
  () => process.getuid?.() === 0,
  () => false,
);

test("a crossed threshold is reported, and none after the end", { skip: !usable }, async (t) => {
  const directory = `${HIERARCHY}/nodelet-mark-${process.pid}`;
  await mkdir(directory);
  t.after(() => rmdir(directory));
  const crossings: number[] = [];
  const mark = watchMemcgUsage(directory, 16 * MIB, () => crossings.push(1));
  const unreached = watchMemcgUsage(directory, 512 * MIB, () => {
    throw new Error("nobody uses that much");
  });
  const eat = async (mib: number): Promise<void> => {
    const bytes = mib * MIB;
    const script = `echo $$ > ${directory}/cgroup.procs && head -c ${bytes} /dev/zero | tail -c ${bytes} > /dev/null`;
    const [code] = (await once(spawn("sh", ["-c", script], { stdio: "inherit" }), "exit")) as [number];
    equal(code, 0);
  };
  await eat(2);
  equal(crossings.length, 0);
  await eat(48);
  await until("the mark is told", () => crossings.length > 0);
  mark[Symbol.dispose]();
  unreached[Symbol.dispose]();
  const before = crossings.length;
  await eat(48);
  equal(crossings.length, before);
});

test("a cgroup that is not there is an error", { skip: !usable }, async () => {
  await rejects(async () => Promise.resolve(watchMemcgUsage(`${HIERARCHY}/nodelet-none`, MIB, () => undefined)), {
    code: "ENOENT",
  });
});
