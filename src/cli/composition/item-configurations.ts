/** Checks the configurations of deploy items whose deployers are part of this program. */
import { containerConfig } from '../../../deployers/container/config.ts';
import { helmConfig } from '../../../deployers/helm/config.ts';
import { manifestConfig } from '../../../deployers/manifest/config.ts';
import { mockConfig } from '../../../deployers/mock/config.ts';
import { CodecError, type Codec } from '../../../deployers/sdk/index.ts';
import { unreadByVersion } from '../../../deployers/sdk/schema.ts';
import type { Path } from '../../api/decode.ts';
import { unknownFieldText } from '../../blueprint/unknown-fields.ts';
import type { FieldProblem, KnownDeployers } from '../../blueprint/lint/subject.ts';
import { ownField } from '../../lib/objects.ts';
import { itemTypes, type DeployerName } from '../names.ts';

const codecs: Readonly<Record<DeployerName, Codec<unknown>>> = {
  helm: helmConfig,
  manifest: manifestConfig,
  container: containerConfig,
  mock: mockConfig,
};
const byType = new Map(
  Object.entries(codecs).map(([name, codec]) => [itemTypes[name as DeployerName], codec]),
);

interface Configured {
  readonly name: string;
  readonly type: string;
  readonly config?: unknown;
}

/** @returns messages about fields that no deployer reads; none for items of other deployers */
export const unreadFieldsOf = (items: readonly Configured[]): readonly string[] =>
  items.flatMap(({ name, type, config }) =>
    (byType.get(type)?.unread?.(config) ?? []).map((sentence) => `deploy item ${name}: config.${sentence}`),
  );

/** For the lint of blueprints. */
export const builtInDeployers: KnownDeployers = {
  types: [...byType.keys()],
  standIns: [undefined, 'a', 'a:1', 'https://example.org', '5m', true, 1, {}, [], { ref: 'a:1' }],
  unknownFields: (type, config) =>
    unreadByVersion(byType.get(type)?.schemas ?? {}, config).map(({ path, key, known }) => ({
      path,
      message: unknownFieldText(key, known),
    })),
  refusals(type, config) {
    try {
      byType.get(type)?.decode(config);
      return [];
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      return error.reasons.map((reason) => refusalOf(reason, config));
    }
  },
};

/** Refusals begin with the path of the field, except for those of the whole document, which are about its version. */
function refusalOf(reason: string, config: unknown): FieldProblem {
  const [, path = ''] = /^([A-Za-z][\w/-]*(?:\.[\w/-]+|\[\d+\])*): /.exec(reason) ?? [];
  if (path !== '') return { path: stepsOf(path), message: reason };
  const isKind = ownField(config, 'kind') !== 'ProviderConfiguration';
  return { path: [isKind ? 'kind' : 'apiVersion'], message: reason };
}

/** `exports[0].key` */
const stepsOf = (path: string): Path =>
  [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([name, index]) =>
    index === undefined ? name : Number(index),
  );
