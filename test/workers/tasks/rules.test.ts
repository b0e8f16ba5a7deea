// Every validation rule of a static pod manifest: one broken field, one violation, at its field, with the allowed
// values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { violationText, type ManifestViolation } from "../../../src/shared/kubernetes/api/manifest/violation.js";
import { decodeManifest } from "../../../src/workers/tasks/index.js";

type Json = Record<string, unknown>;
interface Parts {
  pod?: Json;
  meta?: Json;
  spec?: Json;
  c?: Json;
}

function build({ pod, meta, spec, c }: Parts): Json {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", ...meta },
    spec: { containers: [{ name: "main", image: "busybox:1", ...c }], ...spec },
    ...pod,
  };
}
function violations(value: Json, extra: { preventAPIReferences?: boolean } = {}): ManifestViolation[] {
  const job = {
    origin: { kind: "file", path: "/m/x" } as const,
    text: JSON.stringify(value),
    nodeName: "node",
    ...extra,
  };
  return decodeManifest(job).error ?? [];
}

const C = "spec.containers[0]";
const probe = { exec: { command: ["true"] } };
const volume = (source: Json): Parts => ({ spec: { volumes: [{ name: "v", ...source }] } });
const mount = (more: Json): Parts => ({
  spec: { volumes: [{ name: "v", emptyDir: {} }] },
  c: { volumeMounts: [{ name: "v", mountPath: "/v", ...more }] },
});
const env = (valueFrom: Json): Parts => ({ c: { env: [{ name: "A", valueFrom }] } });
const init = (more: Json): Parts => ({ spec: { initContainers: [{ name: "i", image: "b", ...more }] } });

const ARMOR = "container.apparmor.security.beta.kubernetes.io/";
const armored = (container: string, profile: string): Parts => ({
  meta: { annotations: { [`${ARMOR}${container}`]: profile } },
});

/** The broken rule; the manifest; the blamed field; the message. */
/** Sources with what they must have. */
const WHOLE: Readonly<Record<string, object>> = {
  secret: { secretName: "a" },
  configMap: { name: "a" },
  persistentVolumeClaim: { claimName: "a" },
  ephemeral: {
    volumeClaimTemplate: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
  },
  csi: { driver: "d" },
};
const PROJECTED: Readonly<Record<string, object>> = {
  secret: { name: "a" },
  configMap: { name: "a" },
  serviceAccountToken: { path: "a" },
};

