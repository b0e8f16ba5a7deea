// Rules about volumes that are not set up: the plugin's error, the key or the claim that it lacks. Pure.

import type { ClaimFacts, MissingKeyFacts, VolumeFacts } from "../../shared/contracts/nodelet.js";
import { duration } from "../output/amounts.js";
import { fullDiskHelp } from "../problems.js";
import type { Evidence, Finding, WhyInput } from "./input.js";

/** A set-up that takes longer is worth a line. */
const SLOW_VOLUME_MS = 3000;

export function* volumeRules({ facts, node, now, pod }: WhyInput): Iterable<Finding> {
  for (const volume of facts?.volumes ?? []) {
    const { name, mounted, runningSince, lastError, nextTryAt } = volume;
    if (mounted && lastError === undefined) continue;
    const slow = runningSince !== undefined && now - runningSince > SLOW_VOLUME_MS;
    if (lastError === undefined && !slow) continue;
    const host = pod.spec.volumes?.find((one) => one.name === name)?.hostPath?.path;
    const hung = node.facts?.hungMounts.find(
      ({ mountPoint }) =>
        lastError?.includes(mountPoint) === true || host === mountPoint || host?.startsWith(`${mountPoint}/`) === true,
    );
    const since = hung?.since ?? runningSince;
    const { what, help, evidence } =
      hung === undefined
        ? failure(volume, now)
        : {
            what: `it hangs: the file system at ${hung.mountPoint} (${hung.fsType} from ${hung.source}) does not respond`,
            help: [
              `check the server or driver behind ${hung.source}`,
              `when it is lost for good: umount -l ${hung.mountPoint}`,
            ],
            evidence: undefined,
          };
    yield {
      severity: "error",
      about: `volume ${name}`,
      what,
      since,
      nextTryAt,
      evidence: evidence !== undefined ? [evidence] : undefined,
      help,
    };
  }
}

function failure(
  { plugin, lastError, runningSince, missingKey, claim }: VolumeFacts,
  now: number,
): { what: string; help: string[]; evidence?: Evidence | undefined } {
  if (missingKey !== undefined) return keyMissing(missingKey);
  if (claim !== undefined) return claimUnbound(claim);
  if (lastError === undefined) {
    const what = `the ${plugin} plugin has worked on it for ${duration(now - (runningSince ?? now))}, without a result`;
    return { what, help: volumeHelp("") };
  }
  // The finding names pod and volume itself.
  const said = lastError.replace(/^pod \S+: setting up volume "[^"]*" failed: /, "");
  return { what: `the ${plugin} plugin failed: ${said}`, help: volumeHelp(said) };
}

/** Names the missing key of a volume or of a variable. */
export function keyMissing({ key, object, keys, more }: MissingKeyFacts): {
  what: string;
  help: string[];
  evidence: Evidence;
} {
  const lines = [...keys, ...(more === 0 ? [] : [`and ${more} more`])];
  return {
    what: `the key "${key}" is not in the ${object}`,
    help: [`add the key "${key}" to the ${object}, correct the reference, or mark it as optional`],
    evidence: { title: `keys of the ${object}`, lines: lines.length === 0 ? ["none"] : lines },
  };
}

function claimUnbound({ name, phase, storageClass, volumeName, size, accessModes }: ClaimFacts) {
  const [namespace = "", claim = ""] = name.split("/");
  const events = `see its events: kubectl describe pvc -n ${namespace} ${claim}`;
  const wants = [...(size === undefined ? [] : [size]), ...accessModes].join(", ");
  const next =
    phase === "Lost"
      ? [`its volume ${volumeName ?? ""} is gone: restore the PersistentVolume, or create the claim anew`]
      : volumeName !== undefined
        ? [`the PersistentVolume ${volumeName} must exist, be free and fit the claim`, events]
        : storageClass === undefined
          ? [
              `it names no storage class: set storageClassName, or create a PersistentVolume that fits it${wants === "" ? "" : ` (${wants})`}`,
              events,
            ]
          : [
              `the class ${storageClass} must exist, and its provisioner must run: kubectl get storageclass ${storageClass}`,
              events,
            ];
  return {
    what: `its claim ${name} is not bound to a volume (${phase}); storage class: ${storageClass ?? "none"}`,
    help: next,
    evidence: {
      title: `the claim ${name}`,
      lines: [
        `storage class: ${storageClass ?? "none"}`,
        ...(volumeName === undefined ? [] : [`volume: ${volumeName}`]),
        ...(wants === "" ? [] : [`requests: ${wants}`]),
      ],
    },
  };
}

function volumeHelp(error: string): string[] {
  const full = fullDiskHelp(error);
  if (full.length > 0) return full;
  if (/configmap|secret/i.test(error) && /not found/i.test(error))
    return ["create the missing object, or mark the volume as optional"];
  const kind = /hostPath type check failed: .* is not an? (.*)$/i.exec(error)?.[1] ?? "";
  if (/device/.test(kind))
    return [`this node has no ${kind} there: check the path, and that the device is connected and its driver loaded`];
  if (/socket/.test(kind)) return ["no program has created this socket on this node: check that it runs, and the path"];
  if (/^file/.test(kind)) return ["the path is no file on this node: create it, or use type FileOrCreate"];
  if (/hostPath type check failed|no such file|ENOENT/i.test(error))
    return ["the path is not there on this node: create it, or use type DirectoryOrCreate"];
  if (/driver name .* not found|not found in the list of registered CSI drivers/i.test(error))
    return ["the CSI driver is not registered on this node: check its pod (nodelet pods)"];
  if (/sub-?path/i.test(error)) return ["correct the subPath of the volume mount: it must lie inside the volume"];
  return ["the message is the plugin's or the driver's: see its log"];
}
