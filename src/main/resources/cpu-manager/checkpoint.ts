// The form of cpu_manager_state, upstream's, so that either kubelet reads what the other left:
// {"policyName": "static", "defaultCpuSet": "0,3-7", "entries": {UID: {container: "1-2"}}, "checksum": N}.
// Upstream hashes Go's debug print of its struct, type name and all. 1.36 has renamed the struct and takes either name;
// older ones know only the first, so that is the one written.
import { parseCpuList, printCpuList } from "../../../shared/api/cpu-list.js";
import type { CpuSet } from "./cpu-set.js";

export const CPU_STATE_FILE = "cpu_manager_state";

/** What the file says. A pod's CPUs are by container name. */
export interface CpuAssignments {
  policyName: string;
  shared: CpuSet;
  exclusive: ReadonlyMap<string, ReadonlyMap<string, CpuSet>>;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const STRUCT_NAMES = ["CPUManagerCheckpoint", "CPUManagerCheckpointV2"] as const;

interface Texts {
  policyName: string;
  defaultCpuSet: string;
  entries: Record<string, Record<string, string>>;
}

export function encodeCpuState({ policyName, shared, exclusive }: CpuAssignments): string {
  const entries = Object.fromEntries(
    [...exclusive].map(([uid, containers]) => [
      uid,
      Object.fromEntries([...containers].map(([name, cpus]) => [name, printCpuList(cpus)])),
    ]),
  );
  const texts = { policyName, defaultCpuSet: printCpuList(shared), entries };
  return JSON.stringify({
    policyName,
    defaultCpuSet: texts.defaultCpuSet,
    ...(exclusive.size > 0 && { entries }),
    checksum: checksumOf(texts, STRUCT_NAMES[0]),
  });
}

/** Throws on what is no such state, or not the one that was written. A checksum of 0 or none is not looked at. */
export function decodeCpuState(value: unknown): CpuAssignments {
  if (!isRecord(value)) throw new Error("not a state of the CPU manager");
  const { policyName, defaultCpuSet = "", entries = {}, checksum = 0 } = value;
  if (typeof policyName !== "string" || typeof defaultCpuSet !== "string" || !isEntries(entries)) {
    throw new Error("not a state of the CPU manager: policyName, defaultCpuSet or entries are of another form");
  }
  const texts = { policyName, defaultCpuSet, entries };
  if (checksum !== 0 && !STRUCT_NAMES.some((name) => checksumOf(texts, name) === checksum)) {
    throw new Error("its checksum does not match its content");
  }
  const exclusive = Object.entries(entries).map(([uid, containers]) => {
    const sets = Object.entries(containers).map(([name, list]) => [name, cpusOf(list, `${uid}/${name}`)] as const);
    return [uid, new Map(sets)] as const;
  });
  return { policyName, shared: cpusOf(defaultCpuSet, "defaultCpuSet"), exclusive: new Map(exclusive) };
}

function cpusOf(list: string, where: string): CpuSet {
  const cpus = parseCpuList(list);
  if (cpus === undefined) throw new Error(`${where}: ${JSON.stringify(list)} is no list of CPUs`);
  return new Set(cpus);
}

function isEntries(value: unknown): value is Texts["entries"] {
  return (
    isRecord(value) &&
    Object.values(value).every(
      (containers) => isRecord(containers) && Object.values(containers).every((list) => typeof list === "string"),
    )
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** 32-bit FNV-1a. Go prints maps by ascending keys. */
function checksumOf({ policyName, defaultCpuSet, entries }: Texts, struct: string): number {
  const map = (members: readonly (readonly [string, string])[]): string =>
    `map[${members
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, text]) => `${key}:${text}`)
      .join(" ")}]`;
  const pods = map(Object.entries(entries).map(([uid, containers]) => [uid, map(Object.entries(containers))]));
  const text =
    `(*state.${struct}){PolicyName:(string)${policyName} DefaultCPUSet:(string)${defaultCpuSet} ` +
    `Entries:(map[string]map[string]string)${pods} Checksum:(checksum.Checksum)0}`;
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(text, "utf8")) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return hash >>> 0;
}
