// Limits that a pod can meet: its manifest, its probes and its logs. The values are those of the code.

import { MOST_REFERENCES } from "../../../src/main/cluster/objects/references.js";
import { MOST_WATCHES, WATCHES_OF_POD } from "../../../src/main/cluster/objects/watched-objects.js";
import { MOST_PULL_SECRETS } from "../../../src/main/containers/images/keyring/pull-secrets.js";
import { LARGEST_COMPRESSED } from "../../../src/main/containers/logs/log-rotation.js";
import { MOST_REPEATED_PORTS } from "../../../src/main/containers/runtime/config/sandbox-config.js";
import { LONGEST_HOSTS } from "../../../src/main/containers/runtime/container-files.js";
import { LONGEST_FILE, LONGEST_VALUE } from "../../../src/main/containers/runtime/env-files.js";
import { MAX_SUBSTITUTED } from "../../../src/main/model/expand.js";
import { MANIFEST_LIMIT } from "../../../src/main/pods/sources/decode-job.js";
import { TAIL_BYTES } from "../../../src/main/pods/status/output-tail.js";
import { MOST_BYTES } from "../../../src/main/volumes/atomic-writer/payload.js";
import { MANIFESTS_BYTES, MANIFESTS_LIMIT } from "../../../src/shared/contracts/manifests.js";
import { OUTPUT_LIMIT_BYTES } from "../../../src/shared/contracts/prober.js";
import { MOST_ENTRIES, MOST_NAMES } from "../../../src/shared/io/fs/untrusted-folder.js";
import { MAX_TRAILER } from "../../../src/shared/io/http/chunks.js";
import { MAX_HEAD_BYTES } from "../../../src/shared/io/http/client/reply-reader.js";
import { MAX_BYTES as URL_MAX_BYTES } from "../../../src/shared/io/http/client/url.js";
import { CAP, CAP_PER_NAME, RESOLV_CONF_LIMIT } from "../../../src/shared/io/net/pod-lookups.js";
import { MAX_TEXT } from "../../../src/shared/kubernetes/api/image-name.js";
import { TEXT_LIMIT } from "../../../src/shared/kubernetes/api/quantity.js";
import { LONGEST_JSON_LINE } from "../../../src/shared/node/container-logs/json-record.js";
import { MAX_BYTES as FRAME_COUNTER_MAX_BYTES, MAX_FRAMES } from "../../../src/workers/peers/frame-counter.js";
import { CONNECTION_BYTES } from "../../../src/workers/peers/guarded-source.js";
import { SHOWN_BYTES } from "../../../src/workers/server/logs/pods/errors.js";
import { MAX_HEAD } from "../../../src/workers/server/logs/pods/record-scanner.js";
import { CONNECTION_LIMITS } from "../../../src/workers/server/ports/https-server.js";
import { DEPTH_LIMIT, MAX_DOCUMENTS } from "../../../src/workers/tasks/manifest/parse-text.js";
import { MAX_DEPTH } from "../../../src/workers/tasks/manifest/walk.js";
import { LONGEST_PLACE } from "../../../src/workers/tasks/tree-walk.js";
import type { LimitRows } from "./row.js";

