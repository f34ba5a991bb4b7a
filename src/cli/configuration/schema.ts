/**
 * The schema of the configuration file with all keys of upstream: used and unused ones. The table of
 * docs/configuration.md is generated from it.
 */
import { z } from 'zod';
import { verificationPolicies } from '../../../controllers/installation/gather/verification.ts';
import { defaultJournal } from '../../api/journal.ts';
import { defaultLimits, maximumLimits } from '../../api/limits.ts';
import { defaultComponentLimits } from '../../components/resolve.ts';
import { DEFAULT_TREE_RECURSION } from '../../landscape/recursion.ts';
import { DEFAULT_TREE_DEPTH, MAX_TREE_DEPTH } from '../../landscape/tree.ts';
import { readinessRules } from '../../../deployers/sdk/deployer.ts';
import { container } from './container-schema.ts';
import { alias, section, setting, unused } from './schema-parts.ts';
import { tracing } from './tracing.ts';

const name = z.string().min(1);
const names = z.array(name);
const repositoryContext = z.record(z.string(), z.unknown());
const duration = z.string();

const controller = (what: string, workers: number) =>
  section({
    workers: setting(z.int().positive(), what, String(workers)),
    cacheSyncTimeout: unused('the program waits for caches without a limit; /readyz shows the state'),
  });

const ofDefaultContext = {
  repositoryContext: setting(
    repositoryContext,
    'repository that the controller writes into the `default` Context of every namespace',
    'none',
  ),
  excludedNamespaces: setting(names, 'namespaces that get no `default` Context', 'none'),
  excludeNamespaces: alias(names.nullish()),
  disable: setting(z.boolean(), '`true`: no namespace gets a `default` Context', '`false`'),
};
const contexts = controller('namespaces reconciled at a time', 5)
  .unwrap()
  .unwrap()
  .extend({ config: section({ default: section(ofDefaultContext) }) })
  .nullish();

const ownCache = 'fetched content is cached in memory, see registry.cacheSize';
const atATime = 'reconciled at a time; one namespace gets at most all workers but one';

