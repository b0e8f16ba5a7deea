// The runtime's handlers (CRI Status) and their features. The kubelet asks only for pods with a runtime class, a user
// namespace or a recursive read-only mount.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { quote } from "../../../shared/base/text/quote.js";
import { shortened } from "../../../shared/base/text/shortened.js";
import { isStaticPod, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { StatusResponse } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { type ClusterObjects } from "../../model/cluster-access.js";
import { joined } from "../../model/joined-cluster.js";
import type { NodeRuntime } from "./node-runtime.js";

/**
 * The handler of the pod's RuntimeClass. Where there are no RuntimeClass objects, the class's name is the handler's
 * name. This holds on a node without an API server, and for static pods before the kubelet has joined. Rejects with
 * OperatorError, or the API server's error.
 */
export async function runtimeHandler(
  { cluster }: Pick<NodeRuntime, "cluster">,
  pod: Pod,
  signal: AbortSignal,
): Promise<string> {
  const { runtimeClassName = "" } = pod.spec;
  if (runtimeClassName === "" || cluster === undefined) return runtimeClassName;
  if (isStaticPod(pod) && cluster() === undefined) return runtimeClassName;
  const found = await joined(cluster).runtimeClass(runtimeClassName, signal);
  if (found === undefined) throw new OperatorError(`runtimeclass.node.k8s.io ${quote(runtimeClassName)} not found`);
  return found.handler;
}

/** Returns the handler without waiting; undefined: the pod's RuntimeClass is not read yet. */
export function knownRuntimeHandler(
  { cluster }: { cluster?: (() => Pick<ClusterObjects, "knownRuntimeClass"> | undefined) | undefined },
  { spec }: Pod,
): string | undefined {
  const { runtimeClassName = "" } = spec;
  if (runtimeClassName === "" || cluster === undefined) return runtimeClassName;
  return cluster()?.knownRuntimeClass(runtimeClassName)?.handler;
}

/** The pod's handler in the runtime. Rejects with OperatorError if it lacks a feature that the pod requires. */
export async function checkedRuntimeHandler(runtime: NodeRuntime, pod: Pod, signal: AbortSignal): Promise<string> {
  const handler = await runtimeHandler(runtime, pod, signal);
  if (handler === "" && pod.spec.hostUsers !== false) return handler;
  const status = await runtime.cri.status({ verbose: false }, { signal });
  checkKnown(handler, pod, status);
  if (pod.spec.hostUsers === false) checkUsers(handler, status);
  return handler;
}

/** Handlers, and characters of their names, in the message of a pod. */
const SHOWN = 32;
const SHOWN_CHARACTERS = 1024;

/** A runtime that lists no handlers may have any. */
function checkKnown(handler: string, { spec }: Pod, { runtimeHandlers }: StatusResponse): void {
  if (handler === "" || runtimeHandlers.length === 0 || runtimeHandlers.some(({ name }) => name === handler)) return;
  const names = runtimeHandlers.map(({ name }) => (name === "" ? `"" (the default)` : quote(name)));
  const known = shortened(names.slice(0, SHOWN).join(", "), SHOWN_CHARACTERS);
  const { runtimeClassName = "" } = spec;
  const asked = handler === runtimeClassName ? "" : ` ${quote(handler)}, its handler,`;
  throw new OperatorError(
    `runtimeClassName ${quote(runtimeClassName)}${asked} names no handler of the container runtime, which has ${known}; ` +
      `add the handler to the runtime's configuration or change the name`,
  );
}

function checkUsers(handler: string, { runtimeHandlers }: StatusResponse): void {
  const { features } = runtimeHandlers.find(({ name }) => name === handler) ?? {};
  if (features?.userNamespaces === true) return;
  const whose = handler === "" ? "runtime" : `RuntimeClass handler ${quote(handler)}`;
  throw new OperatorError(`can't set \`spec.hostUsers: false\`, ${whose} does not support user namespaces`);
}
