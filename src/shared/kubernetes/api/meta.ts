// Kubernetes API object metadata (meta/v1), as a node agent reads it. The types below gen/ are generated from
// upstream's definitions (tools/kubernetes); this file and its neighbours have the narrower types.

import type { ResourceRequirements } from "./gen/core.js";
import type * as meta from "./gen/meta.js";
import type { Quantity } from "./scalars.js";

export type { ResourceRequirements };
export type { OwnerReference } from "./gen/meta.js";
export type { IntOrString, Quantity, Time } from "./scalars.js";

/** Metadata of an object that has its name and UID. */
export interface ObjectMeta extends meta.ObjectMeta {
  name: string;
  namespace: string;
  uid: string;
}

/** Resource name ("cpu", "memory", "ephemeral-storage", "hugepages-2Mi", …) to quantity. */
export type ResourceList = Record<string, Quantity>;
