// The functions of main and of shared code that read other people's texts, each with a way to hand it one text; and the
// functions that read no such text, with the reason. text-functions.ts finds functions that are in neither.

import { cleanChain, distinctCertificates } from "../../../src/main/cluster/collections/certificates.js";
import { cacheKey } from "../../../src/main/containers/images/credential-providers/cache-key.js";
import { readResponse } from "../../../src/main/containers/images/credential-providers/response.js";
import { requestedImage, withoutTagAndDigest } from "../../../src/main/containers/images/image-name.js";
import { readDockerConfig } from "../../../src/main/containers/images/keyring/docker-config.js";
import { matchesImage, parsePattern } from "../../../src/main/containers/images/keyring/image-match.js";
import { lookUp } from "../../../src/main/containers/images/keyring/look-up.js";
import { isRecordName, readIntent, readRecord } from "../../../src/main/containers/images/pull-records/record.js";
import { mergeOptions } from "../../../src/main/containers/network/resolv-conf.js";
import { readEnvFile } from "../../../src/main/containers/runtime/config/env-file.js";
import { volumeSubPath } from "../../../src/main/containers/runtime/config/mounts.js";
import { containerFromAnnotations } from "../../../src/main/containers/runtime/hooks/hook-target.js";
import { portOf } from "../../../src/main/containers/runtime/hooks/http-hook.js";
import { explainRefusal } from "../../../src/main/containers/runtime/image-volumes.js";
import { fieldValue, resourceFieldValue, volumeFieldValue } from "../../../src/main/model/downward.js";
import { expand, expandStrict } from "../../../src/main/model/expand.js";
import { goJson } from "../../../src/main/model/go-json.js";
import { annotationKeys } from "../../../src/main/model/labels.js";
import { nextRestartCount } from "../../../src/main/model/paths.js";
import { criSignal } from "../../../src/main/model/stop-signals.js";
import { dottedSysctl } from "../../../src/main/model/sysctl-name.js";
import { nodePatch, nodePatchWithout, withMigrated } from "../../../src/main/node/csi/csi-node-entries.js";
import { parseVersion } from "../../../src/main/node/csi/csi-version.js";
import { resolveAction } from "../../../src/main/pods/probes/resolve-action.js";
import { refusedByCondition } from "../../../src/main/pods/sources/submitted/conditions.js";
import { fileMessage, logMessage } from "../../../src/main/pods/status/termination-message.js";
import { checkPayload, visibleNames } from "../../../src/main/volumes/atomic-writer/payload.js";
import { inlineVolume } from "../../../src/main/volumes/csi/csi-volume.js";
import { cloudAffinity } from "../../../src/main/volumes/csi/migration/cloud-affinity.js";
import { CLOUDS } from "../../../src/main/volumes/csi/migration/clouds.js";
import { pathWord } from "../../../src/main/volumes/disks/disk.js";
import { readAnswer } from "../../../src/main/volumes/flex/answer.js";
import { checkedDriver, driverOfDirectory, executableOf } from "../../../src/main/volumes/flex/names.js";
import { readIface } from "../../../src/main/volumes/iscsi/iscsiadm.js";
import { targetOfPlace } from "../../../src/main/volumes/iscsi/target.js";
import { plainDetails } from "../../../src/shared/base/errors/grpc-details.js";
import { bareBase64 } from "../../../src/shared/base/text/base64.js";
import { bytesOfText } from "../../../src/shared/base/text/escaped-bytes.js";
import { goTimeMs, goTimeParts, isGoTime } from "../../../src/shared/base/text/go-time.js";
import { oneLine } from "../../../src/shared/base/text/printable.js";
import { quote } from "../../../src/shared/base/text/quote.js";
import { shortened } from "../../../src/shared/base/text/shortened.js";
import { withoutTrailing } from "../../../src/shared/base/text/without-trailing.js";
import { parseMountinfo, parseMountsWithin, unescapeMountField } from "../../../src/shared/io/fs/mountinfo.js";
import { isAscii } from "../../../src/shared/io/http/bytes.js";
import { hasToken } from "../../../src/shared/io/http/client/headers.js";
import { ReplyReader } from "../../../src/shared/io/http/client/reply-reader.js";
import { hostOf } from "../../../src/shared/io/http/client/request-text.js";
import { parseUrl, resolveUrl } from "../../../src/shared/io/http/client/url.js";
import { canonicalName } from "../../../src/shared/io/http/field-name.js";
import { candidates } from "../../../src/shared/io/net/pod-lookups.js";
import { jsonOf } from "../../../src/shared/kubernetes/api/client/call/body.js";
import { LineCutter } from "../../../src/shared/kubernetes/api/client/call/line-cutter.js";
import { connectionError } from "../../../src/shared/kubernetes/api/client/connection/connection-error.js";
import { eventHeadOfJson, headOfJson } from "../../../src/shared/kubernetes/api/client/decode/object-head.js";
import { HEAD_BYTES } from "../../../src/shared/kubernetes/api/client/decode/oversized.js";
import { isOlder } from "../../../src/shared/kubernetes/api/client/reflect/versions.js";
import { parseCpuList } from "../../../src/shared/kubernetes/api/cpu-list.js";
import { findWideIntegers, mayHaveWideIntegers } from "../../../src/shared/kubernetes/api/find-wide-integers.js";
import { keysOfReference } from "../../../src/shared/kubernetes/api/image-keys.js";
import { parseImageName } from "../../../src/shared/kubernetes/api/image-name.js";
import { isQualifiedName } from "../../../src/shared/kubernetes/api/manifest/formats.js";
import { termMatches } from "../../../src/shared/kubernetes/api/node-selector.js";
import { isSafePodUid } from "../../../src/shared/kubernetes/api/pod-uid.js";
import { encode } from "../../../src/shared/kubernetes/api/protobuf/encode.js";
import { decodeObject, enveloped } from "../../../src/shared/kubernetes/api/protobuf/objects.js";
import { parseQuantity } from "../../../src/shared/kubernetes/api/quantity.js";
import { attemptError } from "../../../src/shared/kubernetes/cri/attempt.js";
import { criError } from "../../../src/shared/kubernetes/cri/errors.js";
import { parseImageOfSandbox, parseSandboxImage } from "../../../src/shared/kubernetes/cri/sandbox-image.js";
import { logFileNames, nextStem, strayNames } from "../../../src/shared/node/container-logs/file-names.js";
import { parseJsonRecord } from "../../../src/shared/node/container-logs/json-record.js";
import { parseHangable } from "../../../src/shared/node/volume-calls/may-hang.js";
import { withPriority } from "../../../src/shared/telemetry/log/text-line.js";
import { pod as makePod, container } from "../../support/pods.js";

