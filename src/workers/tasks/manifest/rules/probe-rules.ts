// Rules of probes and lifecycle hooks, and which containers may have them.

import type { FieldPath } from "../../../../shared/kubernetes/api/manifest/field-path.js";
import { portName } from "../../../../shared/kubernetes/api/manifest/formats.js";
import type { IntOrString } from "../../../../shared/kubernetes/api/meta.js";
import {
  isSidecar,
  type Container,
  type LifecycleHandler,
  type Pod,
  type Probe,
} from "../../../../shared/kubernetes/api/pod.js";
import type { Report } from "../report.js";
import { exactlyOne } from "./container-rules.js";
import { containersOf } from "./visit.js";

const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"] as const;
const GRACE_DEFAULT = 30;

export function checkProbes(pod: Pod, report: Report): void {
  for (const { container, kind, path } of containersOf(pod)) {
    if (kind === "initContainers" && !isSidecar(container)) {
      refuseOnInit(container, path, report);
      continue;
    }
    for (const name of PROBES) {
      const probe = container[name];
      if (probe !== undefined) checkProbe(name, probe, [...path, name], report);
    }
    checkLifecycle(pod, container, path, report);
  }
}

function refuseOnInit(container: Container, path: FieldPath, report: Report): void {
  for (const name of [...PROBES, "lifecycle"] as const) {
    if (container[name] === undefined) continue;
    report.forbidden([...path, name], "an init container may have it only with restartPolicy Always (a sidecar)");
  }
}

function checkProbe(name: (typeof PROBES)[number], probe: Probe, path: FieldPath, report: Report): void {
  exactlyOne(probe, ["exec", "httpGet", "tcpSocket", "grpc"], path, "handler", report);
  checkCommand(probe.exec?.command, [...path, "exec", "command"], report);
  checkPort(probe.httpGet?.port, [...path, "httpGet", "port"], report);
  checkPort(probe.tcpSocket?.port, [...path, "tcpSocket", "port"], report);
  // 0 counts as absent: the default, 1, takes its place.
  if (name !== "readinessProbe" && (probe.successThreshold ?? 0) > 1) {
    report.invalid([...path, "successThreshold"], probe.successThreshold, `1, for a ${name}`);
  }
  if (name === "readinessProbe" && probe.terminationGracePeriodSeconds !== undefined) {
    report.forbidden([...path, "terminationGracePeriodSeconds"], "a readiness probe never stops a container");
  }
}

function checkCommand(command: readonly string[] | undefined, path: FieldPath, report: Report): void {
  if (command?.length === 0) report.required(path, "a program and its arguments");
}

/** A port by number or by the name a container port has. */
function checkPort(port: IntOrString | undefined, path: FieldPath, report: Report): void {
  if (typeof port === "number" && (port < 1 || port > 65535)) report.invalid(path, port, "1 to 65535");
  if (typeof port !== "string") return;
  const allowed = portName(port);
  if (allowed !== undefined) report.invalid(path, port, `1 to 65535, or a port name: ${allowed}`);
}

function checkLifecycle(pod: Pod, container: Container, path: FieldPath, report: Report): void {
  const lifecycle = container.lifecycle;
  if (lifecycle === undefined) return;
  const at = [...path, "lifecycle"];
  for (const hook of ["postStart", "preStop"] as const) {
    const handler = lifecycle[hook];
    if (handler !== undefined) checkHandler(pod, handler, [...at, hook], report);
  }
  if (lifecycle.stopSignal !== undefined && pod.spec.os?.name === undefined) {
    report.forbidden([...at, "stopSignal"], "spec.os.name must be set beside it");
  }
}

function checkHandler(pod: Pod, handler: LifecycleHandler, path: FieldPath, report: Report): void {
  exactlyOne(handler, ["exec", "httpGet", "tcpSocket", "sleep"], path, "handler", report);
  checkCommand(handler.exec?.command, [...path, "exec", "command"], report);
  checkPort(handler.httpGet?.port, [...path, "httpGet", "port"], report);
  checkPort(handler.tcpSocket?.port, [...path, "tcpSocket", "port"], report);
  const written = pod.spec.terminationGracePeriodSeconds ?? GRACE_DEFAULT;
  const grace = written < 0 ? 1 : written;
  const seconds = handler.sleep?.seconds;
  if (seconds !== undefined && seconds > grace) {
    report.invalid([...path, "sleep", "seconds"], seconds, `at most terminationGracePeriodSeconds (${grace})`);
  }
}
