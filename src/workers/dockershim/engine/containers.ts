// Requests about docker's containers that several verbs send: those of Kubernetes only.

import type Docker from "dockerode";
import { engineMessage, engineStatus, Fault, isNotFound } from "../fault.js";
import { TYPE_LABEL, SANDBOX_ID_LABEL } from "../names.js";
import { answered } from "./answers.js";
import { request, type Engine } from "./engine.js";

export type KubernetesType = "podsandbox" | "container";

/** How long docker waits for SIGTERM to end a sandbox, seconds. */
export const SANDBOX_GRACE_S = 10;
/** docker itself needs time after the grace. */
const STOP_MARGIN_MS = 60_000;

export async function listed(
  engine: Engine,
  signal: AbortSignal,
  {
    type,
    labels = {},
    sandboxId,
  }: { type: KubernetesType; labels?: Readonly<Record<string, string>>; sandboxId?: string | undefined },
): Promise<Docker.ContainerInfo[]> {
  const wanted: [string, string][] = Object.entries({ ...labels, [TYPE_LABEL]: type });
  if (sandboxId !== undefined) wanted.push([SANDBOX_ID_LABEL, sandboxId]);
  const filters = { label: wanted.map(([key, value]) => `${key}=${value}`) };
  const found = await engine.call(signal, (docker, abort) =>
    docker.listContainers(request(abort, { all: true, filters })),
  );
  return answered("containers", found);
}

/** Rejects with NotFound for a container of another type. */
export async function inspected(
  engine: Engine,
  signal: AbortSignal,
  id: string,
  type: KubernetesType,
): Promise<Docker.ContainerInspectInfo> {
  if (!/^[0-9a-f]{1,64}$/.test(id)) throw new Fault("NOT_FOUND", `no ${type} ${JSON.stringify(id)}`);
  const found = answered(
    "container",
    await engine.call(signal, (docker, abort) => docker.getContainer(id).inspect(request(abort))),
  );
  if (found.Config.Labels[TYPE_LABEL] !== type)
    throw new Fault("NOT_FOUND", `docker's container ${id} is no ${type} of Kubernetes`);
  return found;
}

/**
 * Creates a container of this name. A leftover with the name that does not run is removed.
 * @throws Fault: one with the name runs
 */
export async function create(
  engine: Engine,
  signal: AbortSignal,
  name: string,
  options: Docker.ContainerCreateOptions,
): Promise<string> {
  const make = async (as: string): Promise<string> => {
    const made = await engine.call(signal, (docker, abort) =>
      docker.createContainer(request(abort, { name: as }, options)),
    );
    return answered("created", { Id: made.id }).Id;
  };
  try {
    return await make(name);
  } catch (error) {
    const holder =
      engineStatus(error) === 409 ? /by container "?([0-9a-f]{64})/.exec(engineMessage(error))?.[1] : undefined;
    if (holder === undefined) throw error;
    if (await removeIfDead(engine, signal, holder)) return await make(name);
    throw new Fault("ALREADY_EXISTS", `docker's container ${holder} has the name ${name} already, and runs`, {
      cause: error,
    });
  }
}

async function removeIfDead(engine: Engine, signal: AbortSignal, id: string): Promise<boolean> {
  try {
    const { State } = await engine.call(signal, (docker, abort) => docker.getContainer(id).inspect(request(abort)));
    if (State.Running) return false;
    await remove(engine, signal, id);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return true;
}

export async function start(engine: Engine, signal: AbortSignal, id: string): Promise<void> {
  try {
    await engine.call(signal, (docker, abort) => docker.getContainer(id).start(request(abort)));
  } catch (error) {
    // 304: it runs already.
    if (engineStatus(error) !== 304) throw error;
  }
}

/** Resolves when the container does not run, or is not there. */
export async function stop(engine: Engine, signal: AbortSignal, id: string, graceS: number): Promise<void> {
  const limit = graceS * 1000 + STOP_MARGIN_MS;
  try {
    await engine.call(
      signal,
      async (docker, abort) => {
        const container = docker.getContainer(id);
        if (graceS > 0) await container.stop(request(abort, { t: graceS }));
        else {
          // A stop without a grace sends SIGTERM first, which a container may answer with another exit code.
          await container.kill(request(abort, { signal: "SIGKILL" }));
          await container.wait(request(abort, { condition: "not-running" }));
        }
      },
      limit,
    );
  } catch (error) {
    // 304 of stop and 409 of kill: it does not run. 404: it was removed.
    const status = engineStatus(error);
    if (status !== 304 && status !== 404 && !(status === 409 && graceS <= 0)) throw error;
  }
}

/** With its anonymous volumes; nothing if there is no such container. */
export async function remove(engine: Engine, signal: AbortSignal, id: string): Promise<void> {
  try {
    await engine.call(signal, (docker, abort) =>
      docker.getContainer(id).remove(request(abort, { v: true, force: true })),
    );
  } catch (error) {
    if (isNotFound(error)) return;
    // 409: another request is removing it.
    if (engineStatus(error) !== 409 || !engineMessage(error).includes("already in progress")) throw error;
  }
}
