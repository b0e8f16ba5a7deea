// The checks that need more than a look at the machine: manifests, the sandbox image, free pod addresses. One that
// cannot be made is a warning, and the others go on.

import { messageOf } from "../../shared/base/errors/thrown.js";
import type { NodeletImages, NodeletStatus } from "../../shared/contracts/nodelet.js";
import type { Client } from "../client.js";
import { readPodNetwork } from "../machine/address-ranges.js";
import type { KubeletConfig } from "../machine/kubelet-config.js";
import { readManifests } from "../machine/manifests.js";
import { toolOrNothing, type ToolOptions } from "../machine/tool.js";
import type { RuntimeSettings } from "../runtime/runtime-settings.js";
import { bad, type Result } from "./check.js";
import { podAddresses } from "./pod-addresses.js";
import { sandboxImage } from "./sandbox-image.js";
import { staticPods } from "./static-pods.js";

export interface PodCheckInput {
  client: Client;
  /** undefined: no kubelet answers. */
  status: NodeletStatus | undefined;
  config: KubeletConfig;
  settings: RuntimeSettings | undefined;
}

export async function podChecks(input: PodCheckInput, options: ToolOptions): Promise<Result[]> {
  const results = await Promise.all([
    made("manifests", () => manifestChecks(input.config, options)),
    made("sandbox image", () => imageChecks(input, options)),
    made("pod addresses", () => addressChecks(input, options)),
  ]);
  return results.flat();
}

async function made(check: string, run: () => Promise<Result[]>): Promise<Result[]> {
  try {
    return await run();
  } catch (error) {
    const found = `not checked: ${messageOf(error)}`;
    return [
      bad(
        "warning",
        check,
        found,
        "a fault would stay unseen",
        "correct what the message names, then run doctor again",
      ),
    ];
  }
}

async function manifestChecks(config: KubeletConfig, options: ToolOptions): Promise<Result[]> {
  const { staticPodPath } = config;
  return staticPods(
    staticPodPath,
    staticPodPath === "" ? { files: [], left: 0 } : await readManifests(config, options),
  );
}

async function imageChecks({ client, status, settings }: PodCheckInput, options: ToolOptions): Promise<Result[]> {
  const image = settings?.sandboxImage;
  if (image === undefined) return [];
  return [sandboxImage(image, status === undefined ? await ctrImages(options) : await kubeletImages(client))];
}

async function kubeletImages(client: Client): Promise<string[] | undefined> {
  const known = await client.json<NodeletImages>("/nodelet/images").catch(() => undefined);
  return known?.images.flatMap(({ names }) => names);
}

/** Images that the system's own containerd has. */
async function ctrImages(options: ToolOptions): Promise<string[] | undefined> {
  const args = ["--connect-timeout", "1s", "--namespace", "k8s.io", "images", "ls", "-q"];
  const printed = await toolOrNothing("ctr", args, options);
  return printed?.split("\n").filter((name) => name !== "");
}

async function addressChecks({ settings }: PodCheckInput, options: ToolOptions): Promise<Result[]> {
  const network = settings === undefined ? undefined : await readPodNetwork(settings.confDir, options);
  if (network === undefined) return [];
  const { ranges, leases, file } = network;
  return ranges.map((range) => podAddresses(range, leases, file));
}