export const POD_LIMITS: LimitRows = {
  "Manifests and pods": [
    {
      of: ["src/main/pods/sources/decode-job.ts", "MANIFEST_LIMIT"],
      value: MANIFEST_LIMIT,
      unit: "bytes",
      what: "a manifest file, or the answer of `staticPodURL`",
      beyond: "the file is refused, and its last valid pod stays",
      reason: "upstream's limit",
      upstream: "the same",
    },
    {
      of: ["src/shared/contracts/manifests.ts", "MANIFESTS_BYTES"],
      value: MANIFESTS_BYTES,
      unit: "bytes",
      what: "manifest files together; manifests of the manifest API together",
      beyond: "the file is refused until another one goes; 403",
      reason: "main keeps the definitions of static pods (docs/adr/0108)",
      upstream: "none",
    },
    {
      of: ["src/workers/tasks/manifest/parse-text.ts", "DEPTH_LIMIT"],
      value: DEPTH_LIMIT,
      unit: "levels",
      what: "nesting of a manifest",
      beyond: "the file is refused",
      reason: "upstream's limit",
      upstream: "the same",
    },
    {
      of: ["src/workers/tasks/manifest/walk.ts", "MAX_DEPTH"],
      value: MAX_DEPTH,
      unit: "levels",
      what: "nesting of a field that the kubelet only passes on",
      beyond: "deeper values are dropped, with a warning",
      reason: "the walk is recursive; no field of the API is deeper",
      upstream: "none",
    },
    {
      of: ["src/shared/kubernetes/api/image-name.ts", "MAX_TEXT"],
      value: MAX_TEXT,
      unit: "characters",
      what: "an image name",
      beyond: "`InvalidImageName`",
      reason: "registry, path, tag and digest together are shorter",
      upstream: "none; no registry has such a name",
    },
    {
      of: ["src/shared/kubernetes/api/quantity.ts", "TEXT_LIMIT"],
      value: TEXT_LIMIT,
      unit: "characters",
      what: "the text of a quantity",
      beyond: "the quantity is refused",
      reason: "the conversion takes quadratic time",
      upstream: "none",
    },
    {
      of: ["src/main/model/expand.ts", "MAX_SUBSTITUTED"],
      value: MAX_SUBSTITUTED,
      unit: "characters",
      what: "what `$(NAME)` adds to command, arguments and environment of a container",
      beyond: "`CreateContainerConfigError`",
      reason: "the kernel starts no process with more arguments",
      upstream: "none; the process does not start",
    },
    {
      of: ["src/main/containers/runtime/env-files.ts", "LONGEST_FILE"],
      value: LONGEST_FILE,
      unit: "bytes",
      what: "a file of a `fileKeyRef`",
      beyond: "`CreateContainerConfigError`",
      reason: "containers write it, and the main thread parses it",
      upstream: "none",
    },
    {
      of: ["src/main/containers/runtime/env-files.ts", "LONGEST_VALUE"],
      value: LONGEST_VALUE,
      unit: "bytes",
      what: "a value of a `fileKeyRef`",
      beyond: "`CreateContainerConfigError`",
      reason: "the kernel's MAX_ARG_STRLEN",
      upstream: "none; the process does not start",
    },
    {
      of: ["src/main/volumes/atomic-writer/payload.ts", "MOST_BYTES"],
      value: MOST_BYTES,
      unit: "bytes",
      what: "the files of a volume of a ConfigMap, a Secret, the downward API or a projection",
      beyond: "the volume is not set up",
      reason: "a pod may name one large text as thousands of files, and most are memory of the node",
      upstream: "none",
    },
    {
      of: ["src/main/cluster/objects/references.ts", "MOST_REFERENCES"],
      value: MOST_REFERENCES,
      unit: "objects",
      what: "ConfigMaps, and Secrets, of a pod whose changes are noticed at once, those of volumes first",
      beyond: "further objects are read when they are needed, and with each refresh of their volume",
      reason: "a pod may name tens of thousands, and an index of them held main for a quarter of a second",
      upstream: "none",
    },
    {
      of: ["src/main/cluster/objects/watched-objects.ts", "WATCHES_OF_POD"],
      value: WATCHES_OF_POD,
      unit: "watches",
      what: "watches of ConfigMaps, and of Secrets, that begin with one pod",
      beyond: "further objects are read when they are needed, and with each refresh of their volume",
      reason: "a pod may name tens of thousands",
      upstream: "none",
    },
    {
      of: ["src/main/cluster/objects/watched-objects.ts", "MOST_WATCHES"],
      value: MOST_WATCHES,
      unit: "watches",
      what: "watches of ConfigMaps, and of Secrets, of all pods",
      beyond: "the same",
      reason: "each takes memory, and a stream of the API server",
      upstream: "none",
    },
    {
      of: ["src/main/containers/images/keyring/pull-secrets.ts", "MOST_PULL_SECRETS"],
      value: MOST_PULL_SECRETS,
      unit: "names",
      what: "different `imagePullSecrets` of a pod",
      beyond: "the first ones are read; the others count as missing, with the event `FailedToRetrieveImagePullSecret`",
      reason: "each container's start reads them, and a pod may name tens of thousands",
      upstream: "none",
    },
    {
      of: ["src/main/containers/runtime/container-files.ts", "LONGEST_HOSTS"],
      value: LONGEST_HOSTS,
      unit: "bytes",
      what: "the node's `/etc/hosts` for a pod with `hostNetwork`",
      beyond: "the container does not start",
      reason: "it is held in memory",
      upstream: "none",
    },
    {
      of: ["src/main/containers/runtime/config/sandbox-config.ts", "MOST_REPEATED_PORTS"],
      value: MOST_REPEATED_PORTS,
      unit: "ports",
      what: "port mappings of a pod that are sent with each of its containers, too",
      beyond: "only the sandbox's request has them",
      reason: "the requests would grow with the square of the containers",
      upstream: "none; runtimes map ports with the sandbox",
    },
    {
      of: ["src/main/pods/status/output-tail.ts", "TAIL_BYTES"],
      value: TAIL_BYTES,
      unit: "bytes",
      what: "the end of a log that `FallbackToLogsOnError` reads",
      beyond: "earlier lines are not in the message, which has 2048 bytes at most",
      reason: "it is read on the main thread",
      upstream: "the whole of 80 lines",
    },
    {
      of: ["src/workers/tasks/tree-walk.ts", "LONGEST_PLACE"],
      value: LONGEST_PLACE,
      unit: "bytes",
      what: "the path of a directory whose size is measured or whose group is changed",
      beyond: "deeper directories are left out",
      reason: "the place of a walk is kept in memory",
      upstream: "none",
    },
    {
      of: ["src/workers/tasks/manifest/parse-text.ts", "MAX_DOCUMENTS"],
      value: MAX_DOCUMENTS,
      unit: "documents",
      what: "documents of a text for the manifest API or `nodelet apply`",
      beyond: "the text is refused",
      reason: "each document takes memory",
      upstream: "no such API",
    },
    {
      of: ["src/shared/contracts/manifests.ts", "MANIFESTS_LIMIT"],
      value: MANIFESTS_LIMIT,
      unit: "manifests",
      what: "manifests that the manifest API keeps",
      beyond: "further ones are refused",
      reason: "each takes memory",
      upstream: "no such API",
    },
  ],
  "Probes and hooks": [
    {
      of: ["src/shared/io/http/client/reply-reader.ts", "MAX_HEAD_BYTES"],
      value: MAX_HEAD_BYTES,
      unit: "bytes",
      what: "head of an answer to an HTTP probe or hook",
      beyond: "the result of the probe is dropped: the pod stays as it is. The hook fails",
      reason: "a server that a pod chooses fills the memory of a thread",
      upstream: "10 MiB; then the probe fails",
    },
    {
      of: ["src/workers/peers/guarded-source.ts", "CONNECTION_BYTES"],
      value: CONNECTION_BYTES,
      unit: "bytes",
      what: "all bytes of the answer that are read, with TLS",
      beyond: "the probe fails",
      reason: "it is held in memory",
      upstream: "none",
    },
    {
      of: ["src/shared/io/http/client/url.ts", "MAX_BYTES"],
      value: URL_MAX_BYTES,
      unit: "bytes",
      what: "the URL of a probe or hook",
      beyond: "the probe fails",
      reason: "each run reads the URL; servers refuse such URLs",
      upstream: "none",
    },
    {
      of: ["src/shared/io/http/chunks.ts", "MAX_TRAILER"],
      value: MAX_TRAILER,
      unit: "bytes",
      what: "the trailer of a chunked answer",
      beyond: "the body counts as broken",
      reason: "upstream's limit",
      upstream: "the same",
    },
    {
      of: ["src/workers/peers/frame-counter.ts", "MAX_FRAMES"],
      value: MAX_FRAMES,
      unit: "frames",
      what: "HTTP/2 frames of an answer to a gRPC or HTTPS probe, or a hook; those with its body are counted by bytes",
      beyond: "the probe fails",
      reason: "an answer has fewer than twenty",
      upstream: "none",
    },
    {
      of: ["src/workers/peers/frame-counter.ts", "MAX_BYTES"],
      value: FRAME_COUNTER_MAX_BYTES,
      unit: "bytes",
      what: "all bytes of a gRPC probe's answer",
      beyond: "the probe fails",
      reason: "as above",
      upstream: "4 MiB a message",
    },
    {
      of: ["src/shared/contracts/prober.ts", "OUTPUT_LIMIT_BYTES"],
      value: OUTPUT_LIMIT_BYTES,
      unit: "bytes",
      what: "output of a probe that is kept",
      beyond: "the rest is not read",
      reason: "upstream's limit",
      upstream: "the same",
    },
    {
      of: ["src/shared/io/net/pod-lookups.ts", "CAP"],
      value: CAP,
      unit: "look-ups",
      what: "look-ups of names for probes and hooks at once, in one thread",
      beyond: "others wait, until the probe's own time is over",
      reason: "each look-up holds a socket",
      upstream: "none",
    },
    {
      of: ["src/shared/io/net/pod-lookups.ts", "CAP_PER_NAME"],
      value: CAP_PER_NAME,
      unit: "look-ups",
      what: "look-ups of one name at once",
      beyond: "others of the name wait",
      reason: "a name server that does not answer must leave room for other names",
      upstream: "none",
    },
    {
      of: ["src/shared/io/net/pod-lookups.ts", "RESOLV_CONF_LIMIT"],
      value: RESOLV_CONF_LIMIT,
      unit: "bytes",
      what: "`/etc/resolv.conf` for these look-ups",
      beyond: "none of it counts",
      reason: "upstream's limit for the file that pods get",
      upstream: "none",
    },
  ],
  Logs: [
    {
      of: ["src/shared/node/container-logs/json-record.ts", "LONGEST_JSON_LINE"],
      value: LONGEST_JSON_LINE,
      unit: "bytes",
      what: "a line of a log of the Docker Engine",
      beyond: "the line is passed over",
      reason: "a line is collected in memory before it is shown; the Engine cuts lines at 16 KiB",
      upstream: "none",
    },
    {
      of: ["src/workers/server/logs/pods/record-scanner.ts", "MAX_HEAD"],
      value: MAX_HEAD,
      unit: "bytes",
      what: "time, stream and tags of a log line in CRI's format",
      beyond: "the line is passed over",
      reason: "runtimes write 50 bytes",
      upstream: "none",
    },
    {
      of: ["src/workers/server/logs/pods/errors.ts", "SHOWN_BYTES"],
      value: SHOWN_BYTES,
      unit: "bytes",
      what: "a line of an unknown format in the error",
      beyond: "the rest is not shown",
      reason: "it is held in memory",
      upstream: "none",
    },
    {
      of: ["src/shared/io/fs/untrusted-folder.ts", "MOST_NAMES"],
      value: MOST_NAMES,
      unit: "names",
      what: "log files of one run of a container in its folder",
      beyond: "rotation and `kubectl logs` of the container fail, with the reason",
      reason: "a pod with a hostPath volume can make any number",
      upstream: "none",
    },
    {
      of: ["src/main/containers/logs/log-rotation.ts", "LARGEST_COMPRESSED"],
      value: LARGEST_COMPRESSED,
      unit: "bytes",
      what: "a rotated file that is compressed, or four times `containerLogMaxSize`",
      beyond: "the file stays uncompressed",
      reason: "a pod can plant a sparse file of terabytes",
      upstream: "none",
    },
    {
      of: ["src/workers/server/ports/https-server.ts", "CONNECTION_LIMITS"],
      value: CONNECTION_LIMITS.followers,
      unit: "clients",
      what: "followers of logs at once on port 10250; one pod has half of them at most",
      beyond: "429, try again in a minute",
      reason: "each holds a file and a connection",
      upstream: "none",
    },
    {
      of: ["src/shared/io/fs/untrusted-folder.ts", "MOST_ENTRIES"],
      value: MOST_ENTRIES,
      unit: "entries",
      what: "entries of a log folder that are read",
      beyond: "rotation and `kubectl logs` of its containers fail, with the reason",
      reason: "reading a million takes seconds",
      upstream: "none",
    },
  ],
};
