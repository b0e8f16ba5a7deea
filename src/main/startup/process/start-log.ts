// What every start says once about itself: version, the runtime it runs on, and every flag with its value.
import { release } from "node:os";
import type { Logger } from "../../../shared/log/logger.js";

export interface StartFacts {
  kubernetesVersion: string;
  /** Every flag, defaults included; secrets are masked already. */
  flags: readonly { name: string; value: string }[];
}

/** The flags come at V(1), as upstream has it. */
export function logStart(log: Logger, logFlag: (line: string) => void, facts: StartFacts): void {
  log.info({ kubeletVersion: facts.kubernetesVersion }, "Kubelet version");
  log.info(
    {
      node: process.version,
      v8: process.versions.v8,
      execArgv: process.execArgv.join(" "),
      nodeOptions: process.env["NODE_OPTIONS"] ?? "",
      threadpool: process.env["UV_THREADPOOL_SIZE"] ?? "",
      kernel: release(),
      pid: process.pid,
    },
    "Node.js settings",
  );
  for (const { name, value } of facts.flags) logFlag(`FLAG: --${name}=${JSON.stringify(value)}`);
}
