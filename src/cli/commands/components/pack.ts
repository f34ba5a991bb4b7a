/** `espalier components pack` and `push`: pack a folder as a component version, and push archives to registries. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { packFolder } from '../../../components/component-file.ts';
import { addressOf } from '../../../components/context.ts';
import { nameOf, type Component } from '../../../components/descriptor.ts';
import { filesOnDisk, type Files } from '../../../components/files.ts';
import {
  ctfArchive,
  ctfFiles,
  emptyCtf,
  pushAll,
  readCtf,
  withComponent,
  type CtfContent,
} from '../../../components/pack.ts';
import { createComponentRepositories } from '../../../components/component-repositories.ts';
import { systemClock } from '../../../lib/clock.ts';
import { isGzip } from '../../../lib/gzip.ts';
import { secureRng } from '../../../lib/secure-rng.ts';
import { CommandError, UsageError } from '../../errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import {
  archiveAt,
  credentials,
  counted,
  isFolder,
  MAX_FILE_BYTES,
  type RegistryOptions,
} from './sources.ts';

export interface PackOptions {
  readonly to: string;
  readonly format?: 'directory' | 'tar' | 'tgz';
  readonly force?: boolean;
}
export async function pack(folder: string, options: PackOptions, terminal: Terminal): Promise<void> {
  if (!isFolder(folder)) throw new UsageError(`there is no folder ${folder}`);
  const packed = await packFolder(filesOnDisk(folder, MAX_FILE_BYTES), folder);
  const there = existsSync(options.to);
  const before = there ? await readCtf(await archiveAt(options.to), options.to) : emptyCtf;
  const after = withComponent(before, packed, options.force === true);
  store(after, options.to, options.format ?? formatOf(options.to));
  const { component, layers } = packed;
  const size = layers.reduce((sum, { content }) => sum + content.length, 0);
  terminal.print(
    `${nameOf(component)} with ${counted(component.resources.length, 'resource')} (${String(size)} bytes) is in ${options.to}`,
  );
}

/** The format of the existing archive, or the format that the file name suggests. */
function formatOf(path: string): NonNullable<PackOptions['format']> {
  if (isFolder(path)) return 'directory';
  if (existsSync(path)) return isGzip(readFileSync(path)) ? 'tgz' : 'tar';
  if (/\.(tgz|tar\.gz)$/.test(path)) return 'tgz';
  return path.endsWith('/') ? 'directory' : 'tar';
}

function store(ctf: CtfContent, path: string, format: NonNullable<PackOptions['format']>): void {
  if (existsSync(path) && isFolder(path) !== (format === 'directory')) {
    throw new UsageError(`${path} already exists in another format than ${format}; choose another name`);
  }
  if (format !== 'directory') {
    mkdirSync(dirname(resolve(path)), { recursive: true });
    writeFileSync(path, ctfArchive(ctf, format));
    return;
  }
  for (const [name, content] of ctfFiles(ctf)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
}

/** Enough for a large file over a slow connection; the user can interrupt it. */
const UPLOAD_MS = 24 * 3_600_000;

export async function push(
  archive: string,
  registry: string,
  options: RegistryOptions,
  terminal: Terminal,
): Promise<void> {
  if (!existsSync(archive)) throw new UsageError(`there is no archive ${archive}`);
  const pushed = await pushArchive(await archiveAt(archive), archive, { registry, ...options }, terminal);
  if (pushed.length === 0) throw new CommandError(`there is no component in ${archive}`);
  for (const component of pushed) terminal.print(`${nameOf(component)} is in ${registry}`);
}

/**
 * Stores all component versions of an archive in a registry.
 * @param name of the archive, for messages
 * @throws ContentInvalid, and the errors of the registry
 */
export async function pushArchive(
  files: Files,
  name: string,
  options: RegistryOptions & { readonly registry: string },
  terminal: Terminal,
): Promise<readonly Component[]> {
  const { registry } = options;
  const { host, path } = addressOf(registry);
  const repositories = createComponentRepositories({
    clock: systemClock,
    rng: secureRng,
    allowPlainHttp: options.plainHttp === true,
    deadlineMs: UPLOAD_MS,
  });
  try {
    const target = repositories.registry(host, credentials(options, terminal));
    const context = { type: 'OCIRegistry', baseUrl: registry, componentNameMapping: 'urlPath' };
    return await pushAll(files, name, { registry: target, prefix: path, context });
  } finally {
    await repositories.close();
  }
}
