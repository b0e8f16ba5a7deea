// Project quotas of a file system (XFS, ext4): which project a directory's files belong to, and how much a project
// uses. See quotactl(2) and ioctl_xfs_fsgetxattr(2). All calls run on libuv's pool: they may wait for the disk.
// Invariant: a file system is named by a descriptor of one of its directories (quotactl_fd, Linux 5.14), never by a
// device.

import { libcOnPool } from "./libc.js";

/** Number of the system call quotactl_fd, equal on x64 and arm64. */
const SYS_QUOTACTL_FD = 443;
/** QCMD(command, PRJQUOTA). */
const projectCommand = (command: number): number => ((command << 8) | 2) >>> 0;
const GET_STATE = projectCommand(0x5805);
const GET_QUOTA = projectCommand(0x800007);
/** In the flags of struct fs_quota_stat: usage of projects is counted. */
const PROJECT_ACCOUNTING = 1 << 4;
const STATE_BYTES = 256;
/** struct if_dqblk. */
const QUOTA_BYTES = 72;
/** struct fsxattr. */
const ATTRIBUTE_BYTES = 28;
const GET_ATTRIBUTES = 0x801c581f;
const SET_ATTRIBUTES = 0x401c5820;
/** New files below the directory belong to its project. */
const INHERIT = 0x200;

export interface ProjectUsage {
  bytes: number;
  inodes: number;
}

/** Does the file system count what projects use? Rejects with OsCallError where it has no project quotas. */
export async function countsProjects(fd: number, about: string): Promise<boolean> {
  const state = buffer(STATE_BYTES);
  await libcOnPool("quotactl_fd", about, SYS_QUOTACTL_FD, fd, GET_STATE, 0, state);
  return (view(state).getUint16(2, true) & PROJECT_ACCOUNTING) !== 0;
}

/** Rejects with OsCallError; on XFS with ENOENT for a project that never had a file. */
export async function projectUsage(fd: number, project: number, about: string): Promise<ProjectUsage> {
  const quota = buffer(QUOTA_BYTES);
  await libcOnPool("quotactl_fd", about, SYS_QUOTACTL_FD, fd, GET_QUOTA, project, quota);
  return { bytes: Number(view(quota).getBigUint64(16, true)), inodes: Number(view(quota).getBigUint64(40, true)) };
}

/** The project that the directory passes on to new files; 0: none. Rejects with OsCallError. */
export async function inheritedProject(fd: number, about: string): Promise<number> {
  const attributes = view(await readAttributes(fd, about));
  return (attributes.getUint32(0, true) & INHERIT) === 0 ? 0 : attributes.getUint32(12, true);
}

/** The directory and all files made in it later belong to the project. Rejects with OsCallError. */
export async function setProject(fd: number, project: number, about: string): Promise<void> {
  const bytes = await readAttributes(fd, about);
  const attributes = view(bytes);
  attributes.setUint32(0, attributes.getUint32(0, true) | INHERIT, true);
  attributes.setUint32(12, project, true);
  await libcOnPool("ioctl", about, fd, SET_ATTRIBUTES, bytes);
}

async function readAttributes(fd: number, about: string): Promise<Uint8Array> {
  const bytes = buffer(ATTRIBUTE_BYTES);
  await libcOnPool("ioctl", about, fd, GET_ATTRIBUTES, bytes);
  return bytes;
}

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Its memory never moves while another thread fills it. */
const buffer = (bytes: number): Uint8Array => new Uint8Array(new ArrayBuffer(bytes));
