// Copies a program and the shared libraries that it needs from one root folder to another, without running it, so that
// it also works for the programs of another processor architecture:
//
//   node hack/image/libraries.mjs FROM TO /usr/local/bin/node [ARCHITECTURE]
//
// It fails if the program is for another architecture (amd64, arm64) than the given one.
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
} from 'node:fs';
import { dirname, join, posix } from 'node:path';

const [from, to, program, architecture] = process.argv.slice(2);
const MAX_LINKS = 40;

/** The file at an absolute path in the root folder `from`, where links are relative to that folder; undefined: none. */
function fileAt(path, links = 0) {
  let at = '/';
  const names = path.split('/').filter((name) => name !== '');
  for (const [i, name] of names.entries()) {
    at = posix.join(at, name);
    const stat = lstatSync(join(from, at), { throwIfNoEntry: false });
    if (!stat) return undefined;
    if (!stat.isSymbolicLink()) continue;
    if (links === MAX_LINKS) throw new Error(`${path}: too many links`);
    const target = posix.resolve(posix.dirname(at), readlinkSync(join(from, at)));
    return fileAt(posix.join(target, ...names.slice(i + 1)), links + 1);
  }
  return at;
}

/** Folders that the dynamic linker searches. */
function searched() {
  const folders = ['/lib', '/usr/lib', '/lib64', '/usr/lib64'].filter((folder) => fileAt(folder));
  const ofArchitecture = folders.flatMap((folder) =>
    readdirSync(join(from, fileAt(folder)), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name.includes('-linux-'))
      .map(({ name }) => `${folder}/${name}`),
  );
  return [...ofArchitecture, ...folders];
}

/** `e_machine` of the architectures. */
const MACHINES = { amd64: 62, arm64: 183 };
const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const DT_NEEDED = 1n;
const DT_STRTAB = 5n;

/** The dynamic linker and the names of the libraries of an ELF file with 64 bits, little-endian. */
function needsOf(path) {
  const elf = readFileSync(join(from, path));
  if (elf.readUInt32BE(0) !== 0x7f454c46 || elf[4] !== 2 || elf[5] !== 1)
    throw new Error(`${path} is not a little-endian ELF file with 64 bits`);
  const machine = elf.readUInt16LE(0x12);
  if (architecture && machine !== MACHINES[architecture])
    throw new Error(`${path} is not a program for ${architecture}: its machine type is ${machine}`);
  const size = elf.readUInt16LE(0x36);
  const headers = Array.from({ length: elf.readUInt16LE(0x38) }, (_, i) => {
    const at = Number(elf.readBigUInt64LE(0x20)) + i * size;
    const number = (offset) => Number(elf.readBigUInt64LE(at + offset));
    return { type: elf.readUInt32LE(at), offset: number(8), address: number(16), length: number(32) };
  });
  const stringAt = (offset) => elf.toString('latin1', offset, elf.indexOf(0, offset));
  const interpreter = headers.find(({ type }) => type === PT_INTERP);
  const dynamic = headers.find(({ type }) => type === PT_DYNAMIC);
  const entries = Array.from({ length: (dynamic?.length ?? 0) / 16 }, (_, i) => {
    const at = dynamic.offset + i * 16;
    return { tag: elf.readBigUInt64LE(at), value: Number(elf.readBigUInt64LE(at + 8)) };
  });
  const strings = entries.find(({ tag }) => tag === DT_STRTAB)?.value ?? 0;
  const segment = headers.find(
    ({ type, address, length }) => type === PT_LOAD && strings >= address && strings < address + length,
  );
  const names = entries
    .filter(({ tag }) => tag === DT_NEEDED)
    .map(({ value }) => stringAt(segment.offset + strings - segment.address + value));
  return { linker: interpreter && stringAt(interpreter.offset), names };
}

const folders = searched();
const done = new Set();
const wanted = [program];
for (const path of wanted) {
  if (done.has(path)) continue;
  done.add(path);
  const source = fileAt(path);
  if (!source) throw new Error(`${from} has no ${path}`);
  mkdirSync(dirname(join(to, path)), { recursive: true });
  copyFileSync(join(from, source), join(to, path));
  chmodSync(join(to, path), 0o755);
  const { linker, names } = needsOf(source);
  if (linker) wanted.push(linker);
  for (const name of names) {
    if (wanted.some((other) => posix.basename(other) === name)) continue;
    const folder = folders.find((each) => fileAt(`${each}/${name}`));
    if (!folder) throw new Error(`${path} needs ${name}, which ${from} does not have`);
    wanted.push(`${folder}/${name}`);
  }
}
console.log([...done].join('\n'));
