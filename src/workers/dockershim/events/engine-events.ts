// The Engine's stream of events about containers of Kubernetes: one JSON object per line.
// Invariant: at most one line is kept; a line that is no event of a container ends the stream with an error.

import { ContainerEventType } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { Engine } from "../engine/engine.js";
import { request } from "../engine/engine.js";
import { Fault } from "../fault.js";
import { TYPE_LABEL } from "../names.js";

export interface EngineEvent {
  id: string;
  type: ContainerEventType;
  /** Nanoseconds since the epoch. */
  at: bigint;
  name: string;
  labels: Readonly<Record<string, string>>;
}

const ACTIONS: Readonly<Record<string, ContainerEventType>> = {
  create: ContainerEventType.CONTAINER_CREATED_EVENT,
  start: ContainerEventType.CONTAINER_STARTED_EVENT,
  die: ContainerEventType.CONTAINER_STOPPED_EVENT,
  destroy: ContainerEventType.CONTAINER_DELETED_EVENT,
};
/** What the Engine puts among the labels. */
const OWN_WORDS = new Set(["image", "exitCode", "execDuration"]);
/** An event has all labels of its container, annotations among them: at most 256 KiB by Kubernetes' rules. */
const MAX_LINE = 4 * 1024 * 1024;

/** Resolves when the Engine has begun the stream: events after that are in it. The stream ends with the signal. */
export async function openEvents(engine: Engine, signal: AbortSignal): Promise<AsyncIterable<EngineEvent>> {
  const filters = { type: ["container"], event: Object.keys(ACTIONS), label: [TYPE_LABEL] };
  const stream = await engine.call(
    signal,
    (docker, abort) => docker.getEvents({ ...request(abort, { filters }) } as object),
    Infinity,
  );
  const destroy = (): void => {
    (stream as NodeJS.ReadableStream & { destroy(): void }).destroy();
  };
  if (signal.aborted) destroy();
  else signal.addEventListener("abort", destroy, { once: true });
  return read(stream as AsyncIterable<Buffer>, () => signal.removeEventListener("abort", destroy));
}

async function* read(stream: AsyncIterable<Buffer>, done: () => void): AsyncGenerator<EngineEvent> {
  const text = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of stream) {
      const lines = (rest + text.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > MAX_LINE) throw new Fault("UNKNOWN", "the Docker Engine sent an event of more than 4 MiB");
      for (const line of lines) if (line.trim() !== "") yield* eventIn(line);
    }
  } finally {
    done();
  }
}

/** None for an action that does not count. @throws Fault @internal */
export function eventIn(line: string): EngineEvent[] {
  const { Action, Actor, timeNano } = parsed(line);
  const type = typeof Action === "string" ? ACTIONS[Action] : undefined;
  if (type === undefined) return [];
  const { ID, Attributes } = { ...(Actor as { ID?: unknown; Attributes?: unknown } | undefined) };
  const labels = Object.entries({ ...(Attributes as object) }).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string",
  );
  if (typeof ID !== "string" || typeof timeNano !== "number" || !Number.isFinite(timeNano))
    throw new Fault("UNKNOWN", "the Docker Engine sent an event without a container or a time");
  const { name = "", ...own } = Object.fromEntries(labels.filter(([key]) => !OWN_WORDS.has(key)));
  return [{ id: ID, type, at: BigInt(Math.trunc(timeNano)), name, labels: own }];
}

function parsed(line: string): { Action?: unknown; Actor?: unknown; timeNano?: unknown } {
  try {
    const found: unknown = JSON.parse(line);
    if (typeof found === "object" && found !== null) return found;
  } catch (error) {
    throw new Fault("UNKNOWN", "the Docker Engine sent an event that is no JSON", { cause: error });
  }
  throw new Fault("UNKNOWN", "the Docker Engine sent an event that is no object");
}
