// Faults that are put into the agent on purpose. Each must be found within the seeds of `npm run simulate -- --mutants`.

import type { Mutant } from "./driver/mutant.js";

export const MUTANTS: readonly Mutant[] = [];
