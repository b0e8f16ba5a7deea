// The arguments of `npm start`, in one place with their help.

import { CannotStart } from "../build/cannot-start.mjs";
import { readWords } from "./words.mjs";

export const HELP = `npm start -- [options]

Runs the kubelet stand-alone with example pods, and removes everything again on Ctrl-C.

  --until-ready                      stop as soon as the sample pod runs; status 0, or 1 with the reason
  --state-dir <folder>               directory of all state (default /var/lib/nodelet-standalone); after a failure
                                     <folder>.failed has the logs of that run
  --runtime containerd|docker        the private runtime (default containerd); docker: an Engine of its own, the kubelet serves CRI over it
  --container-runtime-endpoint <url> use a running containerd or CRI-O: unix:///run/…/….sock
  --read-only-port <port>            /metrics (default 10255)
  --healthz-port <port>              /healthz (default 10248)
  --status-page-port <port>          the status page, for every user of this machine (default 10254)
  --port <port>                      logs, exec, /configz over HTTPS, for every user of this machine (default: off)
  --api-port <port>                  the Kubernetes API for kubectl, with a client certificate (default: off)
  --timeout <seconds>                maximum time for the sample pod to start (default 60)

NODELET_CONTAINERD=newest in the environment: unpack containerd 2 and runc of Debian's newest suite below .cache, and use them.
Its value may also be a directory with containerd, ctr and runc.
NODELET_NO_APT=1 in the environment: do not install Debian packages, list the missing ones instead.
`;

const OPTIONS = {
  "state-dir": { type: "string", default: "/var/lib/nodelet-standalone" },
  "until-ready": { type: "boolean", default: false },
  runtime: { type: "string", default: "containerd" },
  "container-runtime-endpoint": { type: "string" },
  "read-only-port": { type: "string", default: "10255" },
  "healthz-port": { type: "string", default: "10248" },
  "status-page-port": { type: "string", default: "10254" },
  port: { type: "string" },
  "api-port": { type: "string" },
  timeout: { type: "string", default: "60" },
};

/**
 * The options as tools/standalone/options.ts describes them.
 * @throws CannotStart for an unknown option or a bad value
 */
export function parseStart(args) {
  const { values } = readWords("npm start", { args, options: OPTIONS });
  const { runtime, "container-runtime-endpoint": endpoint, "state-dir": stateDir } = values;
  if (endpoint !== undefined && !endpoint.startsWith("unix:///"))
    throw new CannotStart(`--container-runtime-endpoint ${endpoint}: must begin with unix:///`);
  if (runtime !== "containerd" && runtime !== "docker")
    throw new CannotStart(`--runtime ${runtime}: containerd or docker is allowed`);
  if (runtime === "docker" && endpoint !== undefined)
    throw new CannotStart("--runtime docker starts an Engine of its own: leave out --container-runtime-endpoint");
  if (!/^\/+[^/]/.test(stateDir)) throw new CannotStart(`--state-dir ${stateDir}: must be an absolute path`);
  const number = (name, highest) => {
    const value = Number(values[name]);
    if (Number.isInteger(value) && value >= 1 && value <= highest) return value;
    throw new CannotStart(`--${name} ${values[name]}: a whole number from 1 to ${highest} is allowed`);
  };
  return {
    stateDir: stateDir.replace(/(?<!\/)\/+$/, ""),
    untilReady: values["until-ready"],
    runtime,
    ...(endpoint === undefined ? {} : { endpoint }),
    readOnlyPort: number("read-only-port", 65535),
    healthzPort: number("healthz-port", 65535),
    statusPagePort: number("status-page-port", 65535),
    ...(values.port === undefined ? {} : { port: number("port", 65535) }),
    ...(values["api-port"] === undefined ? {} : { apiPort: number("api-port", 65535) }),
    timeoutSeconds: number("timeout", 3600),
  };
}
