// metrics.k8s.io: usage of the node and its pods, from the kubelet's summary, for `kubectl top`.

import { notFound } from "../objects/errors.js";
import { fieldsAt, listAt, textAt, type Fields } from "../objects/object.js";
import type { RequestInfo } from "../objects/request-info.js";
import { apiVersionOf, type Resource } from "../objects/resource.js";
import { resourceNamed } from "../objects/resources.js";
import { selected } from "../verbs/list.js";
import type { World } from "../world.js";
import { askKubelet, textOf } from "./kubelet-socket.js";

const WINDOW = "10s";

export async function usage(
  { store, nodeName }: World,
  socketPath: string,
  { namespace, name }: RequestInfo,
  { resource, query, signal }: { resource: Resource; query: URLSearchParams; signal: AbortSignal },
): Promise<Fields> {
  const answer = await askKubelet(socketPath, { method: "GET", path: "/stats/summary", signal });
  const summary = JSON.parse(await textOf(answer)) as Fields;
  const isNode = resource.resource === "nodes";
  const kept = resourceNamed(isNode ? "nodes" : "pods");
  const wanted = new Map(selected(store.entries(kept), kept, namespace, query));
  const items = isNode
    ? wanted.has(nodeName)
      ? [entry(resource, { name: nodeName }, fieldsAt(summary, "node"), { usage: amounts(fieldsAt(summary, "node")) })]
      : []
    : listAt(summary, "pods").flatMap((pod) => {
        const { name: podName, namespace: podNamespace } = fieldsAt(pod, "podRef");
        const object = wanted.get(`${String(podNamespace)}/${String(podName)}`);
        if (object === undefined) return [];
        const containers = listAt(pod, "containers").map((one) => ({ name: one["name"], usage: amounts(one) }));
        const metadata = { name: podName, namespace: podNamespace, labels: object.metadata.labels };
        return [entry(resource, metadata, pod, { containers })];
      });
  const apiVersion = apiVersionOf(resource);
  if (name === "") return { kind: `${resource.kind}List`, apiVersion, metadata: {}, items };
  const found = items.find(({ metadata }) => metadata["name"] === name);
  if (found === undefined) throw notFound(resource, name);
  return found;
}

function entry(resource: Resource, metadata: Fields, of: Fields, more: Fields): Fields & { metadata: Fields } {
  const timestamp = textAt(fieldsAt(of, "cpu"), "time");
  return { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata, timestamp, window: WINDOW, ...more };
}

function amounts(of: Fields): Fields {
  const cpu = Number(fieldsAt(of, "cpu")["usageNanoCores"] ?? 0);
  const memory = Number(fieldsAt(of, "memory")["workingSetBytes"] ?? 0);
  return { cpu: `${cpu}n`, memory: `${Math.ceil(memory / 1024)}Ki` };
}
