// Pod UIDs become names of directories and cgroups, which the kubelet later removes with their content. A UID that is
// a path would make the kubelet remove other files.

/** The UID of a pod cannot be used as a file name. */
class UnsafePodUidError extends Error {
  override readonly name = "UnsafePodUidError";
  constructor(uid: string) {
    super(
      `pod UID ${JSON.stringify(uid)} cannot name a directory: use letters, digits, "-", "_" and inner dots, at most 128`,
    );
  }
}

export function isSafePodUid(uid: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(uid);
}

/** Returns the UID if it is safe as one path element. @throws UnsafePodUidError */
export function safePodUid(uid: string): string {
  if (!isSafePodUid(uid)) throw new UnsafePodUidError(uid);
  return uid;
}
