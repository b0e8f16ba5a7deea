// Admission in the server's order. A plug-in may change a new object; any may refuse.

import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { Target, WriteContext } from "../registry/request.js";
import { defaultTolerations } from "./default-tolerations.js";
import { admitNamespace } from "./namespace-lifecycle.js";
import { restrictNodeCreate, restrictNodeDelete, restrictNodeUpdate } from "./node-restriction.js";
import { admitPriority } from "./priority.js";
import { admitResize } from "./resize.js";
import { admitRuntimeClass } from "./runtime-class.js";
import { admitServiceAccount } from "./service-account.js";
import { taintNotReady } from "./taint-nodes.js";

export function admitCreate(target: Target, object: ApiObject, context: WriteContext): void {
  admitNamespace(target, context);
  if (target.resource.key === "pods") {
    admitServiceAccount(target, object, context);
    admitRuntimeClass(object, context);
    admitPriority(object, context);
    defaultTolerations(object);
  }
  if (target.resource.key === "nodes") taintNotReady(object);
  if (context.world.settings.nodeRestriction) restrictNodeCreate(target, object, context);
}

export function admitUpdate(
  target: Target,
  subresource: string,
  next: ApiObject,
  old: ApiObject,
  context: WriteContext,
): void {
  if (target.resource.key === "pods" && subresource === "") defaultTolerations(next);
  if (subresource === "resize") admitResize(target, next, old, context);
  if (context.world.settings.nodeRestriction) restrictNodeUpdate(target, subresource, next, old, context);
}

export function admitDelete(target: Target, old: ApiObject, context: WriteContext): void {
  if (context.world.settings.nodeRestriction) restrictNodeDelete(target, old, context);
}
