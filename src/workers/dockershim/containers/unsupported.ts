// Fields of CRI that the Engine has no form of. Pure.
// Invariant: a field that changes what a container may do is refused by its name; one that only tunes it is left out
// with a warning. None is dropped in silence, except those of the pod's cgroup, which the kubelet itself sets.

import {
  NamespaceMode,
  SupplementalGroupsPolicy,
  type ContainerConfig,
  type LinuxContainerResources,
  type NamespaceOption,
  type PodSandboxConfig,
} from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { Fault } from "../fault.js";

/** @throws Fault for a refused field */
export function unsupportedInSandbox({ windows, linux }: PodSandboxConfig): void {
  if (windows !== undefined) throw refused("windows", "runs Linux containers only");
  const security = linux?.securityContext;
  checkGroups(security?.supplementalGroupsPolicy);
  checkNamespaces(security?.namespaceOptions);
}

/** Returns the fields that are left out. @throws Fault for a refused field */
export function unsupportedInContainer({ windows, CDIDevices, linux }: ContainerConfig): string[] {
  if (windows !== undefined) throw refused("windows", "runs Linux containers only");
  if (CDIDevices.length > 0) throw refused("CDI_devices", "has no CDI devices for containers of Kubernetes");
  const security = linux?.securityContext;
  if ((security?.capabilities?.addAmbientCapabilities.length ?? 0) > 0)
    throw refused("add_ambient_capabilities", "has no ambient capabilities");
  checkGroups(security?.supplementalGroupsPolicy);
  checkNamespaces(security?.namespaceOptions);
  return unsupportedResources(linux?.resources);
}

/** Returns the fields that are left out. */
export function unsupportedResources(resources: LinuxContainerResources | undefined): string[] {
  if (resources === undefined) return [];
  const { hugepageLimits, unified } = resources;
  const pages = hugepageLimits.filter(({ limit }) => limit > 0n).map(({ pageSize }) => pageSize);
  const files = Object.keys(unified);
  return [
    ...(pages.length > 0 ? [`hugepage_limits (${pages.join(", ")}): the limit of the pod holds`] : []),
    ...(files.length > 0 ? [`unified (${files.join(", ")})`] : []),
  ];
}

function checkGroups(policy: SupplementalGroupsPolicy | undefined): void {
  if (policy === SupplementalGroupsPolicy.Strict)
    throw refused("supplemental_groups_policy Strict", "always adds the groups of the image's /etc/group");
}

function checkNamespaces(options: NamespaceOption | undefined): void {
  if (options === undefined) return;
  const { network, ipc, usernsOptions } = options;
  for (const [name, mode] of Object.entries({ network, ipc })) {
    if (mode !== NamespaceMode.POD && mode !== NamespaceMode.NODE)
      throw refused(`namespace_options.${name} ${NamespaceMode[mode]}`, "shares it with the pod or the node");
  }
  if (usernsOptions !== undefined && usernsOptions.mode !== NamespaceMode.NODE)
    throw refused(`userns_options ${NamespaceMode[usernsOptions.mode]}`, "has no user namespaces per pod");
}

function refused(field: string, why: string): Fault {
  return new Fault("INVALID_ARGUMENT", `${field} is not supported: the Docker Engine ${why}`);
}
