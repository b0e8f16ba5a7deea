// CRI-O's configuration in effect: what the running daemon prints, with a program in its place.

import { deepEqual, equal, match } from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { findProgram } from "../../../src/cli/machine/find-program.js";
import { effectiveConfig } from "../../../src/cli/runtime/effective-config.js";
import { findCrio } from "../../../src/cli/runtime/find-crio.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";

const PRINTED =
  '[crio.network]\nnetwork_dir = "/crio/net.d/"\nplugin_dirs = ["/crio/bin"]\n[crio.image]\npause_image = "a/pause:3"\n';
const installed = (await findProgram("crio")) !== undefined;

/** A program crio that answers `status config`, or fails as one without a daemon; `crio config` prints defaults. */
async function crio(t: TestContext, runs: boolean): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-crio-"));
  const path = process.env["PATH"] ?? "";
  process.env["PATH"] = `${dir}:${path}`;
  t.after(async () => {
    process.env["PATH"] = path;
    await rm(dir, { recursive: true, force: true });
  });
  await writeFile(join(dir, "printed.toml"), PRINTED);
  const answer = runs ? `cat ${join(dir, "printed.toml")}` : "echo no socket >&2; exit 1";
  await writeFile(
    join(dir, "crio"),
    `#!/bin/sh\nif [ "$1 $2" = "status config" ]; then ${answer}; else echo "# args $*"; cat ${join(dir, "printed.toml")}; fi\n`,
  );
  await chmod(join(dir, "crio"), 0o755);
  return join(dir, "crio");
}

test("doctor's facts are those of the running daemon", { skip: installed && "CRI-O is installed" }, async (t) => {
  await crio(t, true);
  deepEqual(await findCrio(), {
    ...{ runtime: "cri-o", confDir: "/crio/net.d", binDirs: ["/crio/bin"], sandboxImage: "a/pause:3" },
  });
});

test("without a daemon they are those of the files", { skip: installed && "CRI-O is installed" }, async (t) => {
  await crio(t, false);
  const { runtime, confDir } = await findCrio();
  deepEqual([runtime, confDir], ["cri-o", "/etc/cni/net.d"]);
});

test(
  "the bundle has the settings in effect, else what CRI-O makes of its file",
  { skip: installed && "CRI-O is installed" },
  async (t) => {
    const place = { kind: "crio", configFile: "/x/crio.conf", folders: [] } as const;
    const options = { clock: systemClock };
    await t.test("with a daemon, its own answer is the configuration", async (inner) => {
      const program = await crio(inner, true);
      equal(await effectiveConfig({ ...place, program }, options), PRINTED);
    });
    await t.test("without a daemon, crio prints the configuration", async (inner) => {
      const program = await crio(inner, false);
      match(
        (await effectiveConfig({ ...place, program }, options)) ?? "",
        /^# args --config \/x\/crio\.conf config\n\[crio\.network\]/,
      );
    });
  },
);