type Parse = (text: string) => unknown;
export interface Row {
  /** "file: function", as text-functions.ts names them. */
  functions: readonly string[];
  /** Each is measured alone. */
  parse: readonly Parse[];
  /** Beginnings and ends that lead into the depth of the parser; the repeated text stands between them. */
  frames?: readonly (readonly [string, string])[];
  /** Its large texts are objects that V8 optimizes code for (shared/base/turns/large-work.ts). */
  isObject?: true;
}

/** A socket hands the bytes over in blocks; between them, main does other work. */
const BLOCK = 64 * 1024;

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const lookup = (name: string): string | undefined => (name === "A" ? "one" : undefined);
const pod = makePod();
const downward = { pod, podIPs: [], hostIPs: [] };
const mount = { name: "v", mountPath: "/v" };
const env = new Map([["A", "one"]]);
const azure = (source: object): unknown => CLOUDS.azureFile.csi(source as never, { volume: "v", namespace: "n" });
const volume = (metadata: object): never => ({ metadata, spec: {} }) as never;
const QUOTED = ['{"auths":{"a":{"auth":"', '"}}}'] as const;
const attempt = {
  verb: "RunPodSandbox",
  request: {},
  endpoint: "e",
  signal: undefined,
  deadlineMs: undefined,
  totalMs: undefined,
} as const;
const failed = (text: string): Error =>
  Object.assign(new Error(text), { code: 14, details: text, name: "ServiceError" });
const MOUNT = ["1 2 3:4 / /", " rw shared:1 - nfs a:/b rw\n"] as const;

