// A root directory of the test's own, and pods with volumes; what a test leaves mounted is unmounted.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { TestContext } from "node:test";
import { createVolumeManager, type VolumeManager } from "../../../src/main/volumes/volume-manager.js";
import type { Pod, PodSpec, VolumeMount } from "../../../src/shared/api/pod.js";
import type { Volume } from "../../../src/shared/api/volume.js";
import { mountsWithin, parseMountinfo } from "../../../src/shared/fs/mountinfo.js";
import { createLogger } from "../../../src/shared/log/logger.js";

export const isRoot = process.getuid?.() === 0;
export const NODE_MEMORY = 64n * 1024n ** 2n;

export function mountsBelow(directory: string): string[] {
  return mountsWithin(parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")), directory).map(
    ({ mountPoint }) => mountPoint,
  );
}

export async function temporaryRoot(t: TestContext): Promise<string> {
  const root = await mkdtemp(`${tmpdir()}/nodelet-volumes-`);
  t.after(async () => {
    for (const mountPoint of mountsBelow(root)) execFileSync("umount", [mountPoint]);
    await rm(root, { recursive: true, force: true });
  });
  return root;
}

export function manager(rootDir: string): VolumeManager {
  const log = createLogger({ thread: "test", level: "silent" });
  return createVolumeManager({ rootDir, nodeMemoryBytes: NODE_MEMORY, log });
}

/** A pod whose one container mounts all the volumes. */
export function podWith(volumes: Volume[], spec: Partial<PodSpec> = {}, uid = "uid-1"): Pod {
  const volumeMounts: VolumeMount[] = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", uid },
    spec: { containers: [{ name: "main", volumeMounts }], volumes, ...spec },
  };
}

export const never = new AbortController().signal;
