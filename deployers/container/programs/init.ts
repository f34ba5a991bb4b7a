/** The init container: writes all inputs of the image to files, and restores the state of the last run. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ComponentRepositories } from '../../../src/components/component-repositories.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import type { Logger } from '../../../src/observability/log.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { containerConfig, type ContainerConfig } from '../config.ts';
import { writeContent } from './content.ts';
import { EnvironmentProblem, type Environment } from './environment.ts';
import { restoreState } from './state.ts';

interface InitPorts {
  /** Only called if there is state to restore; other items need no access to the cluster. */
  readonly client: () => Promise<Client>;
  readonly repositories: ComponentRepositories;
  readonly log: Logger;
}

/** @throws EnvironmentProblem, CodecError, ComponentProblem, FolderProblem, and the errors of requests */
export async function runInit(environment: Environment, ports: InitPorts): Promise<void> {
  const { log } = ports;
  const { document, config } = await readConfiguration(environment.configuration);
  const { imports, exports, target, componentDescriptor, state, content } = environment;
  for (const file of [imports, exports, target, componentDescriptor]) {
    await mkdir(dirname(file), { recursive: true });
  }
  for (const folder of [state, content]) await mkdir(folder, { recursive: true });
  if (config.importValues) await writeFile(imports, JSON.stringify(document['importValues']));
  await writeFile(target, await targetText(environment.targetSource));
  log.info({}, 'imports and target written');
  await writeContent(config, environment, ports.repositories);
  log.info({}, 'content written');
  await restore(environment, ports);
}

async function restore(environment: Environment, { client, log }: InitPorts): Promise<void> {
  const { stateSecrets, item, pod, state } = environment;
  if (stateSecrets?.length === 0) return;
  const pieces = await restoreState(
    { client: await client(), namespace: pod.namespace, item },
    state,
    stateSecrets,
  );
  log.info({ pieces }, 'state restored');
}

async function readConfiguration(
  file: string,
): Promise<{ readonly document: Record<string, unknown>; readonly config: ContainerConfig }> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    throw new EnvironmentProblem(`cannot read the configuration ${file} (${code})`, { cause });
  }
  const document = parseYaml(text) as Record<string, unknown>;
  return { document, config: containerConfig.decode(document) };
}

/** Without a file there is no target. */
async function targetText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'null';
    throw error;
  }
}
