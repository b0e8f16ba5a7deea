// A state of the memory manager that this kubelet must not ignore: memory that pods hold would count as free.
import { quote } from "../../command/rules/check.js";
import type { MemoryState } from "./checkpoint.js";

/** The kubelet does not start; the file stays. */
export class MemoryStateError extends Error {
  override readonly name = "MemoryStateError";
  readonly code = "MEMORY_STATE";
  constructor(path: string, problem: string) {
    super(
      `could not restore state from checkpoint: [memorymanager] ${problem}, please drain this node and delete the memory ` +
        `manager checkpoint file ${quote(path)} before restarting Kubelet, or take back the change of its configuration`,
    );
  }
}

/** A state in which no container holds memory may be of any policy. @throws MemoryStateError */
export function refuseOthers({ policyName, entries }: MemoryState, policy: "None" | "Static", path: string): void {
  if (policyName === policy || entries.size === 0) return;
  throw new MemoryStateError(
    path,
    `configured policy ${quote(policy)} differs from state checkpoint policy ${quote(policyName)}`,
  );
}
