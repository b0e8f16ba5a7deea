// Parts of a support bundle about the container runtime: its configuration, its log, and the configuration of the pod
// network.

import type { NodeletStatus } from "../../../shared/contracts/nodelet.js";
import { filesOf } from "../../machine/files.js";
import { readKubeletConfig } from "../../machine/kubelet-config.js";
import { runTool, type ToolOptions } from "../../machine/tool.js";
import { effectiveConfig, nodeRuntime, runtimeConfigFiles, type RuntimePlace } from "../../runtime/effective-config.js";
import { readNode } from "../../runtime/read-node.js";
import { maskConfig } from "../mask-config.js";
import { maskUnit } from "../mask-unit.js";
import { maskLog } from "../mask.js";
import type { Part, Sources } from "../part.js";
import { journal } from "./journal.js";
import { fileSection, section } from "./machine.js";

const CNI_FILES = 32;
const LOG_LINES = 1000;

export function runtimeParts(sources: Sources): Part[] {
  const { clock, secrets } = sources;
  return [
    {
      name: "runtime-config.txt",
      read: async (signal) => {
        const options = { clock, signal };
        const found = await placeOf(sources, options);
        const unit = section(
          `systemctl cat ${found.kind}`,
          () => runTool("systemctl", ["cat", "--no-pager", found.kind], options),
          maskUnit,
        );
        const form = found.kind === "docker" ? "json" : "toml";
        const mask = (text: string): string => maskConfig(text, form, secrets);
        const files = (await runtimeConfigFiles(found, options)).map((path) => fileSection(path, options, mask));
        const effective = section("in effect", async () => (await effectiveConfig(found, options)) ?? "", mask);
        return (await Promise.all([...files, effective, unit])).join("\n");
      },
    },
    {
      name: "runtime.log",
      keep: "end",
      read: async (signal) => {
        const options = { clock, signal };
        return maskLog(await journal((await placeOf(sources, options)).kind, LOG_LINES, options));
      },
    },
    {
      name: "cni.txt",
      read: async (signal) => {
        const options = { clock, signal };
        const status = await statusOf(sources);
        const { settings } = await readNode(await readKubeletConfig(sources.client, status, options), status);
        const folder = settings?.confDir;
        if (folder === undefined) return "the runtime uses no CNI configuration, or does not say which\n";
        const paths = (await filesOf(folder, { ...options, limit: CNI_FILES })).filter((path) =>
          /\.(conf|conflist|json)$/.test(path),
        );
        if (paths.length === 0) return `${folder} has no configuration\n`;
        const mask = (text: string): string => maskConfig(text, "json", secrets);
        return (await Promise.all(paths.map((path) => fileSection(path, options, mask)))).join("\n");
      },
    },
  ];
}

async function placeOf(sources: Sources, options: ToolOptions): Promise<RuntimePlace> {
  const status = await statusOf(sources);
  const { runtimeEndpoint } = await readKubeletConfig(sources.client, status, options);
  return nodeRuntime(status, runtimeEndpoint, options);
}

/** undefined: no kubelet answers. */
function statusOf({ client }: Sources): Promise<NodeletStatus | undefined> {
  return client.json<NodeletStatus>("/nodelet/status").catch(() => undefined);
}
