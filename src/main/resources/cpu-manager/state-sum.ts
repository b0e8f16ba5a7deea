// The checksum of cpu_manager_state: 32-bit FNV-1a over Go's debug print of upstream's struct, type name and all.
// Invariant: one with podEntries, empty or not, is another struct than one without.

import { fnv32 } from "../../../shared/base/hash/fnv32.js";
import { parseCpuList } from "../../../shared/kubernetes/api/cpu-list.js";

/** The file's members as they are written. */
export interface StateTexts {
  policyName: string;
  defaultCpuSet: string;
  entries: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Gate PodLevelResourceManagers: each pod's own CPUs. */
  podEntries?: Readonly<Record<string, { readonly cpuSet: string }>> | undefined;
}

/** The struct name that every version accepts; 1.36 also has new ones. */
const WRITTEN = "CPUManagerCheckpoint";
const WITHOUT_PODS = [WRITTEN, "CPUManagerCheckpointV2"];
const WITH_PODS = [WRITTEN, "CPUManagerCheckpointV3"];

export function stateSum(texts: StateTexts): number {
  return sumOf(texts, WRITTEN);
}

/** Is it a sum that some kubelet makes of these members? */
export function isStateSum(texts: StateTexts, sum: number): boolean {
  if (texts.podEntries === undefined && WITHOUT_PODS.some((name) => sumOf(texts, name) === sum)) return true;
  const withPods = { ...texts, podEntries: texts.podEntries ?? {} };
  return WITH_PODS.some((name) => sumOf(withPods, name) === sum);
}

function sumOf({ policyName, defaultCpuSet, entries, podEntries }: StateTexts, struct: string): number {
  const containers = Object.entries(entries).map(([uid, lists]) => [uid, goMap(Object.entries(lists))] as const);
  const pods = Object.entries(podEntries ?? {}).map(([uid, { cpuSet }]) => [uid, goCpus(cpuSet)] as const);
  const text =
    `(*state.${struct}){PolicyName:(string)${policyName} DefaultCPUSet:(string)${defaultCpuSet} ` +
    `Entries:(map[string]map[string]string)${goMap(containers)} ` +
    (podEntries === undefined ? "" : `PodEntries:(state.PodCPUAssignments)${goMap(pods)} `) +
    `Checksum:(checksum.Checksum)0}`;
  return fnv32(text);
}

/** Go prints maps by ascending keys. */
function goMap(members: readonly (readonly [string, string])[]): string {
  const sorted = members.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `map[${sorted.map(([key, text]) => `${key}:${text}`).join(" ")}]`;
}

function goCpus(list: string): string {
  const cpus = (parseCpuList(list) ?? []).map((cpu) => `${cpu}:{}`);
  return `{CPUSet:(cpuset.CPUSet){elems:(map[int]struct {})map[${cpus.join(" ")}]}}`;
}
