// Rules of volumes and of what containers mount of them.

import { didYouMean } from "../../../../shared/base/text/nearest-name.js";
import type { FieldPath } from "../../../../shared/kubernetes/api/manifest/field-path.js";
import type { Container, Pod, VolumeMount } from "../../../../shared/kubernetes/api/pod.js";
import type {
  DownwardAPIVolumeFile,
  EphemeralVolumeSource,
  FCVolumeSource,
  Volume,
} from "../../../../shared/kubernetes/api/volume.js";
import { shown, type Report } from "../report.js";
import { volumeSourceNames } from "../volume-schema.js";
import { checkResource, exactlyOne } from "./container-rules.js";
import { nanosOf } from "./nanos.js";
import { containersOf, incomplete, items } from "./visit.js";

export function checkVolumes(pod: Pod, report: Report): void {
  const names = new Set<string>();
  for (const [volume, path] of items(pod.spec.volumes, ["spec", "volumes"])) {
    const { name } = incomplete(volume);
    if (name !== undefined && names.has(name)) report.duplicate([...path, "name"], name, "each volume name once");
    if (name !== undefined) names.add(name);
    const [first, ...others] = sourcesOf(volume);
    checkSource(volume, path, report);
    for (const other of others)
      report.forbidden([...path, other], `one source per volume, and ${first ?? ""} is set already`);
  }
  for (const { container, path } of containersOf(pod)) {
    checkMounts(container, path, [...names], report);
    for (const [{ valueFrom }, at] of items(container.env, [...path, "env"])) {
      checkFileKey(valueFrom?.fileKeyRef?.volumeName, [...at, "valueFrom", "fileKeyRef", "volumeName"], pod, report);
    }
  }
}

function checkSource({ fc, iscsi, downwardAPI, projected, ephemeral }: Volume, path: FieldPath, report: Report): void {
  if (ephemeral !== undefined) checkClaim(ephemeral, [...path, "ephemeral"], report);
  if (fc !== undefined) checkFc(fc, [...path, "fc"], report);
  if ((iscsi?.chapAuthDiscovery === true || iscsi?.chapAuthSession === true) && iscsi.secretRef === undefined) {
    report.required([...path, "iscsi", "secretRef"], "the credentials of CHAP");
  }
  checkFiles(downwardAPI?.items, [...path, "downwardAPI", "items"], report);
  // Two files of one volume; in a downwardAPI volume upstream lets the last one count.
  const paths = new Set<string>();
  for (const [source, at] of items(projected?.sources, [...path, "projected", "sources"])) {
    checkFiles(source.downwardAPI?.items, [...at, "downwardAPI", "items"], report);
    for (const [file, fileAt] of items(source.downwardAPI?.items, [...at, "downwardAPI", "items"])) {
      const { path: filePath } = incomplete(file);
      if (filePath !== undefined && paths.has(filePath)) {
        report.duplicate([...fileAt, "path"], filePath, "each path once in the volume");
      }
      if (filePath !== undefined) paths.add(filePath);
    }
    const [first, ...others] = Object.keys(source);
    for (const other of others) report.forbidden([...at, other], `one source only, and ${first ?? ""} is set already`);
  }
}

function checkClaim({ volumeClaimTemplate }: EphemeralVolumeSource, path: FieldPath, report: Report): void {
  const at = [...path, "volumeClaimTemplate", "spec"];
  const { accessModes = [], resources } = volumeClaimTemplate?.spec ?? {};
  if (volumeClaimTemplate?.spec === undefined) return;
  if (accessModes.length === 0) report.required([...at, "accessModes"], "at least one");
  const storage = resources?.requests?.["storage"];
  const storageAt = [...at, "resources", "requests", "storage"];
  if (storage === undefined) {
    if (!report.isRefused(storageAt)) report.required(storageAt, "the size of the volume");
  } else if (nanosOf(storage) === 0n) report.invalid(storageAt, storage, "more than zero");
}

function checkFc({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, path: FieldPath, report: Report): void {
  if (targetWWNs.length === 0 && wwids.length === 0) report.required([...path, "targetWWNs"], "targetWWNs or wwids");
  if (targetWWNs.length === 0) return;
  if (wwids.length > 0) report.forbidden([...path, "wwids"], "it may not stand beside targetWWNs");
  if (lun === undefined && !report.isRefused([...path, "lun"]))
    report.required([...path, "lun"], "0 to 255, beside targetWWNs");
}

function checkFiles(files: readonly DownwardAPIVolumeFile[] | undefined, path: FieldPath, report: Report): void {
  for (const [file, at] of items(files, path)) {
    exactlyOne(file, ["fieldRef", "resourceFieldRef"], at, "source", report);
    checkResource(file.resourceFieldRef, [...at, "resourceFieldRef"], report);
  }
}

/** A file with variables is one that a container of the pod writes. */
function checkFileKey(name: string | undefined, path: FieldPath, pod: Pod, report: Report): void {
  const volumes = Array.from(items(pod.spec.volumes, []), ([volume]) => incomplete(volume));
  const names = volumes.flatMap((volume) => volume.name ?? []);
  checkKnown(name, path, names, report);
  const volume = volumes.find((one) => one.name === name);
  // A volume without a source is an emptyDir.
  if (name === undefined || volume === undefined || sourcesOf(volume).every((source) => source === "emptyDir")) return;
  report.invalid(path, name, "the name of an emptyDir volume");
}

/** Names of the sources a volume has; one, normally. */
function sourcesOf(volume: Partial<Volume>): string[] {
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
  report.add(path, "unsupported value", { got: shown(name), allowed, hint });
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
