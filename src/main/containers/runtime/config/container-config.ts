// ContainerConfig: everything CreateContainer needs to know of one container of a pod, for every kind of container.

import { bytesOfText } from "../../../../shared/base/text/escaped-bytes.js";
import type { Container, EphemeralContainer, Pod } from "../../../../shared/kubernetes/api/pod.js";
import type {
  ContainerConfig,
  Device,
  LinuxContainerResources,
  Mount,
  NamespaceOption,
  UserNamespace,
} from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { Signal } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ContainerId } from "../../../../shared/kubernetes/identifiers.js";
import { expand, ExpansionBudget } from "../../../model/expand.js";
import { containerAnnotations, containerLabels } from "../../../model/labels.js";
import { containerLogPath } from "../../../model/paths.js";
import type { ImageUser } from "../../../model/run-as-user.js";
import { criSignal } from "../../../model/stop-signals.js";
import { ephemeralNamespaces, podNamespaces } from "./namespaces.js";
import { containerSecurityContext } from "./security-context.js";

type ContainerKind = "init" | "app" | "ephemeral";

export interface ContainerInput {
  pod: Pod;
  container: Container | EphemeralContainer;
  kind: ContainerKind;
  restartCount: number;
  /** The image reference the pull resolved to. */
  imageRef: string;
  /** From CRI ImageStatus of that image. */
  imageUser: ImageUser;
  /** From containerEnv(): values already expanded. */
  env: ReadonlyMap<string, string>;
  /** From containerMounts(). */
  mounts: readonly Mount[];
  /** From containerDevices(). */
  devices?: readonly Device[];
  /** Fully qualified names. */
  cdiDevices?: readonly string[];
  resources: LinuxContainerResources;
  seccompDefault: boolean;
  seccompProfileRoot: string;
  thermalThrottlePaths: readonly string[];
  /** Groups that the pod's volumes require. */
  volumeGroups: readonly number[];
  userNamespace?: UserNamespace | undefined;
  /** Ephemeral containers: id of the running target container. */
  targetContainerId?: ContainerId | undefined;
  /** Annotations of device plugins and DRA drivers. */
  annotations?: Readonly<Record<string, string>> | undefined;
  /** Gate ContainerStopSignals, off in 1.36. */
  stopSignals?: boolean;
}

/** Throws CreateContainerConfigError if this image or node does not support a part of the spec. */
export function containerConfig(input: ContainerInput): ContainerConfig {
  const { pod, container, restartCount, env } = input;
  const lookup = (name: string): string | undefined => env.get(name);
  const budget = new ExpansionBudget();
  return {
    metadata: { name: container.name, attempt: restartCount },
    image: {
      image: input.imageRef,
      userSpecifiedImage: container.image ?? "",
      annotations: {},
      runtimeHandler: "",
      imageRef: "",
    },
    command: (container.command ?? []).map((word) => expand(word, lookup, budget)),
    args: (container.args ?? []).map((word) => expand(word, lookup, budget)),
    workingDir: container.workingDir ?? "",
    envs: [...env].map(([key, value]) => ({ key, value: bytesOfText(value) })),
    mounts: input.mounts.map((mount) => mapped(mount, input.userNamespace)),
    devices: [...(input.devices ?? [])],
    CDIDevices: (input.cdiDevices ?? []).map((name) => ({ name })),
    labels: containerLabels(pod, container),
    annotations: containerAnnotations(pod, container, restartCount, input.annotations),
    logPath: containerLogPath(container.name, restartCount),
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: {
      resources: input.resources,
      securityContext: containerSecurityContext({ ...input, namespaces: namespaces(input) }),
    },
    windows: undefined,
    stopSignal: stopSignal(input),
  };
}

/** Mounts with the id map of the pod's user namespace. Files keep their owners in the container and on the node. */
function mapped(mount: Mount, users: UserNamespace | undefined): Mount {
  return users === undefined ? mount : { ...mount, uidMappings: [...users.uids], gidMappings: [...users.gids] };
}

function namespaces(input: ContainerInput): NamespaceOption {
  const { pod, container, kind, targetContainerId, userNamespace } = input;
  return kind === "ephemeral"
    ? ephemeralNamespaces(pod, container, targetContainerId, userNamespace)
    : podNamespaces(pod, userNamespace);
}

function stopSignal({ container, stopSignals }: ContainerInput): Signal {
  const name = stopSignals === true ? container.lifecycle?.stopSignal : undefined;
  return (name === undefined ? undefined : criSignal(name)) ?? Signal.RUNTIME_DEFAULT;
}
