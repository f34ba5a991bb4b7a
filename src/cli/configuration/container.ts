/** The settings of the container deployer from the configuration file. Pure. */
import {
  defaultSettings,
  type ContainerSettings,
  type ProgramSpec,
  type Resources,
} from '../../../deployers/container/settings.ts';
import type { ConfigurationFile } from './schema.ts';

const ALLOW_PLAIN_HTTP = '--allow-plain-http';

type GivenSettings = NonNullable<ConfigurationFile['container']>;

/**
 * The settings of the file, and otherwise those of `base`. Without an image, a helper program comes from this version's
 * image. With an image, the file specifies the
 * command.
 */
export function containerSettings(
  { container, registry }: ConfigurationFile,
  base: ContainerSettings = defaultSettings,
): ContainerSettings {
  const isPlainHttpAllowed =
    registry?.oci?.allowPlainHttp === true || base.init.args?.includes(ALLOW_PLAIN_HTTP) === true;
  const given = container ?? {};
  const { garbageCollection, debug } = given;
  const { disable, requeueTimeSeconds } = garbageCollection ?? {};
  const isSidecar = given.nativeSidecar ?? base.isSidecar;
  const ms = requeueTimeSeconds ? requeueTimeSeconds * 1000 : undefined;
  return {
    namespace: given.namespace ?? base.namespace,
    defaultImage: given.defaultImage?.image ?? base.defaultImage,
    pullSecretNamespaces: given.pullSecretNamespaces ?? base.pullSecretNamespaces,
    main: mainOf(given, base.main),
    init: initOf(programOf(given.initContainer, base.init), isPlainHttpAllowed),
    wait: programOf(given.waitContainer, base.wait),
    ...(isSidecar !== undefined && { isSidecar }),
    garbageCollection: {
      isDisabled: disable ?? base.garbageCollection.isDisabled,
      everyMs: ms ?? base.garbageCollection.everyMs,
    },
    keepsEndedPods: debug?.keepPod ?? base.keepsEndedPods,
  };
}

function mainOf(
  { imagePullPolicy, resources, securityContext }: GivenSettings,
  main: ContainerSettings['main'],
): ContainerSettings['main'] {
  const changed = Object.entries(securityContext ?? {}).filter(([, value]) => value !== null);
  return {
    pullPolicy: imagePullPolicy || main.pullPolicy,
    resources: resourcesOf(resources, main.resources),
    securityContext: securityContext ? Object.fromEntries(changed) : main.securityContext,
  };
}

/** Our own program reads components from the same registries as the controllers. */
function initOf(program: ProgramSpec, isPlainHttpAllowed: boolean): ProgramSpec {
  const { command, args } = program;
  const isOwn = args === undefined && String(command) === String(defaultSettings.init.command);
  return isOwn && isPlainHttpAllowed ? { ...program, args: [ALLOW_PLAIN_HTTP] } : program;
}

function programOf(given: GivenSettings['initContainer'], usual: ProgramSpec): ProgramSpec {
  const { image, command, args, imagePullPolicy, resources } = given ?? {};
  const called = command ?? (args ? undefined : usual.command);
  return {
    image: image ?? usual.image,
    ...(called && { command: called }),
    ...(args && { args }),
    pullPolicy: imagePullPolicy || usual.pullPolicy,
    resources: resourcesOf(resources, usual.resources),
  };
}

/** Each of the two maps replaces its default, so `limits: {}` means no limits. */
function resourcesOf(given: GivenSettings['resources'], usual: Resources): Resources {
  const { requests, limits } = given ?? {};
  return { requests: texts(requests) ?? usual.requests, limits: texts(limits) ?? usual.limits };
}

const texts = (
  quantities: Readonly<Record<string, string | number>> | null | undefined,
): Readonly<Record<string, string>> | undefined =>
  quantities
    ? Object.fromEntries(Object.entries(quantities).map(([name, value]) => [name, String(value)]))
    : undefined;
