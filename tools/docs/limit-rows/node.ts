// Limits that an operator, a client or a program of the node can meet. The values are those of the code.

import { SIZE_LIMIT as CONFIG_SIZE_LIMIT, SUM_LIMIT } from "../../../src/main/command/config/size-limits.js";
import { SIZE_LIMIT as LOAD_CONFIG_SIZE_LIMIT } from "../../../src/main/containers/images/credential-providers/load-config.js";
import { CREDENTIALS_FILE_LIMIT } from "../../../src/main/containers/images/keyring/node-files.js";
import { MAX_WATCHERS } from "../../../src/main/node/pods-api/server.js";
import { QUEUE_LIMIT } from "../../../src/main/pods/events/sink/event-line.js";
import { MAX_SUM_BYTES } from "../../../src/main/pods/sync/pod-records.js";
import { MAX_ENTRIES } from "../../../src/main/process/unix/command-io.js";
import { MAX_DEVICES as DECODE_DEVICES_MAX_DEVICES } from "../../../src/main/resources/devices/decode-devices.js";
import { MAX_DEVICES as DEVICE_HEALTH_MAX_DEVICES } from "../../../src/main/resources/dra/device-health.js";
import { MAX_REPORT_BYTES } from "../../../src/main/resources/dra/driver-client.js";
import { ANSWER_LIMIT } from "../../../src/main/volumes/flex/answer.js";
import { MOST_DIRECTORIES } from "../../../src/main/volumes/flex/driver-watch.js";
import { MOST_NAMES_IN } from "../../../src/main/volumes/paths.js";
import { OUTPUT_LIMIT } from "../../../src/shared/io/exec/run-program.js";
import { SMALL_FILE_LIMIT } from "../../../src/shared/io/fs/regular-file.js";
import { STATE_LIMIT } from "../../../src/shared/io/fs/state-file.js";
import { MAX_HEAD_BYTES } from "../../../src/shared/io/http/server/request-reader.js";
import { MAX_HANDSHAKE_BYTES } from "../../../src/shared/io/net/handshake-limit.js";
import { LINE_LIMIT } from "../../../src/shared/kubernetes/api/client/call/line-cutter.js";
import { LIST_LIMIT } from "../../../src/shared/kubernetes/api/client/call/list.js";
import { MAX_IDLE_BYTES } from "../../../src/shared/kubernetes/api/client/connection/flood-guard.js";
import { CREDENTIAL_LIMIT } from "../../../src/shared/kubernetes/api/client/credentials/source-text.js";
import { OBJECT_LIMIT } from "../../../src/shared/kubernetes/api/client/decode/oversized.js";
import { SIZE_LIMIT as LOAD_SIZE_LIMIT } from "../../../src/shared/kubernetes/api/client/kubeconfig/load.js";
import { MAX_FIELDS, MAX_LIST_BYTES as MAX_STREAMED_BYTES } from "../../../src/shared/kubernetes/cri/bounded-reply.js";
import { MAX_MESSAGE_BYTES } from "../../../src/shared/kubernetes/cri/channel.js";
import { MAX_BLOCK_BYTES, MAX_CONTINUATIONS } from "../../../src/shared/kubernetes/cri/channel/block-reader.js";
import { MAX_UNSENT_BYTES } from "../../../src/shared/kubernetes/cri/channel/connection.js";
import { MAX_HELD_BYTES } from "../../../src/shared/kubernetes/cri/channel/held-bytes.js";
import { MAX_LIST_BYTES } from "../../../src/shared/kubernetes/cri/channel/hpack/decoder.js";
import { MAX_IDLE_FRAMES } from "../../../src/shared/kubernetes/cri/channel/idle-frames.js";
import { MAX_ITEMS } from "../../../src/shared/kubernetes/cri/streamed-lists.js";
import { MAX_RESPONSE_BYTES } from "../../../src/shared/kubernetes/plugins/connection.js";
import { MAX_BODY_BYTES as API_MAX_BODY_BYTES } from "../../../src/workers/apiserver/doors/body.js";
import { READER_SHARE } from "../../../src/workers/apiserver/doors/reader-share.js";
import { MAX_BEHIND_BYTES, MAX_WATCHES } from "../../../src/workers/apiserver/doors/watches.js";
import { MAX_EVENTS } from "../../../src/workers/apiserver/furnish.js";
import { MAX_TERMS } from "../../../src/workers/apiserver/objects/selectors.js";
import { MAX_DEPTH } from "../../../src/workers/apiserver/objects/tree.js";
import { MAX_OBJECT_BYTES, MAX_OBJECTS, MAX_STORE_BYTES } from "../../../src/workers/apiserver/store/batch.js";
import { MAX_CHANGES } from "../../../src/workers/apiserver/store/history.js";
import { MAX_BODY_BYTES } from "../../../src/workers/server/ports/guard.js";
import { CONNECTION_LIMITS, IDENTIFIED_HEADER_BYTES } from "../../../src/workers/server/ports/https-server.js";
import { MAX_MESSAGE } from "../../../src/workers/server/streams/websocket/handshake.js";
import type { LimitRows } from "./row.js";

