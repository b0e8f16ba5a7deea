// The mounts of a container: its volumes, /etc/hosts and the termination log. Pure: host paths come in resolved.

import { posix } from "node:path";
import { quote } from "../../../../shared/base/text/quote.js";
import type { Container, Pod, VolumeMount } from "../../../../shared/kubernetes/api/pod.js";
import { type Device, type Mount, MountPropagation } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { CreateContainerConfigError } from "../../../model/container-config-error.js";
import { type ExpansionBudget, expandStrict } from "../../../model/expand.js";
import { defaultTerminationMessagePath } from "../../../model/labels.js";
import { messageMountPath, rootedPath } from "../../../model/rooted-path.js";
import { isDevicePlace, isImagePlace, type ImagePlace, type VolumePlace } from "../../../volumes/place.js";

export interface MountsInput {
  pod: Pod;
  container: Container;
  /** Volume name to where it is. */
  volumes: ReadonlyMap<string, VolumePlace>;
  /** Volume name to the resolved image, for volumes that are images. */
  images?: ReadonlyMap<string, string>;
  /**
   * Index in volumeMounts to its resolved sub-path, for mounts where volumeSubPath() gives one. It is a host path, or
   * for an image volume the path in the image.
   */
  subPaths?: ReadonlyMap<number, string>;
  /** Host path of the pod's hosts file; absent while the pod has neither addresses nor the node's network. */
  etcHostsPath?: string | undefined;
  /** Host path of this run's termination log. */
  terminationLogPath?: string;
  /** The runtime handler's recursive_read_only_mounts feature. */
  recursiveReadOnly?: boolean;
  /** SELinux is enabled on the node: the kubelet's own files, and volumes that allow it, get the container's label. */
  seLinux: boolean;
}

const ETC_HOSTS = "/etc/hosts";
/** The longest path Linux takes. */
const PATH_MAX = 4096;

const propagations = {
  None: MountPropagation.PROPAGATION_PRIVATE,
  HostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  Bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
} as const;

/** Throws CreateContainerConfigError if a volume or a resolved sub-path is missing, or a mount is impossible. */
export function containerMounts(input: MountsInput): Mount[] {
  const { container } = input;
  const wanted = container.volumeMounts ?? [];
  const mounts = wanted.map((mount, index) => volumeMount(input, mount, index));
  if (input.etcHostsPath !== undefined && !wanted.some((mount) => mount.mountPath === ETC_HOSTS)) {
    mounts.push({ ...bind(input.etcHostsPath, ETC_HOSTS), selinuxRelabel: input.seLinux });
  }
  const messagePath = container.terminationMessagePath ?? defaultTerminationMessagePath;
  if (input.terminationLogPath !== undefined && messagePath !== "") {
    mounts.push({ ...bind(input.terminationLogPath, messageMountPath(messagePath)), selinuxRelabel: input.seLinux });
  }
  return mounts;
}

/** Block volumes as devices of the container. Throws CreateContainerConfigError when one is missing or has files. */
export function containerDevices(container: Container, volumes: ReadonlyMap<string, VolumePlace>): Device[] {
  return (container.volumeDevices ?? []).map(({ name, devicePath }) => {
    const place = volumes.get(name);
    if (place === undefined || !isDevicePlace(place)) {
      const problem = place === undefined ? "is not there" : "does not have volumeMode Block";
      throw new CreateContainerConfigError(
        `volume ${quote(name)} is specified in volumeDevices of container ${quote(container.name)}, but ${problem}`,
      );
    }
    const permissions = place.readOnly === true ? "r" : "mrw";
    return { hostPath: place.devicePath, containerPath: devicePath, permissions };
  });
}

/**
 * Path of the mount below its volume's root, undefined for the root itself. Throws CreateContainerConfigError for a
 * reference that the environment does not define and for a path that leaves the volume.
 */