const broken: [string, Parts, string, RegExp][] = [
  [
    "apiVersion of another group",
    { pod: { apiVersion: "apps/v1" } },
    "apiVersion",
    /unsupported value "apps\/v1"; allowed: v1/,
  ],
  ["kind", { pod: { kind: "Pdo" } }, "kind", /unsupported value "Pdo"; allowed: Pod \(did you mean "Pod"\?\)/],
  ["kind missing", { pod: { kind: null } }, "kind", /required value: Pod/],
  ["a list in a file", { pod: { kind: "PodList" } }, "kind", /unsupported value "PodList"/],
  ["no metadata", { pod: { metadata: null } }, "metadata", /required/],
  ["no spec", { pod: { spec: null } }, "spec", /required/],
  ["no name", { meta: { name: null } }, "metadata.name", /required value/],
  [
    "AppArmor annotation for another container",
    armored("other", "runtime/default"),
    `metadata.annotations[${ARMOR}other]`,
    /invalid value "other"; allowed: the name of a container/,
  ],
  [
    "AppArmor annotation without a profile",
    armored("main", "strict"),
    `metadata.annotations[${ARMOR}main]`,
    /invalid value "strict"; allowed: "runtime\/default", "unconfined" or "localhost\//,
  ],
  [
    "AppArmor annotation that disagrees with the field",
    { ...armored("main", "localhost/a"), spec: { securityContext: { appArmorProfile: { type: "RuntimeDefault" } } } },
    `${C}.securityContext.appArmorProfile`,
    /the same profile as in the annotation/,
  ],
  ["name", { meta: { name: "Web_1" } }, "metadata.name", /invalid value "Web_1"; allowed: a DNS name/],
  ["name too long with the node's", { meta: { name: "a".repeat(250) } }, "metadata.name", /at most 248 characters/],
  ["namespace", { meta: { namespace: "a.b" } }, "metadata.namespace", /a DNS label/],
  ["label value", { meta: { labels: { a: "-" } } }, "metadata.labels.a", /at most 63 letters/],
  ["label key", { meta: { labels: { "a b": "x" } } }, "metadata.labels[a b]", /invalid value "a b"/],
  [
    "label type",
    { meta: { labels: { a: true } } },
    "metadata.labels.a",
    /wrong type true; allowed: a string \(write it in quotes/,
  ],
  ["annotation key", { meta: { annotations: { "/x": "1" } } }, "metadata.annotations[/x]", /invalid value/],
  ["annotations too large", { meta: { annotations: { a: "x".repeat(262_200) } } }, "metadata.annotations", /256 KiB/],
  ["no containers", { spec: { containers: [] } }, "spec.containers", /required value: at least one container/],
  ["containers of wrong type", { spec: { containers: "x" } }, "spec.containers", /wrong type "x"; allowed: a list/],
  ["empty list item", { spec: { containers: [{ image: "b" }] } }, "spec.containers[0].name", /required value/],
  [
    "ephemeral containers",
    { spec: { ephemeralContainers: [{ name: "e", image: "b" }] } },
    "spec.ephemeralContainers",
    /forbidden/,
  ],
  [
    "restartPolicy",
    { spec: { restartPolicy: "always" } },
    "spec.restartPolicy",
    /allowed: Always, OnFailure, Never \(did you mean "Always"/,
  ],
  [
    "grace",
    { spec: { terminationGracePeriodSeconds: 1e19 } },
    "spec.terminationGracePeriodSeconds",
    /invalid value 10000000000000000000; allowed: an integer of 64 bits/,
  ],
  ["deadline", { spec: { activeDeadlineSeconds: 0 } }, "spec.activeDeadlineSeconds", /1 to 2147483647/],
  ["dnsPolicy", { spec: { dnsPolicy: "Cluster" } }, "spec.dnsPolicy", /ClusterFirstWithHostNet/],
  [
    "dnsPolicy None alone",
    { spec: { dnsPolicy: "None" } },
    "spec.dnsConfig",
    /required value: at least one nameserver/,
  ],
  ["nameserver", { spec: { dnsConfig: { nameservers: ["x"] } } }, "spec.dnsConfig.nameservers[0]", /an IP address/],
  [
    "four nameservers",
    { spec: { dnsConfig: { nameservers: ["1.1.1.1", "::1", "1.1.1.3", "1.1.1.4"] } } },
    "spec.dnsConfig.nameservers",
    /at most 3/,
  ],
  [
    "searches",
    { spec: { dnsConfig: { searches: Array.from({ length: 33 }, () => "a") } } },
    "spec.dnsConfig.searches",
    /at most 32/,
  ],
  [
    "search characters",
    { spec: { dnsConfig: { searches: Array.from({ length: 20 }, () => "a".repeat(120)) } } },
    "spec.dnsConfig.searches",
    /2048/,
  ],
  ["dns option", { spec: { dnsConfig: { options: [{ value: "1" }] } } }, "spec.dnsConfig.options[0].name", /required/],
  [
    "hostNetwork type",
    { spec: { hostNetwork: "yes" } },
    "spec.hostNetwork",
    /wrong type "yes"; allowed: true or false/,
  ],
  [
    "hostPID and shared",
    { spec: { hostPID: true, shareProcessNamespace: true } },
    "spec.shareProcessNamespace",
    /forbidden/,
  ],
  [
    "hostUsers false on host network",
    { spec: { hostUsers: false, hostNetwork: true } },
    "spec.hostNetwork",
    /hostUsers/,
  ],
  ["hostname", { spec: { hostname: "a.b" } }, "spec.hostname", /a DNS label/],
  [
    "hostnameOverride and hostNetwork",
    { spec: { hostnameOverride: "a", hostNetwork: true } },
    "spec.hostnameOverride",
    /forbidden/,
  ],
  [
    "hostnameOverride and FQDN",
    { spec: { hostnameOverride: "a", setHostnameAsFQDN: true } },
    "spec.hostnameOverride",
    /forbidden/,
  ],
  [
    "host alias",
    { spec: { hostAliases: [{ ip: "1.2", hostnames: ["a"] }] } },
    "spec.hostAliases[0].ip",
    /an IP address/,
  ],
  [
    "toleration without key",
    { spec: { tolerations: [{ operator: "Equal" }] } },
    "spec.tolerations[0].operator",
    /Exists, when the key is empty/,
  ],
  [
    "toleration value",
    { spec: { tolerations: [{ key: "a", operator: "Exists", value: "b" }] } },
    "spec.tolerations[0].value",
    /nothing/,
  ],
  [
    "toleration number",
    { spec: { tolerations: [{ key: "a", operator: "Gt", value: "b" }] } },
    "spec.tolerations[0].value",
    /an integer/,
  ],
  [
    "toleration seconds",
    { spec: { tolerations: [{ key: "a", tolerationSeconds: 1 }] } },
    "spec.tolerations[0].effect",
    /NoExecute/,
  ],
  ["scheduling gates", { spec: { schedulingGates: [{ name: "g" }] } }, "spec.schedulingGates", /forbidden/],
  ["os", { spec: { os: { name: "plan9" } } }, "spec.os.name", /linux, windows/],
  [
    "sysctl name",
    { spec: { securityContext: { sysctls: [{ name: "A", value: "1" }] } } },
    "spec.securityContext.sysctls[0].name",
    /kernel parameter/,
  ],
  [
    "sysctl twice",
    {
      spec: {
        securityContext: {
          sysctls: [
            { name: "a.b", value: "1" },
            { name: "a.b", value: "2" },
          ],
        },
      },
    },
    "spec.securityContext.sysctls[1].name",
    /duplicate/,
  ],
  ["runAsUser", { spec: { securityContext: { runAsUser: -1 } } }, "spec.securityContext.runAsUser", /0 to 2147483647/],
  [
    "fsGroup",
    { spec: { securityContext: { fsGroup: 1.5 } } },
    "spec.securityContext.fsGroup",
    /wrong type 1.5; allowed: an integer/,
  ],
  [
    "seccomp Localhost",
    { spec: { securityContext: { seccompProfile: { type: "Localhost" } } } },
    "spec.securityContext.seccompProfile.localhostProfile",
    /required/,
  ],
  [
    "seccomp file with another type",
    { c: { securityContext: { seccompProfile: { type: "Unconfined", localhostProfile: "x" } } } },
    `${C}.securityContext.seccompProfile.localhostProfile`,
    /forbidden/,
  ],
  ["container name", { c: { name: "A" } }, `${C}.name`, /a DNS label/],
  ["container name missing", { c: { name: null } }, `${C}.name`, /required/],
  ["image missing", { c: { image: null } }, `${C}.image`, /required/],
  ["image spaces", { c: { image: " a" } }, `${C}.image`, /without spaces/],
  ["name twice", init({ name: "main" }), `${C}.name`, /duplicate value "main"/],
  ["command", { c: { command: "ls" } }, `${C}.command`, /wrong type "ls"; allowed: a list/],
  ["argument type", { c: { args: [1] } }, `${C}.args[0]`, /wrong type 1; allowed: a string \(write it in quotes/],
  [
    "imagePullPolicy",
    { c: { imagePullPolicy: "Alwayss" } },
    `${C}.imagePullPolicy`,
    /unsupported value "Alwayss"; allowed: Always, IfNotPresent, Never \(did you mean "Always"\?\)/,
  ],
  [
    "terminationMessagePolicy",
    { c: { terminationMessagePolicy: "Log" } },
    `${C}.terminationMessagePolicy`,
    /FallbackToLogsOnError/,
  ],
  ["containerPort", { c: { ports: [{ containerPort: 0 }] } }, `${C}.ports[0].containerPort`, /1 to 65535/],
  ["containerPort missing", { c: { ports: [{ name: "a" }] } }, `${C}.ports[0].containerPort`, /required/],
  ["hostPort", { c: { ports: [{ containerPort: 1, hostPort: 70000 }] } }, `${C}.ports[0].hostPort`, /0 to 65535/],
  [
    "protocol",
    { c: { ports: [{ containerPort: 1, protocol: "tcp" }] } },
    `${C}.ports[0].protocol`,
    /did you mean "TCP"/,
  ],
  ["hostIP", { c: { ports: [{ containerPort: 1, hostIP: "a" }] } }, `${C}.ports[0].hostIP`, /an IP address/],
  [
    "port name",
    { c: { ports: [{ containerPort: 1, name: "much-too-long-name" }] } },
    `${C}.ports[0].name`,
    /at most 15/,
  ],
  [
    "port name twice",
    {
      c: {
        ports: [
          { containerPort: 1, name: "a" },
          { containerPort: 2, name: "a" },
        ],
      },
    },
    `${C}.ports[1].name`,
    /duplicate/,
  ],
  [
    "host port twice",
    {
      c: {
        ports: [
          { containerPort: 1, hostPort: 5 },
          { containerPort: 2, hostPort: 5 },
        ],
      },
    },
    `${C}.ports[1].hostPort`,
    /duplicate/,
  ],
  [
    "host network port",
    { spec: { hostNetwork: true }, c: { ports: [{ containerPort: 1, hostPort: 5 }] } },
    `${C}.ports[0].hostPort`,
    /the containerPort \(1\)/,
  ],
  ["env name", { c: { env: [{ name: "A=B" }] } }, `${C}.env[0].name`, /printable ASCII/],
  ["env value type", { c: { env: [{ name: "A", value: 1 }] } }, `${C}.env[0].value`, /in quotes/],
  [
    "env value and source",
    { c: { env: [{ name: "A", value: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] } },
    `${C}.env[0].valueFrom`,
    /forbidden/,
  ],
  ["env source missing", env({}), `${C}.env[0].valueFrom`, /one source: fieldRef/],
  [
    "env two sources",
    env({ fieldRef: { fieldPath: "metadata.name" }, resourceFieldRef: { resource: "limits.cpu" } }),
    `${C}.env[0].valueFrom.resourceFieldRef`,
    /one source only/,
  ],
  [
    "env field",
    env({ fieldRef: { fieldPath: "metadata.nam" } }),
    `${C}.env[0].valueFrom.fieldRef.fieldPath`,
    /unsupported value/,
  ],
  [
    "env resource",
    env({ resourceFieldRef: { resource: "cpu" } }),
    `${C}.env[0].valueFrom.resourceFieldRef.resource`,
    /limits.cpu/,
  ],
  ["envFrom empty", { c: { envFrom: [{ prefix: "a" }] } }, `${C}.envFrom[0]`, /one source/],
  ["quantity", { c: { resources: { limits: { cpu: "1q" } } } }, `${C}.resources.limits.cpu`, /a quantity/],
  ["negative quantity", { c: { resources: { limits: { cpu: "-1" } } } }, `${C}.resources.limits.cpu`, /zero or more/],
  [
    "request above limit",
    { c: { resources: { limits: { memory: "1Mi" }, requests: { memory: "2Mi" } } } },
    `${C}.resources.requests.memory`,
    /at most the limit \(1Mi\)/,
  ],
  [
    "resource name",
    { c: { resources: { limits: { cpus: "1" } } } },
    `${C}.resources.limits.cpus`,
    /unsupported value "cpus"/,
  ],
  [
    "huge pages request",
    { c: { resources: { limits: { "hugepages-2Mi": "4Mi", cpu: 1 }, requests: { "hugepages-2Mi": "2Mi" } } } },
    `${C}.resources.requests[hugepages-2Mi]`,
    /overcommitted/,
  ],
  [
    "huge pages size",
    { c: { resources: { limits: { "hugepages-2Mi": "3Mi", cpu: 1 } } } },
    `${C}.resources.limits[hugepages-2Mi]`,
    /multiple of the page size/,
  ],
  [
    "huge pages alone",
    { c: { resources: { limits: { "hugepages-2Mi": "4Mi" } } } },
    `${C}.resources`,
    /need a request or limit of cpu or memory/,
  ],
  [
    "huge pages of the pod alone",
    { spec: { resources: { limits: { "hugepages-2Mi": "4Mi" } } } },
    "spec.resources",
    /need a request or limit of cpu or memory/,
  ],
  [
    "an extended resource with the prefix of a quota",
    { c: { resources: { limits: { "requests.x/foo": "1" } } } },
    `${C}.resources.limits[requests.x/foo]`,
    /requests\.x/,
  ],
  [
    "a container's request above the pod's",
    { spec: { resources: { requests: { cpu: 1 } } }, c: { resources: { requests: { cpu: 2 } } } },
    "spec.resources.requests.cpu",
    /at least the sum of the containers' requests/,
  ],
  [
    "a container's request above the pod's limit",
    { spec: { resources: { limits: { cpu: 1 } } }, c: { resources: { requests: { cpu: "1001m" } } } },
    "spec.resources.limits.cpu",
    /at least the sum of the containers' requests/,
  ],
  [
    "a container that is no map, in a pod with resources",
    { spec: { resources: { limits: { cpu: 1 } }, initContainers: ["x"] } },
    "spec.initContainers[0]",
    /wrong type/,
  ],
  [
    "a container's limit above the pod's",
    {
      spec: { resources: { limits: { memory: "1Gi" } } },
      c: { resources: { requests: { memory: 1 }, limits: { memory: "2Gi" } } },
    },
    `${C}.resources.limits.memory`,
    /at most the pod's limit \(1Gi\)/,
  ],
  [
    "resize policy of a pod that does not restart",
    {
      spec: { restartPolicy: "Never" },
      c: { resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] },
    },
    `${C}.resizePolicy[0].restartPolicy`,
    /NotRequired/,
  ],
  [
    "Windows options of a Linux pod",
    { spec: { os: { name: "linux" }, securityContext: { windowsOptions: {} } } },
    "spec.securityContext.windowsOptions",
    /os is linux/,
  ],
  [
    "Windows options of a container of a Linux pod",
    { spec: { os: { name: "linux" } }, c: { securityContext: { windowsOptions: { runAsUserName: "a" } } } },
    `${C}.securityContext.windowsOptions`,
    /os is linux/,
  ],
  [
    "AppArmor profile with a blank",
    { c: { securityContext: { appArmorProfile: { type: "Localhost", localhostProfile: "a " } } } },
    `${C}.securityContext.appArmorProfile.localhostProfile`,
    /without blanks/,
  ],
  [
    "seccomp annotation of no profile",
    { meta: { annotations: { "seccomp.security.alpha.kubernetes.io/pod": "foo" } } },
    "metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]",
    /runtime\/default/,
  ],
  [
    "seccomp annotation of a container with a path that climbs",
    { meta: { annotations: { "container.seccomp.security.alpha.kubernetes.io/a": "localhost/../a" } } },
    "metadata.annotations[container.seccomp.security.alpha.kubernetes.io/a]",
    /a path/,
  ],
  ...["x", "+5", "01", "", "2147483648"].map((cost): [string, Parts, string, RegExp] => [
    `deletion cost ${JSON.stringify(cost)}`,
    { meta: { annotations: { "controller.kubernetes.io/pod-deletion-cost": cost } } },
    "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]",
    /whole number of 32 bits/,
  ]),
  ...["x", "{}", "[1]"].map((list): [string, Parts, string, RegExp] => [
    `tolerations ${list} in an annotation`,
    { meta: { annotations: { "scheduler.alpha.kubernetes.io/tolerations": list } } },
    "metadata.annotations[scheduler.alpha.kubernetes.io/tolerations]",
    /list of tolerations/,
  ]),
  ...["..data", "..x", "../x"].map((path): [string, Parts, string, RegExp] => [
    `file ${path} of a volume`,
    volume({ downwardAPI: { items: [{ path, fieldRef: { fieldPath: "metadata.name" } }] } }),
    "spec.volumes[0].downwardAPI.items[0].path",
    /does not begin with "\.\."/,
  ]),
  [
    "variables of a file that no container writes",
    {
      ...volume({ hostPath: { path: "/x" } }),
      ...env({ fileKeyRef: { volumeName: "v", path: "p", key: "K" } }),
    },
    `${C}.env[0].valueFrom.fileKeyRef.volumeName`,
    /emptyDir/,
  ],
  [
    "key of a file with an equals sign",
    { ...volume({ emptyDir: {} }), ...env({ fileKeyRef: { volumeName: "v", path: "p", key: "a=b" } }) },
    `${C}.env[0].valueFrom.fileKeyRef.key`,
    /printable ASCII/,
  ],
  [
    "device fraction",
    { c: { resources: { limits: { "a.io/gpu": "0.5" } } } },
    `${C}.resources.limits[a.io/gpu]`,
    /whole number/,
  ],
  [
    "device without limit",
    { c: { resources: { requests: { "a.io/gpu": "1" } } } },
    `${C}.resources.limits[a.io/gpu]`,
    /required/,
  ],
  [
    "pod resources",
    { spec: { resources: { limits: { "ephemeral-storage": "1Gi" } } } },
    "spec.resources.limits[ephemeral-storage]",
    /cpu, memory/,
  ],
  [
    "resize policy",
    { c: { resizePolicy: [{ resourceName: "disk", restartPolicy: "NotRequired" }] } },
    `${C}.resizePolicy[0].resourceName`,
    /cpu, memory/,
  ],
  [
    "restart rules alone",
    { c: { restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [1] } }] } },
    `${C}.restartPolicy`,
    /required/,
  ],
  ["finalizer", { meta: { finalizers: ["x"] } }, "metadata.finalizers[0]", /DNS prefix/],
  ["search domain", { spec: { dnsConfig: { searches: ["a..b"] } } }, "spec.dnsConfig.searches[0]", /DNS name/],
  [
    "exec without a program",
    { c: { livenessProbe: { exec: { command: [] } } } },
    `${C}.livenessProbe.exec.command`,
    /program/,
  ],
  [
    "divisor of CPU",
    env({ resourceFieldRef: { resource: "limits.cpu", divisor: "1Ki" } }),
    `${C}.env[0].valueFrom.resourceFieldRef.divisor`,
    /1m, 1/,
  ],
  [
    "sysctl of the node's IPC",
    { spec: { hostIPC: true, securityContext: { sysctls: [{ name: "kernel.shmmax", value: "1" }] } } },
    "spec.securityContext.sysctls[0].name",
    /hostIPC/,
  ],
  ["relative path of NFS", volume({ nfs: { server: "s", path: "p" } }), "spec.volumes[0].nfs.path", /absolute/],
  ["iSCSI name", volume({ iscsi: { targetPortal: "p", iqn: "disk" } }), "spec.volumes[0].iscsi.iqn", /iqn\.2001-04/],
  ["fibre channel without a LUN", volume({ fc: { targetWWNs: ["a"] } }), "spec.volumes[0].fc.lun", /beside targetWWNs/],
  [
    "node selector term without values",
    {
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: "k", operator: "In" }] }],
            },
          },
        },
      },
    },
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values",
    /at least one value/,
  ],
  [
    "spread constraint twice",
    {
      spec: {
        topologySpreadConstraints: [1, 2].map((maxSkew) => ({
          maxSkew,
          topologyKey: "k",
          whenUnsatisfiable: "DoNotSchedule",
        })),
      },
    },
    "spec.topologySpreadConstraints[1].topologyKey",
    /once/,
  ],
  [
    "restart rule codes",
    {
      c: {
        restartPolicy: "Never",
        restartPolicyRules: [
          { action: "Restart", exitCodes: { operator: "In", values: Array.from({ length: 256 }, (_, code) => code) } },
        ],
      },
    },
    `${C}.restartPolicyRules[0].exitCodes.values`,
    /at most 255 exit codes/,
  ],
  [
    "probe without handler",
    { c: { livenessProbe: { periodSeconds: 1 } } },
    `${C}.livenessProbe`,
    /one handler: exec, httpGet, tcpSocket, grpc/,
  ],
  [
    "probe two handlers",
    { c: { livenessProbe: { ...probe, tcpSocket: { port: 1 } } } },
    `${C}.livenessProbe.tcpSocket`,
    /one handler only/,
  ],
  [
    "probe period",
    { c: { livenessProbe: { ...probe, periodSeconds: -1 } } },
    `${C}.livenessProbe.periodSeconds`,
    /0 to/,
  ],
  [
    "liveness successThreshold",
    { c: { livenessProbe: { ...probe, successThreshold: 2 } } },
    `${C}.livenessProbe.successThreshold`,
    /1, for a livenessProbe/,
  ],
  [
    "startup successThreshold",
    { c: { startupProbe: { ...probe, successThreshold: 2 } } },
    `${C}.startupProbe.successThreshold`,
    /1, for/,
  ],
  [
    "readiness grace",
    { c: { readinessProbe: { ...probe, terminationGracePeriodSeconds: 1 } } },
    `${C}.readinessProbe.terminationGracePeriodSeconds`,
    /forbidden/,
  ],
  ["probe port", { c: { livenessProbe: { httpGet: { port: 0 } } } }, `${C}.livenessProbe.httpGet.port`, /1 to 65535/],
  [
    "probe port name",
    { c: { livenessProbe: { tcpSocket: { port: "A_B" } } } },
    `${C}.livenessProbe.tcpSocket.port`,
    /port name/,
  ],
  [
    "probe scheme",
    { c: { livenessProbe: { httpGet: { port: 1, scheme: "http" } } } },
    `${C}.livenessProbe.httpGet.scheme`,
    /did you mean "HTTP"/,
  ],
  [
    "probe header",
    { c: { livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: "a b", value: "x" }] } } } },
    `${C}.livenessProbe.httpGet.httpHeaders[0].name`,
    /header name/,
  ],
  ["exec command", { c: { livenessProbe: { exec: {} } } }, `${C}.livenessProbe.exec.command`, /required/],
  ["hook without handler", { c: { lifecycle: { preStop: {} } } }, `${C}.lifecycle.preStop`, /one handler/],
  [
    "sleep beyond grace",
    { c: { lifecycle: { preStop: { sleep: { seconds: 31 } } } } },
    `${C}.lifecycle.preStop.sleep.seconds`,
    /terminationGracePeriodSeconds \(30\)/,
  ],
  [
    "stop signal without os",
    { c: { lifecycle: { stopSignal: "SIGUSR1" } } },
    `${C}.lifecycle.stopSignal`,
    /spec.os.name/,
  ],
  [
    "stop signal",
    { spec: { os: { name: "linux" } }, c: { lifecycle: { stopSignal: "USR1" } } },
    `${C}.lifecycle.stopSignal`,
    /SIGTERM/,
  ],
  ["init container probe", init({ livenessProbe: probe }), "spec.initContainers[0].livenessProbe", /sidecar/],
  ["init container hook", init({ lifecycle: { preStop: probe } }), "spec.initContainers[0].lifecycle", /sidecar/],
  [
    "privileged",
    { c: { securityContext: { privileged: true, allowPrivilegeEscalation: false } } },
    `${C}.securityContext.allowPrivilegeEscalation`,
    /privileged/,
  ],
  [
    "CAP_SYS_ADMIN",
    { c: { securityContext: { capabilities: { add: ["CAP_SYS_ADMIN"] }, allowPrivilegeEscalation: false } } },
    `${C}.securityContext.allowPrivilegeEscalation`,
    /CAP_SYS_ADMIN/,
  ],
  ["procMount", { c: { securityContext: { procMount: "Unmasked" } } }, `${C}.securityContext.procMount`, /hostUsers/],
  ["volume name", { spec: { volumes: [{ name: "V", emptyDir: {} }] } }, "spec.volumes[0].name", /a DNS label/],
  ["volume twice", { spec: { volumes: [{ name: "v" }, { name: "v" }] } }, "spec.volumes[1].name", /duplicate/],
  [
    "volume with two sources",
    volume({ emptyDir: {}, hostPath: { path: "/a" } }),
    "spec.volumes[0].hostPath",
    /one source per volume/,
  ],
  ["hostPath path", volume({ hostPath: {} }), "spec.volumes[0].hostPath.path", /required/],
  ["hostPath climbs", volume({ hostPath: { path: "/a/../b" } }), "spec.volumes[0].hostPath.path", /without ".."/],
  [
    "hostPath type",
    volume({ hostPath: { path: "/a", type: "Dir" } }),
    "spec.volumes[0].hostPath.type",
    /DirectoryOrCreate/,
  ],
  ["emptyDir medium", volume({ emptyDir: { medium: "memory" } }), "spec.volumes[0].emptyDir.medium", /"Memory"/],
  ["emptyDir size", volume({ emptyDir: { sizeLimit: "a" } }), "spec.volumes[0].emptyDir.sizeLimit", /a quantity/],
  [
    "downward mode",
    volume({ downwardAPI: { defaultMode: 512 } }),
    "spec.volumes[0].downwardAPI.defaultMode",
    /0 to 511/,
  ],
  ["mount of no volume", mount({ name: "w" }), `${C}.volumeMounts[0].name`, /unsupported value "w"; allowed: v/],
  ["mountPath missing", mount({ mountPath: null }), `${C}.volumeMounts[0].mountPath`, /required/],
  [
    "mountPath twice",
    {
      spec: { volumes: [{ name: "v" }] },
      c: {
        volumeMounts: [
          { name: "v", mountPath: "/v" },
          { name: "v", mountPath: "/v" },
        ],
      },
    },
    `${C}.volumeMounts[1].mountPath`,
    /duplicate/,
  ],
  ["subPath climbs", mount({ subPath: "../a" }), `${C}.volumeMounts[0].subPath`, /relative path/],
  ["subPath and expr", mount({ subPath: "a", subPathExpr: "b" }), `${C}.volumeMounts[0].subPathExpr`, /beside subPath/],
  ["propagation", mount({ mountPropagation: "Bidirectional" }), `${C}.volumeMounts[0].mountPropagation`, /privileged/],
  [
    "recursive read-only",
    mount({ recursiveReadOnly: "Enabled" }),
    `${C}.volumeMounts[0].recursiveReadOnly`,
    /readOnly true/,
  ],
  [
    "serviceAccountName",
    { spec: { serviceAccountName: "a" } },
    "spec.serviceAccountName",
    /static pods may not reference serviceaccounts/,
  ],
  [
    "pull secret",
    { spec: { imagePullSecrets: [{ name: "a" }] } },
    "spec.imagePullSecrets[0].name",
    /reference secrets/,
  ],
  ["resource claims", { spec: { resourceClaims: [{ name: "a" }] } }, "spec.resourceClaims", /resourceclaims/],
  ["secret env", env({ secretKeyRef: { name: "a", key: "b" } }), `${C}.env[0].valueFrom.secretKeyRef`, /secrets/],
  [
    "config map env",
    env({ configMapKeyRef: { name: "a", key: "b" } }),
    `${C}.env[0].valueFrom.configMapKeyRef`,
    /configmaps/,
  ],
  ["secret envFrom", { c: { envFrom: [{ secretRef: { name: "a" } }] } }, `${C}.envFrom[0].secretRef`, /secrets/],
  [
    "config map envFrom",
    { c: { envFrom: [{ configMapRef: { name: "a" } }] } },
    `${C}.envFrom[0].configMapRef`,
    /configmaps/,
  ],
  ...["secret", "configMap", "persistentVolumeClaim", "ephemeral", "csi", "glusterfs", "azureFile"].map(
    (name): [string, Parts, string, RegExp] => [
      `${name} volume`,
      volume({ [name]: WHOLE[name] ?? {} }),
      `spec.volumes[0].${name}`,
      /may not reference/,
    ],
  ),
  ["volume's secret", volume({ rbd: { secretRef: { name: "a" } } }), "spec.volumes[0].rbd.secretRef", /secrets/],
  ...["secret", "configMap", "serviceAccountToken", "clusterTrustBundle", "podCertificate"].map(
    (name): [string, Parts, string, RegExp] => [
      `projected ${name}`,
      volume({ projected: { sources: [{ [name]: PROJECTED[name] ?? {} }] } }),
      `spec.volumes[0].projected.sources[0].${name}`,
      /may not reference/,
    ],
  ),
];

