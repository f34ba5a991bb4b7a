/** `espalier deployers new`: writes a working deployer with its test to a new folder. */
import { dirname } from 'node:path';
import { UsageError } from '../../errors.ts';
import { compiled, printNext, writeProject } from '../../new-project.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface NewDeployerOptions {
  readonly to?: string;
  readonly type?: string;
}

const NAME = /^[a-z]([a-z0-9-]*[a-z0-9])?$/;
const TYPE = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?\/[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
/** Name of the deployer in the skeleton's own files. */
const SKELETON_NAME = 'skeleton';
const DOMAIN = 'example.org';

export function newDeployer(name: string, options: NewDeployerOptions, terminal: Terminal): void {
  if (!NAME.test(name))
    throw new UsageError(`"${name}" is not a valid deployer name; use lower-case letters, digits and dashes`);
  const type = options.type ?? `${DOMAIN}/${name}`;
  if (!TYPE.test(type)) throw new UsageError(`"${type}" is not a valid type; use DOMAIN/NAME`);
  const project = {
    name,
    skeletons: ['docs/samples/deployers/skeleton'],
    renamed: (text: string) => renamed(text, name, type),
    scripts: { test: compiled('--test', 'deployer.test.js') },
  };
  printNext(writeProject(project, options.to), `A deployer for items of type ${type}`, terminal);
}

const renamed = (text: string, name: string, type: string): string =>
  text
    .replaceAll(`${DOMAIN}/${SKELETON_NAME}`, type)
    .replaceAll(`${SKELETON_NAME}.${DOMAIN}`, `${name}.${dirname(type)}`)
    .replaceAll(SKELETON_NAME, name);