function nodeOfText(text: string): never {
  const annotations = {
    "csi.volume.kubernetes.io/nodeid": text,
    "storage.alpha.kubernetes.io/migrated-plugins": text,
  };
  return { metadata: { annotations }, spec: {} } as never;
}

export const PARSERS: Readonly<Record<string, Row>> = {
  "environment values, arguments, commands": {
    functions: ["expand: expand"],
    parse: [(text) => expand(text, lookup)],
    frames: [["", ")"]],
  },
  "sub-path expressions": {
    functions: [],
    parse: [(text) => expandStrict(text, lookup), (text) => volumeSubPath({ ...mount, subPathExpr: text }, env)],
  },
  "If-Match of a submitted manifest": {
    functions: ["conditions: refusedByCondition"],
    parse: [(text) => refusedByCondition({ ifMatch: text }, "1", { namespace: "n", name: "m" })],
    frames: [["", ","]],
  },
  "a pod's message in protobuf": {
    functions: [],
    isObject: true,
    parse: [
      (text) => encode("Pod", { ...pod, metadata: { ...pod.metadata, annotations: { a: text } } }),
      (text) => decodeObject(enveloped("v1", "Pod", Buffer.from(text))),
    ],
    frames: [["\n\x80\x80\x40", ""]],
  },
  "sub-paths": { functions: [], parse: [(text) => volumeSubPath({ ...mount, subPath: text }, env)] },
  "env files": {
    functions: ["env-file: readEnvFile"],
    parse: [readEnvFile],
    frames: [
      ["A='", "'\n"],
      ["A=''", "\n"],
    ],
  },
  "field paths": {
    functions: ["downward: fieldValue", "downward: volumeFieldValue"],
    parse: [(text) => fieldValue(downward, text), (text) => volumeFieldValue(pod, text)],
    frames: [
      ["metadata.annotations['", "']"],
      ["metadata.labels['", ""],
    ],
  },
  "resource fields": {
    functions: [],
    parse: [
      (text) => resourceFieldValue(downward, { resource: text }, container("a")),
      (text) => resourceFieldValue(downward, { resource: "limits.cpu", divisor: text }, container("a")),
    ],
    frames: [["limits.hugepages-", ""]],
  },
  "the beginning of a long text": { functions: ["shortened: shortened"], parse: [(text) => shortened(text, 256)] },
  "annotations and labels in volumes": {
    functions: ["quote: quote"],
    parse: [
      (text) =>
        volumeFieldValue({ ...pod, metadata: { ...pod.metadata, annotations: { a: text } } }, "metadata.annotations"),
    ],
  },
  "texts in messages": { functions: [], parse: [(text) => quote(text), (text) => goJson(text)] },
  "log messages": { functions: [], parse: [(text) => withPriority(text, 30, 0)] },
  "docker configurations": {
    functions: ["docker-config: readDockerConfig"],
    parse: [
      (text) => readDockerConfig(text, "config.json"),
      (text) => readDockerConfig(JSON.stringify({ [text.slice(0, BLOCK)]: { auth: base64(text) } }), "dockercfg"),
    ],
    frames: [["", ""], QUOTED],
  },
  "registry patterns and images": {
    functions: ["image-match: parsePattern", "look-up: lookUp"],
    parse: [
      (text) => parsePattern(text),
      (text) => matchesImage(text, text),
      (text) => lookUp(new Map([[text, undefined as never]]), text),
      (text) => matchesImage(text.slice(0, 4096), text.slice(0, 4095)),
    ],
    frames: [
      ["a.b/", ""],
      ["http://", ""],
      ["*", ""],
    ],
  },
  "image names": {
    functions: ["image-name: withoutTagAndDigest", "image-name: readImageName", "image-keys: keysOfReference"],
    parse: [
      (text) => withoutTagAndDigest(text),
      (text) => parseImageName(text),
      (text) => parseImageName(text.slice(0, 1024)),
      (text) => keysOfReference(text),
      (text) => requestedImage(text),
      (text) => cacheKey("Registry", { image: text }, undefined),
    ],
    frames: [["sha256:", ""]],
  },
  "integers beyond 2^53 in objects of the API server": {
    functions: ["find-wide-integers: mayHaveWideIntegers", "json-tokens: walkJson", "nesting: closingQuote"],
    isObject: true,
    parse: [(text) => mayHaveWideIntegers(text), (text) => findWideIntegers(text)],
    frames: [
      ["", ""],
      ['{"a":"', '"}'],
      ['{"a":', ":9223372036854775807}"],
      ['[{"a":[', "9223372036854775807]}]"],
    ],
  },
  "answers of credential plugins": {
    functions: ["response: readResponse"],
    parse: [(text) => readResponse(text, "p", "v1")],
    frames: [
      ["", ""],
      ['{"kind":"CredentialProviderResponse","apiVersion":"v1","cacheKeyType":"Image","cacheDuration":"', '"}'],
    ],
  },
  "records of image pulls": {
    functions: ["record: isRecordName", "record: readIntent", "record: readRecord"],
    parse: [(text) => isRecordName(text), (text) => readIntent(text), (text) => readRecord(text)],
    frames: [["sha256-", ""]],
  },
  quantities: { functions: [], parse: [(text) => parseQuantity(text)], frames: [["1", "Ki"]] },
  "times of logs and manifests": {
    functions: ["go-time: isGoTime", "go-time: goTimeParts"],
    parse: [isGoTime, goTimeParts, goTimeMs],
    frames: [["2026-11-29T10:44:31.", "Z"]],
  },
  "numbers in node selectors": {
    functions: [],
    parse: [
      (text) =>
        termMatches(
          { matchExpressions: [{ key: "a", operator: "Gt", values: [text] }] },
          { name: "n", labels: { a: text } },
        ),
    ],
    frames: [
      ["", "1"],
      ["", ""],
    ],
  },
  "CPU lists": { functions: ["cpu-list: parseCpuList"], parse: [parseCpuList], frames: [["0-1,", "2"]] },
  "names of labels and annotations": { functions: ["formats: isQualifiedName"], parse: [isQualifiedName] },
  "pod UIDs": { functions: ["pod-uid: isSafePodUid"], parse: [isSafePodUid] },
  "object versions": { functions: ["versions: isOlder"], parse: [(text) => isOlder(text, text)], frames: [["", ""]] },
  sysctls: {
    functions: ["sysctl-name: dottedSysctl"],
    parse: [dottedSysctl],
    frames: [["a/", ""]],
  },
  "stop signals": { functions: ["stop-signals: criSignal"], parse: [criSignal] },
  "commands and ports of probes and hooks": {
    functions: ["resolve-action: resolveAction"],
    parse: [
      (text) =>
        resolveAction({ exec: { command: [text] } }, container("a", { env: [{ name: "A", value: text }] }), "10.0.0.1"),
      (text) => resolveAction({ httpGet: { port: text, host: text, path: text } }, container("a"), "10.0.0.1"),
      (text) => portOf({ port: text }, container("a")),
    ],
    frames: [
      ["", ""],
      ["", ")"],
    ],
  },
  "annotations on containers": {
    functions: [],
    parse: [
      (text) =>
        containerFromAnnotations({
          labels: {},
          annotations: { [annotationKeys.preStopHandler]: text, [annotationKeys.ports]: text },
        } as never),
    ],
  },
  "versions of CSI drivers": { functions: ["csi-version: parseVersion"], parse: [parseVersion], frames: [["v1.", ""]] },
  "annotations of CSI nodes": {
    functions: ["csi-node-entries: nodePatch", "csi-node-entries: nodePatchWithout"],
    parse: [
      (text) => nodePatch(nodeOfText(text), "d", { nodeId: "1", maxVolumes: 0, topology: {} }),
      (text) => nodePatchWithout(nodeOfText(text), "d"),
      (text) => withMigrated(nodeOfText(text)),
    ],
  },
  "volumes of clouds": {
    functions: [],
    parse: [
      (text) => azure({ secretName: text, shareName: text }),
      (text) => CLOUDS.awsElasticBlockStore.csi({ volumeID: text }, { volume: "v", namespace: "n" }),
      (text) => cloudAffinity(volume({ labels: { "topology.kubernetes.io/zone": text } }), CLOUDS.awsElasticBlockStore),
      (text) =>
        CLOUDS.gcePersistentDisk.csi(
          { pdName: text },
          {
            volume: "v",
            namespace: "n",
            pv: volume({ labels: { "topology.kubernetes.io/zone": text } }),
          },
        ),
    ],
    frames: [
      ["", ""],
      ["aws://", "/vol-1"],
      ["aws:///vol-", "/"],
      ["azure-storage-account-", "-secret"],
    ],
  },
  "CSI drivers and volumes": {
    functions: [],
    parse: [
      (text) => inlineVolume(pod, { name: "v" }, { driver: text }),
      (text) => inlineVolume(pod, { name: text }, { driver: "d" }),
    ],
  },
  "keys of ConfigMaps and Secrets": {
    functions: [],
    parse: [(text) => checkPayload(new Map([[text, { data: "", mode: 0o644 }]])), (text) => visibleNames([text])],
  },
  "names of log files": {
    functions: [
      "file-names: logFileNames",
      "file-names: nextStem",
      "file-names: strayNames",
      "paths: nextRestartCount",
    ],
    parse: [
      (text) => logFileNames([text, `0.log.${text}`], "0.log"),
      (text) => strayNames([text, `0.log.${text}`], "0.log"),
      (text) => nextStem(new Date(0), text),
      (text) => nextRestartCount(undefined, [text]),
    ],
  },
  "messages of the runtime": {
    functions: ["image-volumes: explainRefusal"],
    parse: [
      (text) => criError({ code: "UNKNOWN", verb: "RunPodSandbox", details: text, endpoint: "e", subject: "" }),
      (text) => attemptError(attempt, failed(text)),
      (text) => explainRefusal({ mounts: [{ image: {} }] } as never, text),
    ],
    frames: [
      ["", ""],
      ["No connection established. Last error: Error: ", " Resolution note:"],
      ['name "', '" is reserved for "'],
    ],
  },
  "status of the runtime and of a PodSandbox": {
    functions: ["sandbox-image: parseSandboxImage", "sandbox-image: parseImageOfSandbox"],
    parse: [parseSandboxImage, parseImageOfSandbox],
  },
  "logs of the Docker Engine": {
    functions: ["json-record: parseJsonRecord"],
    parse: [parseJsonRecord],
    frames: [
      ["", ""],
      ['{"log":"', '"}'],
      ['{"time":"', '"}'],
    ],
  },
  "termination messages": {
    functions: ["termination-message: logMessage"],
    parse: [(text) => fileMessage(Buffer.from(text)), (text) => logMessage(text)],
  },
  "resolver options of pods": {
    functions: ["resolv-conf: mergeOptions"],
    parse: [(text) => mergeOptions([text], [text, `a:${text}`])],
  },
  "host names of probes and hooks": {
    functions: ["pod-lookups: candidates"],
    parse: [(text) => candidates(text, { search: ["a"], ndots: 5 })],
  },
  "trust bundles": {
    functions: ["certificates: distinctCertificates", "certificates: cleanChain"],
    parse: [(text) => distinctCertificates([text]), (text) => cleanChain(text)],
    frames: [
      ["", ""],
      ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"],
    ],
  },
  "mount tables": {
    functions: ["mountinfo: parseMountinfo", "mountinfo: unescapeMountField"],
    parse: [(text) => parseMountinfo(text), (text) => unescapeMountField(text)],
    frames: [["", ""], MOUNT],
  },
  "mounts below a directory": {
    functions: ["mountinfo: parseMountsWithin"],
    parse: [(text) => parseMountsWithin(text, "/var/lib/kubelet/pods")],
    frames: [
      ["", ""],
      ["1 2 3:4 / /var/lib/kubelet/pods/", " rw - nfs a:/b rw\n"],
    ],
  },
  "mounts that may hang": { functions: ["may-hang: parseHangable"], parse: [parseHangable], frames: [["", ""], MOUNT] },
  "texts that become one line": { functions: ["printable: oneLine"], parse: [oneLine] },
  "texts that should be ASCII": { functions: ["bytes: isAscii"], parse: [isAscii] },
  "hosts of probes and hooks": {
    functions: ["request-text: hostOf", "punycode: punycodeHost"],
    parse: [hostOf],
    frames: [
      ["", ""],
      ["[", "]"],
      ["a:", ""],
    ],
  },
  "answers of the API server": {
    functions: [
      "parse-json: parseJson",
      "nesting: nestsDeeper",
      "body: jsonOf",
      "line-cutter: LineCutter.push",
      "connection-error: connectionError",
      "object-head: eventHeadOfJson",
      "object-head: headOfJson",
    ],
    parse: [
      (text) => jsonOf(Buffer.from(text), "it"),
      (text) => eventHeadOfJson(Buffer.from(text.slice(0, HEAD_BYTES))),
      (text) => headOfJson(Buffer.from(text.slice(0, HEAD_BYTES))),
      (text) => [...new LineCutter().push(Buffer.from(text.slice(0, BLOCK)))],
      (text) => connectionError("GET /", "s", "o", new Error(text)),
    ],
  },
  "answers of flexVolume drivers": {
    functions: ["answer: readAnswer"],
    parse: [(text) => readAnswer("init", text)],
    frames: [
      ['{"status":"', '"}'],
      ['{"status":"Failure","message":"', '"}'],
      ['{"status":"Success","a":', "}"],
    ],
  },
  "network disks": {
    functions: ["iscsiadm: readIface", "target: targetOfPlace", "disk: pathWord"],
    parse: [readIface, targetOfPlace, (text) => pathWord("word", text)],
    frames: [
      ["iface.", " = x"],
      ["iface-", "-iqn.x-lun-0"],
      ["iface-a/", "-iqn.x-lun-0"],
      ["iface-a/b-iqn.", "-lun-x"],
    ],
  },
  "names of flexVolume drivers": {
    functions: [],
    parse: [checkedDriver, (text) => executableOf("/drivers", text), driverOfDirectory],
  },
  "base64 in objects and YAML": { functions: ["base64: bareBase64"], parse: [bareBase64] },
  "values of variables from Secrets": { functions: ["escaped-bytes: bytesOfText"], parse: [bytesOfText] },
  "responses of a manifest URL": {
    functions: [
      "body-framing: framingOf",
      "bytes: quoteBytes",
      "bytes: trimBlanks",
      "bytes: trimBlanksEnd",
      "chunks: Chunks.read",
      "field-lines: FieldLines.line",
      "lines: Lines.next",
      "reply-reader: ReplyReader.feed",
    ],
    parse: [
      (text) => new ReplyReader({ bodyBytes: BLOCK, fields: ["Location"] }).feed(Buffer.from(text).subarray(0, BLOCK)),
    ],
    frames: [
      ["HTTP/1.1 200 OK\r\n", "\r\n\r\n"],
      ["HTTP/1.1 200 OK\r\nLocation: ", "\r\n\r\n"],
      ["HTTP/1.1 200 OK\r\nContent-Length: ", "\r\n\r\n"],
      ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ""],
      ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "\r\n\r\n"],
    ],
  },
  "headers and URLs of a manifest URL": {
    functions: [
      "field-name: canonicalName",
      "headers: hasToken",
      "url: parseUrlBytes",
      "url: resolveUrl",
      "url-escapes: escape",
      "url-escapes: escapedForm",
      "url-escapes: unescape",
      "url-escapes: unescapeHost",
      "url-escapes: unescapeZone",
    ],
    parse: [
      canonicalName,
      (text) => hasToken([text], "close"),
      (text) => parseUrl(text),
      (text) => parseUrl(text.slice(0, BLOCK)),
      (text) => resolveUrl(parseUrl("http://a/b/c?d"), text.slice(0, BLOCK)),
    ],
    frames: [
      ["http://", "/"],
      ["http://[fe80::1%25", "]/"],
      ["http://u:", "@h/"],
      ["/", ""],
      ["/?", ""],
      ["/#", ""],
      [",", "close"],
    ],
  },
  "reasons of gRPC errors": {
    functions: ["grpc-details: plainDetails"],
    parse: [plainDetails],
    frames: [
      ["No connection established. Last error: ", ". Resolution note: a"],
      ["Deadline exceeded after 1s,", ""],
      ["", " (2026-11-28T00:00:00.000Z)"],
    ],
  },
  "texts that are trimmed": { functions: [], parse: [(text) => withoutTrailing(text, "/\0 ")], frames: [["", "!"]] },
};