export function volumeSubPath(
  mount: VolumeMount,
  env: ReadonlyMap<string, string>,
  budget?: ExpansionBudget,
): string | undefined {
  let path = mount.subPath ?? "";
  if (mount.subPathExpr) {
    const { text, missing } = expandStrict(mount.subPathExpr, (name) => env.get(name), budget);
    if (missing.length > 0) {
      throw new CreateContainerConfigError(`missing value for ${[...new Set(missing)].sort().join(", ")}`);
    }
    path = text;
  }
  if (path === "") return undefined;
  if (path.length > PATH_MAX) {
    throw new CreateContainerConfigError(
      `the sub-path of volume mount ${quote(mount.name)} is longer than ${PATH_MAX} bytes`,
    );
  }
  if (posix.isAbsolute(path)) {
    throw new CreateContainerConfigError(`error SubPath \`${path}\` must not be an absolute path`);
  }
  if (path.split("/").includes("..")) {
    throw new CreateContainerConfigError(`unable to provision SubPath \`${path}\`: must not contain '..'`);
  }
  return path;
}

export function subPathProblem(mount: VolumeMount, container: Container): string {
  return `failed to prepare subPath for volumeMount ${quote(mount.name)} of container ${quote(container.name)}`;
}

function volumeMount(input: MountsInput, mount: VolumeMount, index: number): Mount {
  const root = input.volumes.get(mount.name);
  if (root === undefined) {
    throw new CreateContainerConfigError(
      `cannot find volume ${quote(mount.name)} to mount into container ${quote(input.container.name)}`,
    );
  }
  const resolved = input.subPaths?.get(index);
  if (resolved === undefined && (mount.subPath || mount.subPathExpr)) {
    throw new CreateContainerConfigError(subPathProblem(mount, input.container));
  }
  const containerPath = rootedPath(mount.mountPath);
  if (isImagePlace(root)) return imageMount(input, root, mount, containerPath, resolved ?? "");
  if (isDevicePlace(root)) {
    throw new CreateContainerConfigError(
      `volume ${quote(mount.name)} has volumeMode Block, but is specified in volumeMounts of container ${quote(input.container.name)}`,
    );
  }
  return {
    ...bind(resolved ?? root.hostPath, containerPath),
    readonly: mount.readOnly === true || root.readOnly === true,
    recursiveReadOnly: recursiveReadOnly(mount, input.recursiveReadOnly === true),
    selinuxRelabel: input.seLinux && root.relabel === true,
    propagation: propagations[mount.mountPropagation ?? "None"],
  };
}

/** The runtime mounts the image's files; nothing can be written there, even if the mount is writable. */
function imageMount(
  { pod, images }: MountsInput,
  place: ImagePlace,
  mount: VolumeMount,
  containerPath: string,
  imageSubPath: string,
): Mount {
  const image = images?.get(mount.name);
  if (image === undefined)
    throw new CreateContainerConfigError(`the image of volume ${quote(mount.name)} is not resolved`);
  return {
    ...bind("", containerPath),
    readonly: true,
    propagation: propagations[mount.mountPropagation ?? "None"],
    image: {
      image,
      userSpecifiedImage: place.image.reference ?? "",
      annotations: pod.metadata.annotations ?? {},
      runtimeHandler: "",
      imageRef: "",
    },
    imageSubPath,
  };
}

function recursiveReadOnly(mount: VolumeMount, supported: boolean): boolean {
  const mode = mount.recursiveReadOnly ?? "Disabled";
  if (mode === "Disabled" || mount.readOnly !== true) {
    if (mode !== "Enabled") return false;
    throw unresolved(mount, "read-only");
  }
  const propagation = mount.mountPropagation ?? "None";
  if (propagation !== "None") {
    throw unresolved(mount, `compatible with propagation ${propagation}`);
  }
  if (mode === "Enabled" && !supported) {
    throw unresolved(mount, "supported by the runtime");
  }
  return supported;
}

function unresolved({ name }: VolumeMount, what: string): CreateContainerConfigError {
  const mode = `volume ${quote(name)} requested recursive read-only mode, but it is not ${what}`;
  return new CreateContainerConfigError(`failed to resolve recursive read-only mode: ${mode}`);
}

function bind(hostPath: string, containerPath: string): Mount {
  return {
    hostPath,
    containerPath,
    readonly: false,
    recursiveReadOnly: false,
    selinuxRelabel: false,
    propagation: MountPropagation.PROPAGATION_PRIVATE,
    uidMappings: [],
    gidMappings: [],
    image: undefined,
    imageSubPath: "",
    mountOptions: [],
  };
}
