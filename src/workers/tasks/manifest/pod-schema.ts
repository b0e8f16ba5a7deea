// The table of a v1 Pod: type, enum values, range, format and presence of each field (core/v1, Kubernetes 1.36, and
// what 1.37 adds: docs/kubernetes-1.37.md).
// Conditions on several fields are in the rules; defaults of the API server are in defaults.ts.
import {
  amount,
  any,
  bool,
  flag,
  int,
  int64,
  intOrString,
  later,
  list,
  map,
  object,
  oneOf,
  plainInt,
  pointer,
  quantity,
  str,
  text,
  time,
} from "./field-types.js";
import {
  configKey,
  dnsLabel,
  dnsSubdomain,
  envName,
  finalizerName,
  headerName,
  ipAddress,
  ipAddressOrEmpty,
  labelValue,
  noBackSteps,
  notEmpty,
  portName,
  qualifiedName,
  relativePath,
  searchDomain,
  sysctlName,
} from "../../../shared/api/manifest/formats.js";
import { affinity, topologySpreadConstraints } from "./affinity-schema.js";
import { volume } from "./volume-schema.js";

const PORT = int(1, 65535);
const ID = int(0);
const resourceList = map(amount);
const resources = object({ limits: resourceList, requests: resourceList, claims: list(any) });
const restartPolicy = oneOf("Always", "OnFailure", "Never");
const profile = object(
  { type: oneOf("RuntimeDefault", "Unconfined", "Localhost"), localhostProfile: pointer(text(relativePath)) },
  ["type"],
);
const seLinuxOptions = object({ user: str, role: str, type: str, level: str });
const windowsOptions = any;
const keyRef = object({ name: text(dnsSubdomain), key: text(configKey), optional: bool }, ["name", "key"]);
const objectRef = object({ name: text(dnsSubdomain), optional: bool }, ["name"]);

const exec = object({ command: list(str) }, ["command"]);
const tcpSocket = object({ port: intOrString, host: str }, ["port"]);
const httpGet = object(
  {
    path: str,
    port: intOrString,
    host: str,
    scheme: oneOf("HTTP", "HTTPS"),
    httpHeaders: list(object({ name: text(headerName), value: pointer(str) }, ["name"], [], { value: "" })),
    protocol: later(pointer(oneOf("HTTP1", "HTTP2"))),
  },
  ["port"],
);

const probe = object({
  exec,
  httpGet,
  tcpSocket,
  grpc: object({ port: PORT, service: pointer(str), mode: later(pointer(oneOf("Plaintext", "TLS"))) }, ["port"]),
  initialDelaySeconds: plainInt(0),
  timeoutSeconds: int(0),
  periodSeconds: int(0),
  successThreshold: int(0),
  failureThreshold: int(0),
  terminationGracePeriodSeconds: int64(1),
});
const handler = object({ exec, httpGet, tcpSocket, sleep: object({ seconds: int(0) }, [], [], { seconds: 0 }) });

const env = object(
  {
    name: text(envName),
    value: str,
    valueFrom: object({
      fieldRef: object({ apiVersion: oneOf("v1"), fieldPath: str }, ["fieldPath"]),
      resourceFieldRef: object({ containerName: str, resource: str, divisor: quantity }, ["resource"]),
      configMapKeyRef: keyRef,
      secretKeyRef: keyRef,
      fileKeyRef: object({ volumeName: text(dnsLabel), path: text(relativePath), key: str, optional: bool }, [
        "volumeName",
        "path",
        "key",
      ]),
    }),
  },
  ["name"],
);

const containerFields = {
  name: text(dnsLabel),
  image: text((value) => (value.trim() === value ? undefined : "an image name without spaces around it")),
  command: list(str),
  args: list(str),
  workingDir: str,
  ports: list(
    object(
      {
        name: text(portName),
        hostPort: plainInt(0, 65535),
        containerPort: PORT,
        protocol: oneOf("TCP", "UDP", "SCTP"),
        hostIP: text(ipAddressOrEmpty),
      },
      ["containerPort"],
    ),
  ),
  envFrom: list(object({ prefix: str, configMapRef: objectRef, secretRef: objectRef })),
  env: list(env),
  resources,
  resizePolicy: list(
    object({ resourceName: oneOf("cpu", "memory"), restartPolicy: oneOf("NotRequired", "RestartContainer") }, [
      "resourceName",
      "restartPolicy",
    ]),
  ),
  restartPolicy: pointer(restartPolicy),
  restartPolicyRules: list(
    object(
      {
        action: oneOf("Restart", "RestartAllContainers"),
        exitCodes: object({ operator: oneOf("In", "NotIn"), values: list(int(-2147483648)) }, ["operator"]),
      },
      ["action", "exitCodes"],
    ),
  ),
  volumeMounts: list(
    object(
      {
        name: text(notEmpty),
        mountPath: text(notEmpty),
        readOnly: flag,
        recursiveReadOnly: pointer(oneOf("Disabled", "IfPossible", "Enabled")),
        subPath: text(relativePath),
        subPathExpr: text(relativePath),
        mountPropagation: pointer(oneOf("None", "HostToContainer", "Bidirectional")),
        bindMountOptions: later(list(oneOf("noexec", "nodev", "nosuid"))),
      },
      ["name", "mountPath"],
    ),
  ),
  volumeDevices: list(object({ name: str, devicePath: text(noBackSteps) }, ["name", "devicePath"])),
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
  lifecycle: object({ postStart: handler, preStop: handler, stopSignal: pointer(text((v) => signal(v))) }),
  terminationMessagePath: str,
  terminationMessagePolicy: oneOf("File", "FallbackToLogsOnError"),
  imagePullPolicy: oneOf("Always", "IfNotPresent", "Never"),
  securityContext: object({
    capabilities: object({ add: list(str), drop: list(str) }),
    privileged: bool,
    seLinuxOptions,
    windowsOptions,
    runAsUser: ID,
    runAsGroup: ID,
    runAsNonRoot: bool,
    readOnlyRootFilesystem: bool,
    allowPrivilegeEscalation: bool,
    procMount: pointer(oneOf("Default", "Unmasked")),
    seccompProfile: profile,
    appArmorProfile: profile,
  }),
  stdin: flag,
  stdinOnce: flag,
  tty: flag,
};

