// Containerd's configuration changed its plugin names with 2.0; both forms are written here from one set of settings,
// purely, so that tests can look at them.
// Invariant: every default path of containerd is replaced by one below the instance's own folder. So it shares nothing
// with the system's containerd.

import { join } from "node:path";
import type { ContainerdVersion } from "./host.js";

export interface ContainerdSettings {
  /** The instance's own folder. */
  dir: string;
  socket: string;
  version: Pick<ContainerdVersion, "major" | "minor">;
  sandboxImage: string;
  snapshotter: "overlayfs" | "native";
  cniBinDir: string;
  restrictOomScoreAdj: boolean;
  disableAppArmor: boolean;
}

export interface CniSettings {
  dir: string;
  /** Name of the network: unique, for plugins keep state by it. */
  network: string;
  bridge: string;
  /** IPv4 subnet for pods: `10.77.16.0/20`. */
  subnet: string;
}

/** Folder with the CNI configuration of an instance. */
export const cniConfDir = (dir: string): string => join(dir, "cni", "conf");

/** Folder with the CDI specs of an instance. */
export const cdiDir = (dir: string): string => join(dir, "cdi");

type Value = string | number | boolean | readonly string[];

/** TOML text of a table; strings are quoted as JSON does it, which TOML's basic strings accept. */
function table(path: readonly string[], values: Readonly<Record<string, Value>>): string {
  const head = path.length === 0 ? [] : [`[${path.map((part) => JSON.stringify(part)).join(".")}]`];
  return [...head, ...Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`), ""].join("\n");
}

/** config.toml: version 2 for containerd 1.x, version 3 for 2.x. */
export function containerdConfig(settings: ContainerdSettings): string {
  const { dir, socket, version } = settings;
  const modern = version.major >= 2;
  const runtime = ["plugins", modern ? "io.containerd.cri.v1.runtime" : "io.containerd.grpc.v1.cri"];
  const server = ["plugins", "io.containerd.grpc.v1.cri"];
  const images = ["plugins", "io.containerd.cri.v1.images"];
  const runc = [...runtime, "containerd", "runtimes", "runc"];
  const serverValues = { disable_tcp_service: true, stream_server_address: "127.0.0.1", stream_server_port: "0" };
  const runtimeValues = {
    restrict_oom_score_adj: settings.restrictOomScoreAdj,
    disable_apparmor: settings.disableAppArmor,
    // Pod network namespaces are bind mounts: below our folder they are found and undone with everything else.
    netns_mounts_under_state_dir: true,
  };
  // The list of folders came with 2.1; the single folder is refused beside it.
  const manyBinDirs = modern && (version.major > 2 || version.minor >= 1);
  return [
    table([], { version: modern ? 3 : 2, root: join(dir, "root"), state: join(dir, "state"), temp: join(dir, "tmp") }),
    table(["grpc"], { address: socket }),
    table(["plugins", "io.containerd.internal.v1.opt"], { path: join(dir, "opt") }),
    ...(modern
      ? [
          table(server, serverValues),
          table(images, { snapshotter: settings.snapshotter }),
          table([...images, "pinned_images"], { sandbox: settings.sandboxImage }),
          table(runtime, { ...runtimeValues, cdi_spec_dirs: [cdiDir(dir)] }),
          table([...runtime, "containerd"], { default_runtime_name: "runc" }),
        ]
      : [
          table(runtime, { ...serverValues, sandbox_image: settings.sandboxImage, ...runtimeValues }),
          table([...runtime, "containerd"], { default_runtime_name: "runc", snapshotter: settings.snapshotter }),
        ]),
    table([...runtime, "cni"], {
      ...(manyBinDirs ? { bin_dirs: [settings.cniBinDir] } : { bin_dir: settings.cniBinDir }),
      conf_dir: cniConfDir(dir),
    }),
    table(runc, { runtime_type: "io.containerd.runc.v2" }),
    // runc's own records would otherwise lie in /run/containerd/runc, shared with the system's containerd.
    table([...runc, "options"], { SystemdCgroup: false, Root: join(dir, "runc") }),
  ].join("\n");
}

/** CNI network list: a bridge with addresses from a local file store, and hostPort by portmap. */
export function cniConfig({ dir, network, bridge, subnet }: CniSettings): string {
  return JSON.stringify(
    {
      cniVersion: "0.4.0",
      name: network,
      plugins: [
        {
          type: "bridge",
          bridge,
          isGateway: true,
          ipMasq: false,
          hairpinMode: true,
          ipam: {
            type: "host-local",
            dataDir: join(dir, "cni", "ipam"),
            ranges: [[{ subnet }]],
            routes: [{ dst: "0.0.0.0/0" }],
          },
        },
        { type: "portmap", capabilities: { portMappings: true } },
      ],
    },
    undefined,
    2,
  );
}
