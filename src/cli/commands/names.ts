// Names for completion in shells: of pods, or of the containers of a pod. Silent without a kubelet, and quick: a shell
// waits for it.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { Client } from "../client.js";
import type { Context } from "../context.js";
import { CliError } from "../errors.js";
import { findPod, manifestName, podsOf } from "../pods/find.js";

/** The shell's user has typed a key. */
const DEADLINE_MS = 1500;
const MOST = 1000;
/** A shell may read other characters as its own. */
const PLAIN = /^[\w.\/-]+$/;

export interface NamesOptions {
  namespace?: string;
  /** Absent: names of pods. */
  containersOf?: string;
}

export async function namesCommand(
  { client, write }: Context,
  { namespace, containersOf }: NamesOptions,
): Promise<void> {
  const pods = await podsOrNone(client);
  const names = containersOf === undefined ? podNames(pods, namespace) : containerNames(pods, containersOf, namespace);
  write(
    names
      .filter((name) => PLAIN.test(name))
      .slice(0, MOST)
      .map((name) => `${name}\n`)
      .join(""),
  );
}

async function podsOrNone(client: Client): Promise<Pod[]> {
  try {
    return await podsOf(client, DEADLINE_MS);
  } catch (error) {
    if (error instanceof CliError) return [];
    throw error;
  }
}

/**
 * As a user types them: static pods without the node's name; with the namespace where a name is in several. @internal
 */
export function podNames(pods: readonly Pod[], namespace?: string): string[] {
  const there = pods.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  const shown = there.map((pod) => ({ space: pod.metadata.namespace, name: manifestName(pod) }));
  const counts = new Map<string, number>();
  for (const { name } of shown) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = shown.map(({ space, name }) => ((counts.get(name) ?? 0) > 1 ? `${space}/${name}` : name));
  return [...new Set(names)].sort();
}

function containerNames(pods: readonly Pod[], named: string, namespace: string | undefined): string[] {
  try {
    const { spec } = findPod(pods, named, namespace);
    const all = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
    return all.map(({ name }) => name);
  } catch (error) {
    if (error instanceof CliError) return [];
    throw error;
  }
}
