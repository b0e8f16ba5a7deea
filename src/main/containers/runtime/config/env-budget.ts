// Bounds the environment of one container. A pod may name one ConfigMap of a megabyte thousands of times, each time
// under another prefix or name: gigabytes of variables, which no kernel takes and the kubelet would have to hold.

import { CreateContainerConfigError } from "../../../model/container-config-error.js";
import { MAX_SUBSTITUTED } from "../../../model/expand.js";

/** Each variable costs this much beside its text: main's time is bounded too. */
const CHARACTERS_OF_VARIABLE = 32;

export class EnvBudget {
  private left = MAX_SUBSTITUTED;

  /** @throws CreateContainerConfigError beyond what a process can be started with */
  spend(name: string, value: string): void {
    this.left -= name.length + value.length + CHARACTERS_OF_VARIABLE;
    if (this.left >= 0) return;
    throw new CreateContainerConfigError(
      `its environment has more than ${MAX_SUBSTITUTED} characters: no process can be started with that`,
    );
  }
}
