// The checks that need more than a look at the machine: manifests, the sandbox image, free pod addresses. One that cannot be made is a
// warning, and the others go on.
import { messageOf } from "../../shared/errors/thrown.js";
import type { NodeletImages, NodeletStatus } from "../../shared/contracts/nodelet.js";
import type { Client } from "../client.js";
import { readPodNetwork } from "../machine/address-ranges.js";
import { readKubeletConfig, type KubeletConfig } from "../machine/kubelet-config.js";
import { readManifests } from "../machine/manifests.js";
import { nodeRuntime, runtimeFacts, type RuntimeFacts } from "../machine/runtime-config.js";
import { toolOrNothing, type ToolOptions } from "../machine/tool.js";
import { bad, type Result } from "./check.js";
import { podAddresses } from "./pod-addresses.js";
import { sandboxImage } from "./sandbox-image.js";
import { staticPods } from "./static-pods.js";

/** @param status absent when no kubelet answers */
export async function podChecks(
  client: Client,
  status: NodeletStatus | undefined,
  options: ToolOptions,
): Promise<Result[]> {
  const config = await readKubeletConfig(client, status, options).catch(() => undefined);
  let facts: Promise<RuntimeFacts> | undefined;
  const runtime = (): Promise<RuntimeFacts> =>
    (facts ??= nodeRuntime(status, config?.runtimeEndpoint, options).then((place) =>
      runtimeFacts(place, status, options),
    ));
  const results = await Promise.all([
    made("manifests", () => manifestChecks(config, options)),
    made("sandbox image", () => imageChecks(client, status, runtime, options)),
    made("pod addresses", () => addressChecks(runtime, options)),
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

async function manifestChecks(config: KubeletConfig | undefined, options: ToolOptions): Promise<Result[]> {
  if (config === undefined) return [];
  const { staticPodPath } = config;
  return staticPods(
    staticPodPath,
    staticPodPath === "" ? { files: [], left: 0 } : await readManifests(config, options),
  );
}

async function imageChecks(
  client: Client,
  status: NodeletStatus | undefined,
  runtime: () => Promise<RuntimeFacts>,
  options: ToolOptions,
): Promise<Result[]> {
  const image = await runtime().then((facts) => facts.sandboxImage);
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

async function addressChecks(runtime: () => Promise<RuntimeFacts>, options: ToolOptions): Promise<Result[]> {
  const { cniFolder } = await runtime();
  const network = cniFolder === undefined ? undefined : await readPodNetwork(cniFolder, options);
  if (network === undefined) return [];
  const { ranges, leases, file } = network;
  return ranges.map((range) => podAddresses(range, leases, file));
}
