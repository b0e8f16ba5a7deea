// Where the kubelet serves the subresources of a pod: its own paths, with its own names of the client's options.

import { queryFlag } from "../../../shared/kubernetes/api/query-flag.js";
import { badRequest } from "../objects/errors.js";
import { listAt, type ApiObject } from "../objects/object.js";

/** Subresources that are streams in both directions. */
export const STREAMS: readonly string[] = ["exec", "attach", "portforward"];

const PATHS: Readonly<Record<string, string>> = {
  log: "containerLogs",
  exec: "exec",
  attach: "attach",
  portforward: "portForward",
};

/** With the query. @throws ApiError for a container that the pod does not have */
export function podPath(pod: ApiObject, subresource: string, query: URLSearchParams): string {
  const { namespace = "", name } = pod.metadata;
  const container = subresource === "portforward" ? [] : [containerOf(pod, query.get("container") ?? "")];
  const made = kubeletQuery(subresource, query).toString();
  const path = [PATHS[subresource] ?? "", namespace, name, ...container].map(encodeURIComponent).join("/");
  return `/${path}${made === "" ? "" : `?${made}`}`;
}

/** Without a name it is the only app container. Init and debug containers do not count, as in upstream's server. */
function containerOf(pod: ApiObject, wanted: string): string {
  const { name } = pod.metadata;
  const names = (list: string): string[] => listAt(pod.spec, list).map((one) => String(one["name"]));
  const [only = "", ...others] = names("containers");
  if (wanted === "" && others.length === 0) return only;
  const all = [...names("initContainers"), only, ...others, ...names("ephemeralContainers")];
  if (wanted === "") {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${all.join(" ")}]`);
  }
  if (!all.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${name}`);
  return wanted;
}

const LOG_OPTIONS = "follow previous sinceSeconds sinceTime timestamps tailLines limitBytes stream";
const LOG_FLAGS = new Set(["follow", "previous", "timestamps"]);
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
      if (value === null || value === "") continue;
      if (!LOG_FLAGS.has(option)) made.set(option, value);
      else if (queryFlag(query, option)) made.set(option, "true");
    }
    return made;
  }
  if (subresource === "portforward") {
    for (const port of query.getAll("ports")) made.append("port", port);
    return made;
  }
  for (const [option, name] of Object.entries(COMMAND_OPTIONS)) {
    if (queryFlag(query, option)) made.set(name, "1");
  }
  for (const word of query.getAll("command")) made.append("command", word);
  return made;
}
