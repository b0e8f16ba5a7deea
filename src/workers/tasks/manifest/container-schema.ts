// The rules of containers: their image, environment, ports, mounts and restarts.

import {
  configKey,
  dnsLabel,
  dnsSubdomain,
  envName,
  ipAddressOrEmpty,
  noBackSteps,
  notEmpty,
  portName,
  relativePath,
} from "../../../shared/kubernetes/api/manifest/formats.js";
import { int, oneOf, text } from "./field-types.js";
import type { Rules } from "./struct.js";

const ID = int(0);
const name = text(dnsSubdomain);
const keyRef = { fields: { name, key: text(configKey) }, required: ["name", "key"] } as const;
const objectRef = { fields: { name }, required: ["name"] } as const;
const image = text((value) => (value.trim() === value ? undefined : "an image name without spaces around it"));

const container = {
  fields: {
    name: text(dnsLabel),
    image,
    restartPolicy: oneOf("Always", "OnFailure", "Never"),
    terminationMessagePolicy: oneOf("File", "FallbackToLogsOnError"),
    imagePullPolicy: oneOf("Always", "IfNotPresent", "Never"),
  },
  required: ["name", "image"],
} as const;

export const containerRules = (): Rules => ({
  ConfigMapEnvSource: objectRef,
  ConfigMapKeySelector: keyRef,
  Container: container,
  ContainerPort: {
    fields: {
      name: text(portName),
      hostPort: int(0, 65535),
      containerPort: int(1, 65535),
      protocol: oneOf("TCP", "UDP", "SCTP"),
      hostIP: text(ipAddressOrEmpty),
    },
    required: ["containerPort"],
  },
  ContainerResizePolicy: {
    fields: { resourceName: oneOf("cpu", "memory"), restartPolicy: oneOf("NotRequired", "RestartContainer") },
    required: ["resourceName", "restartPolicy"],
  },
  ContainerRestartRule: {
    fields: { action: oneOf("Restart", "RestartAllContainers") },
    required: ["action", "exitCodes"],
  },
  ContainerRestartRuleOnExitCodes: { fields: { operator: oneOf("In", "NotIn") }, required: ["operator"] },
  EnvVar: { fields: { name: text(envName) }, required: ["name"] },
  EphemeralContainer: container,
  FileKeySelector: {
    fields: { volumeName: text(dnsLabel), path: text(noBackSteps), key: text(envName) },
    required: ["volumeName", "path", "key"],
  },
  Lifecycle: { fields: { stopSignal: text((value) => signal(value)) } },
  ObjectFieldSelector: { fields: { apiVersion: oneOf("v1") }, required: ["fieldPath"] },
  ResourceFieldSelector: { required: ["resource"] },
  SecretEnvSource: objectRef,
  SecretKeySelector: keyRef,
  SecurityContext: { fields: { runAsUser: ID, runAsGroup: ID, procMount: oneOf("Default", "Unmasked") } },
  VolumeDevice: { fields: { devicePath: text(noBackSteps) }, required: ["name", "devicePath"] },
  VolumeMount: {
    fields: {
      name: text(notEmpty),
      mountPath: text(notEmpty),
      recursiveReadOnly: oneOf("Disabled", "IfPossible", "Enabled"),
      subPath: text(relativePath),
      subPathExpr: text(relativePath),
      mountPropagation: oneOf("None", "HostToContainer", "Bidirectional"),
      bindMountOptions: oneOf("noexec", "nodev", "nosuid"),
    },
    required: ["name", "mountPath"],
  },
});

function signal(value: string): string | undefined {
  const named = /^SIG[A-Z]+[0-9]*$|^SIGRTM(?:IN\+|AX-)[0-9]{1,2}$/.test(value);
  return named ? undefined : "a signal name such as SIGTERM";
}
