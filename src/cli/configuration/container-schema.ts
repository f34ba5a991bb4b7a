/** The keys of the container deployer in the configuration file. */
import { z } from 'zod';
import { defaultSettings, PULL_POLICIES, type Resources } from '../../../deployers/container/settings.ts';
import { canonicalQuantity } from '../../lib/quantity.ts';
import { section, setting, unused } from './schema-parts.ts';

const name = z.string().min(1);
const names = z.array(name);

const quantity = z
  .union([z.string(), z.number()])
  .refine(
    (value) => canonicalQuantity(String(value)) !== undefined,
    'is not a quantity; use a value like 100m or 1Gi',
  );
const quantities = z.record(z.string(), quantity).nullish();
/** In the documentation: `cpu: 100m, memory: 128Mi`. */
const listed = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key}: ${value}`)
    .join(', ');
const resources = (whose: string, { requests, limits }: Resources) =>
  setting(
    z.looseObject({ requests: quantities, limits: quantities }),
    `\`requests\` and \`limits\` of ${whose}; each map replaces its default; not in upstream`,
    `\`{requests: {${listed(requests)}}, limits: {${listed(limits)}}}\``,
  );
/** Upstream's default is an empty string. */
const pullPolicy = (whose: string) =>
  setting(z.enum([...PULL_POLICIES, '']), `pull policy of ${whose}`, '`IfNotPresent`');

const containerProgram = (which: string) =>
  section({
    image: setting(name, `image of the ${which} container`, `\`${defaultSettings.init.image}\``),
    command: setting(z.array(z.string()), `command of the ${which} container`, "Espalier's program"),
    args: setting(z.array(z.string()), `arguments of the ${which} container`, 'none'),
    imagePullPolicy: pullPolicy(`the ${which} container`),
    resources: resources(`the ${which} container`, defaultSettings.init.resources),
  });

/** Fields of `securityContext` of containers; an unknown one is probably a typo. */
const securityContext = z.looseObject({
  runAsUser: z.int().nonnegative().nullish(),
  runAsGroup: z.int().nonnegative().nullish(),
  runAsNonRoot: z.boolean().nullish(),
  allowPrivilegeEscalation: z.boolean().nullish(),
  privileged: z.boolean().nullish(),
  readOnlyRootFilesystem: z.boolean().nullish(),
  procMount: z.string().nullish(),
  capabilities: z.record(z.string(), z.unknown()).nullish(),
  seccompProfile: z.record(z.string(), z.unknown()).nullish(),
  seLinuxOptions: z.record(z.string(), z.unknown()).nullish(),
  appArmorProfile: z.record(z.string(), z.unknown()).nullish(),
});

export const container = section({
  namespace: setting(name, 'namespace in which pods of [container items](container.md) run', '`default`'),
  defaultImage: section({
    image: setting(name, 'image for items that do not name one', `\`${defaultSettings.defaultImage}\``),
  }),
  pullSecretNamespaces: setting(
    names,
    'namespaces with pull secrets that the items of all namespaces may use, or `*` for all, as in upstream; other items use those of their own namespace; not in upstream',
    'none',
  ),
  imagePullPolicy: pullPolicy('images of items; not in upstream'),
  resources: resources('the container of an image', defaultSettings.main.resources),
  securityContext: setting(
    securityContext,
    'fields of the `securityContext` of images that replace those of the `restricted` profile ([rights of an image](container.md#rights-of-an-image)); not in upstream',
    'user 1000, group 3000, no capabilities',
  ),
  initContainer: containerProgram('init'),
  waitContainer: containerProgram('wait'),
  nativeSidecar: setting(
    z.boolean(),
    'whether the wait container is a [native sidecar](container.md#native-sidecar); not in upstream',
    "`true` from Kubernetes 1.29 with Espalier's program",
  ),
  garbageCollection: section({
    disable: setting(z.boolean(), '`true`: objects that items leave behind are not deleted', '`false`'),
    worker: unused('only one garbage collection runs at a time'),
    requeueTimeSeconds: setting(z.int().positive(), 'seconds between two garbage collections', '3600'),
  }),
  debug: section({
    keepPod: setting(z.boolean(), '`true`: pods that have ended are not deleted', '`false`'),
  }),
});
