// An Engine that sends garbage, megabytes, half responses or nothing. Each call ends with an error that names the
// cause, none with a default.
// @promise Docker Engine: An Engine responds with garbage, half a response, an endless one or none. Each call ends with
//   an error that names the cause; a missing exit code is no success; a pull without a first message is cancelled, too.
// @promise Docker Engine: Layers that images share are counted once; the kubelet requests them from the Engine at most
//   once a minute.

import assert from "node:assert/strict";
import { test } from "node:test";
import { containerVerbs } from "../../../src/workers/dockershim/containers/verbs.js";
import { execVerbs } from "../../../src/workers/dockershim/exec/exec-sync.js";
import { toStatus } from "../../../src/workers/dockershim/fault.js";
import { imageVerbs } from "../../../src/workers/dockershim/images/verbs.js";
import { CONTAINER, cut, endless, FakeEngine, ID, json, never } from "../../support/fake-engine.js";

const { signal } = new AbortController();
const filter = undefined;
const inspect = `/containers/${ID}/json`;

test("an endless response is cut off at its limit, also in place of an error or a stream", async () => {
  await using engine = await FakeEngine.start();
  for (const status of [200, 500]) {
    engine.answer("/containers/json", endless(status));
    await assert.rejects(containerVerbs(engine.shim).listContainers({ filter }, signal), /longer than 32 MiB/);
  }
  engine.answer("/images/create", endless(500));
  const image = { image: "a:1", annotations: {}, userSpecifiedImage: "", runtimeHandler: "", imageRef: "" };
  const pull = { image, auth: undefined, sandboxConfig: undefined };
  await assert.rejects(imageVerbs(engine.shim).pullImage(pull, signal), /longer than 32 MiB/);
  engine.answer("/images/create", endless(200));
  await assert.rejects(imageVerbs(engine.shim).pullImage(pull, signal), /message of more than 1048576 bytes/);
});

test("a response that ends in the middle is an error at once", async () => {
  await using engine = await FakeEngine.start();
  engine.answer("/containers/json", cut);
  await assert.rejects(containerVerbs(engine.shim).listContainers({ filter }, signal), (error) => {
    assert.match(toStatus(error).details, /ended in the middle/);
    return true;
  });
});

test("an Engine that does not respond: the call fails at its deadline, a pull at its progress deadline", async () => {
  await using engine = await FakeEngine.start({ requestMs: 50, progressMs: 60 });
  engine.answer("/containers/json", never);
  await assert.rejects(containerVerbs(engine.shim).listContainers({ filter }, signal), /did not respond within 0.05 s/);
  engine.answer("/images/create", never);
  const image = { image: "a:1", annotations: {}, userSpecifiedImage: "", runtimeHandler: "", imageRef: "" };
  await assert.rejects(
    imageVerbs(engine.shim).pullImage({ image, auth: undefined, sandboxConfig: undefined }, signal),
    /no progress for 0.06 s \(--image-pull-progress-deadline\): cancelled/,
  );
});

test("the error for a response of another form names the wrong member", async () => {
  await using engine = await FakeEngine.start();
  const { listContainers, containerStatus } = containerVerbs(engine.shim);
  const rows: [unknown, RegExp][] = [
    ["<html>", /about its containers is not usable: it is not a list/],
    [{}, /it is not a list/],
    [[{ Id: ID, Names: [], Image: 5 }], /\[0\]\.Image is not a text/],
    [[{ Id: "x" }], /\[0\]\.Id is not an id/],
  ];
  for (const [answer, message] of rows) {
    engine.answer("/containers/json", json(answer));
    await assert.rejects(listContainers({ filter }, signal), message);
  }
  const state = { ...CONTAINER.State, Status: "exited", Running: false, ExitCode: undefined };
  engine.answer(inspect, json({ ...CONTAINER, State: state }));
  await assert.rejects(
    containerStatus({ containerId: ID, verbose: false }, signal),
    /about a container is not usable: State.ExitCode is not an integer/,
  );
});

test("a command without an exit code, and one that the Engine lost, are errors and no success", async () => {
  await using engine = await FakeEngine.start();
  engine.answer(inspect, json(CONTAINER));
  engine.answer(`/containers/${ID}/exec`, json({ Id: "e" }, 201));
  engine.answer("/exec/e/start", (_request, response) => void response.writeHead(200).end());
  const run = () => execVerbs(engine.shim).execSync({ containerId: ID, cmd: ["true"], timeout: 0n }, signal);
  for (const ExitCode of [null, undefined]) {
    engine.answer("/exec/e/json", json({ Running: false, ExitCode, Pid: 0 }));
    await assert.rejects(run(), /does not report the command's exit code/);
  }
  engine.answer("/exec/e/json", json({ message: "No such exec instance" }, 404));
  await assert.rejects(run(), (error) => {
    assert.equal(toStatus(error).code, 2);
    assert.match(toStatus(error).details, /lost the command/);
    return true;
  });
  engine.answer("/exec/e/json", json({ Running: false, ExitCode: 3, Pid: 0 }));
  assert.equal((await run()).exitCode, 3);
});

test("a command that still runs after its outputs ended is awaited", async () => {
  await using engine = await FakeEngine.start();
  engine.answer(inspect, json(CONTAINER));
  engine.answer(`/containers/${ID}/exec`, json({ Id: "e" }, 201));
  engine.answer("/exec/e/start", (_request, response) => void response.writeHead(200).end());
  let asked = 0;
  engine.answer("/exec/e/json", (request, response) => {
    asked++;
    json({ Running: asked < 3, ExitCode: asked < 3 ? null : 7, Pid: 0 })(request, response);
  });
  const { exitCode } = await execVerbs(engine.shim).execSync({ containerId: ID, cmd: ["true"], timeout: 0n }, signal);
  assert.deepEqual([exitCode, asked], [7, 3]);
});

test("a refused pull: the message has the image and the Engine's words alone", async () => {
  await using engine = await FakeEngine.start();
  const image = { image: "a:1", annotations: {}, userSpecifiedImage: "", runtimeHandler: "", imageRef: "" };
  engine.answer("/images/create", json({ message: "unauthorized: authentication required" }, 500));
  await assert.rejects(
    imageVerbs(engine.shim).pullImage({ image, auth: undefined, sandboxConfig: undefined }, signal),
    {
      message: 'failed to pull image "a:1": unauthorized: authentication required',
    },
  );
});

test("image layers are requested once a minute, for all callers together; without a response images are summed up", async () => {
  await using engine = await FakeEngine.start();
  const { imageFsInfo } = imageVerbs(engine.shim);
  const used = async () => (await imageFsInfo({}, signal)).imageFilesystems[0]?.usedBytes?.value;
  engine.answer("/info", json({ CgroupDriver: "cgroupfs", DockerRootDir: "/docker", ServerVersion: "20" }));
  engine.answer("/images/json", json([5, 6].map((Size) => ({ Id: "i", RepoTags: null, RepoDigests: null, Size }))));
  assert.equal(await used(), 11n);
  engine.answer("/system/df", json({ LayersSize: 7 }));
  assert.deepEqual(await Promise.all([used(), used(), used()]), [7n, 7n, 7n]);
  assert.equal(engine.requests.filter((request) => request === "GET /system/df").length, 2);
});
