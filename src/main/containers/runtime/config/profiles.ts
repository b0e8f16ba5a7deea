// Seccomp and AppArmor profiles, and the paths below /proc and /sys that the runtime hides.

import { join } from "node:path";
import type { AppArmorProfile, SeccompProfile } from "../../../../shared/kubernetes/api/pod.js";
import {
  type SecurityProfile,
  SecurityProfile_ProfileType as ProfileType,
} from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { CreateContainerConfigError } from "../../../model/container-config-error.js";

export const runtimeDefaultProfile: SecurityProfile = { profileType: ProfileType.RuntimeDefault, localhostRef: "" };
const unconfinedProfile: SecurityProfile = { profileType: ProfileType.Unconfined, localhostRef: "" };

/**
 * The typed seccomp profile. A pod that names none gets RuntimeDefault when the node's seccompDefault is on, else none.
 * @param profileRoot ROOTDIR/seccomp, the directory of Localhost profiles
 */
export function seccompProfile(
  profile: SeccompProfile | undefined,
  seccompDefault: boolean,
  profileRoot: string,
): SecurityProfile {
  if (profile === undefined) return seccompDefault ? runtimeDefaultProfile : unconfinedProfile;
  switch (profile.type) {
    case "RuntimeDefault":
      return runtimeDefaultProfile;
    case "Unconfined":
      return unconfinedProfile;
    case "Localhost":
      if (!profile.localhostProfile) {
        throw new CreateContainerConfigError("localhostProfile must be set if seccompProfile type is Localhost.");
      }
      return { profileType: ProfileType.Localhost, localhostRef: join(profileRoot, profile.localhostProfile) };
  }
}

/** The typed AppArmor profile and the string for runtimes before the typed field; both empty if none is set. */
export function appArmorProfile(profile: AppArmorProfile | undefined): {
  apparmor: SecurityProfile | undefined;
  apparmorProfile: string;
} {
  if (profile === undefined) return { apparmor: undefined, apparmorProfile: "" };
  switch (profile.type) {
    case "RuntimeDefault":
      return { apparmor: runtimeDefaultProfile, apparmorProfile: "runtime/default" };
    case "Unconfined":
      return { apparmor: unconfinedProfile, apparmorProfile: "unconfined" };
    case "Localhost": {
      const name = profile.localhostProfile;
      if (!name) {
        throw new CreateContainerConfigError("localhostProfile must be set if appArmorProfile type is Localhost.");
      }
      return {
        apparmor: { profileType: ProfileType.Localhost, localhostRef: name },
        apparmorProfile: `localhost/${name}`,
      };
    }
  }
}

/** Paths hidden from a container under procMount Default; the node's thermal_throttle directories come on top. */
export const defaultMaskedPaths: readonly string[] = [
  "/proc/asound",
  "/proc/acpi",
  "/proc/interrupts",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/timer_list",
  "/proc/timer_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/sys/firmware",
  "/sys/devices/virtual/powercap",
];

/** Paths a container may only read under procMount Default. */
export const defaultReadonlyPaths: readonly string[] = [
  "/proc/bus",
  "/proc/fs",
  "/proc/irq",
  "/proc/sys",
  "/proc/sysrq-trigger",
];