for (const [what, parts, field, sentence] of broken) {
  test(`refused: ${what}`, () => {
    const found = violations(build(parts));
    assert.equal(found.length, 1, JSON.stringify(found));
    assert.equal(found[0]?.field, field);
    assert.match(violationText(found[0]), sentence);
    assert.ok(found[0].line >= 1 && found[0].column >= 1);
  });
}

const right: [string, Parts][] = [
  [
    "a kubeadm style pod",
    {
      meta: { creationTimestamp: null },
      pod: { status: {} },
      spec: { priorityClassName: "system-node-critical", hostNetwork: true },
    },
  ],
  [
    "named host port equal to the port",
    { spec: { hostNetwork: true }, c: { ports: [{ containerPort: 5, hostPort: 5 }] } },
  ],
  [
    "same host port, other protocol",
    {
      c: {
        ports: [
          { containerPort: 5, hostPort: 5 },
          { containerPort: 5, hostPort: 5, protocol: "UDP" },
        ],
      },
    },
  ],
  ["numbers as quantities", { c: { resources: { limits: { cpu: 1, memory: 1e9 }, requests: { cpu: 0.5 } } } }],
  ["threshold zero", { c: { livenessProbe: { ...probe, successThreshold: 0 } } }],
  ["sidecar with probe", init({ restartPolicy: "Always", livenessProbe: probe })],
  ["projected downward API", volume({ projected: { sources: [{ downwardAPI: { items: [] } }] } })],
  ["nfs volume", volume({ nfs: { server: "a", path: "/b" } })],
  ["env of a label", env({ fieldRef: { fieldPath: "metadata.labels['a']" } })],
  ["a name that ends with a dash, before the node's name", { meta: { name: "web-" } }],
  [
    "both forms of one sysctl",
    {
      spec: {
        securityContext: {
          sysctls: [
            { name: "kernel.shmmax", value: "1" },
            { name: "kernel/shmmax", value: "1" },
          ],
        },
      },
    },
  ],
  [
    "variables of a file with an absolute path, in a volume without a source",
    { ...volume({}), ...env({ fileKeyRef: { volumeName: "v", path: "/p", key: "K" } }) },
  ],
  [
    "annotations with a meaning",
    {
      meta: {
        annotations: {
          "seccomp.security.alpha.kubernetes.io/pod": "localhost/a/b.json",
          "controller.kubernetes.io/pod-deletion-cost": "-5",
          "scheduler.alpha.kubernetes.io/tolerations": "[]",
        },
      },
    },
  ],
  [
    "pod-level resources of the sum of the containers",
    {
      spec: { resources: { requests: { cpu: 1 }, limits: { cpu: 2, memory: "1Gi" } } },
      c: { resources: { requests: { cpu: 1 }, limits: { cpu: 2, memory: "1Gi" } } },
    },
  ],
  ["dnsPolicy None with a server", { spec: { dnsPolicy: "None", dnsConfig: { nameservers: ["::1"] } } }],
];
for (const [what, parts] of right) {
  test(`accepted: ${what}`, () => assert.deepEqual(violations(build(parts)), []));
}

test("with the gate off only trust bundles and claims stay refused", () => {
  const off = { preventAPIReferences: false };
  assert.deepEqual(violations(build(volume({ secret: { secretName: "a" } })), off), []);
  assert.equal(violations(build(volume({ projected: { sources: [{ clusterTrustBundle: {} }] } })), off).length, 1);
  assert.equal(violations(build({ spec: { resourceClaims: [{ name: "a" }] } }), off).length, 1);
});

test("all faults of a file are in one report, in the order of the text", () => {
  const found = violations(
    build({ c: { imagePullPolicy: "x", ports: [{ containerPort: 0 }] }, spec: { dnsPolicy: "y" } }),
  );
  assert.deepEqual(
    found.map((one) => one.field),
    [`${C}.imagePullPolicy`, `${C}.ports[0].containerPort`, "spec.dnsPolicy"],
  );
});