export const configurationSchema = z.looseObject({
  apiVersion: z.string().nullish(),
  kind: setting(z.literal('LandscaperConfiguration'), 'must be `LandscaperConfiguration`; may be omitted'),
  controllers: section({
    syncPeriod: unused('objects are listed again only when a watch expires, not periodically'),
    installations: controller(`installations ${atATime}`, 30),
    executions: controller(`executions ${atATime}`, 30),
    deployItems: controller('deploy items checked for pickup at a time; deployers have their own workers', 5),
    contexts,
    context: alias(contexts),
  }),
  repositoryContext: alias(repositoryContext.nullish()),
  watchNamespaces: setting(
    z.array(z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'is not the name of a namespace')),
    'namespaces with landscapes; Espalier ignores all others and needs [no permissions in them](install.md#only-some-namespaces); not in upstream',
    'all namespaces',
  ),
  registry: section({
    local: section({
      rootPath: setting(
        name,
        'folder that contains [repositories in files](components.md); relative to the configuration file',
        'none: such repositories are not available',
      ),
    }),
    oci: section({
      allowPlainHttp: setting(
        z.boolean(),
        '`true`: allows unencrypted connections to registries with an `http://` address, and to registries that do not speak TLS and whose address has no scheme',
        '`false`',
      ),
      insecureSkipVerify: unused('certificates are always checked; registry.caFiles adds authorities'),
      configFiles: setting(
        names,
        'Docker `config.json` files with [credentials](components.md#credentials-and-unavailable-registries) for registries that the pull secrets of the Context do not contain; relative to the configuration file; read again when they change',
        'none',
      ),
      cache: unused(ownCache),
    }),
    caFiles: setting(
      names,
      'files with certificate authorities in PEM that registries and chart repositories may have, in addition to those of Node; relative to the configuration file; read again when they change; not in upstream',
      'none',
    ),
    allowLocalAddresses: setting(
      z.boolean(),
      '`true`: registries and chart repositories may be at loopback and link-local addresses, also by a redirect, for example in tests; not in upstream',
      '`false`; outside of a pod, loopback addresses that a user names are allowed',
    ),
    cacheSize: setting(
      z.number().int().nonnegative(),
      'size in bytes of the in-memory cache of fetched blobs',
      '64 MiB',
    ),
  }),
  signatureVerificationEnforcementPolicy: setting(
    z.enum(verificationPolicies),
    '`DoNotEnforce`: the components of installations with `spec.verification` must be signed; `Enforce`: all components; `Disabled`: none',
    '`DoNotEnforce`',
  ),
  templating: section({
    timeout: setting(
      duration,
      'maximum processor time of an execution, a mapping, a validation or a rendering of a chart',
      '`10s`',
    ),
    maxOutputBytes: setting(
      z.int().min(1024),
      'maximum size of the output of a template, and of any string or list that it creates; in its result, a value counts at least 32 bytes',
      '16 MiB',
    ),
    maxSteps: setting(z.int().min(1000), 'maximum number of steps of a template', '5000000'),
    memoryMiB: setting(
      z.int().min(32),
      'heap limit of a worker process that runs templates; at its limit a worker takes about 100 MiB more than that from the memory of the pod',
      '192',
    ),
    workers: setting(
      z.int().positive().max(16),
      'worker processes that run templates; with only one, one namespace can block all others for up to `templating.timeout`',
      '2',
    ),
  }),
  limits: section({
    treeDepth: setting(
      z.int().positive().max(MAX_TREE_DEPTH),
      `maximum number of [levels of installations](templates.md#limits) in a tree, including the root; at most ${String(MAX_TREE_DEPTH)}; not in upstream`,
      String(DEFAULT_TREE_DEPTH),
    ),
    treeRecursion: setting(
      z.int().min(0).max(MAX_TREE_DEPTH),
      'how often the blueprint of an installation [may occur above it](templates.md#limits); not in upstream',
      String(DEFAULT_TREE_RECURSION),
    ),
    targetResponseMiB: setting(
      z.int().positive().max(256),
      'maximum size in MiB, uncompressed, of [one response of a target cluster](#answers-of-servers); at most 256; not in upstream, nor are the next three',
      '16',
    ),
    targetResponseDepth: setting(
      z.int().min(50).max(10_000),
      'maximum nesting depth of arrays and objects in such a response; 50 to 10000',
      '500',
    ),
    hostResponseMiB: setting(
      z.int().min(32).max(1024),
      'maximum size in MiB of one response of the host cluster; 32 to 1024',
      '64',
    ),
    downloadMiB: setting(
      z.int().positive().max(1024),
      'maximum size in MiB of one blob of a registry, of all contents that one installation reads from its components, of one chart, and of one index of a chart repository; at most 1024',
      '64',
    ),
    treeObjects: setting(
      z.int().positive(),
      'maximum number of installations, executions and deploy items in [a tree](templates.md#limits); not in upstream',
      '10000',
    ),
    deployItems: setting(
      z.int().positive().max(maximumLimits.deployItems),
      `maximum number of deploy items of one installation; at most ${String(maximumLimits.deployItems)}. Webhooks need the same file ([webhooks.md](webhooks.md)); not in upstream`,
      String(defaultLimits.deployItems),
    ),
    deployItemsMiB: setting(
      z.int().positive().max(maximumLimits.deployItemsMiB),
      `maximum size in MiB of these deploy items as JSON, uncompressed; at most ${String(maximumLimits.deployItemsMiB)}, because reading a list that is crafted to fill the memory takes up to 25 times its size; not in upstream`,
      String(defaultLimits.deployItemsMiB),
    ),
    subinstallations: setting(
      z.int().positive().max(maximumLimits.subinstallations),
      `maximum number of sub-installations of one blueprint; at most ${String(maximumLimits.subinstallations)}; not in upstream`,
      String(defaultLimits.subinstallations),
    ),
    components: setting(
      z.int().positive().max(20_000),
      'maximum number of [component versions](components.md) that one installation uses: its own, and all that it references; at most 20000; not in upstream',
      String(defaultComponentLimits.components),
    ),
    componentsMiB: setting(
      z.int().positive().max(64),
      'maximum size in MiB of the descriptors of these component versions, as JSON; each value counts at least 32 bytes; at most 64; not in upstream',
      String(defaultComponentLimits.componentsMiB),
    ),
    remoteRetryTimeout: setting(
      duration,
      'how long a job [retries](#servers-that-cannot-be-used) while a server that it needs is unavailable; `none` or `0s`: until a user interrupts the job; not in upstream',
      '`10m`',
    ),
  }),
  readyConditions: setting(
    z.boolean(),
    'whether installations, executions and deploy items get the conditions [Ready, Reconciling and Stalled](observability.md#status); `false`: each write removes them; not in upstream',
    '`true`',
  ),
  readiness: setting(
    z.enum(readinessRules),
    'when [objects on targets are ready](manifests.md#readiness): `kstatus`: all kinds, by rules and by their conditions; `landscaper`: only the six kinds that Landscaper waits for; not in upstream',
    '`kstatus`',
  ),
  secretsInNames: setting(
    z.enum(['refuse', 'warn']),
    'what happens if a template puts a value of a secret into the name of an object: `refuse`: the job fails; `warn`: the object is created, and the condition `ValidateBlueprint` names the import of the value; not in upstream',
    '`refuse`',
  ),
  helm: section({
    executable: setting(
      name,
      'the `helm` program that creates [releases](helm.md) instead of Espalier: a name on the PATH, or a path relative to the configuration file; not in upstream',
      '`HELM_EXECUTABLE`, or none',
    ),
    chartCacheSize: setting(
      z.number().int().nonnegative(),
      'size in bytes of the cache of charts, for items that request caching',
      '100000000',
    ),
    staticCapabilities: setting(
      z.boolean(),
      '`true`: charts without a release are rendered for Kubernetes 1.20, whatever version the target has, as upstream does',
      '`false`',
    ),
  }),
  container,
  strict: setting(
    z.boolean(),
    '`true`: unknown fields of [blueprints](blueprints.md#unknown-fields), of the results of their executions, and of the configurations of deploy items fail the job; `false`: they are ignored, as upstream does, and reported; not in upstream',
    '`false`',
  ),
  journal: section({
    enabled: setting(
      z.boolean(),
      '`true`: Espalier [records the jobs](jobs.md) of roots in objects of the kind `JobRecord`; not in upstream, nor are the next four',
      '`false`',
    ),
    jobsPerRoot: setting(
      z.int().positive().max(200),
      'maximum number of records of one root; the next record replaces the oldest; at most 200',
      String(defaultJournal.jobsPerRoot),
    ),
    maxAge: setting(duration, 'older records are deleted; `none` or `0s`: no limit', '`2160h`'),
    recordKiB: setting(
      z.int().min(16).max(1024),
      'maximum size in KiB of one record; parts of the tree that do not fit are omitted, and the spec is if it needs more than half; 16 to 1024',
      String(defaultJournal.recordBytes / 1024),
    ),
    keepAfterDeletion: setting(
      z.boolean(),
      '`true`: the records of a root remain when it is deleted, until they are older than `maxAge`',
      '`false`',
    ),
  }),
  tracing,
  blueprintStore: unused(ownCache),
  metrics: unused('where metrics are served is an option of the command, --metrics-address'),
  crdManagement: section({
    deployCrd: setting(
      z.boolean(),
      '`false`: Espalier does not install or update the CustomResourceDefinitions, as with `--no-crds`',
      '`true`',
    ),
    forceUpdate: unused('definitions are always updated when they are installed; see deployCrd'),
  }),
  deployItemTimeouts: section({
    pickup: setting(
      duration,
      'how long a deploy item may wait for a deployer before it fails; `none` or `0s`: no limit',
      '`5m`',
    ),
    abort: unused('this timeout is no longer supported (nor is it upstream)'),
  }),
  lsDeployments: z
    .looseObject({
      deploymentsNamespace: name.meta({
        meaning:
          'namespace of the Deployments of the system itself; together with the next key it enables their health check',
        fallback: 'off',
      }),
      lsHealthCheckName: name.meta({
        meaning: 'name of the `LsHealthCheck` that contains the result',
        fallback: '',
      }),
      lsController: setting(name, 'a Deployment to watch', 'none'),
      lsMainController: setting(name, 'a Deployment to watch', 'none'),
      webHook: setting(name, 'a Deployment to watch', 'none'),
      additionalDeployments: section({ deployments: setting(names, 'more Deployments to watch', 'none') }),
    })
    .nullish(),
  hpaMain: unused('any number of replicas with the same --lease share the work'),
});

export type ConfigurationFile = z.infer<typeof configurationSchema>;
