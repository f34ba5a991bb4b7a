/** Defaults and rules of pod specs, in pods and in templates of workloads. */
import { append } from '../../../lib/lists.ts';
import { containerErrors } from './container.ts';
import * as field from '../../schema/field-errors.ts';
import { isValid } from '../rules/engine.ts';
import { isObject } from '../../types.ts';
import type { FieldError, JsonObject } from '../../types.ts';

/** Sets a member that is absent. */
export function fill(object: JsonObject, defaults: JsonObject): void {
  for (const [member, value] of Object.entries(defaults))
    if (object[member] === undefined) object[member] = value;
}

export const objectAt = (object: JsonObject, member: string): JsonObject => {
  if (!isObject(object[member])) object[member] = {};
  return object[member] as JsonObject;
};

export const listOf = (object: JsonObject | undefined, member: string): JsonObject[] => {
  const value = object?.[member];
  return Array.isArray(value) ? value.filter(isObject) : [];
};

/** Defaults of a claim, or of a template of claims. */
export function defaultClaimSpec(claim: JsonObject): void {
  fill(objectAt(claim, 'spec'), { volumeMode: 'Filesystem' });
}

export function defaultPodSpec(spec: JsonObject): void {
  fill(spec, {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    terminationGracePeriodSeconds: 30,
    securityContext: {},
  });
  if (spec['serviceAccountName'] !== undefined) spec['serviceAccount'] = spec['serviceAccountName'];
  else if (spec['serviceAccount'] !== undefined) spec['serviceAccountName'] = spec['serviceAccount'];
  dropImageVolumes(spec);
  for (const container of listOf(spec, 'initContainers')) defaultContainer(container);
  for (const container of listOf(spec, 'containers')) {
    delete container['restartPolicy']; // Only of containers that run before the others.
    defaultContainer(container);
  }
  for (const volume of listOf(spec, 'volumes')) defaultVolume(volume);
}

/** Servers drop volumes of images, with their mounts, unless that feature is switched on. */
function dropImageVolumes(spec: JsonObject): void {
  const dropped = new Set(
    listOf(spec, 'volumes').flatMap(({ name, image }) => (image === undefined ? [] : [name])),
  );
  if (dropped.size === 0) return;
  const keep = (object: JsonObject, member: string): void => {
    const kept = listOf(object, member).filter(({ name }) => !dropped.has(name));
    if (kept.length > 0) object[member] = kept;
    else delete object[member];
  };
  keep(spec, 'volumes');
  for (const member of ['initContainers', 'containers'])
    for (const container of listOf(spec, member)) keep(container, 'volumeMounts');
}

function defaultContainer(container: JsonObject): void {
  const image = typeof container['image'] === 'string' ? container['image'] : '';
  fill(container, {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: pullPolicy(image),
    resources: {},
  });
  for (const port of listOf(container, 'ports')) fill(port, { protocol: 'TCP' });
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const value = container[probe];
    if (isObject(value)) defaultProbe(value);
  }
  for (const variable of listOf(container, 'env')) {
    if (isObject(variable['valueFrom'])) defaultReference(variable['valueFrom']);
  }
  const lifecycle = isObject(container['lifecycle']) ? container['lifecycle'] : {};
  for (const handler of ['postStart', 'preStop']) {
    const value = lifecycle[handler];
    if (isObject(value)) defaultGet(value);
  }
}

/** References to fields of the pod, in variables and in files. */
function defaultReference(from: JsonObject): void {
  if (isObject(from['fieldRef'])) fill(from['fieldRef'], { apiVersion: 'v1' });
  if (isObject(from['resourceFieldRef'])) fill(from['resourceFieldRef'], { divisor: '0' });
}

function defaultGet(handler: JsonObject): void {
  if (isObject(handler['httpGet'])) fill(handler['httpGet'], { path: '/', scheme: 'HTTP' });
}

function defaultProbe(probe: JsonObject): void {
  fill(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  defaultGet(probe);
  if (isObject(probe['grpc'])) fill(probe['grpc'], { service: '' });
}

/** Images without tag or with `latest` are always pulled, because they may change. */
function pullPolicy(image: string): string {
  if (image.includes('@')) return 'IfNotPresent';
  const tag = /:([^/:]+)$/.exec(image)?.[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

const WITH_MODE = ['secret', 'configMap', 'downwardAPI', 'projected'];

function defaultVolume(volume: JsonObject): void {
  if (Object.keys(volume).every((member) => member === 'name')) volume['emptyDir'] = {};
  for (const source of WITH_MODE) {
    const value = volume[source];
    if (isObject(value)) fill(value, { defaultMode: 420 });
  }
  if (isObject(volume['hostPath'])) fill(volume['hostPath'], { type: '' });
  if (isObject(volume['iscsi'])) fill(volume['iscsi'], { iscsiInterface: 'default' });
  if (isObject(volume['downwardAPI'])) defaultItems(volume['downwardAPI']);
  if (isObject(volume['ephemeral']) && isObject(volume['ephemeral']['volumeClaimTemplate'])) {
    const claim = volume['ephemeral']['volumeClaimTemplate'];
    fill(claim, { metadata: {} });
    defaultClaimSpec(claim);
  }
  const projected = volume['projected'];
  if (!isObject(projected)) return;
  for (const source of listOf(projected, 'sources')) {
    const token = source['serviceAccountToken'];
    if (isObject(token)) fill(token, { expirationSeconds: 3600 });
    if (isObject(source['downwardAPI'])) defaultItems(source['downwardAPI']);
  }
}

function defaultItems(files: JsonObject): void {
  for (const item of listOf(files, 'items')) defaultReference(item);
}

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];

/**
 * @param path of the spec, for example `spec.template.spec`
 * @param claims volumes from claim templates
 */
export function podSpecErrors(spec: JsonObject, path: string, claims: readonly string[] = []): FieldError[] {
  const errors: FieldError[] = [];
  if (listOf(spec, 'containers').length === 0) errors.push(field.required(`${path}.containers`));
  // Containers that use an invalid volume are reported, too, as if it were not there.
  const volumes = new Map(
    listOf(spec, 'volumes')
      .filter((volume) => isValid('core.v1.Volume', volume))
      .map((volume) => [volume['name'], volume]),
  );
  for (const claim of claims) volumes.set(claim, { persistentVolumeClaim: {} });
  const names = new Set<unknown>();
  const check = (container: JsonObject, at: string): void => {
    const name = container['name'];
    if (name !== undefined && name !== '' && names.has(name))
      errors.push(field.duplicate(`${at}.name`, name));
    names.add(name);
    append(errors, containerErrors(container, at, volumes));
  };
  for (const list of ['containers', 'initContainers'])
    listOf(spec, list).forEach((container, i) => {
      check(container, `${path}.${list}[${i}]`);
    });
  const policy = spec['restartPolicy'];
  if (!RESTART_POLICIES.includes(policy as string))
    errors.push(field.notSupported(`${path}.restartPolicy`, policy, RESTART_POLICIES));
  return errors;
}
