// Builders for pods and runtime observations: each test names only what it is about.

import type { ApiContainerStatus, ContainerStateTerminated } from "../../../../src/shared/kubernetes/api/pod-status.js";
import type { Container, Pod, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import type { DeepPartial } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import {
  ContainerState,
  ContainerStatus,
  NamespaceMode,
  PodSandboxStatus,
} from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import {
  type ObservedPod,
  observedContainer,
  observedSandbox,
  type ObservedContainer,
  type ObservedSandbox,
} from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";

export const NOW = Date.parse("2026-11-21T06:30:00.700Z");

export function makePod(spec: Partial<PodSpec> = {}, metadata: Partial<Pod["metadata"]> = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "ns", uid: podUid("u1"), ...metadata },
    spec: { containers: [{ name: "a", image: "img" }], ...spec },
  };
}

export function c(name: string, rest: Partial<Container> = {}): Container {
  return { name, image: "img", ...rest };
}

export const sec = (seconds: number): bigint => BigInt(seconds) * 1_000_000_000n;

export function criContainer(name: string, rest: DeepPartial<ContainerStatus> = {}): ObservedContainer {
  return observedContainer(
    ContainerStatus.fromPartial({
      id: `${name}-id`,
      metadata: { name, attempt: 0 },
      state: ContainerState.CONTAINER_RUNNING,
      createdAt: sec(1000),
      startedAt: sec(1001),
      image: { image: "img:1" },
      imageRef: "sha256:1",
      ...rest,
    }),
  );
}

export function criSandbox(rest: DeepPartial<PodSandboxStatus> = {}): ObservedSandbox {
  return observedSandbox(
    PodSandboxStatus.fromPartial({
      id: "s0",
      metadata: { name: "web", namespace: "ns", uid: "u1", attempt: 0 },
      createdAt: sec(900),
      network: { ip: "10.0.0.5", additionalIps: [] },
      linux: { namespaces: { options: { network: NamespaceMode.POD } } },
      ...rest,
    }),
  );
}

export function observedPod(containers: ObservedContainer[], sandboxes = [criSandbox()]): ObservedPod {
  return { uid: podUid("u1"), namespace: "ns", name: "web", sandboxes, containers, generation: 1, observedAt: NOW };
}

export const ended = (exitCode: number, reason?: string): ContainerStateTerminated => ({
  exitCode,
  ...(reason !== undefined && { reason }),
});

export function st(name: string, rest: Partial<ApiContainerStatus> = {}): ApiContainerStatus {
  return { name, state: {}, lastState: {}, ready: false, restartCount: 0, image: "", imageID: "", ...rest };
}

export const running = (name: string, rest: Partial<ApiContainerStatus> = {}): ApiContainerStatus =>
  st(name, { state: { running: {} }, started: true, ready: true, ...rest });
export const exited = (name: string, exitCode: number, reason?: string): ApiContainerStatus =>
  st(name, { state: { terminated: ended(exitCode, reason) }, ready: exitCode === 0 });
export const waiting = (name: string, last?: number): ApiContainerStatus =>
  st(name, { state: { waiting: {} }, lastState: last === undefined ? {} : { terminated: ended(last) } });
