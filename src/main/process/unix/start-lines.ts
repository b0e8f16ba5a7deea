// The log lines of each start: the version, the Node.js version, and each flag with its value.

import { release } from "os";
import { nodeVersionProblem, FIT_NODE } from "../../../shared/base/text/node-version.js";
import { describeVersion, productVersion } from "../../../shared/base/version/product-version.js";
import type { Logger } from "../../../shared/telemetry/log/thread-log.js";

interface StartFacts {
  kubernetesVersion: string;
  /** Every flag, defaults included. Secrets are masked here. */
  flags: readonly { name: string; value: string; secret?: true | undefined }[];
}

/** The flags come at V(1), as upstream has it. */
export function logStart(log: Logger, logFlag: (line: string) => void, facts: StartFacts): void {
  const nodelet = describeVersion(productVersion());
  log.info({ kubeletVersion: facts.kubernetesVersion, nodelet }, "Kubelet version");
  const problem = nodeVersionProblem(process.version);
  if (problem !== undefined) log.warn({ node: process.version }, `${problem}: install ${FIT_NODE}`);
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
  for (const { name, value, secret } of facts.flags) {
    logFlag(`FLAG: --${name}=${JSON.stringify(secret === true ? "<masked>" : value)}`);
  }
}
