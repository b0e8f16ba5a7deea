// An object with the metadata that a new one gets.
import { randomUUID } from "node:crypto";
import type { Clock } from "../../../src/shared/clock/clock.js";
import { nowText, type ApiObject, type Fields, type ObjectMeta } from "../object.js";
import { apiVersionOf, type Resource } from "../resources.js";

export function newObject(
  resource: Resource,
  clock: Clock,
  fields: Fields & { metadata: Partial<ObjectMeta> & { name: string } },
): ApiObject {
  const { metadata, ...rest } = fields;
  return {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: { ...metadata, uid: randomUUID(), creationTimestamp: nowText(clock) },
    ...rest,
  };
}
