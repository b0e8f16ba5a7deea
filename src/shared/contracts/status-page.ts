// The data of the status page. The server thread keeps a map equal in every browser. Each stream begins empty, and
// each message holds the entries that changed since the previous message. Our own format; moments are milliseconds
// since the epoch.
// Invariant: every value is bounded by the number of pods, of containers, of images, or of samples.

/** One message of a stream: keys with their new values; null: the key is removed. */
export type PageUpdate = [key: string, value: unknown][];

/** Prefix of the keys of pods; the UID follows. Values are pods without the values of variables and without commands. */
export const POD_KEY = "pod/";
/** Prefix of the keys of samples; a number follows. */
export const SAMPLE_KEY = "sample/";

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
