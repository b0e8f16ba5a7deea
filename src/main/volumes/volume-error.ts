/** A volume cannot be set up, used or torn down, and no caller distinguishes the cause. */
export class VolumeError extends Error {
  override readonly name: string = "VolumeError";
}
