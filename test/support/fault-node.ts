// Helpers of the fault tests: small pods that terminate on command, their constant facts, and the kubelet's log and
// metrics.

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ApiContainerStatus } from "../../src/shared/kubernetes/api/pod-status.js";
import { isRunning } from "../../tools/standalone/pods.js";
import { testImage, type PodView, type TestNode } from "../harness/node.js";

/** Long enough for a machine that is busy with other things. */
export const PATIENCE_MS = 60_000;

/** Ends at once on SIGTERM. */
const SLEEPER = "trap 'exit 0' TERM; while true; do sleep 3600 & wait; done";
/** Exits with the number written to /ctl/<container name>. */
const WAITER =
  'trap "exit 0" TERM; until [ -s /ctl/$NAME ]; do sleep 0.2; done; read code < /ctl/$NAME; rm /ctl/$NAME; exit $code';

/** A pod that runs until it is removed. */
export function sleeper(name: string, containers = 1): object {
  return manifest(
    name,
    Array.from({ length: containers }, (_, index) => ({ name: `c${index}`, command: ["sh", "-c", SLEEPER] })),
  );
}

/** A pod whose one container ends when {@link letExit} says so. `ctl` is a folder of the test. */
export function waiter(name: string, ctl: string): object {
  const containers = [
    {
      name: "c0",
      command: ["sh", "-c", WAITER],
      env: [{ name: "NAME", value: name }],
      volumeMounts: [{ name: "ctl", mountPath: "/ctl" }],
    },
  ];
  return manifest(name, containers, { volumes: [{ name: "ctl", hostPath: { path: ctl, type: "Directory" } }] });
}

/** Ends the container of a {@link waiter}. */
export async function letExit(ctl: string, name: string, code: number): Promise<void> {
  await writeFile(join(ctl, name), `${code}\n`);
}

function manifest(name: string, containers: object[], spec: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 5,
      containers: containers.map((one) => ({ image: testImage(), imagePullPolicy: "Never", ...one })),
      ...spec,
    },
  };
}

/** The pod of a manifest: static pods carry the node's name. */
export function podOf(pods: readonly PodView[], name: string, nodeName = "testnode"): PodView | undefined {
  return pods.find((pod) => pod.metadata.name === `${name}-${nodeName}`);
}

export function runs(pods: readonly PodView[], name: string): boolean {
  const pod = podOf(pods, name);
  return pod !== undefined && isRunning(pod);
}

/** The status of a pod's first container. */
export function firstStatus(pods: readonly PodView[], name: string): ApiContainerStatus | undefined {
  return podOf(pods, name)?.status?.containerStatuses?.[0];
}

/** Facts that a fault must not change: per container its id and restart count. */
export function identities(pods: readonly PodView[], names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const pod = podOf(pods, name);
    assert.ok(pod !== undefined, `pod ${name} is there`);
    for (const status of pod.status?.containerStatuses ?? []) {
      found[`${name}/${status.name}`] = `${status.containerID ?? "no id"}, ${status.restartCount} restarts`;
    }
  }
  return found;
}

export interface AgentLogLine {
  /** Absent in info lines. */
  severity?: "warning" | "error" | "fatal";
  msg: string;
  thread?: string;
  cause?: string;
  path?: string;
  [field: string]: unknown;
}

/** containerd calls a shim that has just exited: its reply to StopPodSandbox. The kubelet's next try succeeds. */
const SHIM_ENDED = /Stop(?:PodSandbox|Container) .*ttrpc: closed/;

/** An error of the kubelet, not one that containerd has of its own while a shim ends. */
export function isError({ severity, msg }: AgentLogLine): boolean {
  return (severity === "error" || severity === "fatal") && !SHIM_ENDED.test(msg);
}

/** The kubelet's whole log; lines of other writers (Node itself) with nothing but their text. */
export async function agentLog(node: TestNode): Promise<AgentLogLine[]> {
  const text = await readFile(node.kubelet.log, "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map(parseLine);
}

function parseLine(line: string): AgentLogLine {
  try {
    return JSON.parse(line) as AgentLogLine;
  } catch {
    return { msg: line };
  }
}

/** Value of a metric whose labels include all of `labels`; 0 when it is not there. */
export async function metric(node: TestNode, name: string, labels: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(`${node.kubelet.url}/metrics`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = (await response.text())
    .split("\n")
    .find((text) => text.startsWith(`${name}{`) && wanted.every((part) => text.includes(part)));
  return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(" ") + 1));
}

/** A folder beside the kubelet's own, for {@link waiter}s. */
export async function controlFolder(node: TestNode): Promise<string> {
  const folder = join(node.kubelet.dir, "ctl");
  await mkdir(folder, { recursive: true });
  return folder;
}
