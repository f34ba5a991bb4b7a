/** `--deployer`: loads modules of deployers of one's own, to ask them for plans. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DeployerPlugin } from '../../../../deployers/sdk/index.ts';
import { isObject, ownField } from '../../../lib/objects.ts';
import { CommandError } from '../../errors.ts';

/**
 * The deployers that these modules export, keyed by type of deploy item. Loading runs the code of the module.
 * @param files relative to the current folder
 * @throws CommandError if a module cannot be loaded or exports no deployer
 */
export async function ownDeployers(files: readonly string[]): Promise<ReadonlyMap<string, DeployerPlugin>> {
  const found = new Map<string, DeployerPlugin>();
  for (const file of files) {
    const plugins = Object.values(await load(file)).filter(isPlugin);
    if (plugins.length === 0) {
      throw new CommandError(
        `--deployer ${file}: the module exports no deployer; export the result of definePlugin, not only a call of serve`,
      );
    }
    for (const plugin of plugins) found.set(plugin.type, plugin);
  }
  return found;
}

async function load(file: string): Promise<object> {
  const path = resolve(file);
  try {
    return (await import(pathToFileURL(path).href)) as object;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const hint =
      code === 'ERR_UNKNOWN_FILE_EXTENSION'
        ? '; this version of Node does not load TypeScript, so name the compiled module'
        : '';
    throw new CommandError(
      `--deployer ${file}: cannot load the module: ${message.replace(/ imported from .*/s, '')}${hint}`,
      { cause: error },
    );
  }
}

const isPlugin = (value: unknown): value is DeployerPlugin =>
  isObject(value) &&
  typeof value['type'] === 'string' &&
  typeof value['apply'] === 'function' &&
  typeof value['remove'] === 'function' &&
  typeof ownField(value['config'], 'decode') === 'function';
