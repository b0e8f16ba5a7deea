// The options of `npm start`, as tools/usage/start.mjs reads them before anything is built.

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
  /** TCP port of the Kubernetes API; undefined: it is off. */
  apiPort?: number;
  /** Seconds until the sample pod must run. */
  timeoutSeconds: number;
}
