// What a tenant's names, paths and labels reach: his own pod and namespace. The API server checks some of these texts,
// but not all of them: a subPath may have a NUL, and the name of a pull Secret slashes.
// @promise Hostile tenants and clients: No name, path or label of a pod reads, writes or claims something of another
//   pod, another namespace or the node.

import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, after, describe, test } from "node:test";
import { matchesImage } from "../../../src/main/containers/images/keyring/image-match.js";
import { volumeSubPath } from "../../../src/main/containers/runtime/config/mounts.js";
import { ephemeralNamespaces } from "../../../src/main/containers/runtime/config/namespaces.js";
import { EnvFiles } from "../../../src/main/containers/runtime/env-files.js";
import { CreateContainerConfigError } from "../../../src/main/model/container-config-error.js";
import { containerAnnotations, containerLabels, sandboxLabels } from "../../../src/main/model/labels.js";
import { containerLogPath, podOfLogDirectory } from "../../../src/main/model/paths.js";
import { dottedSysctl } from "../../../src/main/model/sysctl-name.js";
import { firstRefusal } from "../../../src/main/pods/admission/handlers.js";
import { isMirrorOf } from "../../../src/main/pods/status/mirror/mirror-pod.js";
import { writePayload } from "../../../src/main/volumes/atomic-writer/atomic-writer.js";
import { checkPayload } from "../../../src/main/volumes/atomic-writer/payload.js";
import { boundClaim } from "../../../src/main/volumes/claims/claim.js";
import { hugePageSize } from "../../../src/main/volumes/empty-dir/huge-pages.js";
import { prepareSubPath } from "../../../src/main/volumes/sub-path.js";
import { OperatorError } from "../../../src/shared/base/errors/operator-error.js";
import { requestOf } from "../../../src/shared/io/http/client/get-action.js";
import { requestText } from "../../../src/shared/io/http/client/request-text.js";
import { objectPath, withQuery } from "../../../src/shared/kubernetes/api/client/call/paths.js";
import { SECRETS } from "../../../src/shared/kubernetes/api/client/kinds.js";
import {
  metaDirectory,
  terminationLogPath,
  volumeDirectory,
  volumePath,
} from "../../../src/shared/kubernetes/api/pod-paths.js";
import { isSafePodUid } from "../../../src/shared/kubernetes/api/pod-uid.js";
import type { Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { logFileNames } from "../../../src/shared/node/container-logs/file-names.js";
import { openSubPath } from "../../../src/shared/node/volume-calls/sub-path.js";
import type { VolumeCalls } from "../../../src/shared/node/volume-calls/volume-calls.js";
import { container, pod } from "../../support/pods.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { context } from "../pods/admission/kit.js";

const SECRET = "of the node";
let root = "";
let volume = "";

before(async () => {
  root = await mkdtemp(join(tmpdir(), "nodelet-reach-"));
  volume = join(root, "volume");
  await mkdir(volume);
  await writeFile(join(root, "secret"), `KEY='${SECRET}'\n`);
});
after(() => rm(root, { recursive: true, force: true }));

const ENV = new Map([
  ["UP", ".."],
  ["NUL", "..\0"],
  ["ROOT", "/"],
]);

describe("sub-paths", () => {
  for (const subPath of ["../x", "a/../../x", "/etc", "..", "./.."]) {
    test(`${JSON.stringify(subPath)} is refused`, () => {
      throws(() => volumeSubPath({ name: "v", mountPath: "/v", subPath }, ENV), CreateContainerConfigError);
    });
  }
  for (const subPathExpr of ["$(UP)/x", "a/$(UP)/$(UP)/x", "$(ROOT)etc"]) {
    test(`the expression ${JSON.stringify(subPathExpr)} is checked after its variables are in`, () => {
      throws(() => volumeSubPath({ name: "v", mountPath: "/v", subPathExpr }, ENV), CreateContainerConfigError);
    });
  }
  for (const subPath of ["..\0", "..\0/secret", "a\0/../../secret", "\0"]) {
    test(`${JSON.stringify(subPath)}, which C would cut at its NUL, opens and makes nothing`, async () => {
      await rejects(openSubPath(volume, subPath));
      deepEqual(await readdir(root), ["secret", "volume"]);
    });
  }
  test("a NUL of a variable opens nothing either", async () => {
    const subPath = volumeSubPath({ name: "v", mountPath: "/v", subPathExpr: "$(NUL)" }, ENV) ?? "";
    await rejects(openSubPath(volume, subPath));
  });
});

describe("files with variables", () => {
  const files = () => new EnvFiles(new Map([["v", { hostPath: volume }]]));
  for (const path of ["../secret", "/../secret", "out", "dir/secret", "..\0/secret"]) {
    test(`${JSON.stringify(path)} does not lead out of the volume, and the message has nothing of the file`, async () => {
      await symlink("../secret", join(volume, "out")).catch(() => undefined);
      await symlink(root, join(volume, "dir")).catch(() => undefined);
      await rejects(files().value({ volumeName: "v", path, key: "KEY" }), (error: Error) => {
        ok(error instanceof CreateContainerConfigError);
        return !error.message.includes(SECRET);
      });
    });
  }
});

describe("volumes of objects", () => {
  for (const path of ["..data/x", "../x", "a/../../x", "/x", "a\0b", "..2026/x", ".", "a//b", ""]) {
    test(`the file ${JSON.stringify(path)} is refused`, () => {
      throws(() => checkPayload(new Map([[path, { data: "", mode: 0o644 }]])));
    });
  }

  test("links that someone planted in the volume's directory are replaced, not followed", async () => {
    const directory = join(root, "planted");
    const outside = join(root, "outside");
    await mkdir(directory);
    await mkdir(outside);
    await writeFile(join(outside, "key"), SECRET);
    await symlink(outside, join(directory, "..data_tmp"));
    await symlink(outside, join(directory, "..2026_01_01_00_00_00.1"));
    await symlink(outside, join(directory, "key"));
    await symlink("../outside", join(directory, "..data"));
    const payload = new Map([["key", { data: "new", mode: 0o644 }]]);
    await writePayload(directory, payload, { clock: new SteppedClock() });
    equal(await readFile(join(directory, "key"), "utf8"), "new");
    deepEqual(await readdir(outside), ["key"]);
    equal(await readFile(join(outside, "key"), "utf8"), SECRET);
    await rm(directory, { recursive: true });
    await rm(outside, { recursive: true });
  });

  test("the medium of an emptyDir adds no mount options", () => {
    const asking = pod({ containers: [container("app", { resources: { limits: { "hugepages-2Mi": "2Mi" } } })] });
    for (const medium of ["HugePages-2Mi,uid=0", "HugePages-2Mi\0", "HugePages-2Mi size=1", "HugePages-1Gi"]) {
      ok("problem" in hugePageSize(asking, medium), medium);
    }
  });
});

describe("labels and annotations", () => {
  const victim = pod({}, "victim");
  const forged = pod({}, "evil");
  forged.metadata.labels = {
    "io.kubernetes.pod.uid": victim.metadata.uid,
    "io.kubernetes.pod.name": "victim",
    "io.kubernetes.pod.namespace": "kube-system",
  };
  forged.metadata.annotations = { "cdi.k8s.io/x": "vendor/device=all", "io.kubernetes.container.hash": "0" };

  test("a pod's labels do not give its sandbox and containers to another pod", () => {
    equal(sandboxLabels(forged)["io.kubernetes.pod.uid"], "uid-evil");
    equal(sandboxLabels(forged)["io.kubernetes.pod.namespace"], forged.metadata.namespace);
    equal(containerLabels(forged, container("app"))["io.kubernetes.pod.uid"], "uid-evil");
  });

  test("a pod's annotations do not reach its containers, where a runtime reads devices from them", () => {
    const annotations = containerAnnotations(forged, container("app"), 0);
    equal(annotations["cdi.k8s.io/x"], undefined);
    equal(annotations["io.kubernetes.container.hash"] === "0", false);
  });

  test("a pod with the mark of a mirror pod is no mirror without its hash and the node as its owner", () => {
    const statics = pod({}, "static");
    statics.metadata.annotations = { "kubernetes.io/config.hash": "h" };
    const node = { name: "n", uid: "node-uid" };
    const mirror = (annotation: string, ownerUid?: string) => {
      const made = pod({}, "static", "other");
      made.metadata.annotations = { "kubernetes.io/config.mirror": annotation };
      if (ownerUid !== undefined) {
        made.metadata.ownerReferences = [
          { apiVersion: "v1", kind: "Node", name: "n", uid: ownerUid, controller: true },
        ];
      }
      return made;
    };
    equal(isMirrorOf(mirror("h"), statics, node), false);
    equal(isMirrorOf(mirror("h", "another"), statics, node), false);
    equal(isMirrorOf(mirror("forged", "node-uid"), statics, node), false);
    equal(isMirrorOf(mirror("h", "node-uid"), statics, node), true);
  });

  test("an ephemeral container joins the processes of a container of its own pod only", () => {
    const made = { name: "debug", targetContainerName: "victim" };
    throws(() => ephemeralNamespaces(pod(), made, undefined), CreateContainerConfigError);
  });
});

describe("objects of the API", () => {
  for (const name of ["", ".", ".."]) {
    test(`the name ${JSON.stringify(name)} makes no path`, () => {
      throws(() => objectPath(SECRETS, { namespace: "ns", name }), TypeError);
    });
  }
  for (const name of ["../../kube-system/secrets/admin", "a/b", "a?watch=1", "a#b", "a%2fb", "a\r\nb"]) {
    test(`the name ${JSON.stringify(name)} stays one segment of its namespace`, () => {
      const path = objectPath(SECRETS, { namespace: "ns", name });
      equal(path.split("/").length, "/api/v1/namespaces/ns/secrets/x".split("/").length);
      equal(decodeURIComponent(path.slice("/api/v1/namespaces/ns/secrets/".length)), name);
    });
  }
  test("a selector's text adds no parameter to the query", () => {
    equal(
      withQuery("/p", { fieldSelector: "metadata.name=a&watch=1" }),
      "/p?fieldSelector=metadata.name%3Da%26watch%3D1",
    );
  });
});

describe("names from an API server that checks none", () => {
  const WRONG = ["../../../etc", "..", ".", "", "a/b", "/etc", "a\0/../../etc", "x".repeat(4096)];
  const asked = pod({ containers: [container("app")] });

  for (const name of WRONG) {
    const shown = JSON.stringify(name.slice(0, 20));
    test(`a pod with the name ${shown}, for itself or a part, is not admitted`, () => {
      const named = (change: Partial<Pod["metadata"]>, spec: Partial<Pod["spec"]> = {}): Pod => ({
        ...asked,
        metadata: { ...asked.metadata, ...change },
        spec: { ...asked.spec, ...spec },
      });
      const pods = [
        named({ name }),
        named({ namespace: name }),
        named({}, { containers: [container(name)] }),
        named({}, { initContainers: [container(name)] }),
        named({}, { ephemeralContainers: [container(name)] }),
        named({}, { volumes: [{ name, emptyDir: {} }] }),
      ];
      for (const one of pods) equal(firstRefusal(context(one))?.reason, "InvalidName");
    });

    test(`no path below a pod's directory has ${shown} in it`, async () => {
      const { uid } = asked.metadata;
      throws(() => volumeDirectory(root, uid, "kubernetes.io/empty-dir", name), OperatorError);
      throws(() => metaDirectory(root, uid, "kubernetes.io/empty-dir", name), OperatorError);
      throws(() => terminationLogPath(root, uid, name, 1), OperatorError);
      throws(() => containerLogPath(name, 0), OperatorError);
      equal(volumePath(root, uid, { name, emptyDir: {} }), undefined);
      const { signal } = new AbortController();
      const calls = { call: () => Promise.resolve("bound") } as unknown as VolumeCalls;
      const request = { podUid: uid, index: 0, volumePath: volume, subPath: "x", signal };
      await rejects(prepareSubPath({ rootDir: root, calls }, { ...request, volume: name, container: "app" }));
      await rejects(prepareSubPath({ rootDir: root, calls }, { ...request, volume: "v", container: name }));
      deepEqual((await readdir(root)).sort(), ["secret", "volume"]);
    });
  }

  test("the names that an API server admits are admitted", () => {
    for (const name of ["web", "web-0.example.com", "x".repeat(253)]) {
      const one = { ...asked, metadata: { ...asked.metadata, name } };
      equal(firstRefusal(context(one)), undefined);
    }
  });

  test("a claim gets no volume of another name than it asks for, nor one that is a path", async () => {
    const read = (asks: string, gives: string): Promise<unknown> => {
      const claim = {
        metadata: { name: "c", namespace: "ns" },
        spec: { volumeName: asks },
        status: { phase: "Bound" },
      };
      const pv = { metadata: { name: gives }, spec: { claimRef: { name: "c", namespace: "ns" } } };
      const client = {
        get: (kind: { kind: string }) => Promise.resolve(kind.kind === "PersistentVolume" ? pv : claim),
      };
      const claiming = { name: "v", persistentVolumeClaim: { claimName: "c" } };
      return boundClaim(client as never, asked, claiming, new AbortController().signal);
    };
    await rejects(read("pv", "other"), /gave the PV "other"/);
    await rejects(read("../../etc", "../../etc"), /gave the PV/);
    await rejects(read("pv", "../../etc"), /gave the PV/);
  });
});

describe("requests of probes and hooks", () => {
  const textOf = (path: string, headers: { name: string; value: string }[] = []): string => {
    const {
      url,
      host,
      headers: fields,
    } = requestOf({ scheme: "http", host: "10.0.0.1", port: 80, path, headers }, "kube-probe/1.36");
    return requestText({ url, host, headers: fields });
  };
  for (const path of ["/x HTTP/1.1\r\nHost: a\r\n\r\nPOST /", "/\r\nA: b", "/\n", "/a?b\r\nC: d", "http:\r\nx"]) {
    test(`the path ${JSON.stringify(path)} adds no line to the request`, () => {
      let text = "";
      try {
        text = textOf(path);
      } catch {
        return;
      }
      equal(text.split("\r\n").filter((line) => /^[A-Z]+ /.test(line)).length, 1);
      equal(/[^\r]\n|\r[^\n]/.test(text), false);
      equal(text.includes("\r\nA: b") || text.includes("\r\nC: d"), false);
    });
  }
  for (const value of ["a\r\nPOST / HTTP/1.1", "a\nb", "a\0"]) {
    test(`a header of ${JSON.stringify(value)} is not sent`, () => {
      throws(() => textOf("/", [{ name: "X-A", value }]));
    });
  }
  test("headers that would frame another body are left out", () => {
    const text = textOf("/", [
      { name: "Content-Length", value: "5" },
      { name: "transfer-encoding", value: "chunked" },
    ]);
    equal(/content-length|transfer-encoding/i.test(text), false);
  });
});

describe("names", () => {
  test("names in a log folder that rotation has not made are no logs", () => {
    const names = ["0.log", "0.log.20260101-000000.gz", "0.log.gz", "0.log.x", "0.log.20260101-000000.gz.sh", "1.log"];
    deepEqual(
      logFileNames(names, "0.log").map(({ name }) => name),
      ["0.log.20260101-000000.gz", "0.log"],
    );
  });
  for (const uid of ["", ".", "..", "../x", "a/b", "a\0b", "-".repeat(200), ".hidden"]) {
    test(`the UID ${JSON.stringify(uid.slice(0, 20))} names no directory and no log folder`, () => {
      equal(isSafePodUid(uid), false);
      equal(podOfLogDirectory(`ns_pod_${uid}`), undefined);
    });
  }
  test("a sysctl's name never leaves its tree, in either form", () => {
    for (const name of ["net/../kernel/core_pattern", "net.ipv4/../../kernel", "net/ipv4/../../kernel/core_pattern"]) {
      // The runtime makes a path of it: each dot becomes a slash.
      equal(dottedSysctl(name).replaceAll(".", "/").split("/").includes(".."), false, name);
    }
  });
  test("credentials for a registry fit no other host, port or number of labels", () => {
    for (const image of [
      "registry.io.evil.com/a",
      "evil-registry.io/a",
      "registry.io:5000/a",
      "registry.io@evil.com/a",
    ]) {
      equal(matchesImage("registry.io", image), false, image);
    }
    equal(matchesImage("*.registry.io", "a.b.registry.io/x"), false);
  });
});
