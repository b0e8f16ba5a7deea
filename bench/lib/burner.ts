// A process that takes a processor for itself, until its parent ends it.

import { setPriority } from "node:os";

setPriority(0);
for (;;);
