/** Checks the configurations of deploy items whose deployers are part of this program. */
import { containerConfig } from '../../../deployers/container/config.ts';
import { helmConfig } from '../../../deployers/helm/config.ts';
import { manifestConfig } from '../../../deployers/manifest/config.ts';
import { mockConfig } from '../../../deployers/mock/config.ts';
import type { Codec } from '../../../deployers/sdk/index.ts';
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
