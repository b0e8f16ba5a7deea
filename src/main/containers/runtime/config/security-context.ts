// The security context of a sandbox or container in CRI's form. The container's fields override the pod's; Linux
// namespaces are added.

import { appArmorProfileOf } from "../../../../shared/kubernetes/api/app-armor.js";
import type { Container, Pod, PodSecurityContext, SELinuxOptions } from "../../../../shared/kubernetes/api/pod.js";
import {
  type NamespaceOption,
  type SELinuxOption,
  LinuxContainerSecurityContext,
  SupplementalGroupsPolicy,
} from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { type ImageUser, runAs, supplementalGroups, verifyRunAsNonRoot } from "../../../model/run-as-user.js";
import { appArmorProfile, defaultMaskedPaths, defaultReadonlyPaths, seccompProfile } from "./profiles.js";

export interface SecurityContextInput {
  pod: Pod;
  container: Container;
  namespaces: NamespaceOption;
  imageUser: ImageUser;
  /** The node's seccompDefault. */
  seccompDefault: boolean;
  /** ROOTDIR/seccomp. */
  seccompProfileRoot: string;
  /** Groups that the pod's volumes require. */
  volumeGroups: readonly number[];
  /** The node's existing /sys/devices/system/cpu/cpuN/thermal_throttle directories. */
  thermalThrottlePaths: readonly string[];
}

/** Throws CreateContainerConfigError for a broken runAsNonRoot promise or an incomplete profile. */
export function containerSecurityContext(input: SecurityContextInput): LinuxContainerSecurityContext {
  const { pod, container } = input;
  const own = container.securityContext ?? {};
  const shared: PodSecurityContext = pod.spec.securityContext ?? {};
  verifyRunAsNonRoot(pod, container, input.imageUser);
  const user = runAs(pod, container, input.imageUser);
  const masked = own.procMount !== "Unmasked";
  return LinuxContainerSecurityContext.fromPartial({
    capabilities: own.capabilities && {
      addCapabilities: own.capabilities.add ?? [],
      dropCapabilities: own.capabilities.drop ?? [],
      addAmbientCapabilities: [],
    },
    privileged: own.privileged === true,
    namespaceOptions: input.namespaces,
    selinuxOptions: selinuxOption(own.seLinuxOptions ?? shared.seLinuxOptions),
    runAsUser: user.uid === undefined ? undefined : { value: user.uid },
    runAsUsername: user.username ?? "",
    runAsGroup: user.gid === undefined ? undefined : { value: user.gid },
    readonlyRootfs: own.readOnlyRootFilesystem === true,
    supplementalGroups: supplementalGroups(pod, input.volumeGroups),
    supplementalGroupsPolicy: groupsPolicy(shared),
    ...appArmorProfile(appArmorProfileOf(pod, container)),
    seccomp: seccompProfile(
      own.seccompProfile ?? shared.seccompProfile,
      input.seccompDefault,
      input.seccompProfileRoot,
    ),
    noNewPrivs: own.allowPrivilegeEscalation === false,
    maskedPaths: masked ? [...defaultMaskedPaths, ...input.thermalThrottlePaths] : [],
    readonlyPaths: masked ? [...defaultReadonlyPaths] : [],
  });
}

export function selinuxOption(options: SELinuxOptions | undefined): SELinuxOption | undefined {
  if (options === undefined) return undefined;
  const { user = "", role = "", type = "", level = "" } = options;
  return { user, role, type, level };
}

export function groupsPolicy(context: PodSecurityContext): SupplementalGroupsPolicy {
  return context.supplementalGroupsPolicy === "Strict"
    ? SupplementalGroupsPolicy.Strict
    : SupplementalGroupsPolicy.Merge;
}