/** Refusals are as good an answer as any: the message is not looked at. Overflows of the stack are defects. */
export function tried(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw error;
    return undefined;
  }
}

/** By reason. Their texts are not of other people, or short. */
export const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  "the version of the Node.js that runs the kubelet": ["node-version: nodeVersionProblem"],
  "a file or cgroup of the kernel, which decides its form and length": [
    "blkio: BlkioReader.figures",
    "cgroup-files: processesIn",
    "program-pages: rangesIn",
    "flock-holder: flockHolder",
    "host-addresses: defaultRouteInterface",
    "host-addresses: nodeIPs",
    "inotify: parseInotify",
    "kernel-file: keyed",
    "processor-times: processorTimes",
    "machine: meminfo",
    "mounts: detectCgroupMounts",
    "numa-nodes: readNumaNodes",
    "mounts: hasSwapController",
    "directory-stream: entryAt",
    "name: fromSystemdSlice",
    "name: parseCgroupPath",
    "pressure: parsePressure",
    "net-dev: parseNetDev",
    "swap: swapDevices",
    "thread-usage: cpuSeconds",
    "cgroup-v1-writes: sameValue",
    "file-reader: CgroupFileReader.processes",
    "cgroup-v2-writes: sameValueV2",
    "v2: CgroupReaderV2.details",
    "v2: CgroupReaderV2.memory",
  ],
  "a file or setting of the operator": [
    "exec-credential: readExecCredential",
    "group-id: groupId",
    "allowed-config-sources: isConfigSourceEntry",
    "credentials: updateReaders",
    "kubeconfig: clientCertificateOf",
    "apiserver: readerNames",
    "hosts-search: addressesIn",
    "pod-lookups: parseResolvConf",
    "resolv-conf: parseResolvConf",
    "endpoint: parseEndpoint",
    "field-reader: FieldReader.duration",
    "field-reader: FieldReader.object",
    "field-reader: FieldReader.oneOf",
    "field-reader: FieldReader.problem",
    "field-reader: FieldReader.text",
    "field-reader: FieldReader.texts",
    "http-hook: userAgent",
    "project-files: ProjectFiles.add",
    "project-files: ProjectFiles.projectOf",
    "project-files: ProjectFiles.remove",
    "no-proxy: isExempt",
    "address: addressBits",
    "address: addressBytes",
    "module-verbosity: matchGlob",
  ],
  "the head of a request, which its reader bounds; the server thread reads it": [
    "clean-path: locationOf",
    "host: parseHost",
    "read-request: readHttp2",
    "request-line: parseRequestLine",
    "target: parseTarget",
    "target: pathSegments",
  ],
  "an address of a connection, which the kernel names": ["host: isLoopbackAddress"],
  "a file that only the kubelet writes": [
    "mapping-file: readMappings",
    "mount-intent: readIntent",
    "state-file: readState",
    "target: readTarget",
    "vol-data: readVolData",
  ],
  "a name or number in a table of this kubelet": ["schema: Schema.fields"],
  "text that this program shows; the time is linear, as one replacement reads each character once": [
    "escape: escapeHelp",
    "escape: escapeHtml",
    "escape: escapeLabel",
    "escape: unescapeLabel",
    "linear: replaceEach",
    "printable: escaped",
    "printable: escapedLines",
  ],
  "a name in a folder, of at most 255 bytes": ["log-links: containerIdOf"],
  "a path or name that the kubelet makes or the API bounds; the rest is calls of the system": [
    "endpoints: Endpoints.register",
    "output-tail: outputTail",
    "atomic-writer: writePayload",
    "cached-objects: CachedObjects.get",
    "certificate-store: CertificateStore.keep",
    "format: contentOf",
    "iscsi-disk: IscsiDisks.disk",
    "local: LocalVolumes.grow",
    "loader: Loader.load",
    "paths: podOfLogDirectory",
    "mounts: unmount",
    "own-mount: OwnMounts.remove",
  ],
  "a path of at most PATH_MAX bytes, read by the kernel part by part": [
    "may-hang: findHangable",
    "sub-path: openSubPath",
  ],
};
