// From a probe in a pod's definition to an action with nothing left to resolve: address, port number, expanded command.
// Pure; an action that cannot be resolved becomes one that fails at each run, with an event for the pod's owner.

import { quote } from "../../../shared/base/text/quote.js";
import type { ProbeAction } from "../../../shared/contracts/prober.js";
import type { IntOrString } from "../../../shared/kubernetes/api/meta.js";
import type { Probe, Container } from "../../../shared/kubernetes/api/pod.js";
import { CreateContainerConfigError } from "../../model/container-config-error.js";
import { type ExpansionBudget, expand } from "../../model/expand.js";

/** undefined while the pod has no address and the probe needs one. */
export function resolveAction(
  probe: Probe,
  container: Container,
  podIP: string | undefined,
  budget?: ExpansionBudget,
): ProbeAction | undefined {
  const { exec, httpGet, tcpSocket, grpc } = probe;
  if (exec !== undefined) return execAction(exec.command ?? [], container, budget);
  if (grpc !== undefined) {
    return podIP === undefined
      ? undefined
      : { type: "grpc", host: podIP, port: grpc.port, service: grpc.service ?? "" };
  }
  const action = httpGet ?? tcpSocket;
  if (action === undefined) return { type: "impossible", reason: `missing probe handler for ${container.name}` };
  const host = given(action.host) ?? podIP;
  if (host === undefined) return undefined;
  const port = portNumber(action.port, container);
  if (typeof port === "string") return { type: "impossible", reason: port };
  if (httpGet === undefined) return { type: "tcp", host, port };
  const { scheme = "HTTP", path = "/", httpHeaders = [] } = httpGet;
  return { type: "http", scheme: scheme === "HTTPS" ? "https" : "http", host, port, path, headers: httpHeaders };
}

function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** The number, or why there is none. */
function portNumber(port: IntOrString, container: Container): number | string {
  if (typeof port === "number") return checkedPort(port);
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  // The last resort: a number written as text.
  const found = named ?? (/^[+-]?\d{1,18}$/.test(port) ? Number(port) : undefined);
  // Upstream's text for an unknown name: it has tried to read the name as a number.
  if (found === undefined) return `strconv.Atoi: parsing ${quote(port)}: invalid syntax`;
  return checkedPort(found);
}

function checkedPort(port: number): number | string {
  return port > 0 && port < 65536 ? port : `invalid port number: ${port}`;
}

/** Only variables with a plain value are known; one with a source counts as empty. */
function execAction(
  command: readonly string[],
  container: Container,
  budget: ExpansionBudget | undefined,
): ProbeAction {
  const env = new Map((container.env ?? []).map(({ name, value = "" }) => [name, value]));
  try {
    return { type: "exec", command: command.map((word) => expand(word, (name) => env.get(name), budget)) };
  } catch (error) {
    if (error instanceof CreateContainerConfigError) return { type: "impossible", reason: error.message };
    throw error;
  }
}
