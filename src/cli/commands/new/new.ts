/** `espalier new`: writes the skeleton of a landscape, a blueprint or a component to a new folder. */
import { join, relative, resolve } from 'node:path';
import { isDns1123Label } from '../../../lib/names.ts';
import { UsageError } from '../../errors.ts';
import { packageFolder } from '../../package.ts';
import { quoted, selfCommand } from '../../self-command.ts';
import { writeSkeleton } from '../../skeleton.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export type SkeletonKind = 'landscape' | 'blueprint' | 'component';

export interface NewOptions {
  readonly to?: string;
}

/** The name in the files of the skeletons. */
const SKELETON_NAME = 'skeleton';
/** Names of objects below it are longer, and have to fit into labels. */
const MAX_NAME_LENGTH = 40;

/** @throws UsageError if the name is invalid or the folder is not empty */
export function newSkeleton(kind: SkeletonKind, name: string, options: NewOptions, terminal: Terminal): void {
  const [problem] = isDns1123Label(name);
  if (problem !== undefined)
    throw new UsageError(
      `"${name}" is not a valid name of a ${kind}; use lower-case letters, digits and dashes`,
    );
  if (name.length > MAX_NAME_LENGTH)
    throw new UsageError(
      `the name of a ${kind} must have no more than ${String(MAX_NAME_LENGTH)} characters`,
    );
  const to = resolve(options.to ?? name);
  writeSkeleton([packageFolder(join('docs/samples/skeletons', kind))], to, (text) =>
    text.replaceAll(SKELETON_NAME, name),
  );
  const folder = quoted(relative(process.cwd(), to) || '.');
  const self = selfCommand();
  terminal.print(`A ${kind} is in ${folder}. Next, with a cluster or with ${self} dev in another terminal:`);
  terminal.print(`  ${self} apply ${folder} --wait`);
}
