// The container runtime and the user ids of pods.

import { parseEndpoint, InvalidEndpointError } from "../../../shared/kubernetes/cri/endpoint.js";
import type { Violation } from "../violation.js";
import type { ConfigView } from "./rule.js";

const IDS = 65536;
const MAX_IDS = 4294967295;

export function* runtime(config: ConfigView): Iterable<Violation> {
  yield* endpoint("containerRuntimeEndpoint", config.get("containerRuntimeEndpoint") ?? "");
  const images = config.get("imageServiceEndpoint") ?? "";
  if (images !== "") yield* endpoint("imageServiceEndpoint", images);
  if (config.get("runOnce") === true) {
    yield { path: "runOnce", message: "true is not allowed in a file; use the flag --runonce" };
  }
  yield* userNamespaces(config);
}

function* endpoint(path: string, text: string): Iterable<Violation> {
  try {
    parseEndpoint(text);
  } catch (error) {
    if (!(error instanceof InvalidEndpointError)) throw error;
    yield { path, message: error.message };
  }
}

function* userNamespaces(config: ConfigView): Iterable<Violation> {
  const path = "userNamespaces.idsPerPod";
  const ids = config.get(path);
  if (ids === undefined) return;
  if (ids < IDS || ids > MAX_IDS) yield { path, message: `${ids} is not a number from ${IDS} to ${MAX_IDS}` };
  if (ids % IDS !== 0) yield { path, message: `${ids} is not a multiple of ${IDS}` };
}
