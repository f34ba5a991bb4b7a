/** Reads what a Context references for the access to components: credentials, further repositories, and overwrites. */
import type { Context } from '../../../src/api/kinds/context.ts';
import {
  componentVersionOverwritesKind,
  type ComponentVersionOverwrites,
} from '../../../src/api/kinds/componentversionoverwrites.ts';
import type { Request } from '../../../src/components/component-repositories.ts';
import { CredentialReader } from '../../../src/components/credentials.ts';
import { MAX_OVERWRITES } from '../../../src/components/overwrites.ts';
import { readResolvers } from '../../../src/components/resolvers.ts';
import { configMapKind, secretKind } from '../../../src/landscape/world.ts';
import { asText } from '../../../src/machine/decision.ts';
import { isFinal } from '../../../src/runtime/errors.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client, Kind, Obj, View } from '../../../src/runtime/types.ts';
import { problem, withPhaseErrors } from './component-errors.ts';

/** @throws PhaseError */
export async function requestFor(
  context: View<Context>,
  client: Pick<Client, 'get'>,
): Promise<Omit<Request, 'runner'>> {
  const { name, namespace = '' } = context.metadata;
  const read = async <T extends Obj>(kind: Kind<T>, wanted: string, reason: string): Promise<T> => {
    const found = await getIfThere(client, kind, `${namespace}/${wanted}`).catch((error: unknown) => {
      if (!isFinal(error)) throw error;
      throw problem('CalculateContext', `context '${name}': ${(error as Error).message}`, error);
    });
    if (found) return found;
    const what = kind.kind === 'ComponentVersionOverwrites' ? `${kind.kind} resource` : kind.kind;
    const message = `context '${name}' references ${what} '${wanted}', which cannot be found`;
    throw problem('CalculateContext', asText({ operation: kind.kind, reason, message }));
  };
  const { registryPullSecrets = [], ocmConfig, componentVersionOverwrites } = context;

  const reader = withPhaseErrors(
    'CalculateContext',
    () => new CredentialReader(registryPullSecrets.length, `context '${name}'`),
  );
  for (const { name: secret = '' } of registryPullSecrets) {
    const { data = {} } = await read(secretKind, secret, 'GetPullSecret');
    withPhaseErrors('CalculateContext', () => {
      reader.add(decoded(data), `secret ${namespace}/${secret}`);
    });
  }
  const config =
    ocmConfig && (await read(configMapKind, ocmConfig.name ?? '', 'GetOcmConfig')).data?.['.ocmconfig'];
  if (ocmConfig && config === undefined) {
    throw problem('CalculateContext', `config map ${namespace}/${ocmConfig.name} has no key .ocmconfig`);
  }
  const where = `.ocmconfig in config map ${namespace}/${ocmConfig?.name ?? ''}`;
  const resolvers =
    config === undefined ? [] : withPhaseErrors('CalculateContext', () => readResolvers(config, where));
  const { overwrites = [] } = componentVersionOverwrites
    ? await read<ComponentVersionOverwrites>(
        componentVersionOverwritesKind,
        componentVersionOverwrites,
        'GetComponentVersionOverwrites',
      )
    : {};
  if (overwrites.length > MAX_OVERWRITES) {
    throw problem(
      'CalculateContext',
      `context '${name}' references ${String(overwrites.length)} overwrites of component versions; the limit of ${String(MAX_OVERWRITES)} is fixed`,
    );
  }
  return { credentials: reader.credentials, resolvers, overwrites, namespace };
}

const decoded = (data: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
