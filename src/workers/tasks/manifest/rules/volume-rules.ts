// Rules of volumes and of what containers mount of them.
import type { Container, Pod, VolumeMount } from "../../../../shared/api/pod.js";
import type { Volume } from "../../../../shared/api/volume.js";
import { shown, type FieldPath, type Report } from "../report.js";
import { volumeSourceNames } from "../volume-schema.js";
import { containersOf, incomplete, items } from "./visit.js";
import { didYouMean } from "../../../../shared/text/nearest-name.js";

export function checkVolumes(pod: Pod, report: Report): void {
  const names = new Set<string>();
  for (const [volume, path] of items(pod.spec.volumes, ["spec", "volumes"])) {
    const { name } = incomplete(volume);
    if (name !== undefined && names.has(name)) report.duplicate([...path, "name"], name, "each volume name once");
    if (name !== undefined) names.add(name);
    const [first, ...others] = sourcesOf(volume);
    for (const other of others)
      report.forbidden([...path, other], `one source per volume, and ${first ?? ""} is set already`);
  }
  for (const { container, path } of containersOf(pod)) checkMounts(container, path, [...names], report);
}

/** Names of the sources a volume has; one, normally. */
function sourcesOf(volume: Volume): string[] {
  return volumeSourceNames.filter((name) => volume[name] !== undefined);
}

function checkMounts(container: Container, path: FieldPath, volumes: readonly string[], report: Report): void {
  const mountPaths = new Set<string>();
  for (const [mount, at] of items(container.volumeMounts, [...path, "volumeMounts"])) {
    const { name, mountPath } = incomplete(mount);
    checkKnown(name, [...at, "name"], volumes, report);
    if (mountPath !== undefined && mountPaths.has(mountPath)) {
      report.duplicate([...at, "mountPath"], mountPath, "each path once in the container");
    }
    if (mountPath !== undefined) mountPaths.add(mountPath);
    checkMount(mount, container, at, report);
  }
  for (const [device, at] of items(container.volumeDevices, [...path, "volumeDevices"])) {
    checkKnown(incomplete(device).name, [...at, "name"], volumes, report);
    report.forbidden(at, "block devices come from persistent volume claims, which a static pod may not reference");
  }
}

function checkKnown(name: string | undefined, path: FieldPath, volumes: readonly string[], report: Report): void {
  if (name === undefined || volumes.includes(name)) return;
  const allowed = volumes.length === 0 ? "a volume of spec.volumes, which has none" : volumes.join(", ");
  const hint = didYouMean(name, volumes);
  report.add(path, "unsupported value", { got: shown(name), allowed, ...(hint === undefined ? {} : { hint }) });
}

function checkMount(mount: VolumeMount, container: Container, path: FieldPath, report: Report): void {
  if ((mount.subPath ?? "") !== "" && (mount.subPathExpr ?? "") !== "") {
    report.forbidden([...path, "subPathExpr"], "it may not stand beside subPath");
  }
  if (mount.mountPropagation === "Bidirectional" && container.securityContext?.privileged !== true) {
    report.forbidden([...path, "mountPropagation"], "Bidirectional needs a privileged container");
  }
  if (mount.recursiveReadOnly === undefined || mount.recursiveReadOnly === "Disabled") return;
  if (mount.readOnly !== true) report.forbidden([...path, "recursiveReadOnly"], "it needs readOnly true");
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== "None") {
    report.forbidden([...path, "recursiveReadOnly"], "it needs mountPropagation None");
  }
}
