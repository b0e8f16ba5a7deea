// The arguments of `npm start`, in one place with their help.

import { parseArgs } from "node:util";
import { messageOf, SetupProblem } from "./problem.js";
import { withoutTrailing } from "../../src/shared/text/linear.js";

type PrivateRuntime = "containerd" | "docker";

export interface StartOptions {
  stateDir: string;
  untilReady: boolean;
  /** The private runtime. */
  runtime: PrivateRuntime;
  /** A running runtime to use in place of a private containerd. */
  endpoint?: string;
  readOnlyPort: number;
  healthzPort: number;
  statusPagePort: number;
  /** undefined: there is no authenticated port. */
  port?: number;
  /** Seconds until the sample pod must run. */
  timeoutSeconds: number;
  help: boolean;
}

export const HELP = `npm start -- [options]

Runs the kubelet stand-alone with example pods, and removes everything again on Ctrl-C.

  --until-ready                      stop as soon as the sample pod runs; status 0, or 1 with the reason
  --state-dir <folder>               directory of all state (default /var/lib/nodelet-standalone)
  --runtime containerd|docker        the private runtime (default containerd); docker: an Engine of its own, the kubelet serves CRI over it
  --container-runtime-endpoint <url> use a running containerd or CRI-O: unix:///run/…/….sock
  --read-only-port <port>            /metrics (default 10255)
  --healthz-port <port>              /healthz (default 10248)
  --status-page-port <port>          the status page, for every user of this machine (default 10254)
  --port <port>                      logs, exec, /configz over HTTPS, for every user of this machine (default: off)
  --timeout <seconds>                maximum time for the sample pod to start (default 60)

NODELET_CONTAINERD=newest in the environment: unpack containerd 2 and runc of Debian's newest suite below .cache, and use them.
Its value may also be a directory with containerd, ctr and runc.
NODELET_NO_APT=1 in the environment: do not install Debian packages, list the missing ones instead.
`;

/** Throws SetupProblem for an unknown option or a bad value. */
export function parseStartOptions(args: readonly string[]): StartOptions {
  const values = parse(args);
  const number = (name: string, text: string, highest: number): number => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= highest) return value;
    throw new SetupProblem(`--${name} ${text}: a whole number from 1 to ${highest} is allowed`);
  };
  const endpoint = values["container-runtime-endpoint"];
  if (endpoint !== undefined && !endpoint.startsWith("unix:///")) {
    throw new SetupProblem(`--container-runtime-endpoint ${endpoint}: must begin with unix:///`);
  }
  const { runtime } = values;
  if (runtime !== "containerd" && runtime !== "docker")
    throw new SetupProblem(`--runtime ${runtime}: containerd or docker is allowed`);
  if (runtime === "docker" && endpoint !== undefined)
    throw new SetupProblem("--runtime docker starts an Engine of its own: leave out --container-runtime-endpoint");
  const stateDir = values["state-dir"];
  if (!stateDir.startsWith("/") || stateDir === "/")
    throw new SetupProblem(`--state-dir ${stateDir}: must be an absolute path`);
  return {
    stateDir: withoutTrailing(stateDir, "/"),
    untilReady: values["until-ready"],
    runtime,
    ...(endpoint === undefined ? {} : { endpoint }),
    readOnlyPort: number("read-only-port", values["read-only-port"], 65535),
    healthzPort: number("healthz-port", values["healthz-port"], 65535),
    statusPagePort: number("status-page-port", values["status-page-port"], 65535),
    ...(values.port === undefined ? {} : { port: number("port", values.port, 65535) }),
    timeoutSeconds: number("timeout", values.timeout, 3600),
    help: values.help,
  };
}

function parse(args: readonly string[]): {
  "state-dir": string;
  "until-ready": boolean;
  runtime: string;
  "container-runtime-endpoint"?: string;
  "read-only-port": string;
  "healthz-port": string;
  "status-page-port": string;
  port?: string;
  timeout: string;
  help: boolean;
} {
  try {
    return parseArgs({
      args: [...args],
      options: {
        "state-dir": { type: "string", default: "/var/lib/nodelet-standalone" },
        "until-ready": { type: "boolean", default: false },
        runtime: { type: "string", default: "containerd" },
        "container-runtime-endpoint": { type: "string" },
        "read-only-port": { type: "string", default: "10255" },
        "healthz-port": { type: "string", default: "10248" },
        "status-page-port": { type: "string", default: "10254" },
        port: { type: "string" },
        timeout: { type: "string", default: "60" },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    throw new SetupProblem(`${messageOf(error)} (npm start -- --help lists the options)`);
  }
}
