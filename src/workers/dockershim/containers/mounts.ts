// Mounts of CRI → docker's. Pure.

import type Docker from "dockerode";
import { MountPropagation, type Mount } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { Fault } from "../fault.js";

const PROPAGATION = {
  [MountPropagation.PROPAGATION_PRIVATE]: "rprivate",
  [MountPropagation.PROPAGATION_HOST_TO_CONTAINER]: "rslave",
  [MountPropagation.PROPAGATION_BIDIRECTIONAL]: "rshared",
} as const;

export interface DockerMounts {
  Mounts: Docker.MountSettings[];
  /** Only this form can relabel for SELinux; it takes no path with a colon. */
  Binds: string[];
}

/** @throws Fault for what docker has no form of */
export function dockerMounts(mounts: readonly Mount[]): DockerMounts {
  const found: DockerMounts = { Mounts: [], Binds: [] };
  for (const mount of mounts) {
    const { hostPath, containerPath, readonly, propagation } = mount;
    if (mount.image !== undefined && mount.image.image !== "") throw unsupported(mount, "image volumes");
    if (mount.uidMappings.length > 0 || mount.gidMappings.length > 0)
      throw unsupported(mount, "mounts with id mappings");
    if (mount.recursiveReadOnly) throw unsupported(mount, "recursive read-only mounts");
    if (mount.mountOptions.length > 0) throw unsupported(mount, `mount options (${mount.mountOptions.join(", ")})`);
    if (mount.selinuxRelabel) {
      const options = [...(readonly ? ["ro"] : []), "Z", PROPAGATION[propagation]];
      found.Binds.push(`${hostPath}:${containerPath}:${options.join(",")}`);
    } else {
      found.Mounts.push({
        Type: "bind",
        Source: hostPath,
        Target: containerPath,
        ReadOnly: readonly,
        BindOptions: { Propagation: PROPAGATION[propagation] },
      });
    }
  }
  return found;
}

/** The mounts of a container as the Engine describes them. */
export function criMounts(mounts: Docker.ContainerInspectInfo["Mounts"]): Mount[] {
  return mounts.map(({ Source, Destination, RW, Mode, Propagation }) => ({
    hostPath: Source,
    containerPath: Destination,
    readonly: !RW,
    selinuxRelabel: Mode.split(",").includes("Z"),
    propagation: /shared$/.test(Propagation)
      ? MountPropagation.PROPAGATION_BIDIRECTIONAL
      : /slave$/.test(Propagation)
        ? MountPropagation.PROPAGATION_HOST_TO_CONTAINER
        : MountPropagation.PROPAGATION_PRIVATE,
    uidMappings: [],
    gidMappings: [],
    recursiveReadOnly: false,
    image: undefined,
    imageSubPath: "",
    mountOptions: [],
  }));
}

function unsupported({ containerPath }: Mount, what: string): Fault {
  return new Fault("INVALID_ARGUMENT", `the mount at ${containerPath}: the Docker Engine has no ${what}`);
}
