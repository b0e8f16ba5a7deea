// Subresources that the kubelet serves: where the API server asks for them. The query is the kubelet's own, made of the
// options of the client.

import { podPath, STREAMS } from "../../../src/workers/apiserver/kubelet/pod-path.js";
import { badRequest, notFound } from "../../../src/workers/apiserver/objects/errors.js";
import { fieldsAt, listAt, textAt } from "../../../src/workers/apiserver/objects/object.js";
import type { RequestInfo } from "../../../src/workers/apiserver/objects/request-info.js";
import { resourceNamed } from "../resources.js";
import { keyOf } from "../storage/store.js";
import type { World } from "../world.js";

export interface Location {
  host: string;
  port: number;
  /** With the query. */
  path: string;
}

export function isServedByKubelet({ served, subresource }: RequestInfo): boolean {
  if (served?.key === "pods") return subresource === "log" || STREAMS.includes(subresource);
  return served?.key === "nodes" && subresource === "proxy";
}

/**
 * undefined: the pod has no node yet, and the answer is empty.
 * @throws ApiError for a pod, container or node that does not exist
 */
export function locationOf(world: World, info: RequestInfo, query: URLSearchParams): Location | undefined {
  return info.served?.key === "nodes" ? nodeLocation(world, info, query) : podLocation(world, info, query);
}

/** `<name>`, `<name>:<port>` or `https:<name>:<port>`. */
function nodeLocation(world: World, { name, proxied }: RequestInfo, query: URLSearchParams): Location {
  const [, node = "", port] = /^(?:https?:)?([^:]+)(?::(\d*))?$/.exec(name) ?? [];
  const { host, port: own } = addressOf(world, node);
  const search = query.toString();
  const path = `${proxied === "" ? "/" : proxied}${search === "" ? "" : `?${search}`}`;
  return { host, port: port === undefined || port === "" ? own : Number(port), path };
}

function podLocation(world: World, info: RequestInfo, query: URLSearchParams): Location | undefined {
  const { namespace, name, subresource } = info;
  const resource = resourceNamed("pods");
  const pod = world.store.get(resource, keyOf(namespace, name));
  if (pod === undefined) throw notFound(resource, name);
  const node = textAt(pod.spec, "nodeName");
  if (node === undefined) {
    if (subresource === "log") return undefined;
    throw badRequest(`pod ${name} does not have a host assigned`);
  }
  const { host, port } = addressOf(world, node);
  return { host, port, path: podPath(pod, subresource, query) };
}

/** The node's first address of the types that an API server prefers, and the port that its kubelet reported. */
function addressOf(world: World, node: string): Pick<Location, "host" | "port"> {
  const resource = resourceNamed("nodes");
  const found = world.store.get(resource, node);
  if (found === undefined) throw notFound(resource, node);
  const addresses = listAt(found.status, "addresses");
  const host = ["InternalIP", "ExternalIP", "Hostname"]
    .map((wanted) =>
      textAt(
        addresses.find(({ type }) => type === wanted),
        "address",
      ),
    )
    .find((address) => address !== undefined);
  if (host === undefined) throw badRequest(`no preferred addresses found; known addresses: []`);
  const port = fieldsAt(fieldsAt(found.status, "daemonEndpoints"), "kubeletEndpoint")["Port"];
  return { host, port: typeof port === "number" && port > 0 ? port : 10_250 };
}
