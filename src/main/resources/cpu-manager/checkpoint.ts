// The form of cpu_manager_state, upstream's, so that either kubelet reads what the other left:
// {"policyName": "static", "defaultCpuSet": "0,3-7", "entries": {UID: {container: "1-2"}}, "checksum": N}, and with gate
// PodLevelResourceManagers "podEntries": {UID: {"cpuSet": "1-4"}} before the checksum.
import { parseCpuList, printCpuList } from "../../../shared/api/cpu-list.js";
import { isStateSum, stateSum, type StateTexts } from "./checkpoint-sum.js";
import type { CpuSet } from "./cpu-set.js";

export const CPU_STATE_FILE = "cpu_manager_state";

/** What the file says. A pod's CPUs are by container name. */
export interface CpuAssignments {
  policyName: string;
  shared: CpuSet;
  exclusive: ReadonlyMap<string, ReadonlyMap<string, CpuSet>>;
  /** Pods that have CPUs as a whole, which their containers share out; undefined: the form knows none. */
  pods?: ReadonlyMap<string, CpuSet> | undefined;
}

export function encodeCpuState({ policyName, shared, exclusive, pods }: CpuAssignments): string {
  const entries = mapped(exclusive, (containers) => mapped(containers, printCpuList));
  const podEntries = pods === undefined ? undefined : mapped(pods, (cpus) => ({ cpuSet: printCpuList(cpus) }));
  const texts = { policyName, defaultCpuSet: printCpuList(shared), entries };
  const checksum = stateSum({ ...texts, ...(podEntries !== undefined && { podEntries }) });
  return JSON.stringify({
    policyName,
    defaultCpuSet: texts.defaultCpuSet,
    ...(exclusive.size > 0 && { entries }),
    ...(pods !== undefined && pods.size > 0 && { podEntries }),
    checksum,
  });
}

/** Throws on what is no such state, or not the one that was written. A checksum of 0 or none is not looked at. */
export function decodeCpuState(value: unknown): CpuAssignments {
  if (!isRecord(value)) throw new Error("not a state of the CPU manager");
  const { policyName, defaultCpuSet = "", entries = {}, podEntries, checksum = 0 } = value;
  if (
    typeof policyName !== "string" ||
    typeof defaultCpuSet !== "string" ||
    !isRecordOf(entries, (containers) => isRecordOf(containers, isText)) ||
    !(podEntries === undefined || isRecordOf(podEntries, isPodEntry))
  ) {
    throw new Error("not a state of the CPU manager: one of its members is of another form");
  }
  const texts: StateTexts = { policyName, defaultCpuSet, entries, ...(podEntries !== undefined && { podEntries }) };
  if (checksum !== 0 && (typeof checksum !== "number" || !isStateSum(texts, checksum))) {
    throw new Error("its checksum does not match its content");
  }
  const containers = Object.entries(entries).map(([uid, lists]) => {
    const sets = Object.entries(lists).map(([name, list]) => [name, cpusOf(list, `${uid}/${name}`)] as const);
    return [uid, new Map(sets)] as const;
  });
  const pods = Object.entries(podEntries ?? {}).map(([uid, { cpuSet }]) => [uid, cpusOf(cpuSet, uid)] as const);
  const shared = cpusOf(defaultCpuSet, "defaultCpuSet");
  const exclusive = new Map(containers);
  return { policyName, shared, exclusive, ...(podEntries !== undefined && { pods: new Map(pods) }) };
}

function cpusOf(list: string, where: string): CpuSet {
  const cpus = parseCpuList(list);
  if (cpus === undefined) throw new Error(`${where}: ${JSON.stringify(list)} is no list of CPUs`);
  return new Set(cpus);
}

function mapped<From, To>(map: ReadonlyMap<string, From>, to: (value: From) => To): Record<string, To> {
  return Object.fromEntries([...map].map(([key, value]) => [key, to(value)]));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isPodEntry(value: unknown): value is { cpuSet: string } {
  return isRecord(value) && isText(value["cpuSet"]);
}

function isRecordOf<T>(value: unknown, isMember: (member: unknown) => member is T): value is Record<string, T> {
  return isRecord(value) && Object.values(value).every((member) => isMember(member));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
