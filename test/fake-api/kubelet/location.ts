// Subresources that the kubelet serves: where the API server asks for them. The query is the kubelet's own, made of the
// options of the client.

import { badRequest, notFound } from "../../../src/workers/apiserver/objects/errors.js";
import { fieldsAt, listAt, textAt, type ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { RequestInfo } from "../../../src/workers/apiserver/objects/request-info.js";
import { resourceNamed } from "../resources.js";
import { keyOf } from "../storage/store.js";
import type { World } from "../world.js";

/** Subresources that are streams in both directions. */
const STREAMS: readonly string[] = ["exec", "attach", "portforward"];

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
  const container = subresource === "portforward" ? "" : containerOf(pod, query.get("container") ?? "");
  const node = textAt(pod.spec, "nodeName");
  if (node === undefined) {
    if (subresource === "log") return undefined;
    throw badRequest(`pod ${name} does not have a host assigned`);
  }
  const { host, port } = addressOf(world, node);
  const made = kubeletQuery(subresource, query).toString();
  const where = { log: "containerLogs", exec: "exec", attach: "attach", portforward: "portForward" }[subresource] ?? "";
  const path = [where, namespace, name, ...(container === "" ? [] : [container])].join("/");
  return { host, port, path: `/${path}${made === "" ? "" : `?${made}`}` };
}

/** Without a name it is the only container, or the one that an annotation names. */
function containerOf(pod: ApiObject, wanted: string): string {
  const { name } = pod.metadata;
  const names = (list: string): string[] => listAt(pod.spec, list).map((one) => String(one["name"]));
  const [containers, inits, ephemeral] = [names("containers"), names("initContainers"), names("ephemeralContainers")];
  if (wanted !== "") {
    if ([...containers, ...inits, ...ephemeral].includes(wanted)) return wanted;
    throw badRequest(`container ${wanted} is not valid for pod ${name}`);
  }
  const [only, another] = containers;
  if (only !== undefined && another === undefined && inits.length === 0 && ephemeral.length === 0) return only;
  const choices = [
    `choose one of: [${containers.join(" ")}]`,
    ...(inits.length === 0 ? [] : [`or one of the init containers: [${inits.join(" ")}]`]),
    ...(ephemeral.length === 0 ? [] : [`or one of the ephemeral containers: [${ephemeral.join(" ")}]`]),
  ];
  throw badRequest(`a container name must be specified for pod ${name}, ${choices.join(" ")}`);
}

const LOG_OPTIONS =
  "follow previous sinceSeconds sinceTime timestamps tailLines limitBytes insecureSkipTLSVerifyBackend stream";
/** The kubelet's names of the client's options. */
const COMMAND_OPTIONS: Readonly<Record<string, string>> = {
  stdin: "input",
  stdout: "output",
  stderr: "error",
  tty: "tty",
};

function kubeletQuery(subresource: string, query: URLSearchParams): URLSearchParams {
  const made = new URLSearchParams();
  if (subresource === "log") {
    for (const option of LOG_OPTIONS.split(" ")) {
      const value = query.get(option);
      if (value !== null && value !== "" && value !== "false") made.set(option, value);
    }
    made.delete("insecureSkipTLSVerifyBackend");
    return made;
  }
  if (subresource === "portforward") {
    for (const port of query.getAll("ports")) made.append("port", port);
    return made;
  }
  for (const [option, name] of Object.entries(COMMAND_OPTIONS)) {
    if (["true", "1"].includes(query.get(option) ?? "")) made.set(name, "1");
  }
  for (const word of query.getAll("command")) made.append("command", word);
  return made;
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
