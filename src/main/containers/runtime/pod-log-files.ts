// A pod's log files and links, known without reading directories. That is possible if this process made the pod's log
// directory. Others, such as the pods of an earlier kubelet, are looked up on disk.

/** A container that restarts for years makes a link each time; above so many they are looked up, too. */
const MOST_LINKS = 50;

export class PodLogFiles {
  /** Containers that may have logs; undefined: unknown. */
  private ran: Set<string> | undefined;
  /** undefined: unknown. */
  private links: Set<string> | undefined;
  private seen = false;

  /** Call when the pod's log directory is there. @param isNew it was made by this call, so nothing is in it yet */
  onDirectory(isNew: boolean): void {
    if (isNew && !this.seen) {
      this.ran = new Set();
      this.links = new Set();
    }
    this.seen = true;
  }

  /** True if the container has no logs for certain. From now on it may have some. */
  isFirstRun(container: string): boolean {
    const first = this.ran?.has(container) === false;
    this.ran?.add(container);
    return first;
  }

  /** A link to a log, below the directory of log links. */
  onLink(path: string): void {
    this.links?.add(path);
    if ((this.links?.size ?? 0) > MOST_LINKS) this.links = undefined;
  }

  /** All links to the pod's logs, once; undefined: they are to be looked up. */
  takeLinks(): string[] | undefined {
    const links = this.links === undefined ? undefined : [...this.links];
    this.links = undefined;
    return links;
  }
}
