// Node's executable without its symbol table and debug information: a seventh of its size, which nothing loads
// (docs/adr/0090). Native modules find Node's functions by the dynamic symbols, which stay. binutils would need one
// program for each processor, and its versions differ in the bytes that they write.
// https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.sheader.html
// Invariant: every byte that a program header or an allocated section names stays where it is.

import { SetupProblem } from "../standalone/problem.js";

const MAGIC = 0x7f_45_4c_46;
const CLASS_64 = 2;
const LITTLE_ENDIAN = 1;
const HEADER = { sectionOffset: 0x28, programOffset: 0x20, programSize: 0x36, programs: 0x38, sectionSize: 0x3a };
const HEADER_SECTIONS = { count: 0x3c, names: 0x3e };
const SECTION = { name: 0, type: 4, flags: 8, offset: 24, size: 32 };
const SECTION_BYTES = 64;
const PROGRAM = { offset: 8, size: 32 };
const [NOBITS, STRING_TABLE] = [8, 3];
const ALLOCATED = 2n;
const NAMES = ".shstrtab";

interface Section {
  header: Buffer;
  name: string;
  allocated: boolean;
  /** Behind its last byte in the file. */
  end: number;
}

/**
 * A copy without sections that are not loaded; a file of another kind as it is.
 * @throws SetupProblem for an executable of another form
 */
export function withoutSymbols(file: Buffer): Buffer {
  if (file.length < 64 || file.readUInt32BE(0) !== MAGIC) return file;
  if (file[4] !== CLASS_64 || file[5] !== LITTLE_ENDIAN) throw new SetupProblem("Node is no 64-bit little-endian ELF");
  const sections = sectionsOf(file);
  const kept = sections.slice(0, 1 + sections.findLastIndex(({ allocated }) => allocated));
  if (kept.slice(1).some(({ allocated }) => !allocated)) {
    // Sections name each other by their numbers.
    throw new SetupProblem("Node's executable has sections that are not loaded before loaded ones");
  }
  const loaded = Math.max(programsEnd(file), ...kept.map(({ end }) => end));
  const names = Buffer.from(["", ...kept.slice(1).map(({ name }) => name), NAMES, ""].join("\0"));
  const tableAt = Math.ceil((loaded + names.length) / 8) * 8;
  const table = [...kept.map((section) => renamed(section, names)), namesSection(names, loaded)];
  const result = Buffer.concat([
    file.subarray(0, loaded),
    names,
    Buffer.alloc(tableAt - loaded - names.length),
    ...table,
  ]);
  result.writeBigUInt64LE(BigInt(tableAt), HEADER.sectionOffset);
  result.writeUInt16LE(table.length, HEADER_SECTIONS.count);
  result.writeUInt16LE(table.length - 1, HEADER_SECTIONS.names);
  return result;
}

function sectionsOf(file: Buffer): Section[] {
  const at = Number(file.readBigUInt64LE(HEADER.sectionOffset));
  const count = file.readUInt16LE(HEADER_SECTIONS.count);
  if (
    file.readUInt16LE(HEADER.sectionSize) !== SECTION_BYTES ||
    count === 0 ||
    at + count * SECTION_BYTES > file.length
  )
    throw new SetupProblem("Node's executable has no table of sections");
  const headers = Array.from({ length: count }, (_, i) =>
    file.subarray(at + i * SECTION_BYTES, at + (i + 1) * SECTION_BYTES),
  );
  const strings = headers[file.readUInt16LE(HEADER_SECTIONS.names)];
  if (strings === undefined) throw new SetupProblem("the sections of Node's executable have no names");
  const namesAt = number(strings, SECTION.offset);
  return headers.map((header) => {
    const nameAt = namesAt + header.readUInt32LE(SECTION.name);
    const inFile = header.readUInt32LE(SECTION.type) === NOBITS ? 0 : number(header, SECTION.size);
    return {
      header,
      name: file.toString("latin1", nameAt, file.indexOf(0, nameAt)),
      allocated: (header.readBigUInt64LE(SECTION.flags) & ALLOCATED) !== 0n,
      end: number(header, SECTION.offset) + inFile,
    };
  });
}

/** Behind the last byte that a program header loads. */
function programsEnd(file: Buffer): number {
  const [at, size] = [number(file, HEADER.programOffset), file.readUInt16LE(HEADER.programSize)];
  const ends = Array.from({ length: file.readUInt16LE(HEADER.programs) }, (_, i) => {
    const program = file.subarray(at + i * size, at + (i + 1) * size);
    return number(program, PROGRAM.offset) + number(program, PROGRAM.size);
  });
  return Math.max(0, ...ends);
}

function renamed({ header, name }: Section, names: Buffer): Buffer {
  const copy = Buffer.from(header);
  copy.writeUInt32LE(name === "" ? 0 : names.indexOf(`\0${name}\0`) + 1, SECTION.name);
  return copy;
}

function namesSection(names: Buffer, at: number): Buffer {
  const header = Buffer.alloc(SECTION_BYTES);
  header.writeUInt32LE(names.indexOf(`\0${NAMES}\0`) + 1, SECTION.name);
  header.writeUInt32LE(STRING_TABLE, SECTION.type);
  header.writeBigUInt64LE(BigInt(at), SECTION.offset);
  header.writeBigUInt64LE(BigInt(names.length), SECTION.size);
  // Alignment.
  header.writeBigUInt64LE(1n, 48);
  return header;
}

function number(from: Buffer, at: number): number {
  return Number(from.readBigUInt64LE(at));
}
