// Creates the Node, or updates an existing one: repeated until it works, once per kubelet process.

import type { Clock } from "../../shared/base/clock/clock.js";
import { Backoff } from "../../shared/base/turns/backoff.js";
import type { NodeStatusInit } from "../../shared/contracts/node-status.js";
import { isAlreadyExists, isForbidden } from "../../shared/kubernetes/api/client/errors.js";
import { NODES } from "../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../shared/kubernetes/api/client/port.js";
import type { Node } from "../../shared/kubernetes/api/node.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import { LastingErrors } from "../../shared/telemetry/log/lasting-errors.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { Computed } from "./compute.js";
import { nodePatch } from "./patch.js";
import { newNode, reconciled } from "./registration.js";

export interface RegisterDeps {
  client: Pick<ApiClient, "get" | "create" | "patch">;
  clock: Clock;
  log: Logger;
  init: NodeStatusInit;
  /** The Node with its status. */
  compute: (node: Node) => Promise<Computed>;
  /** No device plugin has been here. */
  freshMachine: () => Promise<boolean>;
}

export interface Registered {
  node: Node;
  /** The status of a new Node, with its events. */
  computed: Computed;
  /** False: the Node existed before, and keeps its status until the first round. */
  created: boolean;
}

const RETRY = { initialMs: 100, maxMs: 7000 };

/** Rejects only with the signal's reason. */
export async function register(deps: RegisterDeps, signal: AbortSignal): Promise<Registered> {
  const { clock, log, init } = deps;
  const backoff = new Backoff(RETRY);
  const errors = new LastingErrors({ clock, log, level: "error" });
  for (;;) {
    try {
      return await attempt(deps, signal);
    } catch (error) {
      signal.throwIfAborted();
      const waitMs = backoff.next();
      errors.report("registration", `cannot register node ${init.nodeName}; trying again: ${errorText(error)}`);
      await clock.sleep(waitMs, signal);
    }
  }
}

async function attempt(
  { client, log, init, compute, freshMachine }: RegisterDeps,
  signal: AbortSignal,
): Promise<Registered> {
  const name = init.nodeName;
  const computed = await compute(newNode(init));
  let refusal: unknown;
  try {
    const node = await client.create(NODES, computed.node, { signal });
    log.info(`registered node ${name}`);
    return { node, computed, created: true };
  } catch (error) {
    // Without the permission to create Nodes, use one that was created for this node.
    if (!isAlreadyExists(error) && (init.getOnExistsOnly || !isForbidden(error))) throw error;
    refusal = error;
  }
  const existing = await client.get(NODES, { name }, { signal }).catch((error: unknown) => {
    throw isForbidden(refusal) ? refusal : error;
  });
  const patch = nodePatch(existing, reconciled(existing, init, await freshMachine()));
  const node =
    patch === undefined ? existing : await client.patch(NODES, { name }, patch, { subresource: "status", signal });
  log.info(`node ${name} was previously registered${patch === undefined ? "" : "; reconciled it"}`);
  return { node, computed, created: false };
}
