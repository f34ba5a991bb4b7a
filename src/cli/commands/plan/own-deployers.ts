/** `--deployer`: deployers of one's own, to ask them for plans: modules, and programs in any language. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DeployerPlugin } from '../../../../deployers/sdk/index.ts';
import { isObject, ownField } from '../../../lib/objects.ts';
import { CommandError, UsageError } from '../../errors.ts';
import { programDeployer } from './program-deployer.ts';

export interface OwnDeployers {
  readonly byType: ReadonlyMap<string, DeployerPlugin>;
  /** The program without a type: it is asked for the items that have no other deployer. */
  readonly ofOtherType?: ((type: string) => DeployerPlugin) | undefined;
}

/** `node plan.js` is a command. */
const isModule = (value: string): boolean =>
  /\.[cm]?[jt]s$/.test(value) && (!/\s/.test(value) || existsSync(value));

/** `example.org/file=./file-deployer`; a path with `=` must begin with `./` or `/`. */
const TYPED = /^([a-z0-9][a-z0-9.-]*\/[\w.-]+)=(.*)$/s;

/**
 * Loads modules, which runs their code; programs are started only for a plan.
 * @param values `MODULE`, `COMMAND` or `TYPE=COMMAND`; modules are relative to the current folder
 * @throws CommandError if a module cannot be loaded or exports no deployer; UsageError
 */
export async function ownDeployers(values: readonly string[]): Promise<OwnDeployers> {
  const byType = new Map<string, DeployerPlugin>();
  let untyped: readonly string[] | undefined;
  for (const value of values) {
    const [, type, ofType] = TYPED.exec(value) ?? [];
    const command = wordsOf(ofType ?? value);
    if (type !== undefined) byType.set(type, programDeployer(type, command));
    else if (isModule(value)) for (const plugin of await pluginsIn(value)) byType.set(plugin.type, plugin);
    else if (untyped === undefined) untyped = command;
    else
      throw new UsageError(
        `--deployer ${value}: only one program can be without a type; write TYPE=COMMAND, for example --deployer 'example.org/dns=${value}'`,
      );
  }
  return { byType, ...(untyped && { ofOtherType: (type) => programDeployer(type, untyped) }) };
}

/** Words are separated by spaces; there is no quoting. */
function wordsOf(command: string): readonly string[] {
  const words = command.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) throw new UsageError('--deployer: the command is empty');
  return words;
}

async function pluginsIn(file: string): Promise<readonly DeployerPlugin[]> {
  const plugins = Object.values(await load(file)).filter(isPlugin);
  if (plugins.length > 0) return plugins;
  throw new CommandError(
    `--deployer ${file}: the module exports no deployer; export the result of definePlugin, not only a call of serve`,
  );
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
