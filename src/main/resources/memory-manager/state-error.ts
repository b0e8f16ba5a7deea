// A state of the memory manager that this kubelet must not ignore: memory that pods hold would count as free.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { MemoryState } from "./checkpoint.js";

/** The kubelet does not start; the file stays. */
export function memoryStateError(path: string, problem: string): OperatorError {
  return new OperatorError(
    `could not restore state from checkpoint: [memorymanager] ${problem}, please drain this node and delete the memory ` +
      `manager checkpoint file ${quote(path)} before restarting Kubelet, or take back the change of its configuration`,
  );
}

/** A state in which no container holds memory may be of any policy. @throws OperatorError */
export function refuseOthers({ policyName, entries }: MemoryState, policy: "None" | "Static", path: string): void {
  if (policyName === policy || entries.size === 0) return;
  throw memoryStateError(
    path,
    `configured policy ${quote(policy)} differs from state checkpoint policy ${quote(policyName)}`,
  );
}
