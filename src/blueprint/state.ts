/** State that executions keep between jobs: the names of its secrets and the secrets themselves. */
import type { Installation } from '../api/kinds/installation.ts';
import { API_VERSION } from '../api/labels.ts';
import type { ApiObject } from '../api/shared.ts';
import { goJson } from '../lib/gojson.ts';
import { sha1Name } from '../lib/hash.ts';
import type { View } from '../lib/objects.ts';
import { parseYaml } from '../lib/yaml.ts';
import type { LoadedBlueprint } from './load.ts';

const KEY = 'config';

/** A state document to be stored in the secret of that name. */
export interface StateUpdate {
  readonly secretName: string;
  readonly state: unknown;
}

/**
 * Deploy and sub-installation executions of one name share a secret, as they do upstream: with names of our own
 * the state would be lost when controllers are exchanged.
 */
export function stateSecretName(installation: string, kind: 'deploy' | 'export', execution: string): string {
  return sha1Name(`${installation}/${kind}${execution}`);
}

/** Secrets to read before rendering, each once, in the order of the blueprint. */
export function stateSecretNames(installation: string, { info }: LoadedBlueprint): readonly string[] {
  const deploy = [...(info.subinstallationExecutions ?? []), ...(info.deployExecutions ?? [])];
  return [
    ...new Set([
      ...deploy.map(({ name = '' }) => stateSecretName(installation, 'deploy', name)),
      ...(info.exportExecutions ?? []).map(({ name = '' }) => stateSecretName(installation, 'export', name)),
    ]),
  ];
}

/** The document in a state secret; an empty map when there is none. */
export function readState(secret: { readonly data?: Readonly<Record<string, string>> | undefined }): unknown {
  const encoded = secret.data?.[KEY];
  if (encoded === undefined) return {};
  return parseYaml(Buffer.from(encoded, 'base64').toString('utf8')) ?? {};
}

/** A Secret as the core API has it; `data` is base64. */
export interface StateSecret extends ApiObject {
  type: 'Opaque';
  data: Record<string, string>;
}

/** The secret that keeps a state, controlled by the installation. */
export function stateSecret(installation: View<Installation>, update: StateUpdate): StateSecret {
  const { name, namespace, uid = '' } = installation.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: update.secretName,
      ...(namespace === undefined ? {} : { namespace }),
      ownerReferences: [
        {
          apiVersion: API_VERSION,
          kind: 'Installation',
          name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    type: 'Opaque',
    data: { [KEY]: Buffer.from(goJson(update.state)).toString('base64') },
  };
}
