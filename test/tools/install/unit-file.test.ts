// The sandboxing of kubelet.service: which lines it has, and that none stops what the kubelet or a program that it
// starts must do.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../../../..");
const lines = (await readFile(join(ROOT, "tools/deploy/systemd/kubelet.service"), "utf8")).split("\n");
const settings = new Map(
  lines.flatMap((line) => {
    const [, name, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  }),
);

/** All that systemd.exec(5) has under sandboxing. */
const SANDBOX =
  /^(?:Protect|Private|Restrict|Lock|SystemCall|ReadOnly|ReadWrite|Inaccessible|Exec|NoExec|Temporary|Root|Bind|MemoryDeny|NoNew|Capability|LimitCORE|ProcSubset|Device|Mount|UMask|RemoveIPC|Ambient|Secure|IPAddress)/;
const COMMANDS = /^Exec(?:Start|Stop|Reload)/;

const ALLOWED: Readonly<Record<string, string>> = {
  LimitCORE: "0",
  CapabilityBoundingSet: "~CAP_SYS_TIME CAP_SYS_BOOT CAP_WAKE_ALARM CAP_SYS_PACCT",
  LockPersonality: "yes",
  RestrictRealtime: "yes",
};

test("the unit has the lines that cost nothing, and no other line of a sandbox", () => {
  const found = [...settings].filter(([name]) => SANDBOX.test(name) && !COMMANDS.test(name));
  assert.deepEqual(Object.fromEntries(found), ALLOWED);
});

test("each of these lines has its reason above it", () => {
  for (const name of Object.keys(ALLOWED)) {
    const at = lines.findIndex((line) => line.startsWith(`${name}=`));
    assert.match(lines[at - 1] ?? "", /^# /, name);
  }
});

test("docs/packages.md names the reason for each line that is not there", async () => {
  const text = await readFile(join(ROOT, "docs/packages.md"), "utf8");
  for (const name of [
    ...["PrivateTmp", "PrivateDevices", "ProtectSystem", "ProtectHome", "ProtectProc", "ProtectControlGroups"],
    ...["ProtectKernelTunables", "ProtectKernelModules", "ProtectKernelLogs", "ProtectClock", "ProtectHostname"],
    ...["RestrictSUIDSGID", "RestrictNamespaces", "RestrictAddressFamilies", "SystemCallArchitectures"],
    ...["MemoryDenyWriteExecute", "NoNewPrivileges", "SystemCallFilter"],
  ]) {
    assert.ok(text.includes(`\`${name}=\``), name);
    assert.equal(settings.has(name), false, name);
  }
});

test("systemd-analyze finds nothing wrong with the unit", async (t) => {
  const program = "/usr/bin/systemd-analyze";
  try {
    await access(program);
  } catch {
    t.skip("no systemd-analyze");
    return;
  }
  const dir = await mkdtemp(join(tmpdir(), "nodelet-unit-"));
  t.after(() => rm(dir, { recursive: true }));
  // The kubelet is not installed here.
  const unit = lines.join("\n").replace(/^ExecStart=.*$/m, "ExecStart=/bin/true");
  await writeFile(join(dir, "kubelet.service"), unit);
  const { stdout, stderr } = await promisify(execFile)(program, ["verify", "--man=no", join(dir, "kubelet.service")]);
  assert.doesNotMatch(stdout + stderr, /kubelet\.service/);
});
