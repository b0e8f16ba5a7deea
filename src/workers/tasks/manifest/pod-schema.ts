// The table of a v1 Pod: type, enum values, range, format and presence of each field (core/v1, Kubernetes 1.36).
// Conditions on several fields are in the rules; defaults of the API server are in defaults.ts.
import { any, bool, int, int64, intOrString, list, map, object, oneOf, quantity, str, text } from "./field-types.js";
import {
  absolutePath,
  dnsLabel,
  dnsSubdomain,
  envName,
  headerName,
  ipAddress,
  ipAddressOrEmpty,
  labelValue,
  noBackSteps,
  notEmpty,
  portName,
  relativePath,
  sysctlName,
} from "../../../shared/api/manifest/formats.js";
import { volume } from "./volume-schema.js";

const PORT = int(1, 65535);
const ID = int(0);
const resourceList = map(quantity);
const resources = object({ limits: resourceList, requests: resourceList, claims: list(any) });
const restartPolicy = oneOf("Always", "OnFailure", "Never");
const profile = object(
  { type: oneOf("RuntimeDefault", "Unconfined", "Localhost"), localhostProfile: text(relativePath) },
  ["type"],
);
const seLinuxOptions = object({ user: str, role: str, type: str, level: str });
const windowsOptions = any;
const keyRef = object({ name: str, key: str, optional: bool }, ["key"]);
const objectRef = object({ name: str, optional: bool });

const exec = object({ command: list(str) }, ["command"]);
const tcpSocket = object({ port: intOrString, host: str }, ["port"]);
const httpGet = object(
  {
    path: str,
    port: intOrString,
    host: str,
    scheme: oneOf("HTTP", "HTTPS"),
    httpHeaders: list(object({ name: text(headerName), value: str }, ["name"])),
  },
  ["port"],
);

const probe = object({
  exec,
  httpGet,
  tcpSocket,
  grpc: object({ port: PORT, service: str }, ["port"]),
  initialDelaySeconds: int(0),
  timeoutSeconds: int(0),
  periodSeconds: int(0),
  successThreshold: int(0),
  failureThreshold: int(0),
  terminationGracePeriodSeconds: int(1, Number.MAX_SAFE_INTEGER),
});
const handler = object({ exec, httpGet, tcpSocket, sleep: object({ seconds: int(0) }, ["seconds"]) });

const env = object(
  {
    name: text(envName),
    value: str,
    valueFrom: object({
      fieldRef: object({ apiVersion: str, fieldPath: str }, ["fieldPath"]),
      resourceFieldRef: object({ containerName: str, resource: str, divisor: quantity }, ["resource"]),
      configMapKeyRef: keyRef,
      secretKeyRef: keyRef,
      fileKeyRef: object({ volumeName: str, path: text(relativePath), key: str, optional: bool }, [
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
        hostPort: int(0, 65535),
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
  restartPolicy,
  restartPolicyRules: list(
    object(
      {
        action: oneOf("Restart", "RestartAllContainers"),
        exitCodes: object({ operator: oneOf("In", "NotIn"), values: list(int(0, 255)) }, ["operator"]),
      },
      ["action", "exitCodes"],
    ),
  ),
  volumeMounts: list(
    object(
      {
        name: text(notEmpty),
        mountPath: text(notEmpty),
        readOnly: bool,
        recursiveReadOnly: oneOf("Disabled", "IfPossible", "Enabled"),
        subPath: text(relativePath),
        subPathExpr: text(relativePath),
        mountPropagation: oneOf("None", "HostToContainer", "Bidirectional"),
      },
      ["name", "mountPath"],
    ),
  ),
  volumeDevices: list(object({ name: str, devicePath: text(noBackSteps) }, ["name", "devicePath"])),
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
  lifecycle: object({ postStart: handler, preStop: handler, stopSignal: text((v) => signal(v)) }),
  terminationMessagePath: text(absolutePath),
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
    procMount: oneOf("Default", "Unmasked"),
    seccompProfile: profile,
    appArmorProfile: profile,
  }),
  stdin: bool,
  stdinOnce: bool,
  tty: bool,
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
    terminationGracePeriodSeconds: int(0, Number.MAX_SAFE_INTEGER),
    activeDeadlineSeconds: int(1),
    dnsPolicy: oneOf("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    dnsConfig: object({
      nameservers: list(text(ipAddress)),
      searches: list(str),
      options: list(object({ name: text(notEmpty), value: str }, ["name"])),
    }),
    nodeName: str,
    nodeSelector: map(text(labelValue)),
    serviceAccountName: str,
    serviceAccount: str,
    automountServiceAccountToken: bool,
    hostNetwork: bool,
    hostPID: bool,
    hostIPC: bool,
    hostUsers: bool,
    shareProcessNamespace: bool,
    securityContext: object({
      seLinuxOptions,
      windowsOptions,
      runAsUser: ID,
      runAsGroup: ID,
      runAsNonRoot: bool,
      supplementalGroups: list(ID),
      supplementalGroupsPolicy: oneOf("Merge", "Strict"),
      fsGroup: ID,
      fsGroupChangePolicy: oneOf("OnRootMismatch", "Always"),
      sysctls: list(object({ name: text(sysctlName), value: str }, ["name", "value"])),
      seccompProfile: profile,
      appArmorProfile: profile,
      seLinuxChangePolicy: oneOf("Recursive", "MountOption"),
    }),
    imagePullSecrets: list(object({ name: str })),
    hostname: text(dnsLabel),
    subdomain: text(dnsLabel),
    hostnameOverride: text(dnsSubdomain, (value) => (value.length <= 64 ? undefined : "at most 64 characters")),
    setHostnameAsFQDN: bool,
    hostAliases: list(object({ ip: text(ipAddress), hostnames: list(text(dnsSubdomain)) }, ["ip"])),
    priorityClassName: str,
    priority: int(-2147483648),
    preemptionPolicy: oneOf("Never", "PreemptLowerPriority"),
    runtimeClassName: text(dnsSubdomain),
    overhead: resourceList,
    resources,
    enableServiceLinks: bool,
    tolerations: list(
      object({
        key: str,
        operator: oneOf("", "Exists", "Equal", "Lt", "Gt"),
        value: str,
        effect: oneOf("", "NoSchedule", "PreferNoSchedule", "NoExecute"),
        tolerationSeconds: int64,
      }),
    ),
    readinessGates: list(object({ conditionType: str }, ["conditionType"])),
    os: object({ name: oneOf("linux", "windows") }, ["name"]),
    schedulerName: str,
    affinity: any,
    topologySpreadConstraints: list(any),
    schedulingGates: list(object({ name: str }, ["name"])),
    resourceClaims: list(any),
  },
  ["containers"],
  ["workloadRef"],
);

const metadata = object(
  {
    name: text(dnsSubdomain),
    namespace: text(dnsLabel),
    uid: str,
    labels: map(text(labelValue)),
    annotations: map(str),
    finalizers: list(str),
  },
  ["name"],
  // Set by an API server: a manifest may carry them (an exported pod), a static pod has no use for them.
  [
    "generateName",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
    "managedFields",
    "selfLink",
  ],
);

/** A v1 Pod. `status` is dropped: the kubelet computes it. */
export const podSchema = object({ apiVersion: str, kind: str, metadata, spec }, ["metadata", "spec"], ["status"]);
