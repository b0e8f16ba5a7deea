// Words of one pod that may be secret: commands, values of variables, headers, and what its containers wrote. Texts
// about the pod quote them. Pure.

import type { Event } from "../../shared/kubernetes/api/event.js";
import type { Container, Pod, Probe } from "../../shared/kubernetes/api/pod.js";
import { MASK } from "./mask-text.js";

const MIN_LENGTH = 4;
const MAX_WORDS = 2000;
/** What stands before the output of a probe or hook in an event. */
const OUTPUT = /(?:probe (?:failed|warning|errored[^:\n]{0,60}): |message: ")([^]+)$/;
const HTTP_STATUS = /^HTTP probe failed with statuscode: \d{1,3}$/;

export class Words {
  private readonly words: readonly string[];

  constructor(words: Iterable<string>) {
    const long = new Set([...words].map((word) => word.trim()).filter((word) => word.length >= MIN_LENGTH));
    // The longest first: one may be a part of another.
    this.words = [...long].sort((a, b) => b.length - a.length).slice(0, MAX_WORDS);
  }

  mask(text: string): string {
    return this.words.reduce((all, word) => all.replaceAll(word, MASK), text);
  }
}

const SECRET_NAME = /pass|secret|token|credential|api_?key|private_?key|access_?key/i;

/** Values of variables with the name of a secret: a log may show them, too. */
export function* secretVariables({ spec }: Pod): Iterable<string> {
  for (const { env = [] } of [...spec.containers, ...(spec.initContainers ?? [])]) {
    for (const { name, value } of env) if (value !== undefined && SECRET_NAME.test(name)) yield value;
  }
}

export function wordsOf({ spec, status, metadata }: Pod, events: readonly Event[]): Words {
  const containers = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  const states = [status?.containerStatuses, status?.initContainerStatuses, status?.ephemeralContainerStatuses]
    .flatMap((list) => list ?? [])
    .flatMap(({ state, lastState }) => [state.terminated?.message, lastState.terminated?.message]);
  const outputs = events
    .filter(({ involvedObject }) => involvedObject.uid === metadata.uid)
    .map(({ message }) => OUTPUT.exec(message)?.[1])
    .filter((output) => output !== undefined && !HTTP_STATUS.test(output));
  const written = [...states, ...outputs].filter((text) => text !== undefined);
  return new Words([...containers.flatMap((one) => [...wordsOfContainer(one)]), ...written, ...written.flatMap(lines)]);
}

function* wordsOfContainer(container: Container): Iterable<string> {
  yield* command([...(container.command ?? []), ...(container.args ?? [])]);
  yield* command(container.command);
  for (const { value } of container.env ?? []) if (value !== undefined) yield value;
  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
  for (const handler of handlers) if (handler != null) yield* wordsOfHandler(handler);
}

function* wordsOfHandler({ exec, httpGet }: Pick<Probe, "exec" | "httpGet">): Iterable<string> {
  yield* command(exec?.command);
  for (const { value } of httpGet?.httpHeaders ?? []) yield value;
}

function* command(words: readonly string[] | undefined): Iterable<string> {
  if (words === undefined) return;
  yield words.join(" ");
  yield* words;
}

function lines(text: string): string[] {
  return text.split("\n");
}