function signal(value: string): string | undefined {
  const named = /^SIG[A-Z]+[0-9]*$|^SIGRTM(?:IN\+|AX-)[0-9]{1,2}$/.test(value);
  return named ? undefined : "a signal name such as SIGTERM";
}

const container = object(containerFields, ["name", "image"]);

const spec = object(
  {
    containers: list(container),
    initContainers: list(container),
    ephemeralContainers: list(object({ ...containerFields, targetContainerName: str }, ["name", "image"])),
    volumes: list(volume),
    restartPolicy,
    terminationGracePeriodSeconds: int64(),
    activeDeadlineSeconds: int(1),
    dnsPolicy: oneOf("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    dnsConfig: object({
      nameservers: list(text(ipAddress)),
      searches: list(text(searchDomain)),
      options: list(object({ name: text(notEmpty), value: pointer(str) }, ["name"])),
    }),
    nodeName: str,
    nodeSelector: map(text(labelValue)),
    serviceAccountName: text(dnsSubdomain),
    serviceAccount: text(dnsSubdomain),
    automountServiceAccountToken: bool,
    hostNetwork: flag,
    hostPID: flag,
    hostIPC: flag,
    hostUsers: bool,
    shareProcessNamespace: bool,
    securityContext: object({
      seLinuxOptions,
      windowsOptions,
      runAsUser: ID,
      runAsGroup: ID,
      runAsNonRoot: bool,
      supplementalGroups: list(ID),
      supplementalGroupsPolicy: pointer(oneOf("Merge", "Strict")),
      fsGroup: ID,
      fsGroupChangePolicy: pointer(oneOf("OnRootMismatch", "Always")),
      sysctls: list(object({ name: text(sysctlName), value: pointer(str) }, ["name"], [], { value: "" })),
      seccompProfile: profile,
      appArmorProfile: profile,
      seLinuxChangePolicy: pointer(oneOf("Recursive", "MountOption")),
    }),
    imagePullSecrets: list(object({ name: str })),
    hostname: text(dnsLabel),
    subdomain: text(dnsLabel),
    hostnameOverride: pointer(
      text(dnsSubdomain, (value) => (value.length <= 64 ? undefined : "at most 64 characters")),
    ),
    setHostnameAsFQDN: bool,
    hostAliases: list(object({ ip: text(ipAddress), hostnames: list(text(dnsSubdomain)) }, ["ip"])),
    priorityClassName: text(dnsSubdomain),
    priority: int(-2147483648),
    preemptionPolicy: pointer(oneOf("Never", "PreemptLowerPriority")),
    runtimeClassName: pointer(text(dnsSubdomain)),
    overhead: resourceList,
    resources,
    enableServiceLinks: bool,
    tolerations: list(
      object({
        key: str,
        operator: oneOf("", "Exists", "Equal", "Lt", "Gt"),
        value: str,
        effect: oneOf("", "NoSchedule", "PreferNoSchedule", "NoExecute"),
        tolerationSeconds: int64(),
      }),
    ),
    readinessGates: list(object({ conditionType: text(qualifiedName) }, ["conditionType"])),
    os: object({ name: oneOf("linux", "windows") }, ["name"]),
    schedulerName: str,
    affinity,
    topologySpreadConstraints,
    schedulingGates: list(object({ name: str }, ["name"])),
    resourceClaims: list(any),
    evictionResponders: later(list(object({ name: str, priority: int(-2147483648) }, ["name"]))),
  },
  ["containers"],
  ["workloadRef"],
);

const ownerReference = object(
  { apiVersion: str, kind: str, name: str, uid: str, controller: bool, blockOwnerDeletion: bool },
  ["apiVersion", "kind", "name", "uid"],
);
const metadata = object(
  {
    name: text(dnsSubdomain),
    generateName: text((value) => dnsSubdomain(value.replace(/-$/, ""))),
    namespace: text(dnsLabel),
    uid: str,
    labels: map(text(labelValue)),
    annotations: map(str),
    finalizers: list(text(finalizerName)),
    creationTimestamp: time,
    ownerReferences: list(ownerReference),
  },
  ["name"],
  // Set by an API server: a manifest may carry them (an exported pod). With them an API server refuses the mirror pod, or the pod would end.
  ["resourceVersion", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink"],
);

/** A v1 Pod. `status` is dropped: the kubelet computes it. */
export const podSchema = object({ apiVersion: str, kind: str, metadata, spec }, ["metadata", "spec"], ["status"]);
