/** The form of the configuration file, all keys of upstream's: those in use, and those that mean nothing here. */
import { z } from 'zod';
import { verificationPolicies } from '../../../controllers/installation/verification.ts';
import { maximumLimits } from '../../api/limits.ts';
import { MAX_TREE_DEPTH } from '../../landscape/tree.ts';

/** Any part may be there without a value, as templates of charts leave it. */
const section = <Shape extends z.ZodRawShape>(shape: Shape) => z.looseObject(shape).nullish();
/** A key that upstream knows and Espalier has no use for; `why` is told to who sets it. */
const unused = (why: string) => z.unknown().optional().meta({ unused: why });

const name = z.string().min(1);
const names = z.array(name).nullish();
const repositoryContext = z.record(z.string(), z.unknown()).nullish();

const controllerKeys = {
  workers: z.int().positive().nullish(),
  cacheSyncTimeout: unused('a cache is waited for as long as it takes; /readyz tells'),
};
const controller = section(controllerKeys);
const contexts = section({
  ...controllerKeys,
  config: section({
    default: section({
      disable: z.boolean().nullish(),
      excludedNamespaces: names,
      excludeNamespaces: names,
      repositoryContext,
    }),
  }),
});

const texts = z.array(z.string()).nullish();
const containerProgram = section({
  image: name.nullish(),
  command: texts,
  args: texts,
  imagePullPolicy: unused('these images are pulled always'),
});

const ownCache = 'what was fetched is kept in memory, see registry.cacheSize';

export const configurationSchema = z.looseObject({
  apiVersion: z.string().nullish(),
  kind: z.literal('LandscaperConfiguration').nullish(),
  controllers: section({
    syncPeriod: unused('lists are repeated when a watch has lost its place, not by the clock'),
    installations: controller,
    executions: controller,
    deployItems: controller,
    contexts,
    context: contexts,
  }),
  repositoryContext,
  registry: section({
    local: section({ rootPath: name.nullish() }),
    oci: section({
      allowPlainHttp: z.boolean().nullish(),
      insecureSkipVerify: unused('certificates are always checked; NODE_EXTRA_CA_CERTS adds authorities'),
      configFiles: unused('credentials come from the pull secrets of the Context'),
      cache: unused(ownCache),
    }),
    cacheSize: z.number().int().nonnegative().nullish(),
  }),
  templating: section({
    timeout: z.string().nullish(),
    maxOutputBytes: z.int().min(1024).nullish(),
    maxSteps: z.int().min(1000).nullish(),
    workers: z.int().positive().max(16).nullish(),
    memoryMiB: z.int().min(32).nullish(),
  }),
  limits: section({
    treeDepth: z.int().positive().max(MAX_TREE_DEPTH).nullish(),
    targetResponseMiB: z.int().positive().max(256).nullish(),
    targetResponseDepth: z.int().min(50).max(10_000).nullish(),
    hostResponseMiB: z.int().min(32).max(1024).nullish(),
    downloadMiB: z.int().positive().max(1024).nullish(),
    treeObjects: z.int().positive().nullish(),
    deployItems: z.int().positive().max(maximumLimits.deployItems).nullish(),
    deployItemsMiB: z.int().positive().max(maximumLimits.deployItemsMiB).nullish(),
    subinstallations: z.int().positive().max(maximumLimits.subinstallations).nullish(),
    remoteRetryTimeout: z.string().nullish(),
  }),
  helm: section({
    executable: name.nullish(),
    chartCacheSize: z.number().int().nonnegative().nullish(),
    staticCapabilities: z.boolean().nullish(),
  }),
  container: section({
    namespace: name.nullish(),
    defaultImage: section({ image: name.nullish() }),
    initContainer: containerProgram,
    waitContainer: containerProgram,
    garbageCollection: section({
      disable: z.boolean().nullish(),
      worker: unused('one sweep at a time is enough'),
      requeueTimeSeconds: z.int().positive().nullish(),
    }),
    debug: section({ keepPod: z.boolean().nullish() }),
  }),
  blueprintStore: unused(ownCache),
  metrics: unused('where metrics are served is an option of the command, --metrics-address'),
  crdManagement: section({
    deployCrd: z.boolean().nullish(),
    forceUpdate: unused('definitions are updated whenever they are installed; see deployCrd'),
  }),
  deployItemTimeouts: section({
    pickup: z.string().nullish(),
    abort: unused('there is no such timeout any more, upstream neither'),
  }),
  lsDeployments: z
    .looseObject({
      lsController: name.nullish(),
      lsMainController: name.nullish(),
      webHook: name.nullish(),
      deploymentsNamespace: name,
      lsHealthCheckName: name,
      additionalDeployments: section({ deployments: names }),
    })
    .nullish(),
  hpaMain: unused('replicas that are started with the same --lease share the work, however many there are'),
  signatureVerificationEnforcementPolicy: z.enum(verificationPolicies).nullish(),
});

export type ConfigurationFile = z.infer<typeof configurationSchema>;
