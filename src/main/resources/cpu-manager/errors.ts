// Why the CPU manager can't start or can't serve a container, one class per cause.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { AllocationError } from "../assignment/resource-manager.js";

/**
 * The state file does not match the settings or the machine. Containers may run on CPUs that the kubelet would now
 * assign to others. Only an operator who has drained the node can know that the file may be deleted.
 */
export function cpuStateMismatchError(path: string, problem: string): OperatorError {
  return new OperatorError(
    `could not restore state from checkpoint: ${problem}, please drain this node and delete the CPU manager checkpoint ` +
      `file ${JSON.stringify(path)} before starting the kubelet again`,
  );
}

/** full-pcpus-only: the request is no whole number of cores. */
export function notWholeCores(requested: number, perCore: number): AllocationError {
  return new AllocationError(
    "SMTAlignmentError",
    `SMT Alignment Error: requested ${requested} cpus not multiple cpus per core = ${perCore}`,
  );
}

/** full-pcpus-only: too few cores of which nothing is reserved or taken. */
export function tooFewCores(available: number, requested: number, perCore: number): AllocationError {
  return new AllocationError(
    "SMTAlignmentError",
    `SMT Alignment Error: not enough free physical CPUs: available physical CPUs = ${available}, ` +
      `requested CPUs = ${requested}, CPUs per core = ${perCore}`,
  );
}

/** More CPUs than are free, which the accounting should have detected before. */
export function tooFewCpus(available: number, requested: number): AllocationError {
  return new AllocationError(
    "UnexpectedAdmissionError",
    `not enough cpus available to satisfy request: requested=${requested}, available=${available}`,
  );
}

/** A pod's own CPUs all go to containers that have some for themselves, and others have none to run on. */
export function emptyPodPool(problem: string): AllocationError {
  return new AllocationError("EmptyPodSharedPoolError", problem);
}
