// Every pod sandbox needs a process that holds its namespaces, and we have neither a registry
// nor a compiler. So we write the smallest such program ourselves: a static x86-64 ELF file, byte by byte.
// Invariant: it uses no stack and no libc; it ends with status 0 on SIGTERM and SIGINT at once; as process 1 of
// a shared PID namespace it reaps every child. Signals it waits for are blocked first: the kernel drops unblocked
// default-action signals for process 1, but queues blocked ones.

const SIGINT = 2;
const SIGTERM = 15;
const SIGCHLD = 17;
const signalBit = (signal: number): number => 2 ** (signal - 1);
/** The kernel's sigset_t: one bit per signal, 8 bytes. */
const SIGNAL_SET = signalBit(SIGINT) + signalBit(SIGTERM) + signalBit(SIGCHLD);

/**
 * One line per instruction. Jumps and lea are relative to the next instruction; offsets (left column, hex) are from
 * the first byte of code. System call convention: number in rax, arguments in rdi, rsi, rdx, r10; rcx and r11 are lost.
 */
const CODE: readonly (readonly number[])[] = [
  // 00 block: rt_sigprocmask(SIG_BLOCK = 0, &set, NULL, 8)
  [0xb8, 0x0e, 0x00, 0x00, 0x00], //             00 mov  eax, 14
  [0x31, 0xff], //                               05 xor  edi, edi
  [0x48, 0x8d, 0x35, 0x55, 0x00, 0x00, 0x00], // 07 lea  rsi, [rip + 0x55]   → 63 set
  [0x31, 0xd2], //                               0e xor  edx, edx
  [0x41, 0xba, 0x08, 0x00, 0x00, 0x00], //       10 mov  r10d, 8
  [0x0f, 0x05], //                               16 syscall
  // 18 wait: rt_sigtimedwait(&set, NULL, NULL, 8) → the signal's number, or -EINTR
  [0xb8, 0x80, 0x00, 0x00, 0x00], //             18 mov  eax, 128
  [0x48, 0x8d, 0x3d, 0x3f, 0x00, 0x00, 0x00], // 1d lea  rdi, [rip + 0x3f]   → 63 set
  [0x31, 0xf6], //                               24 xor  esi, esi
  [0x31, 0xd2], //                               26 xor  edx, edx
  [0x41, 0xba, 0x08, 0x00, 0x00, 0x00], //       28 mov  r10d, 8
  [0x0f, 0x05], //                               2e syscall
  [0x83, 0xf8, SIGCHLD], //                      30 cmp  eax, SIGCHLD
  [0x74, 0x13], //                               33 je   +0x13               → 48 reap
  [0x83, 0xf8, SIGINT], //                       35 cmp  eax, SIGINT
  [0x74, 0x05], //                               38 je   +0x05               → 3f exit
  [0x83, 0xf8, SIGTERM], //                      3a cmp  eax, SIGTERM
  [0x75, 0xd9], //                               3d jne  -0x27               → 18 wait
  // 3f exit: exit_group(0)
  [0xb8, 0xe7, 0x00, 0x00, 0x00], //             3f mov  eax, 231
  [0x31, 0xff], //                               44 xor  edi, edi
  [0x0f, 0x05], //                               46 syscall
  // 48 reap: wait4(-1, NULL, WNOHANG = 1, NULL) until it returns 0 (none dead) or an error (no children)
  [0x83, 0xcf, 0xff], //                         48 or   edi, -1
  [0x31, 0xf6], //                               4b xor  esi, esi
  [0xba, 0x01, 0x00, 0x00, 0x00], //             4d mov  edx, 1
  [0x4d, 0x31, 0xd2], //                         52 xor  r10, r10
  [0xb8, 0x3d, 0x00, 0x00, 0x00], //             55 mov  eax, 61
  [0x0f, 0x05], //                               5a syscall
  [0x85, 0xc0], //                               5c test eax, eax
  [0x7f, 0xe8], //                               5e jg   -0x18               → 48 reap
  [0xeb, 0xb6], //                               60 jmp  -0x4a               → 18 wait
  [0x90], //                                     62 nop
  // 63 set: the signal set, read by both calls above
  [SIGNAL_SET & 0xff, (SIGNAL_SET >> 8) & 0xff, (SIGNAL_SET >> 16) & 0xff, 0, 0, 0, 0, 0],
];

const ELF_HEADER_SIZE = 64;
const PROGRAM_HEADER_SIZE = 56;
const LOAD_ADDRESS = 0x400000n;

/** The whole program as an ELF executable: header, two program headers (code, no executable stack), code. */
export function pauseProgram(): Buffer {
  const code = Buffer.from(CODE.flat());
  const codeOffset = ELF_HEADER_SIZE + 2 * PROGRAM_HEADER_SIZE;
  const file = Buffer.alloc(codeOffset + code.length);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0], 0); // magic, 64-bit, little-endian, version 1, System V ABI
  file.writeUInt16LE(2, 16); // e_type ET_EXEC
  file.writeUInt16LE(62, 18); // e_machine EM_X86_64
  file.writeUInt32LE(1, 20); // e_version
  file.writeBigUInt64LE(LOAD_ADDRESS + BigInt(codeOffset), 24); // e_entry
  file.writeBigUInt64LE(BigInt(ELF_HEADER_SIZE), 32); // e_phoff
  file.writeUInt16LE(ELF_HEADER_SIZE, 52); // e_ehsize
  file.writeUInt16LE(PROGRAM_HEADER_SIZE, 54); // e_phentsize
  file.writeUInt16LE(2, 56); // e_phnum
  file.writeUInt16LE(64, 58); // e_shentsize; there are no sections
  const load = ELF_HEADER_SIZE;
  file.writeUInt32LE(1, load); // PT_LOAD: the whole file, readable and executable
  file.writeUInt32LE(4 + 1, load + 4); // PF_R | PF_X
  file.writeBigUInt64LE(LOAD_ADDRESS, load + 16); // p_vaddr
  file.writeBigUInt64LE(LOAD_ADDRESS, load + 24); // p_paddr
  file.writeBigUInt64LE(BigInt(file.length), load + 32); // p_filesz
  file.writeBigUInt64LE(BigInt(file.length), load + 40); // p_memsz
  file.writeBigUInt64LE(0x1000n, load + 48); // p_align
  const stack = load + PROGRAM_HEADER_SIZE;
  file.writeUInt32LE(0x6474e551, stack); // PT_GNU_STACK
  file.writeUInt32LE(4 + 2, stack + 4); // PF_R | PF_W: no executable stack
  file.writeBigUInt64LE(16n, stack + 48);
  file.set(code, codeOffset);
  return file;
}

/** Pause program for other architectures, run by busybox `sh`: it ends on TERM and INT, and waits for its children. */
export const PAUSE_SCRIPT = "trap 'exit 0' TERM INT; while :; do sleep 2147483647 & wait $!; done";
