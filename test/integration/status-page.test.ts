// The status page in a real Chromium, against a whole kubelet on real containerd.
// @promise Command and status page: In a real Chromium, the status page follows pods and logs, explains stuck pods,
//   and works by keyboard. It treats every text as text and changes nothing.
// @promise Command and status page: The status page turns grey after 10 s without a message, also when the kubelet is
//   stopped, and ages stop.
// @with test/page/freshness.test.ts

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { startBrowser } from "../support/browser.js";
import { freePort } from "../support/free-port.js";
import { IDLE, manifest, shell, waitForPod } from "../support/static-pods.js";

/** The machine is shared. */
const PATIENCE = { timeout: 90_000 };
const HOSTILE = `<img src=x onerror="window.hostile=1"><script>window.hostile=1</script>`;

describe("the status page", () => {
  let node: TestNode;
  let browser: Browser;
  let page: Page;
  let url: string;
  const requests: string[] = [];
  const problems: string[] = [];

  before(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    node = await startNode({ secure: true, flags: ["--status-page", `--status-page-port=${port}`] });
    browser = await startBrowser();
    page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    page.setDefaultTimeout(PATIENCE.timeout);
    page.on("request", (request) => requests.push(request.url()));
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    await waitFor(async () => (await fetch(`${url}/`)).status === 200, { what: "the page" });
    assert.equal((await page.goto(`${url}/`, PATIENCE))?.status(), 200);
  });
  beforeEach(() => page.evaluate('location.hash = "#/pods"'));
  after(async () => {
    await browser.close();
    await node.stop();
  });

  const row = (name: string) =>
    page.getByRole("row").filter({ has: page.getByRole("link", { name: `${name}-testnode` }) });

  test("a pod appears, follows its changes and disappears without a reload", async () => {
    await page.getByText("This node has no pods.").waitFor(PATIENCE);
    const gate = "until [ -e /tmp/open ]; do sleep 0.2; done";
    const readinessProbe = { periodSeconds: 1, exec: { command: ["test", "-e", "/tmp/open"] } };
    await node.writeManifest(
      "web",
      manifest("web", [shell("app", `sleep 1; touch /tmp/open; ${gate}; ${IDLE}`, { readinessProbe })]),
    );
    await row("web").getByText("Running").waitFor(PATIENCE);
    await row("web").getByText("1/1").waitFor(PATIENCE);
    await page.getByText("nothing is wrong").waitFor(PATIENCE);
    await node.removeManifest("web");
    await row("web").waitFor({ state: "detached", ...PATIENCE });
  });

  test("a stuck pod shows the cause and the remedy", async () => {
    await node.writeManifest("stuck", manifest("stuck", [{ name: "app", image: "registry.invalid/none:1" }]));
    await row("stuck")
      .getByText(/ErrImagePull|ImagePullBackOff/)
      .waitFor(PATIENCE);
    await page.getByText("1 of 1 pods has a problem").waitFor(PATIENCE);
    await row("stuck").getByRole("link").click();
    await page.getByRole("heading", { name: "stuck-testnode" }).waitFor(PATIENCE);
    await page.getByText(/its image "registry\.invalid\/none:1" cannot be pulled/).waitFor(PATIENCE);
    await page.getByText(/The kubelet tries again (in|now)/).waitFor(PATIENCE);
    await page
      .getByText(/registry\.invalid does not resolve/)
      .first()
      .waitFor(PATIENCE);
    await page
      .getByRole("log", { name: "Decisions" })
      .getByText(/Failed: /)
      .first()
      .waitFor(PATIENCE);
    await node.removeManifest("stuck");
    await page.getByText("any more").waitFor(PATIENCE);
    await page.getByRole("link", { name: "All pods" }).click();
  });

  test("a pod's page has its steps, and its log follows", async () => {
    const script = `echo begin; trap 'exit 0' TERM; n=0; while true; do n=$((n+1)); echo line $n; sleep 0.5 & wait $!; done`;
    await node.writeManifest(
      "talker",
      manifest("talker", [shell("app", script), shell("second", `echo other; ${IDLE}`)]),
    );
    await waitForPod(node, "talker", ({ status }) => status?.phase === "Running", "running");
    await row("talker").getByRole("link").click();
    await page.getByText(/Running \d+ ms after the kubelet saw the pod/).waitFor(PATIENCE);
    await page.getByText("create-sandbox").waitFor(PATIENCE);
    const log = page.getByRole("log", { name: "Log of the container" });
    await log.getByText("begin").waitFor(PATIENCE);
    await page.getByText("following").waitFor(PATIENCE);
    await log.getByText(/line \d+/).waitFor(PATIENCE);
    const [seen = NaN] = [...((await log.textContent()) ?? "").matchAll(/line (\d+)\n/g)]
      .map(([, n]) => Number(n))
      .slice(-1);
    await log.getByText(`line ${seen + 3}`).waitFor(PATIENCE);
    await page.getByRole("combobox", { name: "Container" }).selectOption("second");
    await log.getByText("other").waitFor(PATIENCE);
    assert.equal(await log.getByText("begin").count(), 0);
    await node.removeManifest("talker");
  });

  test("a pod's page has its usage against limits, names of variables without values, mounts, ports, conditions and events", async () => {
    const secret = "not-for-the-page";
    const app = shell("app", `while true; do :; done`, {
      env: [{ name: "PASSWORD", value: secret }],
      ports: [{ name: "http", containerPort: 8080 }],
      volumeMounts: [{ name: "data", mountPath: "/data" }],
      livenessProbe: { exec: { command: ["echo", secret] } },
      resources: { limits: { cpu: "200m", memory: "64Mi" } },
    });
    await node.writeManifest("busy", manifest("busy", [app], { spec: { volumes: [{ name: "data", emptyDir: {} }] } }));
    await row("busy")
      .getByText(/^\d+m$/)
      .first()
      .waitFor(PATIENCE);
    await row("busy").getByText("of 200m").waitFor(PATIENCE);
    await row("busy").getByText("of 64.0 MiB").waitFor(PATIENCE);
    await row("busy").getByRole("link").click();
    const containers = page.getByRole("table", { name: "Containers of the pod" });
    await containers.getByText("of 200m").waitFor(PATIENCE);
    await containers.getByText("of 64.0 MiB").waitFor(PATIENCE);
    const definition = page.getByRole("region", { name: "Definition" });
    for (const text of ["PASSWORD", "/data", "http: 8080/TCP", "cpu 200m, memory 64Mi", /^exec echo …, every 10 s/]) {
      await definition.getByText(text).first().waitFor(PATIENCE);
    }
    await page.getByRole("row", { name: /^Ready True/ }).waitFor(PATIENCE);
    await page.getByRole("row", { name: /^Started \S+ 1 .*[Cc]ontainer/ }).waitFor(PATIENCE);
    await page.getByRole("row", { name: /^data emptyDir set up/ }).waitFor(PATIENCE);
    assert.doesNotMatch(await page.content(), new RegExp(secret));
    const stream = await fetch(`${url}/ui/stream/pods/default/busy-testnode`);
    const reader = stream.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
    const first = await reader?.read();
    await reader?.cancel();
    assert.doesNotMatch(new TextDecoder().decode(first?.value), new RegExp(secret));
    await node.removeManifest("busy");
    await page.getByText("any more").waitFor(PATIENCE);
  });

  test("filter and order are in the address, and a reload keeps them", async () => {
    for (const name of ["left", "right"]) await node.writeManifest(name, manifest(name, [shell("app", IDLE)]));
    await row("right").getByText("1/1").waitFor(PATIENCE);
    await page.keyboard.press("/");
    await page.keyboard.type("righ");
    await row("left").waitFor({ state: "detached", ...PATIENCE });
    await page.getByRole("button", { name: "Memory" }).click();
    assert.equal(new URL(page.url()).hash, "#/pods?filter=righ&sort=-Memory");
    await page.reload();
    await row("right").getByText("1/1").waitFor(PATIENCE);
    assert.equal(await page.getByRole("searchbox").inputValue(), "righ");
    assert.equal(await row("left").count(), 0);
    assert.equal(await page.locator("th[aria-sort=descending]").textContent(), "Memory▼");
    await row("right").getByRole("link").click();
    await page.getByRole("link", { name: "All pods" }).click();
    await page.getByText("1 of 2").waitFor(PATIENCE);
    for (const name of ["left", "right"]) await node.removeManifest(name);
  });

  test("the log shows the app container, not the init container, and says so when there is no output", async () => {
    const initContainers = [shell("prepare", "echo prepared")];
    await node.writeManifest("quiet", manifest("quiet", [shell("app", IDLE)], { spec: { initContainers } }));
    await row("quiet").getByText("1/1").waitFor(PATIENCE);
    await row("quiet").getByRole("link").click();
    await page.getByText("No output yet.").waitFor(PATIENCE);
    const choice = page.getByRole("combobox", { name: "Container" });
    assert.equal(await choice.inputValue(), "app");
    await choice.selectOption("prepare");
    await page.getByRole("log", { name: "Log of the container" }).getByText("prepared").waitFor(PATIENCE);
    await node.removeManifest("quiet");
    await page.getByText("any more").waitFor(PATIENCE);
  });

  test("hostile names, messages and log lines are text", async () => {
    const command = `printf '%s\\n' '${HOSTILE}'; printf '%s' '${HOSTILE}' > /dev/termination-log; exit 3`;
    const containers = [shell("talks", command), { name: "named", image: HOSTILE }];
    await node.writeManifest("hostile", manifest("hostile", containers));
    await row("hostile").getByRole("link").click(PATIENCE);
    await page.getByRole("log", { name: "Log of the container" }).getByText("<img src=x").waitFor(PATIENCE);
    await page
      .getByRole("list")
      .getByText(/its message: <img src=x/)
      .first()
      .waitFor(PATIENCE);
    await page.getByRole("cell", { name: "<img src=x" }).first().waitFor(PATIENCE);
    assert.equal(await page.evaluate("window.hostile"), undefined);
    assert.equal(await page.locator("img, script:not(body > script)").count(), 0);
    await node.removeManifest("hostile");
  });

  test("the keyboard reaches everything", async () => {
    await node.writeManifest("keys", manifest("keys", [shell("app", IDLE)]));
    await row("keys").getByText("1/1").waitFor(PATIENCE);
    await page.reload();
    await row("keys").getByText("1/1").waitFor(PATIENCE);
    // A problem is one more stop: the pods of the tests before may still be ending.
    await page.getByText("nothing is wrong").waitFor(PATIENCE);
    const focused = (): Promise<unknown> =>
      page.evaluate("document.activeElement.textContent || document.activeElement.type");
    const stops: unknown[] = [];
    for (let presses = 0; presses < 24 && !stops.includes("keys-testnode"); presses++) {
      await page.keyboard.press("Tab");
      stops.push(await focused());
    }
    assert.deepEqual(stops.slice(0, 6), ["Skip to the content", "Pods", "Node", "Images", "Configuration", "search"]);
    assert.equal(stops.at(-1), "keys-testnode");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "keys-testnode" }).waitFor(PATIENCE);
    await waitFor(async () => (await page.evaluate("document.activeElement.id")) === "content", { what: "the focus" });
    // Updates do not take the focus away.
    await page.getByRole("checkbox", { name: "previous run" }).focus();
    await node.writeManifest("other", manifest("other", [{ name: "app", image: "registry.invalid/none:1" }]));
    await page.getByText("1 of 2 pods has a problem").waitFor(PATIENCE);
    await node.removeManifest("other");
    await page.getByText("nothing is wrong").waitFor(PATIENCE);
    assert.equal(await page.evaluate("document.activeElement.type"), "checkbox");
  });

  test("the node view has charts of the last hour, threads and certificates", async () => {
    await page.getByRole("link", { name: "Node", exact: true }).click();
    await page.getByRole("row", { name: /main running/ }).waitFor(PATIENCE);
    await page.getByText(/expires in/).waitFor(PATIENCE);
    await page.getByText("none: the node runs stand-alone").waitFor(PATIENCE);
    for (const name of ["CPU", "Memory", "Disk", "Processes", "Kubelet memory"]) {
      await page.getByRole("img", { name: new RegExp(`^${name}: .*at most`) }).waitFor(PATIENCE);
    }
    await page.getByText(/^\d+\.\d[^ ]*, linux\/\w+$/).waitFor(PATIENCE);
    await page.getByRole("row", { name: /^memory [\d.]+ [GT]iB [\d.]+ [GT]iB / }).waitFor(PATIENCE);
    await page.getByRole("row", { name: /^MemoryPressure False/ }).waitFor(PATIENCE);
    await page.getByRole("region", { name: "Events", exact: true }).getByText("Reason").waitFor(PATIENCE);
    // Two points at least. Chromium calls a level line hidden: that of a node that is busy, or idle, all the time.
    const line = page.locator(".chart polyline").first();
    await waitFor(async () => /\d \d/.test((await line.getAttribute("points")) ?? ""), { what: "a line of a chart" });
  });

  test("images and configuration are shown, and can be filtered", async () => {
    await page.getByRole("link", { name: "Images", exact: true }).click();
    await page.getByRole("row", { name: /busybox.* used keys-testnode/ }).waitFor(PATIENCE);
    await page.getByRole("link", { name: "Configuration", exact: true }).click();
    await page.getByRole("row", { name: "maxPods 110 default" }).waitFor(PATIENCE);
    await page.getByRole("checkbox").check();
    await page.getByRole("row", { name: /^cgroupDriver "cgroupfs" .*kubelet-config\.yaml:\d+:\d+$/ }).waitFor(PATIENCE);
    assert.equal(await page.getByRole("row", { name: /^maxPods/ }).count(), 0);
    await page.getByRole("searchbox").fill("cgroupDr");
    await page.getByText(/^1 of \d+$/).waitFor(PATIENCE);
  });

  test("a stopped kubelet is seen: the page dims and says since when, and ages stop", async () => {
    await node.writeManifest("stays", manifest("stays", [shell("app", IDLE)]));
    await page.evaluate('location.hash = "#/pods"');
    await row("stays").getByText("1/1").waitFor(PATIENCE);
    await page.getByText("live").waitFor(PATIENCE);
    const { pid } = node.kubelet;
    assert.ok(pid);
    process.kill(pid, "SIGSTOP");
    try {
      await page.getByText(/No data for \d+s/).waitFor(PATIENCE);
      await page.getByText("no data", { exact: true }).waitFor(PATIENCE);
      assert.ok(Number(await page.evaluate("getComputedStyle(document.querySelector('main')).opacity")) < 1);
      assert.match(await page.title(), /^no data · /);
      const age = row("stays").locator("[data-label=Age]");
      const shown = await age.textContent();
      const silence = await page.getByText(/No data for \d+s/).textContent();
      await waitFor(async () => (await page.getByText(/No data for \d+s/).textContent()) !== silence, {
        what: "a later second",
      });
      assert.equal(await age.textContent(), shown);
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await page.getByText("live").waitFor(PATIENCE);
    await page.getByText(/No data for/).waitFor({ state: "detached", ...PATIENCE });
    assert.equal(await page.evaluate("getComputedStyle(document.querySelector('main')).opacity"), "1");
    await node.removeManifest("stays");
  });

  test("after a lost connection the data are dimmed, and a new kubelet's data take their place", async () => {
    await page.evaluate('location.hash = "#/pods"');
    await row("keys").getByText("1/1").waitFor(PATIENCE);
    await node.kill9();
    await page.getByText("no connection, trying again").waitFor(PATIENCE);
    await page.locator("body.stale").waitFor(PATIENCE);
    assert.equal(await row("keys").getByText("1/1").count(), 1, "what was known is still shown");
    await node.restart();
    await page.getByText("live").waitFor(PATIENCE);
    await row("keys").getByText("1/1").waitFor(PATIENCE);
    await page.locator("body:not(.stale)").waitFor(PATIENCE);
    // Chromium reports each refused connection to the console.
    const refused = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/;
    problems.splice(0, problems.length, ...problems.filter((problem) => !refused.test(problem)));
  });

  test("the page is dark where the machine is", async () => {
    const ground = (): Promise<unknown> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    await page.emulateMedia({ colorScheme: "light" });
    const light = await ground();
    await page.emulateMedia({ colorScheme: "dark" });
    assert.notEqual(await ground(), light);
  });

  test("it sends no request to another machine, and has neither errors nor violations of its policy", () => {
    assert.deepEqual([...new Set(requests.map((request) => new URL(request).origin))], [url]);
    assert.deepEqual(problems, []);
  });

  test("it is on the authenticated port, too, with its own hash of one script", async () => {
    const other = await browser.newPage({ ignoreHTTPSErrors: true });
    const response = await other.goto(`${node.kubelet.secureUrl}/ui`);
    assert.equal(response?.url(), `${node.kubelet.secureUrl}/ui/`);
    assert.match(
      response.headers()["content-security-policy"] ?? "",
      /^default-src 'none'; script-src 'sha256-[^ ]+';/,
    );
    await other.getByRole("link", { name: "keys-testnode" }).waitFor(PATIENCE);
    assert.ok((await response.body()).length < 110_000);
    await other.close();
  });

  test("a name that resolves to 127.0.0.1 is refused on the port without authentication", async () => {
    const { request } = await import("node:http");
    const status = await new Promise((resolve, reject) => {
      const asked = request(`${url}/ui/`, { headers: { host: "evil.example" } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.once("error", reject).end();
    });
    assert.equal(status, 421);
  });

  test("nothing can be changed: other methods are refused", async () => {
    for (const path of ["/ui/", "/ui/config", "/ui/stream/node", "/ui/logs/default/keys-testnode/app"]) {
      for (const method of ["POST", "PUT", "DELETE"]) {
        assert.equal((await fetch(`${url}${path}`, { method })).status, 405, `${method} ${path}`);
      }
    }
    assert.equal((await fetch(`${url}/exec/default/keys-testnode/app?command=id`, { method: "POST" })).status, 404);
  });
});

test("without the flags there is no status page", async (t) => {
  const node = await startNode({ secure: true });
  t.after(() => node.stop());
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  t.after(() => delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]);
  const status = await waitFor(
    async () => (await fetch(`${node.kubelet.secureUrl}/ui/`).catch(() => undefined))?.status,
    { what: "the authenticated port" },
  );
  assert.equal(status, 404);
  assert.equal((await fetch(`${node.kubelet.url}/ui/`)).status, 404);
});