export const NODE_LIMITS: LimitRows = {
  "The API of a node without a cluster": [
    {
      of: ["src/workers/apiserver/store/batch.ts", "MAX_OBJECTS"],
      value: MAX_OBJECTS,
      unit: "objects",
      what: "objects that the node's own API keeps",
      beyond: "403",
      reason: "all objects are in memory",
      upstream: "the size of etcd",
    },
    {
      of: ["src/workers/apiserver/store/batch.ts", "MAX_OBJECT_BYTES"],
      value: MAX_OBJECT_BYTES,
      unit: "bytes",
      what: "an object of the node's own API, as JSON",
      beyond: "413",
      reason: "patches let it grow beyond a body",
      upstream: "the same, by etcd",
    },
    {
      of: ["src/workers/apiserver/store/batch.ts", "MAX_STORE_BYTES"],
      value: MAX_STORE_BYTES,
      unit: "bytes",
      what: "all its objects together, in the heap",
      beyond: "403 for new objects and for growth above 16 KiB",
      reason: "all objects are in memory",
      upstream: "the size of etcd",
    },
    {
      of: ["src/workers/apiserver/objects/tree.ts", "MAX_DEPTH"],
      value: MAX_DEPTH,
      unit: "levels",
      what: "levels of maps and lists in a body",
      beyond: "400",
      reason: "each level needs stack",
      upstream: "10000",
    },
    {
      of: ["src/workers/apiserver/objects/selectors.ts", "MAX_TERMS"],
      value: MAX_TERMS,
      unit: "entries",
      what: "conditions and values of the selectors of a list or watch",
      beyond: "400",
      reason: "each is looked at for each object",
      upstream: "none",
    },
    {
      of: ["src/workers/apiserver/doors/reader-share.ts", "READER_SHARE"],
      value: READER_SHARE.watches,
      unit: "watches",
      what: "watches of all readers; they have 64 requests, 32 logs and 256 connections",
      beyond: "429",
      reason: "the rest is left to administrators and the kubelet",
      upstream: "priority and fairness",
    },
    {
      of: ["src/workers/apiserver/doors/reader-share.ts", "READER_SHARE"],
      value: READER_SHARE.unsent,
      unit: "bytes",
      what: "responses that readers have not taken",
      beyond: "429 for their next request",
      reason: "memory; a client may never read",
      upstream: "none",
    },
    {
      of: ["src/workers/apiserver/store/history.ts", "MAX_CHANGES"],
      value: MAX_CHANGES,
      unit: "changes",
      what: "changes from which watches go on, or 8 MiB of them",
      beyond: "410, and the client lists again",
      reason: "memory",
      upstream: "five minutes of etcd's history",
    },
    {
      of: ["src/workers/apiserver/doors/body.ts", "MAX_BODY_BYTES"],
      value: API_MAX_BODY_BYTES,
      unit: "bytes",
      what: "body of a request; 64 bodies are read at once",
      beyond: "413, 429",
      reason: "memory of the thread",
      upstream: "the same",
    },
    {
      of: ["src/workers/apiserver/doors/watches.ts", "MAX_WATCHES"],
      value: MAX_WATCHES,
      unit: "watches",
      what: "watches at once",
      beyond: "429",
      reason: "each holds a connection and a queue",
      upstream: "none",
    },
    {
      of: ["src/workers/apiserver/doors/watches.ts", "MAX_BEHIND_BYTES"],
      value: MAX_BEHIND_BYTES,
      unit: "bytes",
      what: "what a client of a watch has not read yet",
      beyond: "the watch ends, and the client lists again",
      reason: "memory; a client may never read",
      upstream: "a number of events",
    },
    {
      of: ["src/workers/apiserver/furnish.ts", "MAX_EVENTS"],
      value: MAX_EVENTS,
      unit: "events",
      what: "events that are kept, for an hour",
      beyond: "the oldest are removed",
      reason: "each is an object",
      upstream: "events of an hour",
    },
  ],
  "Port 10250 and the sockets": [
    {
      of: ["src/workers/server/ports/https-server.ts", "CONNECTION_LIMITS"],
      value: CONNECTION_LIMITS.streams,
      unit: "streams",
      what: "exec, attach and port-forward at once",
      beyond: "429, try again in a minute",
      reason: "each holds two connections",
      upstream: "none",
    },
    {
      of: ["src/workers/server/ports/https-server.ts", "CONNECTION_LIMITS"],
      value: CONNECTION_LIMITS.connections,
      unit: "connections",
      what: "connections to port 10250 at once",
      beyond: "the oldest of those without rights are closed",
      reason: "memory; clients without credentials can open any number",
      upstream: "none",
    },
    {
      of: ["src/workers/server/ports/https-server.ts", "CONNECTION_LIMITS"],
      value: CONNECTION_LIMITS.authorisedPerUser,
      unit: "connections",
      what: "those of one user with an authorised request",
      beyond: "429, and the connection closes",
      reason: "a scraper that leaks connections keeps no other user out",
      upstream: "none",
    },
    {
      of: ["src/shared/io/http/server/request-reader.ts", "MAX_HEAD_BYTES"],
      value: MAX_HEAD_BYTES,
      unit: "bytes",
      what: "head of a request over HTTP/1.1",
      beyond: "431",
      reason: "upstream's limit; heads above 64 KiB share a pool for each port (docs/adr/0096)",
      upstream: "the same, without a pool",
    },
    {
      of: ["src/workers/server/ports/https-server.ts", "IDENTIFIED_HEADER_BYTES"],
      value: IDENTIFIED_HEADER_BYTES,
      unit: "bytes",
      what: "head of a request over HTTP/2 with a verified client certificate; 64 KiB without one",
      beyond: "431",
      reason: "clients without credentials fill the memory of the thread; a command of 128 KiB fits",
      upstream: "1 MiB",
    },
    {
      of: ["src/workers/server/ports/guard.ts", "MAX_BODY_BYTES"],
      value: MAX_BODY_BYTES,
      unit: "bytes",
      what: "body of a request, but for the manifest API",
      beyond: "413",
      reason: "no route reads more",
      upstream: "none",
    },
    {
      of: ["src/workers/server/streams/websocket/handshake.ts", "MAX_MESSAGE"],
      value: MAX_MESSAGE,
      unit: "bytes",
      what: "a message of a WebSocket stream",
      beyond: "the stream is closed with 1009",
      reason: "a message is held whole; clients of client-go send 32 KiB",
      upstream: "32 MiB",
    },
    {
      of: ["src/main/node/pods-api/server.ts", "MAX_WATCHERS"],
      value: MAX_WATCHERS,
      unit: "clients",
      what: "watches on the socket of the pods API",
      beyond: "`RESOURCE_EXHAUSTED`",
      reason: "each has a queue",
      upstream: "none",
    },
  ],
  "API server, runtime and plugins": [
    {
      of: ["src/shared/kubernetes/api/client/decode/oversized.ts", "OBJECT_LIMIT"],
      value: OBJECT_LIMIT,
      unit: "bytes",
      what: "an object of the API as JSON",
      beyond: "only its name and its deletion are read, with a warning; the others are read",
      reason: "a large parse holds up every pod",
      upstream: "none; an API server stores 1.5 MiB",
    },
    {
      of: ["src/shared/kubernetes/api/client/call/list.ts", "LIST_LIMIT"],
      value: LIST_LIMIT,
      unit: "bytes",
      what: "one answer to a list; longer lists come in pages",
      beyond: "the list is tried again",
      reason: "it is held in memory",
      upstream: "none",
    },
    {
      of: ["src/shared/kubernetes/api/client/call/line-cutter.ts", "LINE_LIMIT"],
      value: LINE_LIMIT,
      unit: "bytes",
      what: "one event of a watch",
      beyond: "the watch starts again",
      reason: "it is held in memory",
      upstream: "none",
    },
    {
      of: ["src/shared/io/net/handshake-limit.ts", "MAX_HANDSHAKE_BYTES"],
      value: MAX_HANDSHAKE_BYTES,
      unit: "bytes",
      what: "what a proxy, the server of `staticPodURL` or, after a failed handshake, the API server sends before TLS is complete",
      beyond: "the connection is closed, and tried again",
      reason: "OpenSSL checks every signature of a chain, also of one without an authority (docs/adr/0140)",
      upstream: "256 KiB of certificates",
    },
    {
      of: ["src/shared/kubernetes/api/client/connection/flood-guard.ts", "MAX_IDLE_BYTES"],
      value: MAX_IDLE_BYTES,
      unit: "bytes",
      what: "bytes of the API server over HTTP/2 that bring no call further; bodies, responses and time earn more",
      beyond: "the connection is closed within a second; watches go on over another one",
      reason: "floods of frames take all of the thread's time",
      upstream: "none",
    },
    {
      of: ["src/shared/kubernetes/cri/channel.ts", "MAX_MESSAGE_BYTES"],
      value: MAX_MESSAGE_BYTES,
      unit: "bytes",
      what: "a message of the runtime",
      beyond: "the call fails",
      reason: "upstream's limit",
      upstream: "the same",
    },
    {
      of: ["src/shared/kubernetes/cri/channel/held-bytes.ts", "MAX_HELD_BYTES"],
      value: MAX_HELD_BYTES,
      unit: "bytes",
      what: "replies of all calls to the runtime that nobody has read to their end",
      beyond: "the call that holds most fails",
      reason: "three of the largest messages; the runtime may answer any number of calls (docs/adr/0106)",
      upstream: "none",
    },
    {
      of: ["src/shared/kubernetes/cri/bounded-reply.ts", "MAX_FIELDS"],
      value: MAX_FIELDS,
      unit: "fields",
      what: "a message of the runtime above 256 KiB, at every depth",
      beyond: "the call fails; a list comes pod by pod",
      reason: "each becomes an object, and an empty one has two bytes",
      upstream: "none",
    },
    {
      of: ["src/shared/kubernetes/cri/channel/hpack/decoder.ts", "MAX_LIST_BYTES"],
      value: MAX_LIST_BYTES,
      unit: "bytes",
      what: "fields of the runtime's response, or its trailers",
      beyond: "the call fails",
      reason: "memory; a status has some hundred bytes",
      upstream: "16 MiB",
    },
    {
      of: ["src/shared/kubernetes/cri/channel/block-reader.ts", "MAX_BLOCK_BYTES"],
      value: MAX_BLOCK_BYTES,
      unit: "bytes",
      what: "the same as they are sent",
      beyond: "the kubelet changes to the channel of grpc-js",
      reason: "memory",
      upstream: "16 MiB",
    },
    {
      of: ["src/shared/kubernetes/cri/channel/block-reader.ts", "MAX_CONTINUATIONS"],
      value: MAX_CONTINUATIONS,
      unit: "frames",
      what: "CONTINUATION frames of one response",
      beyond: "the same",
      reason: "a flood of empty ones costs processor time",
      upstream: "none",
    },
    {
      of: ["src/shared/kubernetes/cri/channel/idle-frames.ts", "MAX_IDLE_FRAMES"],
      value: MAX_IDLE_FRAMES,
      unit: "frames",
      what: "frames of the runtime at once that bring no call further, such as PING; each call earns 20 more, and each second 100",
      beyond: "the same",
      reason: "floods cost processor time",
      upstream: "none",
    },
    {
      of: ["src/shared/kubernetes/cri/channel/connection.ts", "MAX_UNSENT_BYTES"],
      value: MAX_UNSENT_BYTES,
      unit: "bytes",
      what: "bytes that wait for a runtime that does not read",
      beyond: "calls wait; one that goes on sending loses the connection",
      reason: "memory",
      upstream: "none",
    },
    {
      of: ["src/shared/kubernetes/cri/streamed-lists.ts", "MAX_ITEMS"],
      value: MAX_ITEMS,
      unit: "items",
      what: "a list that the runtime streams",
      beyond: "the call fails",
      reason: "a stream must end",
      upstream: "none",
    },
    {
      of: ["src/shared/kubernetes/cri/bounded-reply.ts", "MAX_LIST_BYTES"],
      value: MAX_STREAMED_BYTES,
      unit: "bytes",
      what: "the same, all its parts together",
      beyond: "the call fails; the list comes pod by pod",
      reason: "it is held in memory",
      upstream: "none",
    },
    {
      of: ["src/shared/kubernetes/plugins/connection.ts", "MAX_RESPONSE_BYTES"],
      value: MAX_RESPONSE_BYTES,
      unit: "bytes",
      what: "an answer of a CSI driver, a device plugin or a DRA driver",
      beyond: "the call fails",
      reason: "gRPC's limit in Go",
      upstream: "the same",
    },
    {
      of: ["src/main/resources/devices/decode-devices.ts", "MAX_DEVICES"],
      value: DECODE_DEVICES_MAX_DEVICES,
      unit: "devices",
      what: "devices of one device plugin",
      beyond: "the list is refused",
      reason: "a message of gRPC has no more",
      upstream: "4 MiB a message",
    },
    {
      of: ["src/main/resources/dra/device-health.ts", "MAX_DEVICES"],
      value: DEVICE_HEALTH_MAX_DEVICES,
      unit: "devices",
      what: "devices whose health one DRA driver reports",
      beyond: "the report is refused; pods run on",
      reason: "it is held in memory",
      upstream: "none",
    },
    {
      of: ["src/shared/io/exec/run-program.ts", "OUTPUT_LIMIT"],
      value: OUTPUT_LIMIT,
      unit: "bytes",
      what: "output of a credential plugin or a volume program",
      beyond: "the program is ended, and the call fails",
      reason: "it is held in memory",
      upstream: "none",
    },
    {
      of: ["src/main/volumes/flex/answer.ts", "ANSWER_LIMIT"],
      value: ANSWER_LIMIT,
      unit: "bytes",
      what: "answer of a flexVolume driver",
      beyond: "the call fails",
      reason: "it is parsed on the main thread",
      upstream: "none",
    },
    {
      of: ["src/main/pods/events/sink/event-line.ts", "QUEUE_LIMIT"],
      value: QUEUE_LIMIT,
      unit: "events",
      what: "events that wait for the API server",
      beyond: "the oldest are dropped and counted",
      reason: "upstream's limit",
      upstream: "the same",
    },
    {
      of: ["src/main/resources/dra/driver-client.ts", "MAX_REPORT_BYTES"],
      value: MAX_REPORT_BYTES,
      unit: "bytes",
      what: "a health report of a DRA driver",
      beyond: "the report is refused; pods run on",
      reason: "it is decoded on the main thread",
      upstream: "4 MiB",
    },
    {
      of: ["src/main/volumes/flex/driver-watch.ts", "MOST_DIRECTORIES"],
      value: MOST_DIRECTORIES,
      unit: "directories",
      what: "directories of flexVolume drivers",
      beyond: "further drivers are not found",
      reason: "each needs a watch",
      upstream: "none",
    },
  ],
  "Files of the node": [
    {
      of: ["src/main/command/config/size-limits.ts", "SIZE_LIMIT"],
      value: CONFIG_SIZE_LIMIT,
      unit: "bytes",
      what: "a configuration file",
      beyond: "the start is refused",
      reason: "it is held in memory",
      upstream: "none",
    },
    {
      of: ["src/main/command/config/size-limits.ts", "SUM_LIMIT"],
      value: SUM_LIMIT,
      unit: "bytes",
      what: "the configuration file and the drop-ins together",
      beyond: "the start is refused",
      reason: "they are held in memory",
      upstream: "none",
    },
    {
      of: ["src/main/process/unix/command-io.ts", "MAX_ENTRIES"],
      value: MAX_ENTRIES,
      unit: "entries",
      what: "files and folders below `--config-dir`",
      beyond: "the start is refused",
      reason: "another folder was named by mistake",
      upstream: "none",
    },
    {
      of: ["src/shared/kubernetes/api/client/kubeconfig/load.ts", "SIZE_LIMIT"],
      value: LOAD_SIZE_LIMIT,
      unit: "bytes",
      what: "a kubeconfig",
      beyond: "the start is refused",
      reason: "it is held in memory",
      upstream: "none",
    },
    {
      of: ["src/shared/kubernetes/api/client/credentials/source-text.ts", "CREDENTIAL_LIMIT"],
      value: CREDENTIAL_LIMIT,
      unit: "bytes",
      what: "a file with certificates, a key or a token that a kubeconfig or the configuration names",
      beyond: "the one before it stays in use; without one, calls fail, or the port does not open",
      reason: "a TLS context is made of it on the thread that needs it",
      upstream: "none",
    },
    {
      of: ["src/shared/io/fs/state-file.ts", "STATE_LIMIT"],
      value: STATE_LIMIT,
      unit: "bytes",
      what: "a state file or checkpoint of the kubelet",
      beyond: "it is set aside, with a warning",
      reason: "it is held in memory",
      upstream: "none",
    },
    {
      of: ["src/shared/io/fs/regular-file.ts", "SMALL_FILE_LIMIT"],
      value: SMALL_FILE_LIMIT,
      unit: "bytes",
      what: "other files of the kubelet: about one volume, image or pod; also `/etc/group` and files about the machine",
      beyond: "it cannot be read",
      reason: "it is held in memory",
      upstream: "none",
    },
    {
      of: ["src/main/containers/images/keyring/node-files.ts", "CREDENTIALS_FILE_LIMIT"],
      value: CREDENTIALS_FILE_LIMIT,
      unit: "bytes",
      what: "a file of registry credentials (`config.json`, `.dockercfg`)",
      beyond: "the file is left out, with a warning",
      reason: "it is parsed on the main thread",
      upstream: "none",
    },
    {
      of: ["src/main/containers/images/credential-providers/load-config.ts", "SIZE_LIMIT"],
      value: LOAD_CONFIG_SIZE_LIMIT,
      unit: "bytes",
      what: "configuration of credential providers",
      beyond: "the start is refused",
      reason: "it is held in memory",
      upstream: "none",
    },
    {
      of: ["src/main/pods/sync/pod-records.ts", "MAX_SUM_BYTES"],
      value: MAX_SUM_BYTES,
      unit: "bytes",
      what: "the kubelet's own records of all pods",
      beyond: "further records are not written, as on a full disk; pods run on",
      reason: "a node with many large pods must not fill the disk",
      upstream: "no records",
    },
    {
      of: ["src/main/volumes/paths.ts", "MOST_NAMES_IN"],
      value: MOST_NAMES_IN,
      unit: "names",
      what: "in one directory of the kubelet's own",
      beyond: "the directory is looked at again later",
      reason: "it is held in memory",
      upstream: "none",
    },
  ],
};
