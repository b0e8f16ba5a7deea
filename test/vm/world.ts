// One machine for the whole suite: made, booted, given the second disk and the container images; and taken down again.

import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run, widenPath } from "../../tools/standalone/exec.js";
import { step } from "../../tools/standalone/progress.js";
import { makeFileSystem, vmImage } from "./image.js";
import { Machine } from "./machine.js";
import { ensureVmPackages } from "./packages.js";
import { makePayload } from "./payload.js";
import type { Kind, Suite } from "./recipe.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");

export interface World {
  vm: Machine;
  /** Content of the machine's third disk, as a folder. Only when it is down. */
  keptFiles(): Promise<string>;
  close(): Promise<void>;
}

export interface WorldOptions {
  suite?: Suite;
  kind?: Kind;
  /** Makes the second disk in a folder; default: the project as `make install` needs it. */
  payload?: (root: string, dir: string) => Promise<string>;
}

export async function openWorld({ suite, kind, payload: make = makePayload }: WorldOptions = {}): Promise<World> {
  widenPath();
  await ensureVmPackages();
  const image = await vmImage(ROOT, suite, kind);
  const dir = await mkdtemp(join(tmpdir(), "nodelet-vm-"));
  let vm: Machine | undefined;
  const close = async (): Promise<void> => {
    await vm?.stop();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const payload = await step("making the package's disk", () => make(ROOT, dir));
    const kept = join(dir, "kept.img");
    await mkdir(join(dir, "empty"));
    await makeFileSystem(join(dir, "empty"), kept, "64M");
    vm = await step("booting the test machine", () => Machine.boot({ image, payload, kept, dir }));
    await step("importing the container images", () => prepare(vm!));
    const keptFiles = async (): Promise<string> => {
      const folder = join(dir, "kept");
      await mkdir(folder);
      await run("debugfs", ["-R", `rdump / ${folder}`, kept]);
      return folder;
    };
    return { vm, keptFiles, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function prepare(vm: Machine): Promise<void> {
  await vm.ok("mount -o ro /dev/vdb /mnt");
  await vm.until("test -S /run/containerd/containerd.sock && ctr version", {
    what: "containerd to respond",
    timeoutMs: 90_000,
  });
  await vm.ok("ctr --namespace k8s.io images import /mnt/images.tar", 90_000);
}
