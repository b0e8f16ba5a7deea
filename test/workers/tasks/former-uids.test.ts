// UIDs of static pods as release 0.1.0 (commit dce18d51) computed them: its code was run over these manifests. The
// present reader knows them, for files, URLs and the manifest API, whose files on disk have the definition as that
// release wrote it.

import { equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { decodeSubmitted } from "../../../src/workers/tasks/manifest/decode-submitted.js";
import { decodeManifest } from "../../../src/workers/tasks/manifest/decode.js";

interface Row {
  /** Lines of the container, or of the spec. */
  container?: string;
  spec?: string;
  file: string;
  url: string;
  submitted: string;
  /** The spec in the manifest API's file. */
  kept: string;
}

const app = (fields: string): string => `{"containers":[{"name":"app","image":"busybox"${fields}}]}`;

const ROWS: Record<string, Row> = {
  "a quantity with a fraction": {
    container: "resources: {requests: {cpu: 0.5, memory: 1024Mi}, limits: {cpu: '1.0', memory: 1Gi}}",
    ...{ file: "97f111af83a24f50e478e005da80b669", url: "e911bbb658812630fb8dc2e795429174" },
    submitted: "ba0e1cd4b58409e008e72e02bbfc10cb",
    kept: app(',"resources":{"requests":{"cpu":0.5,"memory":"1024Mi"},"limits":{"cpu":"1.0","memory":"1Gi"}}'),
  },
  "a quantity as a number": {
    container: "resources: {limits: {cpu: 2, memory: 134217728}}",
    ...{ file: "df8f8c1372dde8f90537d061535960c9", url: "f4bbec7a95384d96da4350c74548b9d4" },
    submitted: "5f4c01e878b6b4558fa73a421726cedb",
    kept: app(',"resources":{"limits":{"cpu":2,"memory":134217728}}'),
  },
  "switches that are off": {
    container: "stdin: false\n    tty: false\n    securityContext: {privileged: false}",
    ...{ file: "0a03867f5fa00898d985a96859badb92", url: "bd433c824b8258d9bb71290a619636ff" },
    submitted: "0119503110d9ddbe88dc41c71bf7f23c",
    kept: app(',"stdin":false,"tty":false,"securityContext":{"privileged":false}'),
  },
  zeros: {
    container:
      "livenessProbe: {tcpSocket: {port: 80}, initialDelaySeconds: 0}\n    ports: [{containerPort: 80, hostPort: 0}]",
    ...{ file: "2b319e463093083e9b05746e8f8296e3", url: "db6c4bd3fd013d5dd5cb16aae6296192" },
    submitted: "f1fc1d42ab8799d34072835ecd045c9d",
    kept: app(
      ',"livenessProbe":{"tcpSocket":{"port":80},"initialDelaySeconds":0},"ports":[{"containerPort":80,"hostPort":0}]',
    ),
  },
  "empty lists and maps": {
    container: "env: []\n    args: []\n    resources: {limits: {}}\n    volumeMounts: []",
    ...{ file: "561e647afcb5379ba7fb1034b66d4255", url: "4a34bace61ac7de7af7b2df2b0530b50" },
    submitted: "65dae7a577e50a4bb79ce4ee3bd7e147",
    kept: app(',"env":[],"args":[],"resources":{"limits":{}},"volumeMounts":[]'),
  },
  "a value in canonical form": {
    container: "resources: {requests: {cpu: 500m, memory: 1Gi}}",
    ...{ file: "d1ad237ace1928c22f4a93d18f2d0c19", url: "9b7945c26b39bc253248833af226ae84" },
    submitted: "73540287fe73d7953b3af1ab8ea5d5bb",
    kept: app(',"resources":{"requests":{"cpu":"500m","memory":"1Gi"}}'),
  },
  nulls: {
    container: "env: null\n    command: ~",
    ...{ file: "e4ab7872593da9cf9b41d937123e8df0", url: "14cce750f7de7c6f024b163e89ef3779" },
    submitted: "779a4f005fbd2815005a61027b2c4c2a",
    kept: app(""),
  },
  "values that Go always writes": {
    container:
      "lifecycle: {preStop: {sleep: {seconds: 0}}}\n    readinessProbe: {httpGet: {port: 80, httpHeaders: [{name: A, value: ''}]}}",
    ...{ file: "96c47dccb07efdb97f14cc4b9e1d1961", url: "d03ba79abbf4e751f80e6bb4acbd5c7c" },
    submitted: "122d72224505b62cc987699bf43c6f4b",
    kept: app(
      ',"lifecycle":{"preStop":{"sleep":{"seconds":0}}},"readinessProbe":{"httpGet":{"port":80,"httpHeaders":[{"name":"A","value":""}]}}',
    ),
  },
  "fields of the pod": {
    spec: "terminationGracePeriodSeconds: 0\n  hostNetwork: false\n  hostPID: false\n  nodeSelector: {}\n  volumes:\n  - name: d\n    emptyDir: {sizeLimit: 0.5Gi}",
    ...{ file: "b0733b7288b05620e5e5ffc139c7b519", url: "997f442e1b0be5f19ce0a58c76267784" },
    submitted: "65fae083c683aa6cc09673ded2a1d533",
    kept: '{"terminationGracePeriodSeconds":0,"hostNetwork":false,"hostPID":false,"nodeSelector":{},"volumes":[{"name":"d","emptyDir":{"sizeLimit":"0.5Gi"}}],"containers":[{"name":"app","image":"busybox"}]}',
  },
  "objects that the release kept whole": {
    spec: `affinity: {nodeAffinity: {}, extra: 1}
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]
  volumes:
  - name: net
    nfs: {server: s, path: /p, readOnly: false}
  - name: img
    image: {reference: r, extra: [null, 1]}`,
    ...{ file: "6a0015ab2500e8a58e43075f2a3e3df6", url: "d25b96acae19c60839b464977d70fa23" },
    submitted: "a4af77a3e6233639a76ccf46bc759928",
    kept: '{"affinity":{"nodeAffinity":{},"extra":1},"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule","labelSelector":{}}],"volumes":[{"name":"net","nfs":{"server":"s","path":"/p","readOnly":false}},{"name":"img","image":{"reference":"r","extra":[null,1]}}],"containers":[{"name":"app","image":"busybox"}]}',
  },
};

function manifest({ container = "", spec = "" }: Row): string {
  const [more, last] = [spec === "" ? "" : `  ${spec}\n`, container === "" ? "" : `    ${container}\n`];
  return `apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  labels: {}\nspec:\n${more}  containers:\n  - name: app\n    image: busybox\n${last}`;
}

describe("the UID of release 0.1.0 is known for", () => {
  for (const [name, row] of Object.entries(ROWS)) {
    test(name, () => {
      const of = (origin: Parameters<typeof decodeManifest>[0]["origin"]): string | undefined => {
        const { pods, formerUids = {} } = decodeManifest({ origin, text: manifest(row), nodeName: "n" });
        const uid = podUid(pods[0]?.metadata.uid ?? "");
        return formerUids[uid] ?? uid;
      };
      equal(of({ kind: "file", path: "/m/web.yaml" }), row.file);
      equal(of({ kind: "http", url: "http://h/m" }), row.url);
      const metadata = '{"name":"web","labels":{},"namespace":"default"}';
      for (const text of [
        manifest(row),
        `{"apiVersion":"v1","kind":"Pod","metadata":${metadata},"spec":${row.kept}}\n`,
      ]) {
        const job = { text: Buffer.from(text), nodeName: "n", preventAPIReferences: true, namespace: "default" };
        const [one] = decodeSubmitted(job).pods;
        equal(one?.formerUid ?? one?.pod.metadata.uid, row.submitted);
      }
    });
  }
});

test("a manifest with a UID of its own, or in canonical form, has no other one", () => {
  const text = (metadata: string): string =>
    `apiVersion: v1\nkind: Pod\nmetadata: {${metadata}}\nspec: {containers: [{name: app, image: i, tty: false}]}\n`;
  const former = (one: string): unknown =>
    decodeManifest({ origin: { kind: "file", path: "/m" }, text: one, nodeName: "n" }).formerUids;
  equal(former(text("name: web, uid: own")), undefined);
  equal(former(text("name: web").replace(", tty: false", "")), undefined);
});
