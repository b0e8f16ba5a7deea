// The data of the status page. The server thread keeps a map equal in every browser. Each stream begins empty, and
// each message holds the entries that changed since the previous message. Our own format; moments are milliseconds
// since the epoch.
// Invariant: every value is bounded by the number of pods, of containers, of images, or of samples.

/**
 * One message of a stream: keys with their new values; null: the key is removed. An empty one shows that the server
 * runs.
 */
export type PageUpdate = [key: string, value: unknown][];

/**
 * Prefix of the keys of pods; the UID follows. Values are pods without the values of variables and without commands.
 */
export const POD_KEY = "pod/";
/** Prefix of the keys of samples; a number follows. */
export const SAMPLE_KEY = "sample/";

/** Prefix of the keys of main's facts about pods; the UID follows. */
export const FACTS_KEY = "facts/";

/** Prefix of the keys of usage; the UID of the pod follows. */
export const USAGE_KEY = "usage/";

/** The server sends something so often, ms: an empty message where nothing changed. */
export const HEARTBEAT_MS = 4000;

/** Between two samples, ms. */
export const SAMPLE_MS = 10_000;
/** One hour. */
export const SAMPLES = 360;

/** Usage of the machine at one moment. */
export interface UsageSample {
  at: number;
  /** Busy CPUs since the sample before; absent in the first. */
  cpus?: number;
  /** Bytes that are not available to a new process. */
  memory: number;
  /** Bytes of the file system of the root directory; absent while it does not respond. */
  disk?: number;
  processes: number;
  /** Resident bytes of the kubelet. */
  kubelet: number;
}

/** Key "machine". */
export interface MachineSize {
  cpus: number;
  memory: number;
  disk?: number;
  processes?: number;
}

/** What a pod or container uses now; a part that is not known yet is absent. */
export interface Usage {
  /** Busy CPUs. */
  cpu?: number;
  /** Bytes of the working set. */
  memory?: number;
}

/** Keys with USAGE_KEY. */
export interface PodUsage extends Usage {
  containers: ({ name: string } & Usage)[];
}

/** The machine below the node. Key "host" of the stream of the node's view. */
export interface HostFacts {
  /** "Debian GNU/Linux 12 (bookworm)" */
  osImage: string;
  kernel: string;
  /** As Go names them: "linux/amd64". */
  platform: string;
  bootedAt: number;
  /** Processes that wanted a CPU, on average of 1, 5 and 15 minutes. */
  load: number[];
  /** Bytes; 0: none. */
  swap: number;
}

/** The first items of a list, and how many follow. */
export interface Listed<T> {
  items: T[];
  more: number;
}

/**
 * The part of a pod's definition that only its own view shows. Key "details". It has names of variables, never values.
 */
export interface PodDetails {
  containers: Listed<ContainerDetails>;
  volumes: Listed<{ name: string; source: string }>;
  labels: Listed<{ name: string; value: string }>;
  /** Account, priority, restart policy and others. */
  settings: { name: string; value: string }[];
}

export interface ContainerDetails {
  name: string;
  /** `from`: "key url of Secret db"; absent: a value in the definition. */
  env: Listed<{ name: string; from?: string }>;
  /** "all keys of ConfigMap app" */
  envFrom: string[];
  mounts: Listed<{ path: string; volume: string; readOnly: boolean }>;
  /** "http: 8080/TCP, host port 80" */
  ports: string[];
  /** "user 1000", "privileged" */
  security: string[];
}
