// Upstream's format of cpu_manager_state, so that either kubelet reads the other's file. It is {"policyName": "static",
// "defaultCpuSet": "0,3-7", "entries": {UID: {container: "1-2"}}, "checksum": N}. With gate PodLevelResourceManagers it
// has "podEntries": {UID: {"cpuSet": "1-4"}} before the checksum.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { isRecord } from "../../../shared/base/text/is-record.js";
import { parseCpuList, printCpuList } from "../../../shared/kubernetes/api/cpu-list.js";
import { type PodUid, podUid } from "../../../shared/kubernetes/identifiers.js";
import type { CpuSet } from "./cpu-set.js";
import { stateSum, type StateTexts, isStateSum } from "./state-sum.js";

export const CPU_STATE_FILE = "cpu_manager_state";

/** The content of the file. A pod's CPUs are by container name. */
export interface CpuAssignments {
  policyName: string;
  shared: CpuSet;
  exclusive: ReadonlyMap<PodUid, ReadonlyMap<string, CpuSet>>;
  /**
   * Pods with exclusive CPUs at pod level, which their containers share; undefined: the file format has no such pods.
   */
  pods?: ReadonlyMap<PodUid, CpuSet> | undefined;
}

export function encodeCpuState({ policyName, shared, exclusive, pods }: CpuAssignments): string {
  const entries = mapped(exclusive, (containers) => mapped(containers, printCpuList));
  const podEntries = pods === undefined ? undefined : mapped(pods, (cpus) => ({ cpuSet: printCpuList(cpus) }));
  const texts = { policyName, defaultCpuSet: printCpuList(shared), entries };
  const checksum = stateSum({ ...texts, podEntries });
  return JSON.stringify(
    omitUndefined({
      policyName,
      defaultCpuSet: texts.defaultCpuSet,
      entries: exclusive.size > 0 ? entries : undefined,
      podEntries: pods !== undefined && pods.size > 0 ? podEntries : undefined,
      checksum,
    }),
  );
}

/**
 * Throws if the value is not such a state, or if its checksum does not match. A checksum of 0, or none, is not
 * compared.
 */
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
  const texts: StateTexts = { policyName, defaultCpuSet, entries, podEntries };
  if (checksum !== 0 && (typeof checksum !== "number" || !isStateSum(texts, checksum))) {
    throw new Error("its checksum does not match its content");
  }
  const containers = Object.entries(entries).map(([uid, lists]) => {
    const sets = Object.entries(lists).map(([name, list]) => [name, cpusOf(list, `${uid}/${name}`)] as const);
    return [podUid(uid), new Map(sets)] as const;
  });
  const pods = Object.entries(podEntries ?? {}).map(([uid, { cpuSet }]) => [podUid(uid), cpusOf(cpuSet, uid)] as const);
  const shared = cpusOf(defaultCpuSet, "defaultCpuSet");
  const exclusive = new Map(containers);
  return { policyName, shared, exclusive, pods: podEntries !== undefined ? new Map(pods) : undefined };
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
